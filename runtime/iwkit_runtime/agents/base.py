"""The contract of an agent: a view in, a text out.

An episode that was stopped is continued from its record without asking anything twice. An agent that needs nothing but
the view notices nothing of it. One that keeps a state of its own between turns must also have `recall(view, text)`:
it is called, instead of `answer`, with each view and the answer it gave to it then. One that asks a model may have
`account()`: what its last answer took, as JSON; it goes into the record beside the answer.
"""

from __future__ import annotations

from typing import Protocol

from iwkit_runtime.loop.views import AssistantView, HumanView


class Assistant(Protocol):
    """Answers `$silent$`, `$interrupt$ text`, `$error$ text` or `$done$`."""

    def answer(self, view: AssistantView) -> str: ...


class Human(Protocol):
    """Answers with `<reasoning>`, `<action>` and `<speak>` blocks."""

    def answer(self, view: HumanView) -> str: ...
