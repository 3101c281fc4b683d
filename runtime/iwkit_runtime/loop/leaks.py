"""Internal names in what the human says aloud (EVAL-2, EVAL-8)."""

from __future__ import annotations

import re

from iwkit.compile import CompiledTask

_CODE = re.compile(r"<[^>]*>|\[[A-Za-z]+\]|@place_spot|\b[a-z]+(?:_[a-z0-9]+)+\b")


def leaked(speech: str, task: CompiledTask) -> str | None:
    """The first piece of the private notation in an utterance: a handle, a command, an entity or step name."""
    match = _CODE.search(speech)
    if match:
        return match.group(0)
    private = {t.name for t in task.things.values() if any(c.isdigit() or c == "_" for c in t.name)}
    return next((word for word in re.findall(r"[a-z0-9_]+", speech.lower()) if word in private), None)
