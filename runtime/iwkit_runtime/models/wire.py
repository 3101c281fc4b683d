"""What goes to a model and comes back, in no provider's words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from iwkit.digest import digest


@dataclass(frozen=True, slots=True)
class Image:
    """An encoded picture: its media type, its bytes, and their SHA-256 in hexadecimal."""

    media: str
    sha256: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation. Only those of the `user` have pictures; they stand before the text."""

    role: Literal["user", "assistant"]
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that a model is sent: what it is told first, and the conversation, which the user begins and ends; and the
    seed of its sampling, if it takes one."""

    system: str
    messages: tuple[Message, ...]
    seed: int | None = None

    @property
    def images(self) -> tuple[Image, ...]:
        return tuple(image for message in self.messages for image in message.images)

    def to_json(self) -> dict[str, Any]:
        """The prompt with the digests of its pictures in their place."""
        said = [
            {"role": m.role, "text": m.text, "images": [{"media": i.media, "sha256": i.sha256} for i in m.images]}
            for m in self.messages
        ]
        return {"system": self.system, "messages": said} | ({} if self.seed is None else {"seed": self.seed})

    @property
    def digest(self) -> str:
        return digest(self.to_json())

    @property
    def text_bytes(self) -> int:
        """The length of its texts in UTF-8. No tokeniser makes more tokens of a text than it has bytes."""
        return len(self.system.encode()) + sum(len(m.text.encode()) for m in self.messages)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a provider counted. None is what it did not say: never 0. `cached` is a part of `input`, `reasoning` of
    `output`."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `text` is the answer as the model gave it, `model` which one the provider says answered, `finish` why
    it ended, in the provider's words."""

    text: str
    tokens: Tokens = Tokens()
    model: str | None = None
    finish: str | None = None
    request_id: str | None = None


class CallFailed(Exception):  # noqa: N818  what happened, not whose mistake it is
    """A request without a reply. `kind` is a row of the failure table; `wait` is how many seconds the server asked to
    be left alone."""

    def __init__(self, kind: str, why: str, *, status: int | None = None, wait: float | None = None) -> None:
        self.kind, self.why, self.status, self.wait = kind, why, status, wait
        super().__init__(f"{kind}: {why}")


class Connection(Protocol):
    """One model of one provider. Its calls may overlap; it lives in one event loop."""

    async def send(self, prompt: Prompt) -> Reply:
        """Send a prompt once.

        Raises:
            CallFailed: there is no reply that can be read.
        """

    async def close(self) -> None:
        """Let go of its sockets."""


_MISSING = object()


def dig(data: Any, *path: str | int) -> Any:
    """What lies at a path in parsed JSON, or None: nothing that a server sends is trusted to have its form."""
    for step in path:
        if isinstance(step, str):
            data = data.get(step, _MISSING) if isinstance(data, dict) else _MISSING
        else:
            data = data[step] if isinstance(data, list) and -len(data) <= step < len(data) else _MISSING
        if data is _MISSING:
            return None
    return data


def count(data: Any, *path: str | int) -> int | None:
    """A count at a path, or None if there is none that is one."""
    found = dig(data, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def words(data: Any, *path: str | int) -> str | None:
    """A text at a path, or None."""
    found = dig(data, *path)
    return found if isinstance(found, str) else None
