"""A clause: the unit in which an utterance is understood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["do", "never", "unknown", "condition", "tell", "halt", "question", "weak"]


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence. `verb` is the base form with its particle, `act` what it does ("" where not known).

    A `settled` one is to be done only where it is not done already. A `weak` one tells where something belongs or what
    was forgotten: it is an instruction only where the utterance has no other.
    """

    kind: Kind
    verb: str = ""
    act: str = ""
    tokens: tuple[str, ...] = ()
    polite: bool = False
    settled: bool = False
