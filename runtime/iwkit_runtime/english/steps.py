"""What can be done, as data: acts and the primitives that carry them out, steps, and questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from iwkit.grammar import Command, parse
from iwkit_runtime.loop.views import Done

PLACED: Final = frozenset({"place", "place_inside", "place_on_floor"})
PRIMITIVES: Final[dict[str, frozenset[str]]] = {
    "grab": frozenset({"pick"}),
    "put": PLACED,
    "leave": PLACED,
    "carry": PLACED | {"navigate_to"},
    "open": frozenset({"open", "open_door"}),
    "close": frozenset({"close", "close_door"}),
    "walk": frozenset({"navigate_to"}),
    "forward": frozenset({"forward"}),
    "left": frozenset({"turn"}),
    "right": frozenset({"turn"}),
    "about": frozenset({"turn"}),
    "look": frozenset({"look_at"}),
    "find": frozenset({"look_at", "navigate_to"}),
    "around": frozenset({"look_around"}),
    "scan": frozenset({"look_scan"}),
    "on": frozenset({"turn_on"}),
    "off": frozenset({"turn_off"}),
    "over": frozenset({"flip"}),
    "sit": frozenset({"sit"}),
    "stand": frozenset({"standup"}),
    "squat": frozenset({"squat"}),
    "wait": frozenset({"wait"}),
    "wipe": frozenset({"wipe"}),
    "cut": frozenset({"cut"}),
    "stir": frozenset({"stir"}),
    "pour": frozenset({"pour"}),
    "push": frozenset({"push"}),
    "pull": frozenset({"pull"}),
    "drop": frozenset({"release"}),
    "detach": frozenset({"detach"}),
    "raise": frozenset({"raise"}),
    "cook": frozenset({"cook"}),
    "type": frozenset({"use_computer"}),
    "phone": frozenset({"answer_phone"}),
    "confirm": frozenset({"confirm"}),
}
"""What is done -> the primitives of Table 5 that do it."""
IMPLIED: Final = frozenset({"navigate_to", "open", "pick"})
WAY: Final = frozenset({"navigate_to", "turn", "forward", "look_around", "look_scan"})
"""Primitives that only lead to where something is done."""


class Unclear(Exception):  # noqa: N818  it is no error of the program: the person has to be asked
    """Something that has to be asked; the text is the question."""


class Unfit(Unclear):
    """What was named does not suit the verb, or is more than one thing: looking for it would not help."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command to be given. `carried` is the thing it moves, `others` the further things that it concerns."""

    primitive: str
    text: str
    carried: str | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Errand:
    """What is left of an utterance: done steps, steps to give, and the question where it cannot go on."""

    done: tuple[Step, ...]
    steps: tuple[Step, ...]
    question: str = ""


def handle_of(command: Command, position: int) -> str:
    """The handle of an argument, as the legend writes it."""
    ref = command.args[position]
    return f"<{ref.name}> ({ref.index})"


def done_step(done: Done) -> Step:
    command = parse(done.command)
    handles = tuple(handle_of(command, i) for i in range(len(command.args)))
    moves = command.primitive in PLACED | {"pick", "release", "flip"}
    carried = handles[0] if moves and handles else None
    return Step(command.primitive, done.command, carried, handles[1:] if carried else handles)


def order_of(step: Step) -> tuple[str, ...]:
    return tuple(filter(None, [step.carried, *step.others]))
