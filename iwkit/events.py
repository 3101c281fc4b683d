"""The event kinds of docs/goal-language.md section 6 as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RoleKind = Literal["entity", "place", "room", "seat", "device", "substance", "command", "step", "code", "word"]
Origin = Literal["world", "loop", "pack"]


@dataclass(frozen=True, slots=True)
class EventKind:
    """One kind of event: its roles (the first is the short form's), who makes it, and the words a role admits."""

    name: str
    roles: tuple[tuple[str, RoleKind], ...]
    origin: Origin = "world"

    def role(self, name: str) -> RoleKind | None:
        return dict(self.roles).get(name)


def _kind(name: str, *roles: str, origin: Origin = "world") -> EventKind:
    pairs = tuple(tuple(r.split(":")) if ":" in r else (r, "entity") for r in roles)
    return EventKind(name, pairs, origin)  # type: ignore[arg-type]


EVENT_KINDS: dict[str, EventKind] = {
    k.name: k
    for k in (
        _kind("grabbed", "object", "from:place"),
        _kind("released", "object", "to:place"),
        _kind("moved", "object"),
        _kind("fell", "object", "from:place"),
        _kind("flipped", "object"),
        _kind("opened", "object"),
        _kind("closed", "object"),
        _kind("started", "device:device"),
        _kind("stopped", "device:device"),
        _kind("became_visible", "object"),
        _kind("left_view", "object"),
        _kind("looked_at", "object"),
        _kind("entered", "room:room"),
        _kind("sat", "seat:seat"),
        _kind("stood", "seat:seat"),
        _kind("pushed", "fixture", "to:place"),
        _kind("attached", "object", "parent"),
        _kind("detached", "object", "parent"),
        _kind("raised", "object"),
        _kind("cut", "object", "with"),
        _kind("cooked", "object", "in:place"),
        _kind("stirred", "object", "with"),
        _kind("poured", "object", "into", "substance:substance"),
        _kind("wiped", "object", "with"),
        _kind("cycle_started", "device:device", "contents", "valid:word"),
        _kind("cycle_ended", "device:device", "contents", "valid:word"),
        _kind("broke", "object", origin="pack"),
        _kind("spilled", "object", origin="pack"),
        _kind("arrived", "object", origin="pack"),
        _kind("rang", "object", origin="pack"),
        _kind("answered", "object"),
        _kind("used", "object"),
        _kind("confirmed", "by:word"),
        _kind("commanded", "do:command", "by:word", "result:word", "object", origin="loop"),
        _kind("refused", "object", "code:code", "by:word", origin="loop"),
        _kind("said", "by:word", origin="loop"),
        _kind("asked", "by:word", origin="loop"),
        _kind("after", "step:step", origin="loop"),
        _kind("declared", "by:word", origin="loop"),
    )
}
"""Event kind -> its roles. `becomes` is no event of a trace: it is derived from two neighbouring states."""

WORDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("commanded", "by"): ("assistant", "plan", "human", "opening"),
    ("commanded", "result"): ("ok", "refused"),
    ("refused", "by"): ("assistant", "plan", "human", "opening"),
    ("confirmed", "by"): ("wearer",),
    ("said", "by"): ("assistant", "wearer"),
    ("asked", "by"): ("wearer",),
    ("declared", "by"): ("assistant",),
    ("cycle_started", "valid"): ("true", "false"),
    ("cycle_ended", "valid"): ("true", "false"),
}
"""(kind, role) -> the words it admits."""
