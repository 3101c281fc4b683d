"""A cache of answers: a folder that runs can share, so that a question that was paid for is not paid for again."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iwkit.digest import digest
from iwkit.ledger import write_atomic
from iwkit_runtime.models.book import Asker
from iwkit_runtime.models.settings import ModelSpec
from iwkit_runtime.models.wire import Prompt, Reply, Tokens


class Cache:
    """Answers by everything that matters: the model with its settings, every byte of the prompt, and the place in which
    it is asked (cell with its seed, role, tick), so that what is asked twice in one run is answered twice.

    `folder` None keeps nothing. A file that was damaged is as if it were not there.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def key(self, spec: ModelSpec, prompt: Prompt, asker: Asker) -> str:
        return digest({"model": spec.identity(), "prompt": prompt.to_json(), "asker": asdict(asker)})

    def get(self, key: str) -> Reply | None:
        """The answer that is kept for a key, or None."""
        path = self._path(key)
        if path is None:
            return None
        try:
            data = json.loads(path.read_bytes())
            if data["key"] != key or data["check"] != digest(data["reply"]):
                return None
            fields: dict[str, Any] = data["reply"]
            return Reply(**{**fields, "tokens": Tokens(**fields["tokens"])})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Keep an answer.

        Raises:
            LedgerError: the folder cannot be written.
        """
        path = self._path(key)
        if path is not None:
            data = {"key": key, "check": digest(asdict(reply)), "reply": asdict(reply)}
            write_atomic(path, json.dumps(data, ensure_ascii=False).encode() + b"\n")

    def _path(self, key: str) -> Path | None:
        name = key.partition(":")[2]
        return self._folder / name[:2] / f"{name}.json" if self._folder else None
