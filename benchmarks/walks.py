"""Random walks through random clutter: what of the wearer gets into anything, how feet slip, and the limits of its way.

python benchmarks/walks.py [--scenes N] [--walks N] [--first SEED]

Every sampled pose is looked at, and one half way to the next, which no planner has seen.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from staging import staged

from iwkit import __version__
from iwkit.grammar import parse
from iwkit_runtime.body.legs import SIDES, leg_of
from iwkit_runtime.body.pose import BodyPose, blend
from iwkit_runtime.physical.stage import HEAD_CAPSULE, Stage
from iwkit_runtime.physical.trajectory import Frame, Stand
from iwkit_runtime.physical.world import PhysicalWorld

KINDS = ("storage_bin", "laundry_basket", "backpack", "parcel", "boot", "soda_can")
GOALS = {
    "flat": ("counter_1", "desk_1", "sofa_1", "fridge_1", "bookshelf_1", "clothes_washer_1"),
    "infirmary": ("desk_1", "desk_2", "bookshelf_1", "trolley_1", "examination_couch_1"),
}
PLANTED = 0.003
"""Metres above the floor up to which a point of a sole is planted."""
BACK = 100
"""Degrees between heading and travel from which on it is a step back, straight or aslant."""
FREE = 0.45
"""Metres from the wearer, and from one another, at which things are strewn."""


@dataclass
class Found:
    """What was seen on walks, metres and degrees: how deep limbs and trunk, head and eyes, and any of it between two
    frames were in something, and the rest; `back`: frames in which the wearer steps back to get away."""

    walks: int = 0
    frames: int = 0
    back: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    limbs: list[float] = field(default_factory=list)
    head: list[float] = field(default_factory=list)
    between: list[float] = field(default_factory=list)
    slip: list[float] = field(default_factory=list)
    yaw: list[float] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)
    step: list[float] = field(default_factory=list)


def strewn(scene: str, seed: int) -> tuple[PhysicalWorld, list[str]]:
    """A scene with things strewn on its floor where the wearer is not, and where one may walk to."""
    rng = np.random.default_rng(seed)
    entities = {f"goal_{n}": {"fixture": name} for n, name in enumerate(GOALS[scene])}
    entities |= {f"thing_{n}": {"category": kind, "beside": f"goal_{n % 2}"} for n, kind in enumerate(KINDS)}
    task = staged({"scene": scene, "wearer": {"at": "goal_0"}, "entities": entities}, f"WALK{seed}")
    world = PhysicalWorld()
    world.reset(task)
    stage = world.stage
    grid = stage.grid()
    middles = grid.all_centres()[~grid.blocked.ravel()]
    x, y, _ = stage.wearer.stand
    taken = [np.array([x, y])]
    for n in range(len(KINDS)):
        for place in rng.permutation(middles)[:200]:
            turn = float(rng.uniform(0, math.tau))
            pose = ((*place.tolist(), 0.002), (math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2)))
            free = all(np.hypot(*(place - other)) > FREE for other in taken)
            if free and stage.collision.free(poses={f"thing_{n}": pose}):
                stage.engine.hold(f"thing_{n}", pose)
                stage.engine.release(f"thing_{n}")
                stage.sync()
                taken.append(place)
                break
    stage.settle(stage.idle())
    names = [f"goal_{n}" for n in rng.permutation(len(GOALS[scene])).tolist()]
    return world, names


def walks(scenes: Sequence[str], seeds: Sequence[int], most: int) -> Found:
    """Walk from thing to thing in each scene for each seed."""
    found = Found()
    for scene in scenes:
        for seed in seeds:
            world, names = strewn(scene, seed)
            for name in names[:most]:
                stage = world.stage
                joints, start = dict(stage.engine.joints()), stage.wearer.stand
                receipt = world.execute(parse(f"[Walk] <{name}>"))
                found.walks += 1
                if not receipt.ok:
                    found.refused[receipt.code] += 1
                    continue
                looked_at(found, stage, world.trajectory.frames, start, joints)
    return found


def looked_at(
    found: Found, stage: Stage, frames: Sequence[Frame], start: Stand, joints: dict[tuple[str, str], float]
) -> None:
    """Measure the frames of one walk; doors stand in each as they stood then."""
    now = dict(stage.engine.joints())
    before: tuple[BodyPose, Stand] | None = None
    for shown in frames:
        joints |= shown.joints
        stage.collision.update({}, joints)
        found.frames += 1
        limbs, head = depths(stage, shown.body)
        found.limbs.append(limbs)
        found.head.append(head)
        if before is not None:
            if not shown.joints:  # a leaf that moves is not where it was half way
                found.between.append(max(depths(stage, blend(before[0], shown.body, 0.5))))
            found.slip.append(slip(stage, before[0], shown.body))
        last = start if before is None else before[1]
        found.yaw.append(abs(math.degrees(math.remainder(shown.stand.heading - last.heading, math.tau))))
        way = math.dist(last[:2], shown.stand[:2])
        found.step.append(way)
        if way > 1e-4 and not shown.joints:
            travel = math.atan2(shown.stand.y - last.y, shown.stand.x - last.x)
            apart = abs(math.degrees(math.remainder(shown.stand.heading - travel, math.tau)))
            found.back += apart > BACK
            found.apart += [apart] if apart <= BACK else []
        before = shown.body, shown.stand
    stage.collision.update({}, now)


def depths(stage: Stage, body: BodyPose) -> tuple[float, float]:
    """How deep limbs and trunk, and head and eyes, of a body are in anything but the floor, metres."""
    hits = stage.collision.hits(stage.person.shape(body).capsules, ignore=stage.floors)
    limbs = [hit.depth for hit in hits if isinstance(hit.by, int) and hit.by < HEAD_CAPSULE]
    head = [hit.depth for hit in hits if isinstance(hit.by, int) and hit.by >= HEAD_CAPSULE]
    return max(limbs, default=0.0), max(head, default=0.0)


def slip(stage: Stage, a: BodyPose, b: BodyPose) -> float:
    """How far the foot that is planted in both of two frames has moved at the point where it moves least, metres."""
    body, least = stage.person.body, math.inf
    first, second = body.forward(*a), body.forward(*b)
    for side in SIDES:
        sole = leg_of(body, side).sole
        one, two = body.skin(first, sole), body.skin(second, sole)
        down = (one[:, 2] < PLANTED) & (two[:, 2] < PLANTED)
        if down.any():
            least = min(least, float(np.linalg.norm((two - one)[down][:, :2], axis=1).min()))
    return least if math.isfinite(least) else 0.0


def rows(found: Found) -> Iterator[str]:
    """The table."""
    yield "| | median | p99 | most |"
    yield "| --- | --- | --- | --- |"
    lines = {
        "limbs and trunk in anything, mm": (found.limbs, 1e3),
        "head and the 5 cm around the eyes in anything, mm": (found.head, 1e3),
        "any of it half way between two frames, mm": (found.between, 1e3),
        "the planted foot slips from frame to frame, mm": (found.slip, 1e3),
        "turn a frame, degrees": (found.yaw, 1),
        "heading and travel apart, degrees": (found.apart, 1),
        "metres a frame": (found.step, 1),
    }
    for name, (values, factor) in lines.items():
        median, late = np.quantile(values, (0.5, 0.99)) * factor
        yield f"| {name} | {median:.3g} | {late:.3g} | {max(values) * factor:.3g} |"
    refused = ", ".join(f"{code} {count}" for code, count in sorted(found.refused.items())) or "none"
    yield ""
    yield f"{found.walks} walks, {found.frames} frames, {found.back} of them back; refused: {refused}."


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--scenes", type=int, default=20, help="random clutters of each scene (default 20)")
    parser.add_argument("--walks", type=int, default=5, help="walks in each (default 5)")
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    options = parser.parse_args()
    start = time.perf_counter()
    found = walks(tuple(GOALS), range(options.first, options.first + options.scenes), options.walks)
    day = datetime.now(UTC).date().isoformat()
    print(
        f"iwkit {__version__}, {day}, Python {platform.python_version()}, {platform.machine()}, "
        f"{time.perf_counter() - start:.0f} s\n"
    )
    print(*rows(found), sep="\n")


if __name__ == "__main__":
    main()
