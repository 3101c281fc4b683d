"""What each primitive does once nothing speaks against it. Navigation and the final look come from `rules`."""

from __future__ import annotations

import math
from collections.abc import Callable

from iwkit.floorplan import stance
from iwkit.world.act import TURNING, WALKING, Act
from iwkit.world.checks import SEAT_NEAR, connector, cooks_in, look_ahead, parking
from iwkit.world.ground import direction, step
from iwkit.world.layout import Goal
from iwkit.world.situation import Situation
from iwkit.world.state import FLOOR, Place

Effect = Callable[[Act], None]

SCANNED = 90.0
"""A scan of the floor shows what lies no further aside than this, in degrees (ours)."""
TURN_SIGN = {"TurnLeft": 1.0, "TurnRight": -1.0, "TurnAround": 1.0}


def nothing(_act: Act) -> None:
    """It is done with the motion itself."""


def event(kind: str, *roles: str) -> Effect:
    """Report an event whose roles are the things named, in order."""

    def effect(act: Act) -> None:
        act.emit(kind, **dict(zip(roles, act.names, strict=False)))

    return effect


def mark(flag: str, on: bool, kind: str, role: str = "object") -> Effect:
    """Set or clear a flag of the first thing named, and report it."""

    def effect(act: Act) -> None:
        act.at.mark(act.names[0], flag, on)
        act.emit(kind, **{role: act.names[0]})

    return effect


# --- locomotion and posture -----------------------------------------------------------------------------------------


def walk(act: Act) -> None:
    act.approach(act.names[0])


def forward(act: Act) -> None:
    wearer, found = act.at.state.wearer, look_ahead(act)
    distance = act.command.scalar or 0.0
    x, y = step((wearer.x, wearer.y), wearer.heading, distance)
    layout = act.at.layout
    act.seconds += distance / WALKING
    act.pass_through([layout.doors[d] for d in found.doors], Goal(x, y, None, None, layout.rooms[found.room]))


def turn(act: Act) -> None:
    angle = act.command.scalar or 0.0
    act.at.face(act.at.state.wearer.heading + TURN_SIGN[act.command.verb] * angle)
    act.seconds += angle / TURNING


def sit(act: Act) -> None:
    """Go to a seat and sit down: one has turned the back to it before one is there."""
    seat, goal = act.names[0], act.at.goal(act.names[0])
    act.at.sit(seat)
    if goal is not None:
        act.go(goal._replace(heading=None))
    act.emit("sat", seat=seat)


def stand_up(act: Act) -> None:
    """Stand up before the seat, the back to it."""
    wearer, seat = act.at.state.wearer, act.at.state.wearer.seat or ""
    away = direction(act.at.fixture(seat).at, (wearer.x, wearer.y))
    act.at.sit(None)
    act.at.face(wearer.heading if away is None else away)
    act.emit("stood", seat=seat)


# --- grasping and placement -----------------------------------------------------------------------------------------


def grab(act: Act) -> None:
    act.grab(act.names[0])


def _let_go(act: Act, name: str, place: Place) -> None:
    act.at.move(name, place)
    act.emit("released", object=name, to=FLOOR if place.how == "floor" else place.at or FLOOR)
    act.emit("moved", object=name)


def drop(act: Act) -> None:
    wearer = act.at.state.wearer
    point, name = (wearer.x, wearer.y), wearer.held or ""
    _let_go(act, name, Place("floor", wearer.at, point=point, room=wearer.room))
    act.at.attend(name)


def put_on(act: Act) -> None:
    name, support = act.names
    _let_go(act, name, Place("on", support, spot=act.command.spot))


def put_inside(act: Act) -> None:
    name, container = act.names
    region = f"{act.command.args[2].name}:{act.command.args[2].index}" if len(act.command.args) > 2 else None
    _let_go(act, name, Place("inside", container, spot=act.command.spot, region=region))


def put_on_floor(act: Act) -> None:
    name, anchor = act.names
    act.approach(anchor)
    _let_go(act, name, act.at.floor_beside(anchor)._replace(spot=act.command.spot))
    act.at.attend(name)


def fall(act: Act) -> None:
    name, anchor = act.names
    act.at.move(name, act.at.floor_beside(anchor))
    act.emit("fell", object=name, from_=anchor)
    act.emit("moved", object=name)


# --- assembly and fixtures ------------------------------------------------------------------------------------------


def attach(act: Act) -> None:
    child, parent = act.names
    act.fetch(child)
    act.approach(parent)
    act.at.move(child, Place("attached", parent))
    act.at.state.joints[child] = (connector(act, 1), connector(act, 3), act.command.scalar or 0.0)
    act.emit("released", object=child, to=parent)
    act.emit("attached", object=child, parent=parent)
    act.emit("moved", object=child)


def detach(act: Act) -> None:
    child, parent = act.names
    act.at.take(child)
    act.emit("detached", object=child, parent=parent)
    act.emit("grabbed", object=child, from_=parent)
    act.emit("moved", object=child)


def roll(act: Act) -> None:
    name, target = act.names
    spot = parking(act)
    if spot is None:
        raise AssertionError("free floor is checked before anything moves")
    act.at.shift(name, spot)
    x, y, heading = stance(act.at.fixture(name))
    act.go(Goal(x, y, heading, name, spot.room))
    act.emit("pushed", fixture=name, to=target)
    act.emit("moved", object=name)


# --- devices and tools ----------------------------------------------------------------------------------------------


def cook(act: Act) -> None:
    food = act.names[0]
    act.approach(food)
    act.at.mark(food, "cooked")
    act.emit("cooked", object=food, in_=cooks_in(act.at, food))


def cut(act: Act) -> None:
    target, tool = act.names
    act.at.mark(target, "cut")
    if act.at.is_(target, "mouldy_inside"):
        act.at.mark(target, "mouldy")
    act.emit("cut", object=target, with_=tool)


def stir(act: Act) -> None:
    target, tool = act.names
    act.emit("stirred", object=target, with_=tool)


def pour(act: Act) -> None:
    target, source = act.names
    substances = act.at.empty(source)
    act.at.fill(target, substances)
    for substance in substances:
        act.emit("poured", object=source, into=target, substance=substance)


def wipe(act: Act) -> None:
    tool, target = act.names
    act.fetch(tool)
    act.approach(target)
    soil(act.at, tool, target)
    act.emit("wiped", object=target, with_=tool)


def soil(at: Situation, tool: str, target: str) -> None:
    """What wiping does: dirt goes to the tool, and water too unless it is wet itself. A tool that has wiped is used."""
    if at.is_(target, "dirty"):
        at.mark(target, "dirty", on=False)
        at.mark(tool, "dirty")
    if at.is_(target, "wet") and not at.is_(tool, "wet"):
        at.mark(target, "wet", on=False)
        at.mark(tool, "wet")
    at.mark(tool, "used")


def answer(act: Act) -> None:
    """Take a call; a phone that rings stops."""
    phone = act.names[0]
    if act.at.is_(phone, "ringing"):
        act.at.mark(phone, "ringing", on=False)
    act.emit("answered", object=phone)


def use_computer(act: Act) -> None:
    name = act.names[0]
    seat = None
    if act.at.state.wearer.seat is None:
        act.approach(name)
        seat = act.at.seat_near(name, SEAT_NEAR)
    if seat is not None:
        act.at.sit(seat)
        act.emit("sat", seat=seat)
    if act.at.has(name, "device") and not act.at.is_(name, "running"):
        act.at.mark(name, "running")
        act.emit("started", device=name)
    act.emit("used", object=name)
    if seat is not None:
        stand_up(act)


# --- perception and control -----------------------------------------------------------------------------------------


def look_around(act: Act) -> None:
    act.at.look(around=True)


def look_scan(act: Act) -> None:
    """Look over the floor ahead, as far aside as the eyes get with the head turned."""
    at, wearer = act.at, act.at.state.wearer
    for name, place in at.state.places.items():
        if place.point is not None and place.room == wearer.room:
            way = direction((wearer.x, wearer.y), place.point)
            if way is None or abs(math.remainder(way - wearer.heading, 360)) <= SCANNED:
                at.look(at=name)


def look_at(act: Act) -> None:
    name = act.names[0]
    elsewhere = act.at.kind(name) in ("object", "fixture") and act.at.goal(name) is not None
    if elsewhere and act.at.state.wearer.seat is None:
        act.at.look_ahead()
        act.approach(name)
    heading = direction((act.at.state.wearer.x, act.at.state.wearer.y), act.at.point(name))
    if heading is not None:
        act.at.face(heading)
    act.at.look(at=name)
    act.see()
    act.emit("looked_at", object=name)


def wait(act: Act) -> None:
    act.seconds += act.command.scalar or 0.0


def confirm(act: Act) -> None:
    act.emit("confirmed", by="wearer")
