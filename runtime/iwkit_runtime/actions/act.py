"""One command being carried out in the physical world: who asked for what, and what has happened so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from iwkit.grammar import Command
from iwkit.trace import Happening, Relation, RoleValue
from iwkit.world.situation import Situation
from iwkit_runtime.body.pose import BodyPose
from iwkit_runtime.physical.places import Moment
from iwkit_runtime.physical.spec import Vector
from iwkit_runtime.physical.stage import ITSELF, Stage, State

WATCHED = 5
"""Every so many frames of a movement, what is in view is taken note of."""


class Mark(NamedTuple):
    """A moment of an act; `seen` is what the wearer has in mind then."""

    state: State
    events: int
    seen: tuple[str, str | None, frozenset[str], frozenset[str], int | None]


@dataclass
class Act:
    """`at` is the mind's situation before the command, to be asked and not changed. `names` are the things named.

    `shown` is what has been reported as in view, `looked` what a look has shown until the wearer moves on. `lost_at` is
    the number of the event before which what the view has lost on a walk is reported, once the wearer has looked up.
    `place` is the fixture or door that the wearer
    has come to stand at, `room` the room it is in. `expect` are the relations of which one must
    hold in the end. `handoff` is where everything was then, None before it.
    """

    stage: Stage
    at: Situation
    command: Command
    names: tuple[str, ...]
    shown: frozenset[str]
    looked: frozenset[str]
    place: str | None
    room: str
    happenings: list[Happening] = field(default_factory=list)
    expect: tuple[Relation, ...] = ()
    handoff: Moment | None = None
    lost_at: int | None = None

    def public(self, name: str) -> str:
        """What the wearer calls a thing; a part of the building is called what it is."""
        if name == ITSELF:
            return name
        if name in self.stage.statics:
            return "the floor" if name in self.stage.floors else self.stage.decor.get(name, "a wall")
        return self.at.public(name)

    # --- trials ---------------------------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """Everything as it is now, to come back to when what is tried fails."""
        seen = self.room, self.place, self.shown, self.looked, self.lost_at
        return Mark(self.stage.state(), len(self.happenings), seen)

    def undo(self, mark: Mark) -> None:
        """What has been done since never was."""
        self.stage.restore(mark.state)
        del self.happenings[mark.events :]
        self.room, self.place, self.shown, self.looked, self.lost_at = mark.seen

    # --- events ---------------------------------------------------------------------------------------------------

    def emit(self, kind: str, **roles: RoleValue) -> None:
        """Something happened. A role whose name is a keyword of Python is written with an underscore after it."""
        self.happenings.append(Happening(kind, {name.rstrip("_"): value for name, value in roles.items()}))

    # --- the view -------------------------------------------------------------------------------------------------

    def view(self) -> frozenset[str]:
        """What the wearer sees: what its head camera has in view, what it has just looked at, and what it holds."""
        stage = self.stage
        hold = stage.wearer.hold
        seen = self.looked.union(stage.visible(stage.idle()))
        return seen if hold is None else seen | {hold.name}

    def see(self) -> None:
        """Report what has left the view and what has come into it since the last report, each in name order."""
        now = self.view()
        lost = [Happening("left_view", {"object": name}) for name in sorted(self.shown - now)]
        at = len(self.happenings) if self.lost_at is None else self.lost_at
        self.happenings[at:at] = lost
        for name in sorted(now - self.shown):
            self.emit("became_visible", object=name)
        self.shown, self.lost_at = now, None

    def arrive(self, events: int) -> None:
        """After a walk whose events begin at that number: what left the view did so before a room was entered. Which
        that is shows when the wearer has turned its gaze to what it has come for."""
        walked = self.happenings[events:]
        first = events + next((n for n, h in enumerate(walked) if h.kind == "entered"), len(walked))
        self.lost_at = first if self.lost_at is None else min(first, self.lost_at)

    def move_on(self) -> None:
        """The wearer handles something: what it only looked at before is out of its mind's eye, but for what is at
        hand."""
        at = self.at.state.wearer.at
        self.looked = frozenset(name for name in self.looked if at is not None and self.at.carries(at, name))

    def leave(self) -> None:
        """The wearer moves or turns away: nothing is at hand any more."""
        self.looked = frozenset()

    def forget(self, container: str) -> None:
        """What is inside has been shut in."""
        into = ("inside", container)
        self.looked -= {n for n in self.looked if any(place[:2] == into for _, place in self.at.chain(n))}

    def remember(self, names: Sequence[str]) -> None:
        """These were seen during a look."""
        self.looked |= frozenset(names)

    def take_in(self, name: str, body: BodyPose) -> None:
        """Take note of what is seen of a thing, of what carries it, and of all that is there."""
        root, hold = self.at.root(name), self.stage.wearer.hold
        held = None if hold is None else hold.name
        self.remember([n for n in self.stage.visible(body) if n == held or self.at.carries(root, n)])

    def watch(self, name: str, bodies: Sequence[BodyPose]) -> None:
        """The same for some of the frames of a movement, and its last one."""
        for body in (*bodies[:-1:WATCHED], bodies[-1]):
            self.take_in(name, body)

    def glance(self, point: Vector, frames: int = 4) -> None:
        """Turn the gaze to a point."""
        self.stage.glance(point, frames)
