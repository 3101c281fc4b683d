"""Keys of providers: taken from the environment, never written anywhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from iwkit.errors import AgentError
from iwkit_runtime.models.settings import ModelSpec, providers

REMOVED: Final = "[key removed]"
_SHORTEST: Final = 6
"""A text shorter than this is no key, and would be removed from words that merely contain it."""


def find_key(spec: ModelSpec, environ: Mapping[str, str] = os.environ) -> str:
    """The key for a model.

    Raises:
        AgentError: the environment holds none.
    """
    names = (spec.settings.key,) if spec.settings.key else providers()[spec.provider].key
    key = next((environ[name].strip() for name in names if environ.get(name, "").strip()), "")
    if not key:
        raise AgentError(f"{spec.name}: no key: put it into the environment variable {' or '.join(names)}")
    return key


class Scrubber:
    """Takes keys out of every text that comes from outside, before anybody sees it."""

    def __init__(self, *keys: str) -> None:
        self._keys = sorted({key for key in keys if len(key) >= _SHORTEST}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for key in self._keys:
            text = text.replace(key, REMOVED)
        return text
