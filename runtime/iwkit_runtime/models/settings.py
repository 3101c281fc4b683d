"""What is known of a model before it is asked: a user's models file, the providers, the prices."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError

from iwkit.errors import AgentError
from iwkit.source.check import check
from iwkit.source.reader import read
from iwkit.spec.base import AsTuple, Model, Text
from iwkit.suggest import did_you_mean

Kind = Literal["png", "jpeg", "webp"]
Positive = Annotated[float, Field(gt=0)]
Money = Annotated[float, Field(ge=0)]
PROVIDERS: Final = ("openai", "openai-responses", "google")
"""How the name of a model begins, before its colon."""
_SEEDLESS: Final = frozenset({"openai-responses"})
"""Interfaces that have no seed."""
PERSON: Final = "person"
"""The agent that is a person at this terminal."""
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]{2,63}")


class Price(Model):
    """US dollars per million tokens. `cached` is the price of input that the provider had in its cache; without it such
    input has no known price. `up_to`: above so many input tokens in a request the price is unknown."""

    input: Money
    output: Money
    cached: Money | None = None
    up_to: Annotated[int, Field(gt=0)] | None = None
    as_of: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}(-\d{2})?$")]


class ImageLimits(Model):
    """What a provider takes: see `providers.yaml`."""

    count: Annotated[int, Field(ge=1)]
    bytes: Annotated[int, Field(ge=1000)]
    side: Annotated[int, Field(ge=64)]
    total_bytes: Annotated[int, Field(ge=1000)]
    tokens: Annotated[int, Field(ge=1)]


class Provider(Model):
    """One provider: see `providers.yaml`."""

    package: Text
    key: Annotated[tuple[str, ...], AsTuple]
    address: str
    default: str
    images: ImageLimits
    kinds: Annotated[tuple[Kind, ...], AsTuple]


class ImageSettings(Model):
    """How pictures are sent: `format` and `quality` (of jpeg and webp), `detail` where the provider has it, and limits
    that are tighter than the provider's, or another's than the provider whose interface it speaks."""

    format: Kind = "png"
    quality: Annotated[int, Field(ge=1, le=100)] = 90
    detail: Literal["low", "high", "auto", "original"] | None = None
    count: Annotated[int, Field(ge=1)] | None = None
    bytes: Annotated[int, Field(ge=1000)] | None = None
    side: Annotated[int, Field(ge=64)] | None = None
    total_bytes: Annotated[int, Field(ge=1000)] | None = None
    tokens: Annotated[int, Field(ge=1)] | None = None


class ModelSettings(Model):
    """One model's settings. `seed` is that of the cells with the seed 0, those after it count on from there; null sends
    none. The first six, and `images` but for `tokens`, decide what it answers: they are a part of
    what identifies a result. The others say only how it is reached."""

    base_url: str | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**30)] | None = 0
    max_output_tokens: Annotated[int, Field(ge=16)] = 8192
    extra: dict[str, Any] = Field(default_factory=dict)
    images: ImageSettings = ImageSettings()
    key: str | None = None
    timeout: Positive = 120.0
    late: Annotated[float, Field(ge=0)] = 30.0
    attempts: Annotated[int, Field(ge=1, le=20)] = 8
    backoff: Positive = 1.0
    longest_wait: Positive = 120.0
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    price: Price | None = None

    @field_validator("key")
    @classmethod
    def _names_a_variable(cls, value: str | None) -> str | None:
        if value is not None and not _VARIABLE.fullmatch(value):
            # Pydantic would quote the value, and it may well be a key.
            raise PydanticCustomError(
                "key_in_file",
                "key is the name of an environment variable, in capitals",
                {"hint": "put the key itself into that variable, never into a file"},
            )
        return value

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, value: str | None) -> str | None:
        if value is not None and (why := _bad_address(value)):
            raise PydanticCustomError("address", why, {"hint": "write it like https://host/v1"})
        return value


class ModelsFile(Model):
    """A models file: settings by the name that `--assistant` and `--human` take. What is not set there is taken from
    `default`."""

    models: Literal["1.0"]
    default: ModelSettings = ModelSettings()
    agents: dict[str, ModelSettings] = Field(default_factory=dict)

    @field_validator("agents")
    @classmethod
    def _names_models(cls, value: dict[str, ModelSettings]) -> dict[str, ModelSettings]:
        for name in value:
            if not is_model(name):
                form = f"write one of {', '.join(PROVIDERS)}, a colon, and the provider's name for the model"
                context = {
                    "hint": did_you_mean(name.partition(":")[0], PROVIDERS) or form,
                    "path": (name,),
                    "key": True,
                }
                raise PydanticCustomError("model_name", f"{name!r} is no name of a model", context)
        return value

    def of(self, name: str) -> ModelSettings:
        """The settings of one model."""
        own = self.agents.get(name)
        if own is None:
            return self.default
        return self.default.model_copy(update={field: getattr(own, field) for field in own.model_fields_set})


class _Providers(Model):
    providers: Literal["1.0"]
    as_of: str
    known: dict[str, Provider]


class _Prices(Model):
    prices: Literal["1.0"]
    models: dict[str, Price]


@cache
def providers() -> Mapping[str, Provider]:
    """Provider by the word before the colon."""
    return check(read(Path(__file__).with_name("providers.yaml")), _Providers).known


@cache
def prices() -> Mapping[str, Price]:
    """The prices that ship with iwkit."""
    return check(read(Path(__file__).with_name("prices.yaml")), _Prices).models


def _bad_address(address: str) -> str | None:
    """What is wrong with a base URL. One that carries credentials would write them into every record."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "base_url is no address of HTTP"
    if parts.username or parts.password or parts.query or parts.fragment:
        return "base_url holds more than an address: credentials belong into an environment variable"
    return None


def is_model(name: str) -> bool:
    """Whether a name of the command line names a model of a provider."""
    provider, colon, _ = name.partition(":")
    return bool(colon) and provider in PROVIDERS


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model with all that is settled about it. `name` is as on the command line, `model` as the provider calls it."""

    name: str
    provider: str
    model: str
    base_url: str
    settings: ModelSettings
    limits: ImageLimits
    price: Price | None

    def seed(self, cell: int | None) -> int | None:
        """The seed that is sent for a cell with this seed; None where none is."""
        first = self.settings.seed
        return None if self.provider in _SEEDLESS or first is None or cell is None else first + cell

    def identity(self) -> dict[str, Any]:
        """What decides its answers, for the record."""
        given = self.settings
        return {
            "name": self.name,
            "base_url": self.base_url,
            "temperature": given.temperature,
            "top_p": given.top_p,
            "seed": self.seed(0),
            "max_output_tokens": given.max_output_tokens,
            "extra": given.extra,
            "images": {
                **given.images.model_dump(include={"format", "quality", "detail"}),
                **self.limits.model_dump(exclude={"tokens"}),
            },
        }


def load_models(path: Path | None) -> ModelsFile:
    """A models file; without one, nothing but defaults.

    Raises:
        Problems: everything that is wrong with it.
    """
    return ModelsFile(models="1.0") if path is None else check(read(path), ModelsFile)


def settle(name: str, file: ModelsFile, environ: Mapping[str, str] = os.environ) -> ModelSpec:
    """Everything about a model that a name, a models file and the environment say.

    Raises:
        AgentError: no such provider, no model, or an address in the environment that is none.
    """
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model.strip():
        raise AgentError(
            f"no model {name!r}: write one of {', '.join(PROVIDERS)}, a colon, and the provider's name for it"
        )
    known = providers()[provider]
    given = file.of(name)
    base_url = given.base_url or environ.get(known.address) or known.default
    if why := _bad_address(base_url):
        raise AgentError(f"{name}: {known.address} in the environment: {why}")
    if given.images.format not in known.kinds:
        raise AgentError(f"{name}: {provider} reads no {given.images.format}: use {', '.join(known.kinds)}")
    own = given.images.model_dump(include=set(ImageLimits.model_fields), exclude_none=True)
    limits = ImageLimits(**{**known.images.model_dump(), **own})
    # Another address is another house, with prices of its own.
    listed = prices().get(name.replace("openai-responses:", "openai:", 1)) if base_url == known.default else None
    return ModelSpec(name, provider, model, base_url.rstrip("/"), given, limits, given.price or listed)
