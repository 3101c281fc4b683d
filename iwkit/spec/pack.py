"""The TaskPack: one YAML file in three parts, `physical`, `interaction` and `review` (BENCH-1)."""

from __future__ import annotations

from math import prod
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from iwkit.goals.syntax import WhenField
from iwkit.source import patterns
from iwkit.spec.base import AsTuple, Model, Name, Text, duplicates
from iwkit.spec.goal import Atom, Goal, Named, Window
from iwkit.spec.review import Review

SCHEMA_VERSION = "1.0"

Family = Literal["guidance", "planning", "accessibility", "decision", "prevention", "finding"]
SourceFamily = Literal["GUIDE", "ORCHESTRATE", "NARRATE", "ASK", "WATCH", "FIND"]
Capability = Literal["C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9"]
PackId = Annotated[str, StringConstraints(pattern=patterns.PACK_ID)]
Guid = Annotated[str, StringConstraints(pattern=patterns.GUID)]
CommandText = Annotated[str, StringConstraints(min_length=3, max_length=400)]
Own = Literal["cut", "cooked", "broken", "mouldy", "mouldy_inside", "dirty", "wet", "used"]
Incident = Literal["rings", "spills", "breaks", "falls", "arrives"]
INCIDENTS: tuple[Incident, ...] = get_args(Incident)
MOST_VARIANTS = 100
"""A check looks at all of them."""


def _reject(message: str, hint: str, *path: str | int) -> PydanticCustomError:
    return PydanticCustomError("pack", "{problem}", {"problem": message, "path": path, "hint": hint})


class Contract(Model):
    """The assessment contract, fixed before the scene is chosen (C.1)."""

    question: Text
    evidence: Text
    help_needed: Text
    information_gap: Text
    success: Text
    without_help: Text


class Entity(Model):
    """A thing the pack names: one of the scene's (`fixture`, `room`, `door`) or an object of a `category`.

    An object stands `on` or `inside` something, or lies on the floor `beside` it. `spot` is the place on the support,
    u in [-1, 1] from left to right and v in [0, 1] from front to back as one faces it (B.3.1). `label` is what is
    written on it, `colour` and `public` tell it apart from its like, `is` are states it begins in, `contains` what is
    in it, in the order it was added.
    """

    fixture: Name | None = None
    room: Name | None = None
    door: Name | None = None
    category: Name | None = None
    on: Name | None = None
    inside: Name | None = None
    beside: Name | None = None
    spot: Annotated[tuple[float, float], AsTuple] | None = None
    label: Text | None = None
    colour: Annotated[str, StringConstraints(pattern=patterns.COLOUR)] | None = None
    public: Text | None = None
    open: bool | None = None
    running: bool | None = None
    is_: Annotated[tuple[Own, ...], AsTuple] = Field(default=(), alias="is")
    contains: Annotated[tuple[Name, ...], AsTuple] = ()

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [k for k in ("fixture", "room", "door", "category") if getattr(self, k) is not None]
        if len(kinds) != 1:
            raise _reject(
                f"an entity is exactly one of fixture, room, door or category; this one gives {kinds or 'none'}",
                "write {category: cup, on: table} for an object, {fixture: fridge_1} for a thing of the scene",
            )
        places = [k for k in ("on", "inside", "beside") if getattr(self, k) is not None]
        if self.category is not None and len(places) != 1:
            raise _reject(
                f"an object is placed by exactly one of on, inside or beside; this one gives {places or 'none'}",
                "add for example on: table",
            )
        if self.category is None and (places or self.spot):
            raise _reject("a thing of the scene stands where the scene says", "leave out on, inside, beside and spot")
        if self.room is not None and self.label is not None:
            raise _reject("nothing is written on a room", "give the label to its door, or to a sign in it", "label")
        if self.spot and not (-1 <= self.spot[0] <= 1 and 0 <= self.spot[1] <= 1):
            raise _reject(
                "spot is [u, v] with u in [-1, 1] and v in [0, 1]", "u goes left to right, v front to back", "spot"
            )
        return self


class Wearer(Model):
    """Where the wearer stands at reset: in front of `at` (a fixture, or the middle of a room), looking at `facing`."""

    at: Name
    facing: Name | None = None


class CommandStep(Model):
    """One command of the opening or of the wearer's own plan; `id` is the cursor other blocks refer to."""

    id: Name
    do: CommandText


class PackEvent(Model):
    """Something that happens by itself: a phone rings, something is spilled, breaks or falls, a delivery arrives.

    It happens at the end of the first command by whose end `when` has come about and `delay` seconds of the world's
    clock have passed since. What `arrives` is nowhere before that, and then at the place that its entity gives it.
    """

    id: Name
    when: WhenField
    delay: Annotated[float, Field(ge=0, le=3600)] = 0
    rings: Name | None = None
    spills: Name | None = None
    breaks: Name | None = None
    falls: Name | None = None
    arrives: Name | None = None

    @model_validator(mode="after")
    def _one_incident(self) -> Self:
        given = [kind for kind in INCIDENTS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise _reject(
                f"an event is exactly one of {', '.join(INCIDENTS)}; this one gives {given or 'none'}",
                "write {id: call, when: handoff, rings: phone}",
            )
        return self

    @property
    def kind(self) -> Incident:
        """What happens."""
        return next(kind for kind in INCIDENTS if getattr(self, kind) is not None)

    @property
    def of(self) -> str:
        """The entity that it happens to."""
        name: str = getattr(self, self.kind)
        return name


class Physical(Model):
    """Everything a world needs, and what is scored. Hashed as the physical digest."""

    scene: Name
    wearer: Wearer
    entities: Annotated[dict[Name, Entity], Field(min_length=1)]
    opening: Annotated[tuple[CommandStep, ...], AsTuple, Field(min_length=1)]
    plan: Annotated[tuple[CommandStep, ...], AsTuple] = ()
    events: Annotated[tuple[PackEvent, ...], AsTuple] = ()
    windows: Annotated[tuple[Window, ...], AsTuple] = ()
    evidence: Annotated[tuple[Named, ...], AsTuple] = ()
    goal: Goal
    atoms: Annotated[tuple[Atom, ...], AsTuple] = ()


class Cue(Model):
    """Authored speech of the wearer at a cursor: it is said there and authorises nothing (EVAL-3)."""

    before: Name | None = None
    after: Name | None = None
    say: Text

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.before is None) == (self.after is None):
            raise _reject("a cue is said before or after one step", "write {before: p1, say: ...}")
        return self


class Line(Model):
    """One line of a script: when, what is said (or that the assistant is done), and what it should make the human do.

    `do` is the expected grounding in the pack's entity names; `reply` says whether the wearer `does` it, `asks` back,
    or is `refused` by the world.
    """

    when: WhenField | None = None
    say: Text | None = None
    do: Annotated[tuple[CommandText, ...], AsTuple] = ()
    reply: Literal["does", "asks", "refused"] = "does"
    done: bool = False

    @model_validator(mode="after")
    def _says_or_done(self) -> Self:
        if self.done == (self.say is not None):
            raise _reject(
                "a line either says something or is done", "write say: ..., or done: true in a line of its own"
            )
        if self.done and self.do:
            raise _reject("`done` makes the human do nothing", "put `do` in the line that asks for it", "do")
        if self.say and self.reply == "does" and not self.do:
            raise _reject("what should the human do on this line?", "add do: [...], or reply: asks")
        if self.reply == "asks" and self.do:
            raise _reject("a human who asks back does nothing", "leave out do, or reply: asks", "do")
        return self


class Control(Model):
    """A script that must fail: the conditions named in `fails` must be among those that are false at the end."""

    fails: Annotated[tuple[Name, ...], AsTuple, Field(min_length=1)]
    lines: Annotated[tuple[Line, ...], AsTuple, Field(min_length=1)]


class Frames(Model):
    """How the frames of the opening reach the assistant: all kept, or within the frame budget (EVAL-5)."""

    opening: Literal["pinned", "budgeted"] = "pinned"


class HumanContext(Model):
    """What only the human knows."""

    context: Text


class Budget(Model):
    """The episode ends at the latest after so many ticks, or so many commands of the human."""

    ticks: Annotated[int, Field(ge=1, le=1000)]
    actions: Annotated[int, Field(ge=1, le=1000)]


class Interaction(Model):
    """How the episode is played. Its digest includes the physical one."""

    frames: Frames = Frames()
    public: Text
    human: HumanContext
    opening: Annotated[tuple[Cue, ...], AsTuple] = ()
    handoff: Text
    plan: Annotated[tuple[Cue, ...], AsTuple] = ()
    oracle: Annotated[tuple[Line, ...], AsTuple, Field(min_length=1)]
    wrong: Control
    early: Control
    budget: Budget


class Alternative(Model):
    """One way in which a pack may be otherwise: other values at some of its places, and entities that change places.

    `set` has the new value by the path of what it replaces (null: it is left out). `swap` names pairs of entities that
    stand for each other in all that is done, asked for and scored; it comes after everything that is set.
    """

    id: Name
    set: dict[str, Any] = Field(default_factory=dict)
    swap: Annotated[tuple[Annotated[tuple[Name, Name], AsTuple], ...], AsTuple] = ()

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.set and not self.swap:
            raise _reject("an alternative changes something", "give set: {PATH: VALUE}, or swap: [[one, other]]")
        return self


class Axis(Model):
    """Something about a pack that varies: as it is written, or as one of the alternatives has it."""

    id: Name
    among: Annotated[tuple[Alternative, ...], AsTuple, Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_once(self) -> Self:
        if twice := duplicates(a.id for a in self.among):
            raise _reject(f"two alternatives are called {twice[0]!r}", "give each an id of its own", "among")
        return self


class Pack(Model):
    """A whole TaskPack file. `review` is outside both digests, so that a note voids no control."""

    taskpack: Literal["1.0"]
    id: PackId
    family: Family
    source_family: SourceFamily
    title: Text
    guid: Guid
    capabilities: Annotated[tuple[Capability, ...], AsTuple, Field(min_length=1)]
    contract: Contract
    physical: Physical
    interaction: Interaction
    vary: Annotated[tuple[Axis, ...], AsTuple] = ()
    review: Review = Field(default_factory=Review)

    @model_validator(mode="after")
    def _few_variants(self) -> Self:
        if twice := duplicates(axis.id for axis in self.vary):
            raise _reject(f"two things that vary are called {twice[0]!r}", "give each an id of its own", "vary")
        if (count := self.variants) > MOST_VARIANTS:
            message = f"this makes {count} variants, and there may be {MOST_VARIANTS}"
            raise _reject(message, "let fewer things vary, or each among fewer", "vary")
        return self

    @property
    def variants(self) -> int:
        """How many variants there are, the pack as it is written among them."""
        return prod(len(axis.among) + 1 for axis in self.vary)
