"""How well the body picks and places in random situations, beside what an independent grid finds feasible.

python benchmarks/pick_place.py [--limit N] [--seed FIRST] [--workers N] [--out FILE] [--only-table]

Each situation is a line of JSON in FILE; seeds that are there already are not played again. `situations.py` draws
them, `feasible.py` judges what can be done at all, `iwkit_runtime.audit` what was done.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import platform
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from feasible import Room, Witness, can_put, can_take
from situations import Situation, draw, regions

from iwkit import __version__
from iwkit.grammar import parse
from iwkit_runtime.audit.checks import CHECKS
from iwkit_runtime.audit.film import Film, links, the_body, turned
from iwkit_runtime.audit.limits import LIMITS
from iwkit_runtime.audit.sound import sound
from iwkit_runtime.body.pose import INDEX, BodyPose
from iwkit_runtime.physical.scene_spec import Joints, Poses
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.recording import Interval, Recording

PRIMITIVES = ("grab", "put")
DEPTHS = ("limbs", "contact", "eyes", "load", "final")
SLIPS = ("hand", "held", "held_turn", "slip", "jolt")
BANDS = (0.3, 0.7, 1.1, 1.5)
"""Limits in metres between the bands of height."""
DRIFT, TURNED = 0.01, math.cos(math.radians(5))
"""What moved more than so many metres, or turned more (cosine), has been moved."""
GRASP = 0.3
"""A thing is in the hand if its nearest corner is no further from the wrist, metres."""
RESTING, WITHIN = 0.02, 0.6
"""Metres above or below a board on which a thing lies; least share of its height that is inside an interior."""
FLOOR = 0.003
"""Metres by which the box of an interior may begin above its board: a sheet of paper is no thicker."""
SEEDS = 12
"""Seeds that are named for one kind of failure."""

Line = dict[str, Any]


class Moment(NamedTuple):
    """Where everything is, and the wearer."""

    poses: Poses
    joints: Joints
    body: BodyPose


# --- one situation ----------------------------------------------------------------------------------------------------


def play(seed: int, world: PhysicalWorld) -> Line:
    """Draw a situation, judge it by the grid, have it done, and check what came of it."""
    situation = draw(seed, world)
    start, stand = _moment(world), world.stage.wearer.stand
    line: Line = {
        "seed": seed, "thing": situation.categories[0], "from": situation.categories[1], "to": situation.categories[2],
        "source": situation.source, "target": situation.target, "how": situation.how,
        "height": round(situation.height, 3), "clutter": situation.clutter,
    }  # fmt: skip
    ways = (can_take(_room(world), "thing"), can_put(_room(world), "thing", "there", situation.how))
    line["put_feasible"] = ways[1] is not None
    intervals = []
    for step, (name, command, way) in enumerate(zip(PRIMITIVES, situation.commands, ways, strict=True), start=1):
        before = _moment(world)
        began, used = time.perf_counter(), time.process_time()
        receipt = world.execute(parse(command))
        line[name] = {
            "feasible": way is not None, "way": _told(way), "code": receipt.code, "text": receipt.text,
            "ok": receipt.ok, "seconds": round(time.perf_counter() - began, 3),
            "cpu": round(time.process_time() - used, 3), "frames": receipt.frames,
            "true": _is_so(name, situation, world),
            "moved": _others(before.poses, world.stage.engine.poses(), "thing"),
        }  # fmt: skip
        frames = world.trajectory.frames
        intervals.append(Interval(step, command, receipt.code, receipt.frames, receipt.happenings, frames))
        if not receipt.ok:
            break
    recording = Recording(
        f"SAMPLE-{seed}", situation.task, world.stage.spec, start.poses, start.joints, start.body, stand,
        tuple(intervals), (),
    )  # fmt: skip
    for step, worst in _audited(recording).items():
        line[PRIMITIVES[step - 1]]["audit"] = worst
    return line


def _moment(world: PhysicalWorld) -> Moment:
    stage = world.stage
    return Moment(stage.engine.poses(), stage.engine.joints(), stage.idle())


def _room(world: PhysicalWorld) -> Room:
    x, y, _ = world.stage.wearer.stand
    return Room(world.stage.spec, world.stage.engine.poses(), world.stage.engine.joints(), (x, y))


def _told(way: Witness | None) -> Line | None:
    if way is None:
        return None
    rounded = {key: round(float(value), 3) for key, value in way._asdict().items() if key != "arm"}
    return rounded | {"arm": way.arm.round(3).tolist()}


def _others(before: Poses, after: Poses, name: str) -> list[str]:
    """What else has been moved."""
    found = []
    for other, (at, turn) in before.items():
        place, now = after[other]
        same = abs(float(np.dot(turn, now)))  # cosine of half the angle
        if other != name and (math.dist(at, place) > DRIFT or 2 * same * same - 1 < TURNED):
            found.append(other)
    return found


def _is_so(primitive: str, situation: Situation, world: PhysicalWorld) -> bool:
    """Whether the thing is where a receipt of success says: at the right wrist, or on or in the target."""
    stage = world.stage
    poses, joints = stage.engine.poses(), stage.engine.joints()
    at, turn = poses["thing"]
    corners = np.concatenate([p.vertices for k in stage.placed["thing"].asset.links for p in k.pieces])
    corners = corners @ turned(turn).T + at
    if primitive == "grab":
        wrist = the_body().forward(*stage.idle())[INDEX["right_wrist"], :3, 3]
        return bool(np.linalg.norm(corners - wrist, axis=1).min() < GRASP)
    holder = stage.placed["there"]
    frames = links(holder, poses, joints)
    for region in regions(holder.asset, situation.how):
        frame = frames[region.link]
        local = (corners - frame.at) @ frame.turn - region.centre
        middle, half = (local.min(0) + local.max(0)) / 2, np.array(region.size) / 2
        if (np.abs(middle[:2]) > half[:2]).any():
            continue
        bottom, top = local[:, 2].min() + half[2], local[:, 2].max() + half[2]
        share = (min(top, region.size[2]) - max(bottom, -FLOOR)) / max(top - bottom, 1e-9)
        if abs(bottom) < RESTING if situation.how == "surface" else share >= WITHIN:
            return True
    return False


def _audited(recording: Recording) -> dict[int, dict[str, float]]:
    """Worst figure of each check in each command; a film that is not sound has only those figures."""
    found: dict[int, dict[str, float]] = defaultdict(dict)

    def note(measures: Iterable[Any]) -> None:
        for check, value, place, _ in measures:
            step = max(place.step, 1)
            if step > len(recording.intervals):
                continue
            found[step][check] = max(found[step].get(check, 0.0), round(float(value), 5))

    note(sound(recording))
    film = Film(recording)
    for checks in CHECKS:
        note(checks(film))
    return found


# --- many -------------------------------------------------------------------------------------------------------------

_WORLD: list[PhysicalWorld] = []


def one(seed: int) -> Line:
    """`play` in a world of this process; what goes wrong in the measurement itself becomes a line, too."""
    if not _WORLD:
        _WORLD.append(PhysicalWorld())
    try:
        return play(seed, _WORLD[0])
    except Exception as error:  # one situation that breaks must not end a run of hours
        _WORLD.clear()
        return {"seed": seed, "broken": f"{type(error).__name__}: {error}"}


def run(seeds: Sequence[int], workers: int, out: Path) -> None:
    """Play situations and append their lines as they are done."""
    with out.open("a", encoding="utf-8") as file, multiprocessing.get_context("spawn").Pool(workers) as pool:
        for count, line in enumerate(pool.imap_unordered(one, seeds), start=1):
            file.write(json.dumps(line) + "\n")
            file.flush()
            if count % 25 == 0:
                print(f"{count} of {len(seeds)}", file=sys.stderr)


def read(path: Path) -> list[Line]:
    """The lines of a file; one that was torn off is left out and played again."""
    found = []
    for text in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            found.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return found


# --- the tables -------------------------------------------------------------------------------------------------------


def share(part: int, whole: int) -> str:
    """A share with its 95 % interval (Wilson)."""
    if not whole:
        return "-"
    z, p = 1.96, part / whole
    middle, spread = p + z * z / (2 * whole), z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    low, high = ((middle + sign * spread) / (1 + z * z / whole) for sign in (-1, 1))
    return f"{part} of {whole}, {100 * p:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def tables(lines: Sequence[Line]) -> str:
    """The tables of a page, as markdown."""
    good = [line for line in lines if "broken" not in line]
    broken = [line for line in lines if "broken" in line]
    parts = [_outcomes(good), _figures(good), _failures(good)]
    if broken:
        kinds = Counter(line["broken"].split(":")[0] for line in broken)
        parts.append(f"Not measured: {dict(kinds)}, seeds {', '.join(str(line['seed']) for line in broken[:SEEDS])}.")
    return "\n\n".join(parts)


def _tried(lines: Sequence[Line], name: str) -> list[Line]:
    return [line[name] for line in lines if name in line]


def _audit_failures(row: Line) -> list[str]:
    return [check for check, value in row.get("audit", {}).items() if value > LIMITS[check].value]


def _outcomes(lines: Sequence[Line]) -> str:
    rows = [_outcome(name, _tried(lines, name)) for name in PRIMITIVES]
    rows.append(_outcome("both", [_joined(line) for line in lines]))
    head = (
        "command", "tried", "feasible", "done of the feasible", "done of what the grid finds infeasible",
        "done, but not so", "done, but another thing moved", "done, but the audit complains",
    )  # fmt: skip
    return _table(head, rows)


def _joined(line: Line) -> Line:
    """Both commands as one row."""
    rows = [line[name] for name in PRIMITIVES if name in line]
    return {
        "feasible": line["grab"]["feasible"] and line["put_feasible"],
        "ok": len(rows) == len(PRIMITIVES) and all(row["ok"] for row in rows),
        "true": all(row["true"] for row in rows),
        "moved": [name for row in rows for name in row["moved"]],
        "audit": {n: v for row in rows for n, v in row.get("audit", {}).items() if v > LIMITS[n].value},
    }


def _outcome(name: str, tried: Sequence[Line]) -> tuple[str, ...]:
    able, unable = [r for r in tried if r["feasible"]], [r for r in tried if not r["feasible"]]
    done = [r for r in tried if r["ok"]]
    beyond = [r for r in unable if r["ok"]]
    return (
        name, str(len(tried)), share(len(able), len(tried)), share(sum(r["ok"] for r in able), len(able)),
        f"{len(beyond)} of {len(unable)} ({sum(not _audit_failures(r) for r in beyond)} pass the audit)",
        str(sum(not r["true"] for r in done)), str(sum(bool(r["moved"]) for r in done)),
        str(sum(bool(_audit_failures(r)) for r in done)),
    )  # fmt: skip


def _figures(lines: Sequence[Line]) -> str:
    rows = []
    for name in PRIMITIVES:
        tried = _tried(lines, name)
        done = [row for row in tried if row["ok"]]
        rows.append(
            _spread(f"{name}: seconds of a core to plan and carry out", [r["cpu"] for r in done], "0.15 s, p95 0.5 s")
        )
        refused = [r["cpu"] for r in tried if not r["ok"]]
        rows.append(_spread(f"{name}: seconds of a core until it is refused", refused, "none"))
        for check in (*DEPTHS, *SLIPS):
            values = [r["audit"][check] for r in done if check in r.get("audit", {})]
            limit = LIMITS[check]
            rows.append(_spread(f"{name}: {limit.what} ({check})", values, f"{limit.value:g} {limit.unit}"))
    kept = [row for row in rows if row is not None]
    return _table(("figure", "median", "p95", "worst", "samples", "limit"), kept)


def _spread(what: str, values: Sequence[float], limit: str) -> tuple[str, ...] | None:
    if not values:
        return None
    figures = (float(np.quantile(values, q)) for q in (0.5, 0.95, 1.0))
    return (what, *(f"{v:.4f}" if v < 0.1 else f"{v:.2f}" for v in figures), str(len(values)), limit)


def _failures(lines: Sequence[Line]) -> str:
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for line in lines:
        for name in PRIMITIVES:
            for what in _faults(line.get(name)):
                kind = line["source"] if name == "grab" else f"{line['target']}, {line['how']}"
                way = line[name]["way"]
                height = line["height"] if name == "grab" or way is None else way["height"]
                found[name, what, kind, band(height)].append(line["seed"])
    rows = []
    for key, seeds in sorted(found.items(), key=lambda item: (item[0][:2], -len(item[1]), item[0])):
        named = ", ".join(map(str, seeds[:SEEDS])) + (", ..." if len(seeds) > SEEDS else "")
        rows.append((*key, str(len(seeds)), named))
    return _table(("command", "what", "furniture", "height, m", "times", "seeds"), rows)


def _faults(row: Line | None) -> Iterator[str]:
    """What is wrong with how a command went."""
    if row is None:
        return
    if not row["ok"]:
        if row["feasible"]:
            yield row["code"]
        return
    if not row["feasible"]:
        yield "done, the grid finds no way"
    if not row["true"]:
        yield "done, but not so"
    if row["moved"]:
        yield "done, another thing moved"
    yield from (f"done, audit: {check}" for check in _audit_failures(row))


def band(height: float) -> str:
    """The band of heights in which a height is."""
    limits = (0.0, *BANDS, 2.0)
    n = sum(height >= limit for limit in BANDS)
    return f"{limits[n]:g} to {limits[n + 1]:g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def stamp(lines: Sequence[Line]) -> str:
    """When and with what it was measured."""
    seeds = sorted(line["seed"] for line in lines)
    return (
        f"iwkit {__version__}, {datetime.now(UTC).date().isoformat()}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {len(lines)} situations, "
        f"seeds {seeds[0]} to {seeds[-1]}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=100, help="how many situations (default 100)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--out", type=Path, help="file of lines that are kept and continued (default: none is kept)")
    parser.add_argument("--only-table", action="store_true", help="print the tables of --out and play nothing")
    given = parser.parse_args()
    if min(given.limit, given.workers) < 1 or given.seed < 0:
        parser.error("--limit and --workers must be at least 1, --seed at least 0")
    if given.only_table and (given.out is None or not read(given.out)):
        parser.error("--only-table needs --out with a file that has lines")
    with tempfile.TemporaryDirectory() as folder:
        out = given.out or Path(folder) / "lines.jsonl"
        if not given.only_table:
            there = {line["seed"] for line in read(out)}
            run([s for s in range(given.seed, given.seed + given.limit) if s not in there], given.workers, out)
        lines = read(out)
    print(f"{stamp(lines)}\n\n{tables(lines)}")


if __name__ == "__main__":
    main()
