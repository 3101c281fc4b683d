"""Random programs in cluttered scenes, legal and illegal, carried out in both worlds: where do they differ?

python benchmarks/differential.py [--programs N] [--steps N] [--first SEED] [--out FILE] [--only-table]

Each step is a line of JSON in FILE; programs that are there already are not played again. After a step in which the
worlds differ, the symbolic one takes over what the physical one has measured, so that one difference is told once.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from iwkit import __version__
from iwkit.compile import CompiledTask, compile_pack
from iwkit.errors import GrammarError, Problems, UsageError
from iwkit.grammar import Command, parse, render
from iwkit.library import Library
from iwkit.source.check import check
from iwkit.source.reader import read_text
from iwkit.spec.pack import Pack
from iwkit.trace import Relation
from iwkit.verbs import PRIMITIVES, Primitive
from iwkit.world.base import Receipt
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.physical.layout import Assets, build_scene
from iwkit_runtime.physical.world import PhysicalWorld

SCENES = ("flat", "infirmary", "office", "restaurant", "house", "hotel")
THINGS = (
    "knife", "bread_loaf", "tomato", "apple", "potato", "coffee_cup", "mug", "plate", "bowl", "tray", "cooking_pot",
    "frying_pan", "water_bottle", "drinking_glass", "spoon", "sponge", "towel", "cell_phone", "lunch_box",
    "packing_box", "book", "stapler", "soda_can", "milk_carton", "parcel", "folder", "basket", "laptop",
)  # fmt: skip
"""What is spread over a scene, some of it twice."""
TWICE = 4
"""One thing in so many is there twice."""
STATES = {"sponge": ["wet"], "mug": ["dirty"], "plate": ["dirty", "wet"], "bread_loaf": ["mouldy_inside"]}
CONTENTS = {"water_bottle": ["water"], "cooking_pot": ["soup"], "mug": ["coffee"]}
GEOMETRIC = ("PATH_BLOCKED", "OUT_OF_REACH", "TRAJECTORY_COLLISION", "NO_ROOM")
"""Codes with which geometry may refuse what makes sense."""
APART = ("became_visible", "left_view", "entered")
"""Events of the view and of the way, which each world has of its own (docs/relations.md)."""
WHERE = frozenset({"near", "at_baseline", "unmoved"})
"""Measured relations that depend on where exactly a thing or the wearer stands; they are counted apart."""
CROWD = 4
"""Things on or in one piece of furniture at most."""
LEGAL = 0.8
"""Share of the steps for which a legal command is looked for."""
TRIES = 12
"""Random arguments tried for a primitive."""

Line = dict[str, Any]
Draw = Callable[[int], int]
"""A number from 0 to below the given one."""


# --- a cluttered scene ------------------------------------------------------------------------------------------------


def cluttered(scene: str, seed: int, library: Library, count: int = len(THINGS)) -> CompiledTask:
    """A task in a scene with things spread over its furniture at random."""
    rng = random.Random(f"{scene} {seed}")
    fixtures = library.scene(scene).fixtures
    categories = library.catalogue.categories
    places = [
        (how, name)
        for name, fixture in fixtures.items()
        for how, trait in (("on", "surface"), ("inside", "container"))
        if trait in categories[fixture.category].affords
    ]
    entities: dict[str, Any] = {}
    for thing in [t for t in THINGS for _ in range(1 + (rng.random() < 1 / TWICE))][:count]:
        how, place = rng.choice(places)
        name = f"{thing}_{sum(n.startswith(thing) for n in entities) + 1}"
        row: dict[str, Any] = {"category": thing, how: place}
        row |= {"is": STATES[thing]} if thing in STATES else {}
        row |= {"contains": CONTENTS[thing]} if thing in CONTENTS else {}
        if _fits({**entities, name: row}, scene, library):
            entities[name] = row
    while True:
        task = _task(scene, entities, library)
        try:
            build_scene(task, Assets.of_library(library))
        except UsageError as error:  # no free place for one of them, whose name comes first
            del entities[str(error).split(" ", 1)[0]]
        else:
            return task


def _fits(entities: dict[str, Any], scene: str, library: Library) -> bool:
    """Whether the last of these has room where it is to begin, among the few that are there."""
    try:
        task = _task(scene, entities, library)
    except Problems:
        return False
    thing = task.things[next(reversed(entities))]
    place = task.things[thing.at or ""]
    room = place.interior if thing.place == "inside" else place.surface
    if room is None or "seat" in place.traits:
        return False
    beside = [name for name, row in entities.items() if place.name in (row.get("on"), row.get("inside"))]
    return all(a < 0.8 * b for a, b in zip(thing.size, room, strict=False)) and len(beside) <= CROWD


def _task(scene: str, entities: dict[str, Any], library: Library) -> CompiledTask:
    lines = [{"when": "handoff", "say": "Wait a moment.", "do": ["[Wait]"]}, {"done": True}]
    control = {"fails": ["gone"], "lines": lines}
    words = ("question", "evidence", "help_needed", "information_gap", "success", "without_help")
    start = next(iter(library.scene(scene).rooms))
    goal = {"score": "state", "achieve": [{"id": "gone", "that": {"happened": {"entered": "any"}}}]}
    opening = [{"id": "o1", "do": "[Wait]"}]
    data = {
        "taskpack": "1.0", "id": "RANDOM", "family": "finding", "source_family": "FIND", "title": "Random.",
        "guid": "3f0c2b8e-5a55-4b8f-9a53-0d7c0f10aa09", "capabilities": ["C1"],
        "contract": dict.fromkeys(words, "Random."),
        "physical": {
            "scene": scene, "wearer": {"at": start}, "entities": entities, "opening": opening, "goal": goal,
        },
        "interaction": {
            "public": "Random.", "human": {"context": "Random."}, "handoff": "Random.", "oracle": lines,
            "wrong": control, "early": control, "budget": {"ticks": 5, "actions": 5},
        },
    }  # fmt: skip
    document = read_text(json.dumps(data), "RANDOM.yaml")
    return compile_pack(document, check(document, Pack), library)


# --- random commands --------------------------------------------------------------------------------------------------


def command(draw: Draw, task: CompiledTask, world: SymbolicWorld, done: Counter[str]) -> Command:
    """A random command: legal more often than not, of the primitives that have come least often so far."""
    names = tuple(task.things)
    if draw(1000) >= 1000 * LEGAL:
        return _of(draw, PRIMITIVES[draw(len(PRIMITIVES))], names, task)
    order = sorted(PRIMITIVES, key=lambda p: (done[p.name] + draw(3), draw(1000)))
    for primitive in order:
        for _ in range(TRIES):
            found = _of(draw, primitive, names, task)
            if legal(world, found):
                return found
    return parse("[Wait] 1")


def legal(world: SymbolicWorld, found: Command) -> bool:
    """Whether the symbolic world would do it as it is now."""
    before = world.snapshot()
    ok = world.execute(found).ok
    world.restore(before)
    return ok


def _of(draw: Draw, primitive: Primitive, names: Sequence[str], task: CompiledTask) -> Command:
    """A random command of a primitive, in the form in which people write it."""
    verb = primitive.verbs[draw(len(primitive.verbs))]
    objects = [name for name in names if task.things[name].kind == "object"]
    parts = [f"[{verb}]"]
    for n in range(len(primitive.args) - primitive.optional):
        pool = objects if n == 0 and draw(10) < 8 and primitive.name in HANDLED else names
        parts.append("<peg> (0)" if n in primitive.connectors else f"<{pool[draw(len(pool))]}>")
    try:
        return parse(" ".join(parts))
    except GrammarError:
        return parse("[Wait] 1")


HANDLED = frozenset(
    {"pick", "place", "place_inside", "place_on_floor", "flip", "fall_to_floor", "cook", "cut", "answer_phone"}
)
"""Primitives whose first argument is an object."""


# --- both worlds ------------------------------------------------------------------------------------------------------


class Pair:
    """Both worlds in one task."""

    def __init__(self, task: CompiledTask, physical: PhysicalWorld) -> None:
        self.task, self.physical, self.symbolic = task, physical, SymbolicWorld()
        physical.reset(task)
        self.symbolic.reset(task)
        self.agree()
        self._known = self._apart()

    def agree(self) -> None:
        """The symbolic world takes over what the physical one has measured."""
        self.symbolic.restore(self.physical.snapshot()["mind"])

    def mark_baseline(self) -> None:
        """The handoff, in both."""
        self.physical.mark_baseline()
        self.symbolic.mark_baseline()
        self._known = self._apart()

    def step(self, asked: Command) -> Line:
        """Carry out a command in both worlds, and say in what they differ. Where exactly the wearer stands is each
        world's own, so the symbolic one is asked for the place where the physical wearer stands."""
        self._stand_alike()
        before, was = self.physical.snapshot(), self.symbolic.snapshot()
        began = time.perf_counter()
        mine = self.physical.execute(asked)
        line: Line = {"command": render(asked), "seconds": round(time.perf_counter() - began, 3)}
        other = self.symbolic.execute(asked)
        line |= {"physical": mine.code, "symbolic": other.code, "primitive": asked.primitive}
        if not mine.ok:
            line["text"] = mine.text
            line["changed"] = mine.code != "POSTCONDITION_FAILED" and json.dumps(before) != json.dumps(
                self.physical.snapshot()
            )
        if not mine.ok and other.ok:
            self.symbolic.restore(was)
            if mine.code == "POSTCONDITION_FAILED":
                self.agree()
                self._known = self._apart()
            return line
        if mine.ok and other.ok:
            line |= self._differences(asked, mine, other)
        return line

    def _stand_alike(self) -> None:
        here, there = self.symbolic.snapshot(), self.physical.snapshot()["mind"]["state"]["wearer"]
        wearer = {**here["state"]["wearer"], **{key: there[key] for key in ("x", "y", "heading", "room")}}
        self.symbolic.restore({**here, "state": {**here["state"], "wearer": wearer}})

    def _differences(self, asked: Command, mine: Receipt, other: Receipt) -> Line:
        found: Line = {}
        events = [self._told(asked, receipt) for receipt in (mine, other)]
        if events[0] != events[1]:
            found["events"] = events
        apart = self._apart()
        new = sorted(apart - self._known)
        found["relations"] = [list(r) for r in new if not self._own_way(asked, r)]
        found["where"] = [list(r) for r in new if self._own_way(asked, r)]
        if new or found.get("events"):
            self.agree()
            apart = self._apart()
        self._known = apart
        return found

    def _told(self, asked: Command, receipt: Receipt) -> list[list[Any]]:
        """The events of a receipt but those that are each world's own: of the view, of the way, where a drop ends."""
        named = {ref.name for ref in asked.args}
        kept = []
        for happening in receipt.happenings:
            on_the_way = happening.kind == "opened" and happening.roles["object"] not in named
            if happening.kind not in APART and not on_the_way:
                roles = {**happening.roles, **({"to": ""} if asked.primitive == "release" else {})}
                kept.append([happening.kind, *map(str, roles.values())])
        return kept

    def _own_way(self, asked: Command, relation: Relation) -> bool:
        """Whether worlds may differ in a relation (docs/relations.md): where exactly something stands, which doors are
        opened on the way, on which side of a door the wearer is, where a dropped thing comes to rest."""
        kind, thing = relation[0].removeprefix("-"), relation[1]
        named = {ref.name for ref in asked.args}
        if kind in WHERE or (
            kind in ("open", "closed") and self.task.things[thing].kind == "door" and thing not in named
        ):
            return True
        if kind == "in_room":
            return thing in ("wearer", self.physical.held())
        return asked.primitive == "release" and kind in ("on", "inside", "on_floor")

    def _apart(self) -> set[Relation]:
        """The relations in which the worlds differ now: `-` before those that only the symbolic one has."""
        mine = {r for r in self.physical.relations() if r[0] != "visible"}
        other = {r for r in self.symbolic.relations() if r[0] != "visible"}
        x, y, _ = self.physical.stage.wearer.stand
        here = self.symbolic.snapshot()
        wearer = {**here["state"]["wearer"], "x": x, "y": y}
        self.symbolic.restore({**here, "state": {**here["state"], "wearer": wearer}})
        near = {r for r in self.symbolic.relations() if r[0] == "near"}
        self.symbolic.restore(here)
        other = {r for r in other if r[0] != "near"} | near
        return {*(mine - other), *((f"-{r[0]}", *r[1:]) for r in other - mine)}


def program(seed: int, steps: int, physical: PhysicalWorld, library: Library) -> Iterator[Line]:
    """One random program, step by step."""
    scene = SCENES[seed % len(SCENES)]
    pair = Pair(cluttered(scene, seed, library), physical)
    rng, done = random.Random(seed), Counter[str]()
    for n in range(steps):
        if n == 3:
            pair.mark_baseline()
        asked = command(rng.randrange, pair.task, pair.symbolic, done)
        line = pair.step(asked)
        done[asked.primitive] += 1
        yield {"seed": seed, "scene": scene, "step": n, **line}


# --- the table --------------------------------------------------------------------------------------------------------


def table(lines: Iterable[Line]) -> str:
    """What came of all programs, as markdown."""
    lines = list(lines)
    legal_ = [line for line in lines if line["symbolic"] == "OK"]
    illegal = [line for line in lines if line["symbolic"] != "OK"]
    refused = [line for line in legal_ if line["physical"] in GEOMETRIC]
    failed = [line for line in legal_ if line["physical"] not in (*GEOMETRIC, "OK")]
    events = [line for line in legal_ if line.get("events")]
    relations = [line for line in legal_ if line.get("relations")]
    rows = [
        ("steps, of so many programs", f"{len(lines)}, {len({line['seed'] for line in lines})}"),
        ("illegal, refused alike", f"{sum(x['physical'] == x['symbolic'] for x in illegal)} of {len(illegal)}"),
        ("refused, after which the world was another", str(sum(bool(line.get("changed")) for line in lines))),
        ("legal", str(len(legal_))),
        ("refused by geometry", _share(refused, legal_)),
        ("done, but came out otherwise, or another code", _share(failed, legal_)),
        ("other events", _share(events, legal_)),
        ("other relations of place, state or door", _share(relations, legal_)),
    ]
    text = [f"| what | {_stamp()} |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in rows), ""]
    text += ["| refused by geometry | code | steps | of | for example |", "| --- | --- | --- | --- | --- |"]
    of = Counter(line["primitive"] for line in legal_)
    kinds: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in refused:
        kinds[line["primitive"], line["physical"]].append(line)
    for (primitive, code), found in sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0])):
        text.append(f"| {primitive} | {code} | {len(found)} | {of[primitive]} | {found[0]['text']} |")
    text += ["", "Otherwise different:", ""]
    text += [f"- {_where(line)}: {line['physical']} for {line['symbolic']}" for line in failed]
    text += [f"- {_where(line)}: events {line['events']}" for line in events]
    text += [f"- {_where(line)}: {line['relations']}" for line in relations]
    return "\n".join(text)


def _where(line: Line) -> str:
    return f"{line['scene']} {line['seed']}/{line['step']} {line['command']}"


def _share(part: Sequence[Line], whole: Sequence[Line]) -> str:
    return f"{len(part)} ({100 * len(part) / max(1, len(whole)):.1f} %)"


def _stamp() -> str:
    return (
        f"iwkit {__version__}, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {platform.machine()}"
    )


def main(given: Sequence[str] | None = None) -> int:
    """Play programs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=12)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only-table", action="store_true")
    asked = parser.parse_args(given)
    known: list[Line] = []
    if asked.out is not None and asked.out.is_file():
        known = [json.loads(line) for line in asked.out.read_text("utf-8").splitlines()]
    have = {line["seed"] for line in known}
    physical, library = PhysicalWorld(), Library()
    wanted = () if asked.only_table else range(asked.first, asked.first + asked.programs)
    for seed in wanted:
        if seed in have:
            continue
        played = list(program(seed, asked.steps, physical, library))
        known += played
        if asked.out is not None:
            with asked.out.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in played)
        print(f"{seed}: {len(played)} steps", file=sys.stderr)
    print(table(known))
    return 0


if __name__ == "__main__":
    sys.exit(main())
