"""Drafts of packs from the templates of the families, and projects to put them in (BENCH-1).

A draft is a whole pack: it is clean before its author has changed a word, so that whatever breaks later was broken by
the last edit.
"""

from __future__ import annotations

import re
import tempfile
import uuid
from collections.abc import Iterator
from functools import cache
from heapq import nsmallest
from itertools import islice, permutations
from pathlib import Path
from typing import Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from iwkit import resources
from iwkit.compile.bind import scene_things
from iwkit.compile.things import Thing
from iwkit.errors import UsageError
from iwkit.families import families
from iwkit.floorplan import route, stance
from iwkit.ledger import write_json
from iwkit.library import LOCK_NAME, Library
from iwkit.schemas import write as write_schemas
from iwkit.source import patterns
from iwkit.spec.family import FamilySpec
from iwkit.spec.lock import Lock
from iwkit.spec.scene import Scene
from iwkit.suggest import ask, closest
from iwkit.world.symbolic import SymbolicWorld
from iwkit_authoring.rehearsal import rehearse
from iwkit_runtime.identity import runtime_digest
from iwkit_validators.suite import validate

TEMPLATE: Final = "template.yaml.j2"
PROJECT: Final = Path(__file__).parent / "project"
"""The files of a new project, named as they will be."""
TABLE: Final = (0.7, 0.35)
"""Least width and depth in metres of a surface that a draft puts things on."""
REACHED: Final = (0.4, 1.1)
"""Height in metres of such a surface."""
CAVITY: Final = 0.22
"""Least width, depth and height in metres of an interior that a draft puts a book into."""
TRIES: Final = 60
"""Choices of furniture that are tried before a scene is said not to suit a family."""
FIRST: Final = 21
"""The first number of a user's own packs: the benchmark has 20 a family."""


class Slots(NamedTuple):
    """The furniture that a template speaks of: two surfaces and two containers that open, by the scene's own names."""

    table: Thing
    place: Thing
    box: Thing
    other_box: Thing


def new(family: str, idea: str, home: Path, scene_id: str = "flat", pack_id: str = "") -> Path:
    """Write a draft for an idea into the project at `home`, and return its path.

    Raises:
        UsageError: no such family or scene, no idea, the id is taken, or the scene has not the furniture that the
            family's template needs.
        Problems: the scene's file is not sound.
    """
    spec = _family(family)
    if not idea.strip():
        raise UsageError("say in a few words what the task is: they become its title")
    library = Library.of_home(home)
    scene = _scene(library, scene_id)
    path = _path(spec, home, pack_id)
    text = next(drafts(spec, " ".join(idea.split()), scene, library, path.stem), None)
    if text is None:
        raise UsageError(
            f"{scene.id} has not the furniture for a draft of {spec.id}: it takes two tables or counters 0.7 m wide "
            "and two cupboards that open; name another --scene (iwkit scene list)"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def init(folder: Path) -> list[Path]:
    """Make a project: one pack, one scene, an empty lock, schemas for editors, an example for continuous integration.

    Raises:
        UsageError: the folder has something in it.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: there is something here already: name a new or an empty folder")
    made = []
    for source in sorted(path for path in PROJECT.rglob("*") if path.is_file()):
        path = folder / source.relative_to(PROJECT).as_posix().replace("dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.read_bytes())
        made.append(path)
    lock = Lock(lock="1.0", runtime=runtime_digest(), packs={})
    write_json(folder / LOCK_NAME, lock.model_dump(mode="json"))
    write_schemas(folder / "schemas")
    pack = new("finding", "a key in one of two like cupboards", folder, "study")
    return [*made, folder / LOCK_NAME, folder / "schemas", pack]


def _family(name: str) -> FamilySpec:
    known = {spec.id: spec for spec in families().values()}
    if name not in known:
        near = ask(closest(name, known))
        raise UsageError(f"no family {name!r}: {near or 'there are ' + ', '.join(sorted(known))}")
    return known[name]


def _scene(library: Library, name: str) -> Scene:
    known = library.scene_ids()
    if name not in known:
        raise UsageError(f"no scene {name!r}: {ask(closest(name, known)) or 'there are ' + ', '.join(known)}")
    return library.scene(name)


def _path(spec: FamilySpec, home: Path, pack_id: str) -> Path:
    """Where the draft goes: by the id given, or the family's letter and the next free number."""
    taken = {path.stem for path in home.rglob("*.yaml")}
    if pack_id and not re.fullmatch(patterns.PACK_ID, pack_id):
        raise UsageError(f"{pack_id!r} is no id: a letter, then letters, digits, _ or -")
    if pack_id in taken:
        raise UsageError(f"{pack_id} is taken by a file of this project: give another --id")
    number = FIRST
    while f"{spec.letter}{number}" in taken:
        number += 1
    return home / spec.id / f"{pack_id or f'{spec.letter}{number}'}.yaml"


def drafts(spec: FamilySpec, idea: str, scene: Scene, library: Library, pack_id: str) -> Iterator[str]:
    """The family's template with each choice of furniture with which it is clean and its oracle passes, the likeliest
    first."""
    folder = resources.root("families") / spec.id
    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=select_autoescape(),
    )
    template = environment.get_template(TEMPLATE)
    guid = str(uuid.uuid4())
    for slots in islice(_choices(scene, library), TRIES):
        text = template.render(
            idea=idea,
            title=_quoted(idea),
            id=pack_id,
            guid=guid,
            path=f"{spec.id}/{pack_id}.yaml",
            scene=scene.id,
            **{slot: _words(thing) for slot, thing in slots._asdict().items()},
        )
        if _sound(text, pack_id, library):
            yield text


def _quoted(text: str) -> str:
    """Text as a YAML scalar on one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _words(thing: Thing) -> dict[str, str]:
    noun = thing.public.removeprefix("the ").upper()
    return {"id": thing.scene_id or thing.name, "public": thing.public, "noun": noun}


def _sound(text: str, pack_id: str, library: Library) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{pack_id}.yaml"
        path.write_text(text, "utf-8")
        report = validate(path, library)
    if report.task is None or report.problems:
        return False
    return not rehearse(report.task, report.task.scripts["oracle"].lines, SymbolicWorld()).failed


def _choices(scene: Scene, library: Library) -> Iterator[Slots]:
    """Choices of furniture, the likeliest first: like cupboards near the table, the place in another room, not far."""
    things = [t for t in scene_things(scene, library.catalogue) if t.kind == "fixture"]
    tables = [t for t in things if _is_table(scene, t)]
    boxes = [t for t in things if _is_box(t)]

    stances = {t.name: stance(scene.fixtures[t.scene_id or t.name])[:2] for t in (*tables, *boxes)}

    @cache
    def far(a: str, b: str) -> float:
        return route(scene, stances[a], stances[b]).length

    def cost(slots: Slots) -> tuple[bool, bool, bool, float]:
        table, place, box, other = slots
        home = {t.name: scene.fixtures[t.scene_id or t.name].room for t in slots}
        apart = far(table.name, place.name) + far(table.name, box.name) + far(box.name, other.name)
        return (
            box.category != other.category,
            home[table.name] == home[place.name],
            bool({table.name, place.name} & {box.name, other.name}),
            apart,
        )

    @cache
    def near(table: str) -> list[tuple[Thing, ...]]:
        """Pairs of containers near a table, the likeliest alone: a large scene has half a million choices."""

        def dear(pair: tuple[Thing, ...]) -> tuple[bool, float]:
            box, other = pair
            return box.category != other.category, far(table, box.name) + far(box.name, other.name)

        return nsmallest(TRIES, permutations(boxes, 2), key=dear)

    every = (Slots(table, place, *pair) for table, place in permutations(tables, 2) for pair in near(table.name))
    yield from sorted(every, key=cost)


def _is_table(scene: Scene, thing: Thing) -> bool:
    top = scene.fixtures[thing.scene_id or thing.name].base + thing.size[2]
    wide = thing.surface is not None and thing.surface[0] >= TABLE[0] and thing.surface[1] >= TABLE[1]
    return wide and "seat" not in thing.traits and REACHED[0] <= top <= REACHED[1]


def _is_box(thing: Thing) -> bool:
    roomy = thing.interior is not None and min(thing.interior) >= CAVITY
    return roomy and "openable" in thing.traits and "device" not in thing.traits and not thing.open
