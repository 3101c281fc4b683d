"""Internal names in what the human says aloud (EVAL-2, EVAL-8)."""

from __future__ import annotations

import re

from iwkit.compile import CompiledTask

_CODE = re.compile(r"<[^>]*>|\[[A-Za-z]+\]|@place_spot|\b[a-z]+(?:_[a-z0-9]+)+\b")


def private_names(task: CompiledTask) -> frozenset[str]:
    """Names of things that are no words of speech: those with a digit or an underscore."""
    return frozenset(t.name for t in task.things.values() if any(c.isdigit() or c == "_" for c in t.name))


def leaked(speech: str, private: frozenset[str]) -> str | None:
    """The first piece of the private notation in an utterance: a handle, a command, an entity or step name."""
    match = _CODE.search(speech)
    if match:
        return match.group(0)
    return next((word for word in re.findall(r"[a-z0-9_]+", speech.lower()) if word in private), None)
