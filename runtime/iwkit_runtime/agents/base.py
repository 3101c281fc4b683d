"""The contract of an agent: a view in, a text out. Agents keep no state of their own between turns, so that an episode
can be resumed from its record: what they need is in the view."""

from __future__ import annotations

from typing import Protocol

from iwkit_runtime.loop.views import AssistantView, HumanView


class Assistant(Protocol):
    """Answers `$silent$`, `$interrupt$ text`, `$error$ text` or `$done$`."""

    def answer(self, view: AssistantView) -> str: ...


class Human(Protocol):
    """Answers with `<reasoning>`, `<action>` and `<speak>` blocks."""

    def answer(self, view: HumanView) -> str: ...
