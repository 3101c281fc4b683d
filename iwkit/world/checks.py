"""Preconditions of the primitives: each looks at a command before anything moves and gives a refusal or None."""

from __future__ import annotations

import math
from collections.abc import Callable

from iwkit.floorplan import WALL, overlaps, stance, within
from iwkit.floorplan import floor as floor_of
from iwkit.world.act import Act
from iwkit.world.ground import Ahead, ahead, free_boxes, gap, step
from iwkit.world.layout import Goal
from iwkit.world.refusals import Refusal
from iwkit.world.situation import Situation
from iwkit.world.state import Spot

Check = Callable[[Act], Refusal | None]

FULL_SURFACE = 0.8
"""How much of a surface may be covered."""
FULL_INTERIOR = 0.7
"""How much of an interior may be filled."""
FULL_SEAT = 0.5
"""How much of a seat may be covered for someone to sit on it."""
SEAT_NEAR = 1.0
"""A computer is used sitting when a seat that faces it is this near, in metres edge to edge (ours)."""
NEAR = 0.5
"""Metres, edge to edge, within which two things are near each other."""
MATED = 10.0
"""Degrees by which an attached part may be turned away from the nearest quarter turn; beyond it is crooked."""


def affords(n: int, trait: str, code: str) -> Check:
    """The n-th thing named has a trait."""
    return lambda act: None if act.at.has(act.names[n], trait) else Refusal(code, (act.names[n],))


def is_kind(n: int, kind: str, code: str) -> Check:
    return lambda act: None if act.at.kind(act.names[n]) == kind else Refusal(code, (act.names[n],))


def flag_is(n: int, flag: str, wanted: bool, code: str) -> Check:
    """A flag of the n-th thing named is set, or is not."""
    return lambda act: None if act.at.is_(act.names[n], flag) == wanted else Refusal(code, (act.names[n],))


def held(n: int) -> Check:
    return lambda act: None if act.at.held == act.names[n] else Refusal("NOT_HELD", (act.names[n],))


def not_in_hand(n: int) -> Check:
    return lambda act: Refusal("IN_HAND", (act.at.held or "",)) if act.at.in_hand(act.names[n]) else None


def held_or_takable(n: int) -> Check:
    """The n-th thing named is in the hand, or could be taken into it."""

    def check(act: Act) -> Refusal | None:
        name = act.names[n]
        if act.at.held == name:
            return None
        return is_kind(n, "object", "NOT_MOVABLE")(act) or hand_empty(act) or loose(n)(act) or reachable(act, name)

    return check


def loose(n: int) -> Check:
    """The n-th thing named is not attached to anything."""

    def check(act: Act) -> Refusal | None:
        place = act.at.state.places.get(act.names[n])
        return Refusal("ATTACHED", (act.names[n], place.at or "")) if place and place.how == "attached" else None

    return check


def different(act: Act) -> Refusal | None:
    return Refusal("SAME_THING", act.names[:1]) if act.names[0] == act.names[1] else None


def not_onto_itself(act: Act) -> Refusal | None:
    name, target = act.names[0], act.names[-1]
    return Refusal("WOULD_CONTAIN_ITSELF", (name,)) if act.at.carries(name, target) else None


def hand_empty(act: Act) -> Refusal | None:
    return Refusal("HAND_FULL", (act.at.held,)) if act.at.held is not None else None


def not_held_yet(act: Act) -> Refusal | None:
    return Refusal("ALREADY_HELD", act.names[:1]) if act.at.held == act.names[0] else None


def something_held(act: Act) -> Refusal | None:
    if act.names:
        return held(0)(act)
    return Refusal("NOTHING_HELD") if act.at.held is None else None


# --- the wearer -----------------------------------------------------------------------------------------------------


def standing(act: Act) -> Refusal | None:
    seat = act.at.state.wearer.seat
    return Refusal("SITTING", (seat,)) if seat is not None else None


def sitting(act: Act) -> Refusal | None:
    return Refusal("NOT_SITTING") if act.at.state.wearer.seat is None else None


def room_to_sit(act: Act) -> Refusal | None:
    seat = act.names[0]
    surface = act.at.things[seat].surface
    if surface is None or covered(act.at, seat) <= FULL_SEAT * surface[0] * surface[1]:
        return None
    return Refusal("SEAT_TAKEN", (seat,))


def reachable(act: Act, name: str) -> Refusal | None:
    """The wearer can get its hands on a thing: it stands, no closed lid is between, and there is a way."""
    if act.at.in_hand(name):
        return None
    lid = act.at.lid(name)
    if lid is not None:
        return Refusal("CONTAINER_CLOSED", (lid,))
    return approachable(act, name)


def approachable(act: Act, name: str) -> Refusal | None:
    """The wearer can go to where a thing is."""
    if act.at.in_hand(name):
        return None
    return standing(act) or _way(act, act.at.goal(name), name)


def _way(act: Act, goal: Goal | None, name: str) -> Refusal | None:
    wearer = act.at.state.wearer
    if goal is None or act.at.layout.route((wearer.x, wearer.y), (goal.x, goal.y)) is not None:
        return None
    return Refusal("PATH_BLOCKED", (f"to {act.at.public(name)}",))


def can_approach(n: int) -> Check:
    return lambda act: approachable(act, act.names[n])


def can_reach(n: int) -> Check:
    return lambda act: reachable(act, act.names[n])


def way_ahead(act: Act) -> Refusal | None:
    return Refusal("PATH_BLOCKED", ("ahead",)) if look_ahead(act).blocked else None


def look_ahead(act: Act) -> Ahead:
    """What straight walking by the distance of the command comes to."""
    layout, wearer = act.at.layout, act.at.state.wearer
    start = (wearer.x, wearer.y)
    goal = step(start, wearer.heading, act.command.scalar or 0.0)
    shut = frozenset(key for key, name in layout.doors.items() if act.at.hides(name))
    return ahead(layout.scene, layout.room_ids[wearer.room], (start, goal), act.at.boxes.values(), shut)


def in_sight(act: Act) -> Refusal | None:
    """The thing is in the wearer's room and behind no lid."""
    name, wearer = act.names[0], act.at.state.wearer
    here = act.at.room(name) == wearer.room and act.at.lid(name) is None
    return None if here or act.at.in_hand(name) else Refusal("NOT_VISIBLE", (name,))


def can_use(act: Act) -> Refusal | None:
    """The wearer sits by the computer already, or can go there."""
    name, seat = act.names[0], act.at.state.wearer.seat
    if seat is not None and seat == act.at.seat_near(name, SEAT_NEAR):
        return None
    return reachable(act, name)


# --- room for things ------------------------------------------------------------------------------------------------


def covered(at: Situation, support: str) -> float:
    """Square metres of a surface that things stand on."""
    sizes = [at.things[n].size for n in at.children.get(support, ()) if at.state.places[n].how == "on"]
    sizes += [at.things[n].size for n in at.layout.upon.get(support, ())]
    return math.fsum(size[0] * size[1] for size in sizes)


def fits_on(act: Act) -> Refusal | None:
    name, support = act.names
    width, depth, _ = act.at.things[name].size
    surface = act.at.things[support].surface
    if surface is None:
        return Refusal("NO_SURFACE", (support,))
    if any(a > b for a, b in zip(sorted((width, depth)), sorted(surface), strict=True)):
        return Refusal("TOO_BIG", (name, support))
    if covered(act.at, support) + width * depth > FULL_SURFACE * surface[0] * surface[1]:
        return Refusal("NO_ROOM", (name, support))
    return None


def fits_in(act: Act) -> Refusal | None:
    name, container = act.names[:2]
    size, interior = act.at.things[name].size, act.at.things[container].interior
    if interior is None:
        return Refusal("NO_INTERIOR", (container,))
    if any(a > b for a, b in zip(sorted(size), sorted(interior), strict=True)):
        return Refusal("TOO_BIG", (name, container))
    inside = [n for n in act.at.children.get(container, ()) if act.at.state.places[n].how == "inside"]
    filled = math.fsum(math.prod(act.at.things[n].size) for n in inside)
    if filled + math.prod(size) > FULL_INTERIOR * math.prod(interior):
        return Refusal("NO_ROOM", (name, container))
    return None


def lid_open(n: int) -> Check:
    """The n-th thing named is no closed container itself."""
    return lambda act: Refusal("CONTAINER_CLOSED", (act.names[n],)) if act.at.hides(act.names[n]) else None


def standing_free_on(act: Act) -> Refusal | None:
    """The object stands directly on the anchor, and nothing around it would catch it."""
    name, anchor = act.names
    place = act.at.state.places.get(name)
    chain = [p.how for _, p in act.at.chain(name)]
    if place is None or (place.how, place.at) != ("on", anchor) or "inside" in chain or "held" in chain:
        return Refusal("WRONG_SUPPORT", (name, anchor))
    return None


def parking(act: Act) -> Spot | None:
    """Where a fixture comes to stand that is pushed to a destination: on free floor within 0.5 m of it (anywhere in it
    if it is a room), with free floor where one stands to use the fixture."""
    name, target = act.names
    layout, root = act.at.layout, act.at.root(target)
    # The side of a door is the fixture's: where the wearer is changes as it goes to take hold.
    room = act.at.door_side(root, name).room if root in layout.door_ids else act.at.room(target)
    room_id, point = layout.room_ids[room], act.at.point(root)
    around = act.at.boxes.get(root) or (*point, *point)
    boxes = [box for other, box in act.at.boxes.items() if other not in layout.family(name)]
    x0, y0, x1, y1 = act.at.boxes[name]
    for place in free_boxes(layout.scene, room_id, (x1 - x0, y1 - y0), boxes, around):
        if act.at.kind(root) != "room" and gap(place, around) > NEAR:
            return None
        spot = Spot(round((place[0] + place[2]) / 2, 4), round((place[1] + place[3]) / 2, 4), room)
        x, y, _ = stance(act.at.fixture_at(name, spot))
        foot = (x - WALL, y - WALL, x + WALL, y + WALL)
        if within(foot, floor_of(layout.scene, room_id)) and not any(overlaps(foot, box) for box in boxes):
            return spot
    return None


def floor_free(act: Act) -> Refusal | None:
    return Refusal("NO_FLOOR", act.names) if parking(act) is None else None


def on_wheels(act: Act) -> Refusal | None:
    """It is a fixture that rolls, and stands on the floor."""
    name = act.names[0]
    rolls = act.at.kind(name) == "fixture" and act.at.has(name, "wheeled") and act.at.root(name) == name
    return None if rolls else Refusal("NOT_WHEELED", (name,))


# --- tools, devices, parts ------------------------------------------------------------------------------------------


def heater_of(at: Situation, food: str) -> str | None:
    """The running heater that food is on or in."""
    for _, place in at.chain(food):
        heater = place.at if place.how in ("on", "inside") else None
        if heater is not None and at.has(heater, "heater") and at.is_(heater, "running"):
            return heater
    return None


def cooks_in(at: Situation, food: str) -> str:
    """What food is said to cook in: the vessel that it lies in, else the heater itself."""
    inside = next((place.at for _, place in at.chain(food) if place.how == "inside"), None)
    return inside if inside is not None and at.has(inside, "vessel") else heater_of(at, food) or ""


def heated(act: Act) -> Refusal | None:
    return None if heater_of(act.at, act.names[0]) else Refusal("NO_HEAT", act.names[:1])


def stirrable(act: Act) -> Refusal | None:
    name = act.names[0]
    hollow = act.at.has(name, "vessel") or act.at.has(name, "container")
    return None if hollow else Refusal("NOT_STIRRABLE", (name,))


def not_empty(act: Act) -> Refusal | None:
    source = act.names[1]
    return None if act.at.state.contents.get(source) else Refusal("EMPTY", (source,))


def connector(act: Act, position: int) -> str:
    """The connector at a position of the command, as it is kept in the state."""
    ref = act.command.args[position]
    return f"{ref.name}:{ref.index}"


def connector_free(n: int, position: int) -> Check:
    """The n-th thing named has the connector at a position of the command, and nothing is mated to it."""

    def check(act: Act) -> Refusal | None:
        name, ref = act.names[n], act.command.args[position]
        if act.at.things[name].connectors.count(ref.name) <= ref.index:
            return Refusal("NO_CONNECTOR", (name, ref.name))
        joints = act.at.state.joints
        taken = {joints[child][1] for child in act.at.children.get(name, ()) if child in joints}
        taken |= {joints[name][0]} if name in joints else set()
        return Refusal("CONNECTOR_TAKEN", (name, ref.name)) if connector(act, position) in taken else None

    return check


def attached_to(act: Act) -> Refusal | None:
    child, parent = act.names
    place = act.at.state.places.get(child)
    mated = place is not None and (place.how, place.at) == ("attached", parent)
    return None if mated else Refusal("NOT_ATTACHED", (child, parent))


def is_door(act: Act) -> Refusal | None:
    return is_kind(0, "door", "NOT_A_DOOR")(act)
