"""Events of a pack that move things in the physical world; those that only mark a thing are the mind's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from iwkit.spec.pack import Incident
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.refusals import RefusedError
from iwkit_runtime.actions.turnover import fall
from iwkit_runtime.engines.collision import TOLERANCE
from iwkit_runtime.physical.scene_spec import Poses

HIGH = 200.0
"""Metres above its place at which a thing is kept that has not arrived: nothing of a scene is there."""


def stowed(poses: Poses, name: str) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    """Where a thing is kept until it arrives."""
    (x, y, z), turn = poses[name]
    return (x, y, z + HIGH), turn


def falls(act: Act, _places: Poses) -> None:
    """Off what it stands on, to the floor."""
    name = act.names[0]
    place = act.at.state.places[name]
    chain = [p.how for _, p in act.at.chain(name)]
    if place.how != "on" or place.at is None or "inside" in chain or "held" in chain:
        raise RefusedError("NO_ROOM", name, "the floor")
    act.names = (name, place.at)
    fall(act)


def arrives(act: Act, places: Poses) -> None:
    """Put down at the place where its entity says it is, with what came on it, while nobody looks.

    Raises:
        RefusedError: NO_ROOM, something is there.
    """
    stage, name = act.stage, act.names[0]
    stage.engine.hold(name, places[name])
    stage.sync()
    parts = (name, *stage.engine.riders(name))
    around = [hit for part in parts for hit in stage.collision.overlaps(part) if hit.owner not in parts]
    if any(hit.depth > TOLERANCE for hit in around) or stage.hit(stage.idle(), stage.wearer.hold) is not None:
        raise RefusedError("NO_ROOM", name, act.at.things[name].at or "")
    stage.engine.release(name)
    stage.settle(stage.idle(), stage.wearer.gaze)
    act.emit("arrived", object=name)


INCIDENTS: Final[Mapping[Incident, Callable[[Act, Poses], None]]] = {"falls": falls, "arrives": arrives}
"""Event -> what it does to the stage; a RefusedError leaves it due."""
