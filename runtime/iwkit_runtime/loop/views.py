"""What each role is shown (EVAL-2). The types cannot hold a goal, an oracle, or the other role's secrets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

MARKER = "Latest segment."
"""The literal marker of C.2.1 that goes with the newest frames."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One utterance that the assistant heard or said: `by` is `wearer` or `assistant`."""

    by: str
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """What the wearer saw: a PNG file without metadata, and its SHA-256 in hexadecimal, by which the record
    names it. No path: an agent gets what it is shown and cannot look beside it."""

    digest: str
    png: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class AssistantView:
    """The assistant's turn (eq. 5): frames, the wearer's new speech, the public task, the marker, its own dialogue.

    `frames` are oldest first; a world without pictures gives none. `dialogue` is what was said
    before this turn. `notice` tells that the last answer was not in the required form, and why. `memory` holds all
    entries that it made of its memory, oldest first; None where the run has no memory treatment (EVAL-6).
    """

    tick: int
    public: str
    dialogue: tuple[Spoken, ...]
    speech: tuple[str, ...]
    frames: tuple[Picture, ...]
    marker: str = MARKER
    notice: str = ""
    memory: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """The view with the digests of its frames."""
        return _plain(self)


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A handle the human may use, with what it can tell about the thing (design: HumanView).

    `nouns` are the names people use for it, `description` the public one. `bearing` is in words as the wearer faces,
    `support` the description of what it stands on or in. `place` marks what one can walk to or put things on or in;
    `top` and `inside` say which, `room` that it is a room.
    """

    handle: str
    nouns: tuple[str, ...]
    description: str
    place: bool
    visible: bool
    top: bool = False
    inside: bool = False
    room: bool = False
    held: bool = False
    bearing: str = ""
    support: str = ""
    colour: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that was carried out, or refused, under an instruction. `text` is the world's plain sentence."""

    command: str
    ok: bool
    text: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """Something the assistant said that is still active. `new` until the human has answered it once."""

    text: str
    new: bool
    done: tuple[Done, ...] = ()


@dataclass(frozen=True, slots=True)
class HumanView:
    """The human's turn, stateless (EVAL-10): context, legend, what is held, last result, instructions, grammar, frames.

    `plan` is the wearer's own next command, only under WATCH. `frames` stays empty under NARRATE.
    """

    tick: int
    source_family: str
    role: str
    context: str
    public: str
    request: str
    legend: tuple[LegendEntry, ...]
    held: str | None
    last: Done | None
    instructions: tuple[Instruction, ...]
    plan: str | None
    grammar: str
    frames: tuple[Picture, ...]
    notice: str = ""

    def to_json(self) -> dict[str, Any]:
        """The view with the digests of its frames."""
        return _plain(self)


def _plain(view: AssistantView | HumanView) -> dict[str, Any]:
    return {**asdict(view), "frames": [frame.digest for frame in view.frames]}
