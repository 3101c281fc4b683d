"""The state of a symbolic world as plain data, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from iwkit.errors import UsageError
from iwkit.world.base import WorldState

How = Literal["on", "inside", "attached", "floor", "held", "away"]
WEARER = "wearer"
FLOOR = "floor"


class Place(NamedTuple):
    """Where an object is: on, inside or attached to `at`, held, on the floor, or nowhere as long as it has not arrived.

    `spot` and `region` are as a command gave them. On the floor, `at` is what it lies beside and `point` its position
    in metres.
    """

    how: How
    at: str | None = None
    spot: tuple[float, float] | None = None
    region: str | None = None
    point: tuple[float, float] | None = None
    room: str | None = None


class Spot(NamedTuple):
    """Where a fixture stands that has been pushed away from its place in the scene."""

    x: float
    y: float
    room: str


class Cycle(NamedTuple):
    """The current or last cycle of a machine: what was in it when it started, whether that was a valid start, how many
    frames it goes on (None for one that is over or has no end), and whether it is still running."""

    contents: tuple[str, ...]
    valid: bool
    left: int | None
    on: bool


class Story(NamedTuple):
    """How far the events of a pack have come: the steps of the opening and of the plan that were done, whether the
    handoff was, the frames until each event that is due, and the ids of those that have happened."""

    steps: int = 0
    plan: int = 0
    handed: bool = False
    due: Mapping[str, int] = {}
    done: tuple[str, ...] = ()

    @property
    def begun(self) -> frozenset[str]:
        """The events that are due or have happened."""
        return frozenset((*self.due, *self.done))


HELD = Place("held", WEARER)
AWAY = Place("away")


@dataclass(slots=True)
class Wearer:
    """Pose in metres and degrees anticlockwise from +x, the fixture or door it stands at, its room, the seat it sits
    on, and what it holds."""

    x: float
    y: float
    heading: float
    at: str | None
    room: str
    seat: str | None = None
    held: str | None = None


@dataclass(slots=True)
class Look:
    """What the wearer sees beyond where it stands until it moves or handles something: the room, things."""

    around: bool = False
    at: tuple[str, ...] = ()


@dataclass(slots=True)
class Baseline:
    """Where everything was at the handoff."""

    places: dict[str, Place]
    fixtures: dict[str, Spot]
    pose: tuple[float, float, float]


@dataclass(slots=True)
class State:
    """Everything that changes. `flags` are words such as `open`, `running`, `dirty`; a thing without any is left out.

    `received` is what was ever added to a thing, in order; `contents` what is in it now. `joints` are the connectors
    that hold an attached thing: its own, its parent's, and the angle error in degrees. `cycles` are those of machines,
    `story` how far the pack's events have come. `shown` is what the wearer's view held when the last receipt was given.
    """

    wearer: Wearer
    places: dict[str, Place] = field(default_factory=dict)
    fixtures: dict[str, Spot] = field(default_factory=dict)
    flags: dict[str, frozenset[str]] = field(default_factory=dict)
    contents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    received: dict[str, tuple[str, ...]] = field(default_factory=dict)
    joints: dict[str, tuple[str, str, float]] = field(default_factory=dict)
    cycles: dict[str, Cycle] = field(default_factory=dict)
    story: Story = field(default_factory=Story)
    look: Look = field(default_factory=Look)
    shown: frozenset[str] = frozenset()
    baseline: Baseline | None = None

    def to_json(self) -> WorldState:
        """A JSON value with sorted lists and keys: equal states have equal values."""
        base = self.baseline
        return {
            "wearer": {name: getattr(self.wearer, name) for name in Wearer.__slots__},
            "places": _places(self.places),
            "fixtures": {n: list(s) for n, s in sorted(self.fixtures.items())},
            "flags": {n: sorted(f) for n, f in sorted(self.flags.items())},
            "contents": {n: list(c) for n, c in sorted(self.contents.items())},
            "received": {n: list(c) for n, c in sorted(self.received.items())},
            "joints": {n: list(j) for n, j in sorted(self.joints.items())},
            "cycles": {n: [list(c.contents), c.valid, c.left, c.on] for n, c in sorted(self.cycles.items())},
            "story": {
                **self.story._asdict(),
                "due": dict(sorted(self.story.due.items())),
                "done": list(self.story.done),
            },
            "look": {"around": self.look.around, "at": list(self.look.at)},
            "shown": sorted(self.shown),
            "baseline": None
            if base is None
            else {
                "places": _places(base.places),
                "fixtures": {n: list(s) for n, s in sorted(base.fixtures.items())},
                "pose": list(base.pose),
            },
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> State:
        """The state of a snapshot.

        Raises:
            UsageError: it is not what `to_json` gives.
        """
        try:
            base, look = data["baseline"], data["look"]
            return cls(
                wearer=Wearer(**data["wearer"]),
                places=_read_places(data["places"]),
                fixtures={n: Spot(*s) for n, s in data["fixtures"].items()},
                flags={n: frozenset(f) for n, f in data["flags"].items()},
                contents={n: tuple(c) for n, c in data["contents"].items()},
                received={n: tuple(c) for n, c in data["received"].items()},
                joints={n: (j[0], j[1], j[2]) for n, j in data["joints"].items()},
                cycles={n: Cycle(tuple(c[0]), c[1], c[2], c[3]) for n, c in data["cycles"].items()},
                story=Story(**{**data["story"], "done": tuple(data["story"]["done"])}),
                look=Look(look["around"], tuple(look["at"])),
                shown=frozenset(data["shown"]),
                baseline=None
                if base is None
                else Baseline(
                    _read_places(base["places"]),
                    {n: Spot(*s) for n, s in base["fixtures"].items()},
                    (base["pose"][0], base["pose"][1], base["pose"][2]),
                ),
            )
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise UsageError(f"no snapshot of a symbolic world ({error!r}): use what snapshot() gave") from None


def _places(places: Mapping[str, Place]) -> dict[str, Any]:
    return {name: [list(x) if isinstance(x, tuple) else x for x in place] for name, place in sorted(places.items())}


def _read_places(data: Mapping[str, Any]) -> dict[str, Place]:
    return {n: Place._make(tuple(x) if isinstance(x, list) else x for x in fields) for n, fields in data.items()}
