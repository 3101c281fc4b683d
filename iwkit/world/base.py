"""The contract of a world (design: World and engines). One test suite, tests/contract, runs on every implementation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from iwkit.compile import CompiledTask
from iwkit.grammar import Command
from iwkit.trace import Happening, State

FRAMES_PER_SECOND = 12
"""Frames of the clock: a world's time is frames / 12 (PHY, 1/12 s)."""

Fault = Literal["request", "world", "engine"]
"""Who is to blame for a refusal: what was asked for, how the world is, or the simulator itself."""

WorldState = dict[str, Any]
"""A JSON value that holds a whole world; `restore(snapshot())` changes nothing that can be observed."""


class PrimitiveError(NamedTuple):
    """Why a command was not done (B.3.2): a code, a plain sentence for the human, who is to blame, and the names of the
    things, or words, that the sentence is about."""

    code: str
    text: str
    fault: Fault
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The outcome of one command (SEM-5).

    `code` is `OK`, a refusal of `iwkit.world.refusals` or one of a world with geometry (docs/physical-world.md); `text`
    is a plain sentence for the human; `fault` is None when `ok`. `frames` is the length of the interval on the clock,
    at least 1 for what takes time, else 0. `about` are the things that a refusal is about. A refused command leaves the
    world as it was, takes no time and has no happenings. The one exception is `POSTCONDITION_FAILED`: it was done, but
    came out otherwise; the world stays as it came out, and frames and happenings are those of what was done. Which way
    the wearer takes is the world's own.
    """

    ok: bool
    code: str
    text: str
    fault: Fault | None
    frames: int
    happenings: tuple[Happening, ...] = ()
    about: tuple[str, ...] = ()

    @property
    def error(self) -> PrimitiveError | None:
        """What went wrong; None when it was done."""
        return None if self.fault is None else PrimitiveError(self.code, self.text, self.fault, self.about)


class World(Protocol):
    """A world in which commands are executed. Names in commands are the task's entity names.

    `reset` puts it into the task's initial state. `relations` is the full state of docs/goal-language.md section 3;
    `at_baseline` and `unmoved` are in it only after `mark_baseline`, which is called once, at the handoff.
    """

    name: str

    def reset(self, task: CompiledTask) -> None: ...

    def execute(self, command: Command) -> Receipt: ...

    def relations(self) -> State: ...

    def mark_baseline(self) -> None: ...

    def visible(self) -> tuple[str, ...]:
        """Names of what is in the wearer's view now, sorted."""
        ...

    def held(self) -> str | None: ...

    def bearing(self, name: str) -> float | None:
        """Direction of a thing from the wearer's gaze in degrees, left negative, in (-180, 180]; None where unknown."""
        ...

    def snapshot(self) -> WorldState: ...

    def restore(self, state: WorldState) -> None: ...
