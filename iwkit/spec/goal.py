"""The blocks of a pack that say what counts as help: evidence, goal, windows, atoms (docs/goal-language.md)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from iwkit.goals.syntax import ConditionField, PatternsField, WhenField
from iwkit.spec.base import AsTuple, Model, Name


class Named(Model):
    """A condition of `evidence`, `keep` or `gates`."""

    id: Name
    that: ConditionField


class Achieve(Named):
    """One unit of completion. It counts only if the conditions in `needs` are satisfied too (SEM-10)."""

    needs: Annotated[tuple[Name, ...], AsTuple] = ()


class Goal(Model):
    """`achieve` is false at the handoff and earns completion, `keep` is true there and earns none, `gates` are about
    the interaction. Under `binary`, completion is the pass (section 8)."""

    score: Literal["state", "binary"]
    achieve: Annotated[tuple[Achieve, ...], AsTuple]
    keep: Annotated[tuple[Named, ...], AsTuple] = ()
    gates: Annotated[tuple[Named, ...], AsTuple] = ()


class Window(Model):
    """A stretch of the trace, open from its opening event to the first closing event after it (section 7)."""

    id: Name
    opens: WhenField
    closes: WhenField | None = None


class Atom(Model):
    """One point at which a capability shows (MET-2). Open in `window`, or from `opens` to `closes` (section 9).

    `passes` and `wrong` are events; in a pack `passes` is written `pass`.
    """

    model_config = ConfigDict(populate_by_name=False)

    id: Name
    capability: Literal["C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9"]
    opens: WhenField | None = None
    closes: WhenField | None = None
    window: Name | None = None
    passes: PatternsField = Field(alias="pass")
    wrong: PatternsField | None = None

    @model_validator(mode="after")
    def _one_span(self) -> Self:
        if (self.window is None) == (self.opens is None):
            both = self.window is not None
            message = "an atom has `window` and `opens`" if both else "an atom has neither `window` nor `opens`"
            raise _span_error(message, "give a window, or opens and closes")
        if self.window is not None and self.closes is not None:
            raise _span_error("an atom has `window` and `closes`", "the window says when it closes")
        return self


def _span_error(message: str, hint: str) -> PydanticCustomError:
    context = {"problem": message, "code": "G535", "hint": hint}
    return PydanticCustomError("goal", "{problem}", context)
