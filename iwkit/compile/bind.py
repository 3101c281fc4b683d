"""Binding a pack to its scene and the catalogue: every name becomes a `Thing`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from iwkit.catalogue import interior_size, surface_size, traits
from iwkit.compile.things import Handle, Placing, Thing
from iwkit.digest import digest
from iwkit.problems import Problem
from iwkit.source.document import Document
from iwkit.spec.catalogue import Catalogue, Category
from iwkit.spec.pack import Entity, Pack
from iwkit.spec.scene import Scene
from iwkit.suggest import ask, closest, did_you_mean, snake

RESERVED = frozenset({"wearer", "any", "handoff", "floor"})


def called(things: Mapping[str, Thing]) -> dict[str, str]:
    """Other words for things -> what the pack calls them: what people say, where one thing alone is called so, and
    the scene's own names of what the pack has renamed."""
    words: dict[str, list[str]] = {}
    for thing in things.values():
        for word in {thing.category, *map(snake, thing.nouns)}:
            words.setdefault(word, []).append(thing.name)
    found = {word: names[0] for word, names in words.items() if len(names) == 1}
    found |= {thing.scene_id: thing.name for thing in things.values() if thing.scene_id}
    return {word: name for word, name in found.items() if word not in things}


def unknown(name: str, things: Mapping[str, Thing]) -> str:
    """What to write where `name` is no thing of the pack."""
    if name == "floor":
        return "for the floor write beside: ENTITY, or [PutOnFloor] <thing> <beside what>"
    if other := called(things).get(name):
        return f"it is called `{other}` in this pack"
    return did_you_mean(name, things) or "declare it under entities"


def scene_things(scene: Scene, catalogue: Catalogue) -> Iterator[Thing]:
    """What a scene has without any pack: its rooms, doors and fixtures, each called by its key in the scene."""
    for key, room in scene.rooms.items():
        noun = room.public.removeprefix("the ")
        yield Thing(key, "room", key, frozenset({"room"}), room.public, (noun,), key, declared=False)
    for key, door in scene.doors.items():
        marks = frozenset({"door", "openable"} if door.leaf else {"door"})
        nouns = (door.public.removeprefix("the "), "door")
        is_open = door.open or not door.leaf
        yield Thing(key, "door", "door", marks, door.public, nouns, key, declared=False, open=is_open)
    for key, fixture in scene.fixtures.items():
        category = catalogue.categories[fixture.category]
        yield Thing(
            name=key,
            kind="fixture",
            category=fixture.category,
            traits=traits(category),
            public=fixture.public or f"the {category.public[0]}",
            nouns=category.public,
            scene_id=key,
            declared=False,
            size=fixture.size or category.size,
            surface=surface_size(category, fixture.size) if "surface" in category.affords else None,
            interior=interior_size(category, fixture.size) if "container" in category.affords else None,
            connectors=category.connectors,
            open=fixture.open,
            running=fixture.running,
            process=category.process,
        )


class Binder:
    """Binds one pack; problems are collected, not raised."""

    def __init__(self, doc: Document, pack: Pack, scene: Scene, catalogue: Catalogue) -> None:
        self.doc, self.pack, self.scene, self.catalogue = doc, pack, scene, catalogue
        self.problems: list[Problem] = []
        self.broken: set[str] = set()
        """Entities that could not be bound: what refers to them is not complained about again."""

    def _problem(
        self, path: tuple[str | int, ...], code: str, message: str, hint: str = "", *, key: bool = False
    ) -> None:
        self.problems.append(self.doc.problem(path, code, message, hint, key=key))

    def things(self) -> dict[str, Thing]:
        """Every thing of the task by the name that commands use, declared ones first."""
        found = {thing.name: thing for thing in self._declared()}
        taken = {(thing.kind, thing.scene_id) for thing in found.values() if thing.scene_id}
        for thing in scene_things(self.scene, self.catalogue):
            if (thing.kind, thing.scene_id) in taken:
                continue
            if thing.name in found:
                self._problem(
                    ("physical", "entities", thing.name),
                    "N205",
                    f"entity {thing.name!r} has the name of a {thing.kind} of the scene but is something else",
                    "give the entity another name",
                    key=True,
                )
                continue
            found[thing.name] = thing
        self._check_places(found)
        return found

    def _declared(self) -> Iterator[Thing]:
        used: dict[tuple[str, str], str] = {}
        for name, entity in self.pack.physical.entities.items():
            path = ("physical", "entities", name)
            if name in RESERVED:
                self._problem(path, "N206", f"{name!r} is a word of the language", "choose another name", key=True)
                continue
            thing = self._object(path, name, entity) if entity.category else self._of_scene(path, name, entity)
            if thing is None:
                self.broken.add(name)
                continue
            key = (thing.kind, thing.scene_id or name)
            if thing.scene_id and key in used:
                self._problem(
                    path,
                    "N207",
                    f"{name!r} and {used[key]!r} are the same {thing.kind} of the scene",
                    "name it once",
                    key=True,
                )
            used[key] = name
            yield thing

    def _category(self, path: tuple[str | int, ...], name: str) -> Category | None:
        category = self.catalogue.categories.get(name)
        if category is None:
            self._problem(path, "N204", f"no category {name!r} in the catalogue", _other_category(name, self.catalogue))
        return category

    def _object(self, path: tuple[str | int, ...], name: str, entity: Entity) -> Thing | None:
        assert entity.category is not None  # noqa: S101  narrowed by the caller
        category = self._category((*path, "category"), entity.category)
        if category is None:
            return None
        if category.kind != "object":
            self._problem(
                (*path, "category"),
                "N204",
                f"{entity.category!r} is furniture: a pack places objects, the scene places furniture",
                f"write {{fixture: ...}} with a {entity.category} of scene {self.scene.id!r}",
            )
            return None
        place: Placing = "on" if entity.on else "inside" if entity.inside else "beside"
        return Thing(
            name=name,
            kind="object",
            category=entity.category,
            traits=traits(category),
            public=entity.public or self._phrase(entity, category),
            nouns=category.public,
            size=category.size,
            surface=surface_size(category) if "surface" in category.affords else None,
            interior=interior_size(category) if "container" in category.affords else None,
            connectors=category.connectors,
            place=place,
            at=entity.on or entity.inside or entity.beside,
            spot=entity.spot,
            colour=entity.colour,
            label=entity.label,
            open=bool(entity.open),
            running=bool(entity.running),
            states=frozenset(entity.is_),
            contains=entity.contains,
            process=category.process,
        )

    @staticmethod
    def _phrase(entity: Entity, category: Category) -> str:
        return f"the {entity.colour} {category.public[0]}" if entity.colour else f"the {category.public[0]}"

    def _of_scene(self, path: tuple[str | int, ...], name: str, entity: Entity) -> Thing | None:
        kind = "fixture" if entity.fixture else "room" if entity.room else "door"
        scene_id = entity.fixture or entity.room or entity.door or ""
        tables: dict[str, Collection[str]] = {
            "fixture": self.scene.fixtures,
            "room": self.scene.rooms,
            "door": self.scene.doors,
        }
        table = tables[kind]
        if scene_id not in table:
            hint = did_you_mean(scene_id, table) or f"`iwkit scene show {self.scene.id}` names what is there"
            self._problem((*path, kind), "N203", f"scene {self.scene.id!r} has no {kind} {scene_id!r}", hint)
            return None
        of_scene = scene_things(self.scene, self.catalogue)
        return next(t for t in of_scene if (t.kind, t.scene_id) == (kind, scene_id)).called(name, entity)

    def _check_places(self, things: Mapping[str, Thing]) -> None:
        for thing in [t for t in things.values() if t.kind == "object"]:
            path = ("physical", "entities", thing.name, str(thing.place))
            target = things.get(thing.at or "")
            if target is None:
                if thing.at not in self.broken:
                    self._problem(path, "N201", f"no entity {thing.at!r}", unknown(thing.at or "", things))
                continue
            need = {"on": "surface", "inside": "container"}.get(str(thing.place))
            if need and need not in target.traits:
                self._problem(
                    path,
                    "A401",
                    f"{thing.name!r} cannot begin {thing.place} {target.name!r}: a {target.category} has no "
                    + ("surface" if need == "surface" else "interior"),
                    "put it somewhere else",
                )
            self._check_cycle(thing, things, path)
        self._check_spots(things)

    def _check_spots(self, things: Mapping[str, Thing]) -> None:
        """Objects that are put at one spot. Those without a spot are no matter: the world finds a place for each."""
        taken: dict[tuple[object, ...], str] = {}
        for thing in [t for t in things.values() if t.kind == "object" and t.spot is not None]:
            first = taken.setdefault((thing.place, thing.at, thing.spot), thing.name)
            if first != thing.name:
                message = f"{thing.name!r} and {first!r} begin at the same spot {thing.place} {thing.at!r}"
                path = ("physical", "entities", thing.name, "spot")
                self._problem(path, "N216", message, "give each a spot of its own, or none: then a free one is found")

    def _check_cycle(self, thing: Thing, things: Mapping[str, Thing], path: tuple[str | int, ...]) -> None:
        seen, at = {thing.name}, thing.at
        while at is not None and at in things:
            if at in seen:
                self._problem(path, "N208", f"{thing.name!r} would support or contain itself", "break the circle")
                return
            seen.add(at)
            at = things[at].at


def _other_category(name: str, catalogue: Catalogue) -> str:
    """Which category may be meant: by its name, or by what people call it."""
    objects = {key: category for key, category in catalogue.categories.items() if category.kind == "object"}
    words = {snake(public): key for key, category in objects.items() for public in category.public}
    words |= {key: key for key in objects}
    meant = [words[word] for word in closest(name, words)]
    everything = f"`iwkit catalogue {name.rpartition('_')[2]}` lists what there is"
    return f"{ask(meant)} {everything}" if meant else everything


def handles(things: Mapping[str, Thing], physical_digest: str) -> dict[str, Handle]:
    """Entity name -> handle. Like things are numbered in an order drawn from the physical digest, so the answer of a
    task is not always number 1, and the same pack always gives the same numbers."""
    like: dict[str, list[str]] = {}
    for thing in things.values():
        like.setdefault(thing.category, []).append(thing.name)
    numbered: dict[str, Handle] = {}
    for category, names in like.items():
        # one alone needs no drawing of lots, which costs more than all the rest
        shuffled = sorted(names, key=lambda n: digest([physical_digest, category, n])) if len(names) > 1 else names
        numbered.update({name: Handle(category, i) for i, name in enumerate(shuffled, start=1)})
    return {name: numbered[name] for name in things}
