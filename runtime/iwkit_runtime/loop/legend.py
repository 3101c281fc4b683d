"""The human's legend: which handles it has now, and the way from handles back to entities (EVAL-3, EVAL-10)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from iwkit.compile import CompiledTask, Thing
from iwkit.errors import GrammarError
from iwkit.grammar import Command, Ref, render, resolve
from iwkit.spec.family import HumanRules
from iwkit.verbs import BY_NAME
from iwkit.world.base import World
from iwkit_runtime.grounding import mentioned
from iwkit_runtime.loop.views import LegendEntry

_BEARINGS = (
    (22.5, "ahead"),
    (67.5, "ahead on your {side}"),
    (112.5, "on your {side}"),
    (157.5, "behind you on your {side}"),
    (180.1, "behind you"),
)


def bearing_words(degrees: float | None) -> str:
    """A direction in words; left is negative."""
    if degrees is None:
        return ""
    side = "left" if degrees < 0 else "right"
    return next(words for limit, words in _BEARINGS if abs(degrees) <= limit).format(side=side)


class Legend:
    """Handles of one task. `seen` is what the wearer has ever had in view; the caller keeps it up to date."""

    def __init__(self, task: CompiledTask, rules: HumanRules) -> None:
        self._task, self._rules = task, rules
        self._names = {(h.noun, h.index): name for name, h in task.handles.items()}
        self.seen: set[str] = set()
        self._told: dict[tuple[str, bool, bool, bool, str, str], LegendEntry] = {}

    def entries(self, world: World, said: Collection[str], plan: Command | None = None) -> tuple[LegendEntry, ...]:
        """The legend now. `said` is everything the assistant has said so far (it matters under NARRATE); `plan` is the
        wearer's own next command: who has a plan can name what it is about."""
        visible = set(world.visible())
        self.seen |= visible
        held = world.held()
        parents = self._parents(world)
        planned = {ref.name for ref in plan.args} if plan else set()
        candidates = [t for t in self._task.things.values() if t.name in planned or self._known(t, visible, held)]
        entries = [self._entry(t, world, visible, held, parents) for t in candidates]
        if self._rules.movables == "identified":
            named = mentioned(said, entries)
            entries = [e for e in entries if e.held or e.handle in named]
        return tuple(sorted(entries, key=lambda e: e.handle))

    def command(self, command: Command, entries: tuple[LegendEntry, ...]) -> Command:
        """The same command in entity names.

        Raises:
            GrammarError: a handle that the human does not have.
        """
        nouns = {e.handle.split(">")[0][1:] for e in entries}
        have = {e.handle for e in entries}
        connectors = BY_NAME[command.primitive].connectors
        args = []
        for i, ref in enumerate(command.args):
            if i in connectors:
                args.append(ref)
                continue
            noun = resolve(ref.name, nouns)
            handle = f"<{noun}> ({ref.index})"
            if handle not in have:
                raise GrammarError(
                    "C318", f"there is no {handle} that you can name now", hint="use a handle of the legend"
                )
            args.append(Ref(self._names[noun, ref.index], 1))
        return replace(command, args=tuple(args))

    def text(self, command: Command) -> str:
        """A command in entity names, written with handles."""
        connectors = BY_NAME[command.primitive].connectors
        args = tuple(
            ref if i in connectors else Ref(self._task.handles[ref.name].noun, self._task.handles[ref.name].index)
            for i, ref in enumerate(command.args)
        )
        return render(replace(command, args=args))

    def handle(self, name: str) -> str:
        return str(self._task.handles[name])

    def _known(self, thing: Thing, visible: set[str], held: str | None) -> bool:
        if thing.kind != "object":
            return True
        if thing.name in visible or thing.name == held:
            return True
        return self._rules.movables == "seen" and thing.name in self.seen

    def _parents(self, world: World) -> dict[str, tuple[str, str]]:
        """Thing -> (preposition, what it stands on or in). Of several (a cup on a tray on a table, an apple in a bag
        in a bin) the nearest, which is the one that most others hold in their turn."""
        holders: dict[str, list[tuple[str, str]]] = {}
        for relation in sorted(world.relations()):
            if relation[0] in ("on", "inside"):
                holders.setdefault(relation[1], []).append(("on" if relation[0] == "on" else "in", relation[2]))
        return {
            thing: max(pairs, key=lambda pair: (len(holders.get(pair[1], ())), pair))
            for thing, pairs in holders.items()
        }

    def _entry(
        self, thing: Thing, world: World, visible: set[str], held: str | None, parents: dict[str, tuple[str, str]]
    ) -> LegendEntry:
        sighted, in_hand = thing.name in visible, thing.name == held
        shown = thing.kind != "object" or sighted or in_hand
        bearing = bearing_words(world.bearing(thing.name)) if sighted else ""
        support = ""
        if shown and thing.name in parents:
            preposition, parent = parents[thing.name]
            support = f"{preposition} {self._task.things[parent].public}"
        changing = (thing.name, sighted, in_hand, shown, bearing, support)
        if (told := self._told.get(changing)) is None:
            told = self._told[changing] = LegendEntry(
                handle=self.handle(thing.name),
                nouns=thing.nouns,
                description=thing.public,
                place=bool(thing.traits & {"surface", "container"}) or thing.kind in ("room", "door"),
                visible=sighted,
                top="surface" in thing.traits,
                inside="container" in thing.traits,
                room=thing.kind == "room",
                held=in_hand,
                bearing=bearing,
                support=support,
                colour=thing.colour or "",
                label=thing.label or "" if shown else "",
            )
        return told
