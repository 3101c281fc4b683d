"""A task in the symbolic and the physical world, compared step by step."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iwkit import resources
from iwkit.compile import CompiledTask, load_task
from iwkit.floorplan import Box, floor
from iwkit.grammar import parse
from iwkit.ledger import Journal, read_records
from iwkit.predicates import PREDICATES
from iwkit.trace import Relation
from iwkit.world.base import Receipt
from iwkit.world.layout import Layout
from iwkit.world.situation import Situation
from iwkit.world.state import State
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.play import play

FILES = {path.stem: path for path in resources.root("taskpacks").glob("*/*.yaml")}
MEASURED = frozenset(name for name, row in PREDICATES.items() if row.source == "geometry")
SIGHT = ("became_visible", "left_view")
HANDOFF = None

Difference = tuple[str, *tuple[str, ...]]
"""The command after which the worlds differ, and in what: a relation, `events`, `text`, or a wearer who `leaps`."""

PUT_BACK = ("W12",)
"""Packs in which a thing is put back from another side than it was taken from: its old place may be out of reach then
(docs/relations.md), so that `at_baseline` and `unmoved` of it are not compared."""

BEHIND, FEET = 100.0, 1.2
"""What lies wholly further aside of where the eyes look than this, degrees, is not in the picture, whose half width is
45; unless it is at one's feet, nearer than this, metres: there the picture of one who looks down reaches further."""


@dataclass
class Comparison:
    """What came of one programme in both worlds. `seen` counts how often a thing was in view in both, `hidden` how
    often one was in view in neither though the question was asked, and `unjudged` how often the physical world saw
    something of which the symbolic one promises nothing. It ends at a receipt in which they differ (`stopped`): both
    have another history from there on."""

    differences: list[Difference] = field(default_factory=list)
    relations: int = 0
    receipts: int = 0
    seen: int = 0
    hidden: int = 0
    unjudged: int = 0
    stopped: tuple[str, str] | None = None


@cache
def task(pack: str) -> CompiledTask:
    return load_task(FILES[pack])


@cache
def programme(pack: str, script: str) -> tuple[str | None, ...]:
    """Every command that is carried out in an episode with that assistant, in order; HANDOFF where it comes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attempt-001.jsonl"
        with Journal(path) as journal:
            play(task(pack), SymbolicWorld(), journal, {"task": pack}, assistant=script, human="scripted")
        records, _ = read_records(path)
    return tuple(r.get("command", HANDOFF) for r in records if r["kind"] in ("handoff", "step"))


Names = frozenset[str]
Views = tuple[Names, Names]
"""What the physical and the symbolic wearer have in view."""
NOTHING: Views = (frozenset(), frozenset())

Meddler = Callable[[str, PhysicalWorld], None]
"""What is done to the physical world behind the comparison's back after a command."""


class Both:
    """A task in both worlds, compared after each step."""

    def __init__(self, pack: str, physical: PhysicalWorld) -> None:
        self.pack, self.physical, self.symbolic, self.layout = pack, physical, SymbolicWorld(), Layout(task(pack))
        self.found, self.views, self.put_back = Comparison(), NOTHING, frozenset[str]()
        physical.reset(task(pack))
        self.symbolic.reset(task(pack))
        self.found.differences += [("reset", "visible", name) for name in self.unlike()]

    def unlike(self) -> Names:
        return unlike(self.physical, self.symbolic, self.layout, self.found)

    def mark(self) -> Mark:
        found = replace(self.found, differences=[*self.found.differences])
        return Mark(self.physical.snapshot(), self.symbolic.snapshot(), self.views, self.put_back, found)

    def go_to(self, mark: Mark) -> None:
        self.physical.restore(mark.physical)
        self.symbolic.restore(mark.symbolic)
        self.views, self.put_back = mark.views, mark.put_back
        self.found = replace(mark.found, differences=[*mark.found.differences])

    def step(self, text: str | None, meddle: Meddler | None = None) -> None:
        if text is HANDOFF:
            self.physical.mark_baseline()
            self.symbolic.mark_baseline()
            return
        found, command = self.found, parse(text)
        before = shut(situation(self.symbolic, self.layout))
        mine, other = self.physical.execute(command), self.symbolic.execute(command)
        found.receipts += 1
        if meddle is not None:
            meddle(text, self.physical)
        if (mine.ok, mine.code) != (other.ok, other.code):
            found.stopped = (text, mine.code)
            return
        if mine.text != other.text:
            found.differences.append((text, "text"))
        if leaps(self.physical, mine):
            found.differences.append((text, "leaps"))
        if told(mine) != told(other):
            found.differences.append((text, "events"))
        else:
            hidden = before, shut(situation(self.symbolic, self.layout))
            found.differences += [(text, *what) for what in meanwhile(mine, other, self.views, hidden)]
        self.views = frozenset(self.physical.visible()), frozenset(self.symbolic.visible())
        if self.pack in PUT_BACK and command.primitive in ("place", "place_inside") and command.spot is None:
            self.put_back |= {command.args[0].name}
        differ = apart(self.physical, self.symbolic)
        found.differences += [(text, *r) for r in differ if not is_free(r, self.put_back)]
        found.differences += [(text, "visible", name) for name in self.unlike()]
        found.relations += len(self.physical.relations())


class Mark(NamedTuple):
    """How far both worlds have got."""

    physical: dict[str, Any]
    symbolic: dict[str, Any]
    views: Views
    put_back: Names
    found: Comparison


MARKS: dict[tuple[str, tuple[str | None, ...]], Mark] = {}
"""After what commands of a pack: programmes that begin alike are played once up to where they part."""


def undisturbed(pack: str, commands: tuple[str | None, ...], physical: PhysicalWorld) -> Both:
    """Both worlds after these commands, or after the one in which they stopped."""
    both = Both(pack, physical)
    done = max((n for n in range(len(commands) + 1) if (pack, commands[:n]) in MARKS), default=0)
    if done:
        both.go_to(MARKS[pack, commands[:done]])
    for end in range(done + 1, len(commands) + 1):
        both.step(commands[end - 1])
        if both.found.stopped:
            break
        MARKS[pack, commands[:end]] = both.mark()
    return both


def compare(
    pack: str,
    script: str,
    physical: PhysicalWorld,
    until: str,
    meddle: Meddler | None = None,
    since: str | None = None,
) -> Comparison:
    """Play a programme in both worlds up to a command, and compare them after each step. Something is meddled with,
    `since` that command if it is given."""
    commands = programme(pack, script)
    first = 0 if since is None else commands.index(since)
    both = undisturbed(pack, commands[:first], physical)
    for text in commands[first : commands.index(until) + 1]:
        both.step(text, meddle)
        if both.found.stopped:
            break
    return both.found


def is_free(relation: Relation, put_back: set[str]) -> bool:
    """Whether it is each world's own: what is put back without a spot need not get to its old place."""
    return relation[0] in ("at_baseline", "unmoved") and relation[1] in put_back


def leaps(physical: PhysicalWorld, receipt: Receipt) -> bool:
    """Whether the wearer gets on by more than a step from frame to frame, or takes longer than it says."""
    stands = [frame.stand for frame in physical.trajectory.frames]
    far = any(math.dist(a[:2], b[:2]) > 0.1 for a, b in pairwise(stands))
    turned = (math.remainder(b.heading - a.heading, math.tau) for a, b in pairwise(stands))
    return far or any(abs(angle) > math.radians(10) for angle in turned) or len(stands) != receipt.frames


def told(receipt: Receipt) -> list[tuple[object, ...]]:
    """The events of a receipt but those of the view."""
    return [(h.kind, *h.roles.items()) for h in receipt.happenings if h.kind not in SIGHT]


def apart(physical: PhysicalWorld, symbolic: SymbolicWorld) -> list[Relation]:
    """The measured relations but the view in which the worlds differ now."""
    mine = {r for r in physical.relations() if r[0] in MEASURED and r[0] != "visible"}
    return sorted(mine ^ as_if_at(symbolic, *physical.stage.wearer.stand[:2]))


# --- the view -------------------------------------------------------------------------------------------------------


def situation(symbolic: SymbolicWorld, layout: Layout) -> Situation:
    return Situation(layout, State.from_json(symbolic.snapshot()["state"]))


def shut(at: Situation) -> Names:
    """What is in something closed."""
    return frozenset(name for name in at.state.places if at.lid(name) is not None)


def unlike(physical: PhysicalWorld, symbolic: SymbolicWorld, layout: Layout, found: Comparison) -> Names:
    """The things of which one world says that they are in view now and the other one that they aren't, where the
    symbolic one promises something: docs/relations.md."""
    at = situation(symbolic, layout)
    seen, claimed = frozenset(physical.visible()), frozenset(symbolic.visible())
    never = shut(at) | out_of_sight(physical, at)
    judged = claimed | never | at_hand(physical, at)
    found.seen += len(seen & claimed)
    found.hidden += len(never - seen - claimed)
    found.unjudged += len(seen - judged)
    return (seen ^ claimed) & judged


def at_hand(physical: PhysicalWorld, at: Situation) -> Names:
    """What the wearer holds; what is measured to be on or in the fixture that it stands at and has before it; in a
    look around, what is in the room; but for what is shut in."""
    fixture, held = at.state.wearer.at, physical.held()
    relations = physical.relations()
    found = {name for name in (held,) if name is not None}
    if fixture in at.layout.fixtures and at.faces(fixture):
        family = set(at.layout.family(fixture))
        found |= family | {r[1] for r in relations if r[0] in ("on", "inside") and r[2] in family}
    if at.state.look.around:
        here = {r for r in relations if r[0] == "in_room" and r[2] == at.state.wearer.room}
        found |= {r[1] for r in here if r[1] != "wearer"}
        found |= {name for name in at.layout.fixtures if at.room(name) == at.state.wearer.room}
    return frozenset(found) - shut(at)


def out_of_sight(physical: PhysicalWorld, at: Situation) -> Names:
    """What on the plan lies behind the wearer, or behind walls and closed doors, from where its eyes are; behind is
    nothing while it still has in mind what it saw when it looked around."""
    stage, held = physical.stage, physical.held()
    camera = stage.person.camera(stage.idle())
    eye, ahead = camera[:2, 3], math.atan2(-camera[1, 2], -camera[0, 2])
    free = [floor(at.layout.scene, room) for room in at.layout.scene.rooms]
    free += [at.layout.door_box(door) for door in at.layout.door_ids if not at.hides(door)]
    found = set()
    for name, points in footprints(stage).items():
        x, y = (points - eye).T
        aside = np.degrees(np.arctan2(y, x) - ahead)
        behind = np.abs(np.remainder(aside + 180, 360) - 180).min() > BEHIND and np.hypot(x, y).min() > FEET
        if (behind and not at.state.look.around) or not any(open_line(free, eye, point) for point in points):
            found.add(name)
    return frozenset(name for name in found if held is None or not at.carries(held, name))


def footprints(stage: Stage) -> dict[str, Floats]:
    """Points (9, 2) spread over the area on the plan of each thing."""
    pieces: dict[str, list[Floats]] = {}
    for solid in stage.collision.solids():
        if solid.kind in ("fixture", "object"):
            pieces.setdefault(solid.owner, []).append(solid.vertices[:, :2])
    share = np.array([(a, b) for a in (0.02, 0.5, 0.98) for b in (0.02, 0.5, 0.98)])
    ends = {name: np.concatenate(found) for name, found in pieces.items()}
    return {name: v.min(0) + share * (v.max(0) - v.min(0)) for name, v in ends.items()}


def open_line(free: Sequence[Box], start: Floats, end: Floats) -> bool:
    """Whether on the plan a line leads through rooms and openings alone."""
    count = max(2, math.ceil(math.dist(start, end) / 0.03))
    way = start + np.linspace(0, 1, count)[:, None] * (end - start)
    inside = [((box[:2] <= way) & (way <= box[2:])).all(1) for box in map(np.array, free)]
    return bool(np.logical_or.reduce(inside).all())


def meanwhile(mine: Receipt, other: Receipt, views: Views, hidden: tuple[Names, Names]) -> Iterator[Relation]:
    """How the views differ between the other events of a step, in what is promised: what the symbolic wearer sees by
    then, and what is `hidden` before something is opened or closed, and after. Nor does anything that the
    symbolic one keeps in view flicker."""
    rows = zip(*(stretches(receipt, view) for receipt, view in zip((mine, other), views, strict=True)), strict=True)
    now, kept = hidden[0], views[1]
    for (event, seen, flickers), (_, claimed, _) in rows:
        for name in sorted((claimed - seen) | (seen & now)):
            yield ("visible", name)
        for name in sorted(flickers & claimed & kept):
            yield ("flickers", name)
        now, kept = (hidden[1] if event in ("opened", "closed") else now), claimed


def stretches(receipt: Receipt, shown: Names) -> Iterator[tuple[str, Names, Names]]:
    """The view before each event of a receipt that is not of the view, and at the end; with what left it and came back
    since the one before."""
    gone, back = set[str](), set[str]()
    view = set(shown)
    for happening in receipt.happenings:
        name = str(happening.roles.get("object", ""))
        if happening.kind == "became_visible":
            view.add(name)
            back |= {name} & gone
        elif happening.kind == "left_view":
            view.discard(name)
            gone.add(name)
        else:
            yield happening.kind, frozenset(view), frozenset(back)
            gone, back = set(), set()
    yield "end", frozenset(view), frozenset(back)


# --- near -----------------------------------------------------------------------------------------------------------


def as_if_at(symbolic: SymbolicWorld, x: float, y: float) -> set[Relation]:
    """The symbolic world's measured relations but the view. Each world chooses a place to stand of its own, within
    reach of the same thing; so what is near the wearer is asked for the place where the physical one stands."""
    here = symbolic.snapshot()
    state = {**here["state"], "wearer": {**here["state"]["wearer"], "x": x, "y": y}}
    others = {r for r in symbolic.relations() if r[0] in MEASURED and r[0] not in ("near", "visible")}
    symbolic.restore({**here, "state": state})
    near = {r for r in symbolic.relations() if r[0] == "near"}
    symbolic.restore(here)
    return others | near
