"""Family files: what the human of each source family may see and do (EVAL-3), as data."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from iwkit.spec.base import Model, Text
from iwkit.spec.pack import Family, SourceFamily


class HumanRules(Model):
    """The restrictions of one source family.

    `movables`: which movable things the human has a handle for: those ever `seen`, those `visible` or held now, or
    those that the assistant has `identified`. `frames`: whether the human is shown pictures. `commands`: how many
    commands one answer may queue. `plan`: whether the human has a private plan to follow.
    """

    movables: Literal["seen", "visible", "identified"]
    frames: bool
    commands: Annotated[int, Field(ge=1, le=16)]
    plan: bool
    role: Text


class FamilySpec(Model):
    """A `family.yaml`."""

    family: Literal["1.0"]
    id: Family
    letter: Annotated[str, Field(pattern="^[GPADWF]$")]
    source_family: SourceFamily
    title: Text
    purpose: Text
    human: HumanRules
