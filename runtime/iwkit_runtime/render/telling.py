"""A recording as a sequence of moments to be shown: what moves, what is said, and how long each of them stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from iwkit.errors import GrammarError
from iwkit.grammar import parse
from iwkit.ledger import Record
from iwkit.report.episode import plain
from iwkit_runtime.body.pose import BodyPose
from iwkit_runtime.physical.scene_spec import Joints, Poses, States
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.recording import Interval, Recording

FPS: Final = 12
"""Frames of a trajectory in a second."""
SHORTEST, LONGEST, PER_LETTER = 12, 48, 0.7
"""How many frames an utterance stays before the story goes on: at least, at most, and for each of its letters."""
REFUSED, ENDING, INSTANT = 24, 36, 8
"""The same for a refused command, for the end, and for a command that takes no time."""
_OUTCOME: Final = {
    "pass": "The episode ends here, and counts as passed.",
    "fail": "The episode ends here, and counts as failed.",
    "void": "The episode ends here, and is void.",
}
_BY: Final = {
    "opening": "before the assistant is there",
    "assistant": "as the assistant asked",
    "plan": "as planned",
    "human": "unasked",
}


@dataclass(frozen=True, slots=True)
class Caption:
    """What the strip below the pictures tells. `said` are the last utterances, newest last: who, and what."""

    said: tuple[tuple[str, str], ...] = ()
    doing: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """One state of the scene. `moving` tells a frame of a trajectory from a hold, `about` names what is handled, and
    `count` is for how many frames it is shown."""

    body: BodyPose
    stand: Stand
    poses: Poses
    joints: Joints
    states: States
    caption: Caption
    moving: bool = False
    about: tuple[str, ...] = ()
    count: int = 1


@dataclass
class _State:
    """The scene so far."""

    body: BodyPose
    stand: Stand
    poses: Poses
    joints: Joints
    states: States
    caption: Caption = field(default_factory=Caption)
    about: tuple[str, ...] = ()

    def hold(self, count: int) -> Moment:
        return Moment(
            self.body,
            self.stand,
            dict(self.poses),
            dict(self.joints),
            dict(self.states),
            self.caption,
            about=self.about,
            count=count,
        )


def moments(recording: Recording, *, holds: bool = True) -> Iterator[Moment]:
    """The moments of an episode in order. Without `holds` exactly the frames of its trajectories."""
    intervals = {interval.step: interval for interval in recording.intervals}
    state = _State(
        recording.body, recording.stand, dict(recording.poses), dict(recording.joints), dict(recording.states)
    )
    for record in recording.records:
        interval = intervals.get(record["n"]) if record["kind"] == "step" else None
        if interval is not None:
            yield from _performed(state, record, interval, frozenset(recording.poses))
        length = _tell(state, record)
        if holds and length:
            yield state.hold(length)


def _performed(state: _State, record: Record, interval: Interval, things: frozenset[str]) -> Iterator[Moment]:
    state.about = tuple(name for name in _names(interval.command) if name in things)
    doing = f"{interval.command}   {_BY.get(record['by'], '')}"
    state.caption = replace(state.caption, doing=doing, note="")
    for frame in interval.frames:
        state.body, state.stand = frame.body, frame.stand
        state.poses |= frame.poses
        state.joints |= frame.joints
        state.states |= frame.states
        yield replace(state.hold(1), moving=True)


def _names(command: str) -> tuple[str, ...]:
    """The things that a command names."""
    try:
        return tuple(ref.name for ref in parse(command).args)
    except GrammarError:
        return ()


def _tell(state: _State, record: dict[str, Any]) -> int:
    """Put a record into the caption, and say for how many frames it stays."""
    before = state.caption
    match record["kind"]:
        case "speech":
            text = plain(record["text"])
            state.caption = replace(before, said=(*before.said, (record["by"], text))[-2:])
            return round(min(LONGEST, max(SHORTEST, PER_LETTER * len(text))))
        case "step":
            if not record["receipt"]["ok"]:
                state.caption = replace(before, note=f"Refused: {plain(record['receipt']['text'])}")
                return REFUSED
            return 0 if record["receipt"]["frames"] else INSTANT
        case "declared":
            state.caption = replace(before, doing="", note="The assistant says that the task is done.")
            return REFUSED
        case "end":
            state.caption = replace(before, doing="", note=_OUTCOME.get(record["status"], ""))
            return ENDING
    return 0
