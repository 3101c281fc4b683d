"""One command being carried out in the physical world: who asked for what, and what has happened so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from iwkit.grammar import Command
from iwkit.trace import Happening, Relation, RoleValue
from iwkit.world.situation import Situation
from iwkit_runtime.physical.places import Moment
from iwkit_runtime.physical.spec import Vector
from iwkit_runtime.physical.stage import Stage


@dataclass
class Act:
    """`at` is the mind's situation before the command, to be asked and not changed. `names` are the things named.

    `shown` is what has been reported as in view, `looked` what a look around has shown until the wearer moves on.
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

    def public(self, name: str) -> str:
        """What the wearer calls a thing; a part of the building is called what it is."""
        if name in self.stage.statics:
            return "the floor" if name in self.stage.floors else "a wall"
        return self.at.public(name)

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
        self.lose(now)
        for name in sorted(now - self.shown):
            self.emit("became_visible", object=name)
        self.shown = now

    def lose(self, now: frozenset[str]) -> None:
        """Report what has left the view."""
        for name in sorted(self.shown - now):
            self.emit("left_view", object=name)
        self.shown &= now

    def arrive(self, events: int) -> None:
        """After a walk whose events begin at that number: what left the view did so before a room was entered."""
        walked = self.happenings[events:]
        del self.happenings[events:]
        first = next((n for n, h in enumerate(walked) if h.kind == "entered"), len(walked))
        self.happenings += walked[:first]
        self.lose(self.view())
        self.happenings += walked[first:]

    def move_on(self) -> None:
        """The wearer moves or handles something: what it only looked at before is out of its mind's eye."""
        self.looked = frozenset()

    def remember(self, names: Sequence[str]) -> None:
        """These were seen during a look."""
        self.looked |= frozenset(names)

    def glance(self, point: Vector, frames: int = 4) -> None:
        """Turn the gaze to a point."""
        self.stage.glance(point, frames)
