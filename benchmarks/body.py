"""The wearer's arms and hands: both solvers against one another, and how hands fit the things of the catalogue.

python benchmarks/body.py [--targets N] [--things N]
"""

from __future__ import annotations

import argparse
import platform
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice

import numpy as np

from iwkit import __version__
from iwkit.library import Library
from iwkit_runtime.actions.grips import Shape, goals
from iwkit_runtime.assets.build import build_asset
from iwkit_runtime.body import arms
from iwkit_runtime.body.hands import grip_frame
from iwkit_runtime.body.model import Body, joint, load_body
from iwkit_runtime.body.pose import JOINTS, BodyPose
from iwkit_runtime.body.posture import stand
from iwkit_runtime.body.wrap import curled, wrapped
from iwkit_runtime.physical.field import field_at
from iwkit_runtime.physical.spec import Asset, Floats

LEAVES, JUMPS = 60, 20
"""Frames of a curve that an arm follows, and how many such curves there are."""


def targets(body: Body, at: BodyPose, count: int) -> list[tuple[Floats, Floats]]:
    """Right wrists (3,) and hand rotations (3, 3) of arms drawn evenly within their limits."""
    rng = np.random.default_rng(0)
    found = []
    for angles in arms.LOW + (arms.HIGH - arms.LOW) * rng.random((count, len(arms.ANGLES))):
        wrist = joint(body.forward(arms.posed(at.pose, "right", angles), at.translation), "right_wrist")
        found.append((wrist[:3, 3], wrist[:3, :3]))
    return found


def solved(body: Body, at: BodyPose, wanted: Sequence[tuple[Floats, Floats]], how: str) -> str:
    """A cell of the table: the share that is reached, how far off at most, and how long one takes."""
    start, errors = time.perf_counter(), []
    for point, hand in wanted:
        directions = {
            "wrist": {},
            "wrist and palm": {"palm": -hand[:, 1]},
            "wrist, palm and fingers": {"palm": -hand[:, 1], "fingers": -hand[:, 0], "most": 0.0},
        }[how]
        found = arms.reach(body, at, "right", point, **directions)
        if found is not None:
            there = joint(body.forward(*found.body), "right_wrist")[:3, 3]
            errors.append(float(np.linalg.norm(there - point)))
    took = (time.perf_counter() - start) / len(wanted) * 1e3
    return f"{len(errors) / len(wanted):.1%}, {max(errors, default=0) * 1e3:.2f} mm, {took:.1f} ms"


def followed(body: Body, at: BodyPose) -> str:
    """How often an arm that follows a line before the wearer gets to its end, and its largest step of an angle."""
    rng = np.random.default_rng(1)
    whole, largest = 0, 0.0
    for _ in range(JUMPS):
        a, b = rng.uniform((0.25, -0.35, 0.85), (0.5, 0.1, 1.35), (2, 3))
        near = None
        for share in np.linspace(0, 1, LEAVES):
            found = arms.reach(body, at, "right", a + share * (b - a), near=near)
            if found is None:
                break
            if near is not None:
                largest = max(largest, float(np.degrees(np.abs(found.angles - near).max())))
            near = found.angles
        else:
            whole += 1
    return f"{whole} of {JUMPS}, {largest:.0f} degrees"


def solver_table(count: int) -> Iterator[str]:
    """Swivel and descent beside one another."""
    body = load_body()
    at = body.placed(stand(body), 0, 0, 0)
    wanted = targets(body, at, count)
    both = {"swivel": body, "ccd": replace(body, solver="ccd")}
    yield "| | " + " | ".join(both) + " |"
    yield "| --- |" + " --- |" * len(both)
    for how in ("wrist", "wrist and palm", "wrist, palm and fingers"):
        yield (
            f"| {how}: reached, off by at most, time | "
            + " | ".join(solved(one, at, wanted, how) for one in both.values())
            + " |"
        )
    yield (
        "| lines followed to the end, largest step of an angle | "
        + " | ".join(followed(one, at) for one in both.values())
        + " |"
    )


def hand_table(count: int) -> Iterator[str]:
    """How the hand fits each portable thing in the first way in which it would be taken."""
    library, body = Library(), load_body()
    tally: Counter[tuple[str, str]] = Counter()
    times: list[float] = []
    names = [name for name, category in library.catalogue.categories.items() if category.kind == "object"]
    for name in islice(names, count):
        asset = build_asset(name, library.catalogue.categories[name], library.recipes.get(name))
        grip, thing, middle = first_way(body, asset)
        distance = field_at(asset, middle)
        start = time.perf_counter()
        before = curled(body, "right", grip, thing, distance)
        after = wrapped(body, "right", grip, thing, distance)
        times.append(time.perf_counter() - start)
        tally[grip.family, "things"] += 1
        tally[grip.family, "at once"] += before.holds
        tally[grip.family, "turned"] += after.holds
        tally[grip.family, "fingers"] += int(after.touching.sum())
    yield "| family | things | hold at once | hold with the wrist turned | fingers that touch |"
    yield "| --- | --- | --- | --- | --- |"
    for family in sorted({family for family, _ in tally}):
        things, at_once, turned, fingers = (tally[family, k] for k in ("things", "at once", "turned", "fingers"))
        yield f"| {family} | {things} | {at_once / things:.0%} | {turned / things:.0%} | {fingers / things:.1f} |"
    median, late = np.quantile(times, (0.5, 0.95)) * 1e3
    yield ""
    yield f"Fitting a hand takes {median:.0f} ms, p95 {late:.0f} ms, the voxels of the thing not counted."


def first_way(body: Body, asset: Asset) -> tuple[object, Floats, tuple[float, float, float]]:
    """The grip that a thing at the origin is taken with first, where the thing is in the frame of the wrist, and the
    middle of the grip."""
    shape = Shape([piece.vertices for link in asset.links for piece in link.pieces], 0.0)
    level = next(one for style in goals(shape) for one in style if len(one))
    local = grip_frame(body, np.broadcast_to(np.eye(4), (len(JOINTS), 4, 4)), "right", level.grip)
    grip = np.eye(4)
    grip[:3, :3], grip[:3, 3] = level.frames[0], level.targets[0]
    x, y, z = level.targets[0].tolist()
    return level.grip, np.linalg.inv(grip @ np.linalg.inv(local)), (x, y, z)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--targets", type=int, default=1000, help="random wrists (default 1000)")
    parser.add_argument("--things", type=int, default=10_000, help="categories at most")
    options = parser.parse_args()
    day = datetime.now(UTC).date().isoformat()
    print(f"iwkit {__version__}, {day}, Python {platform.python_version()}, {platform.machine()}\n")
    print(*solver_table(options.targets), "", *hand_table(options.things), sep="\n")


if __name__ == "__main__":
    main()
