"""One command being carried out: what has happened so far and how long it took."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from iwkit.floorplan import stance
from iwkit.grammar import Command
from iwkit.trace import Happening, RoleValue
from iwkit.world.layout import Goal
from iwkit.world.situation import Situation

WALKING = 1.1
"""Metres a second (ACT-5)."""
TURNING = 120.0
"""Degrees a second: 10 a frame (ACT-5)."""
DOOR = 2.0
"""Seconds to open a door on the way."""


@dataclass(slots=True)
class Act:
    """`names` are the names in the command in the order of its primitive; `seconds` is the time taken so far."""

    at: Situation
    command: Command
    names: tuple[str, ...]
    happenings: list[Happening] = field(default_factory=list)
    seconds: float = 0.0

    def emit(self, kind: str, **roles: RoleValue) -> None:
        """Something happened. A role whose name is a keyword of Python is written with an underscore after it."""
        self.happenings.append(Happening(kind, {name.rstrip("_"): value for name, value in roles.items()}))

    def see(self) -> None:
        """Report what has left the view and what has come into it since the last report, each in name order."""
        self._lose_sight()
        now = self.at.view()
        for name in sorted(now - self.at.state.shown):
            self.emit("became_visible", object=name)
        self.at.state.shown = now

    def _lose_sight(self) -> None:
        now = self.at.view()
        for name in sorted(self.at.state.shown - now):
            self.emit("left_view", object=name)
        self.at.state.shown &= now

    def approach(self, name: str) -> None:
        """Go where a thing is within reach; when it is, turn to it if need be."""
        goal = self.at.goal(name)
        if goal is not None:
            self.at.look_ahead()
        self.at.attend(name)
        if goal is not None:
            self.go(goal)
        else:
            self._turn_to(self.at.root(name))

    def _turn_to(self, root: str) -> None:
        wearer = self.at.state.wearer
        if root == wearer.at and root in self.at.layout.fixtures and wearer.seat is None and not self.at.faces(root):
            ahead = stance(self.at.fixture(root)).heading
            self.seconds += abs(math.remainder(ahead - wearer.heading, 360)) / TURNING
            self.at.face(ahead)

    def go(self, goal: Goal) -> None:
        """Walk to a goal, opening the closed doors on the way."""
        wearer = self.at.state.wearer
        route = self.at.layout.route((wearer.x, wearer.y), (goal.x, goal.y))
        if route is None:
            raise AssertionError("ways are checked before anything moves")
        self.seconds += route.length / WALKING
        self.pass_through([self.at.layout.doors[door] for door in route.doors], goal)

    def pass_through(self, doors: list[str], goal: Goal) -> None:
        """Go through doors, in order, to a goal: what leaves the view does so before the first room is entered."""
        room, lost = self.at.state.wearer.room, False
        self.at.stand(goal)
        for door in doors:
            self._open(door)
            if not lost:
                self._lose_sight()
                lost = True
            room = self._other_room(door, room)
            self.emit("entered", room=room)
        self.see()

    def _open(self, door: str) -> None:
        if self.at.hides(door):
            self.at.mark(door, "open")
            self.emit("opened", object=door)
            self.seconds += DOOR

    def _other_room(self, door: str, room: str) -> str:
        layout = self.at.layout
        first, second = (layout.rooms[r] for r in layout.scene.doors[layout.door_ids[door]].between)
        return second if room == first else first

    def grab(self, name: str) -> None:
        """Take a thing that is within reach into the hand."""
        source = self.at.support(name)
        self.at.take(name)
        self.emit("grabbed", object=name, from_=source)
        self.emit("moved", object=name)

    def fetch(self, tool: str) -> None:
        """Go and take a thing unless it is in the hand already."""
        if self.at.held != tool:
            self.approach(tool)
            self.grab(tool)
            self.see()
