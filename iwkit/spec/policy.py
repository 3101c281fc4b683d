"""`human-policy/1.0`: an authored human as an acyclic state machine (SEM-8, B.3.2; docs/human-policy.md)."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from iwkit.goals.syntax import ConditionField
from iwkit.spec.base import AsTuple, Model, Name, Text
from iwkit.spec.pack import CommandText, PackId

Act = Literal[
    "navigate_to", "sit", "standup", "squat", "pick", "release", "flip", "place", "place_inside", "place_on_floor",
    "detach", "raise", "push", "pull", "open", "close", "open_door", "close_door", "turn_on", "turn_off", "cook", "cut",
    "stir", "pour", "wipe", "use_computer", "answer_phone", "look_around", "look_at", "confirm",
]  # fmt: skip
"""Primitives that speech can ask for. Those that differ in a number or a connector (turn, forward, wait, attach) are
left out: a tuple of things does not tell them apart."""
Talk = Literal["tell", "ask", "stop", "remark"]
"""Speech that asks for no action: it tells facts, asks something, only halts, or only acknowledges."""
Intent = Act | Talk
ACTS: Final[frozenset[str]] = frozenset(get_args(Act))
INTENTS: Final[frozenset[str]] = ACTS | frozenset(get_args(Talk))
MAX_TICKS: Final = 1000
_VERIFIER: Final = re.compile(r"rules|[\w.]+:\w+")


class Said(Model):
    """The one tuple that speech is mapped to: what is asked for, of which entities in the order of the primitive's
    arguments, and which states are told beside it. Matched exactly: what is left out must not be said."""

    intent: Intent
    referents: Annotated[tuple[Name, ...], AsTuple] = ()
    facts: Annotated[tuple[ConditionField, ...], AsTuple] = ()


class Guard(Model):
    """Exactly one of: `timeout` in ticks since the state's commands were done, `state` of the world, or `said` `and` a
    state of the world."""

    model_config = ConfigDict(populate_by_name=False)

    timeout: Annotated[int, Field(ge=1, le=MAX_TICKS)] | None = None
    state: ConditionField | None = None
    said: Said | None = None
    and_: ConditionField | None = Field(default=None, alias="and")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [k for k in ("timeout", "state", "said") if getattr(self, k) is not None]
        if len(kinds) != 1:
            given = " and ".join(kinds) or "none"
            raise _reject(
                f"a branch waits for exactly one of timeout, state or said; this one gives {given}",
                "write {timeout: 10}, {state: {open: fridge}} or {said: {intent: ask}, and: {open: fridge}}",
            )
        if self.said is not None and self.and_ is None:
            raise _reject(
                "speech alone moves nothing: `said` needs a state of the world beside it",
                "add for example and: {open: fridge}",
            )
        if self.said is None and self.and_ is not None:
            raise _reject("`and` belongs to `said`", "put both states into state: {all: [...]}", "and")
        return self


class Branch(Model):
    """When to leave a state, and for which."""

    when: Guard
    to: Name


class State(Model):
    """One state: on entering it `say` is spoken and the commands of `do` are given, one a tick. After them the wearer
    waits, or goes on with its own `plan`, until a branch holds. `default` is taken for speech that no branch means, and
    for a command that is refused. An `end` has neither branches nor default."""

    say: Text | None = None
    do: Annotated[tuple[CommandText, ...], AsTuple, Field(max_length=32)] = ()
    meanwhile: Literal["wait", "plan"] = "wait"
    branches: Annotated[tuple[Branch, ...], AsTuple] = ()
    default: Name | None = None
    end: bool = False


class Policy(Model):
    """A whole policy file. `verifier` is `rules`, or `module:Class` for one that asks a model."""

    human_policy: Literal["1.0"] = Field(alias="human-policy")
    task: PackId
    verifier: str = "rules"
    start: Name
    states: Annotated[dict[Name, State], Field(min_length=1, max_length=200)]

    @field_validator("verifier")
    @classmethod
    def _is_a_verifier(cls, name: str) -> str:
        if not _VERIFIER.fullmatch(name):
            raise _reject(f"{name!r} is no verifier", "write rules, or module:Class for your own")
        return name


def _reject(message: str, hint: str, *path: str | int) -> PydanticCustomError:
    return PydanticCustomError("policy", "{problem}", {"problem": message, "path": path, "hint": hint})
