"""Names on the command line to agents. `module:Class` loads a user's own."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iwkit.digest import file_digest
from iwkit.errors import AgentError
from iwkit_runtime.agents.base import Assistant, Human
from iwkit_runtime.agents.rules import RulesHuman
from iwkit_runtime.agents.scripted import ScriptedAssistant, ScriptedHuman, SilentAssistant
from iwkit_runtime.loop.episode import Episode

_ASSISTANTS: dict[str, Callable[[Episode], Assistant]] = {
    "oracle": lambda e: ScriptedAssistant(e.task.scripts["oracle"], e),
    "wrong": lambda e: ScriptedAssistant(e.task.scripts["wrong"], e),
    "early": lambda e: ScriptedAssistant(e.task.scripts["early"], e),
    "silent": lambda _: SilentAssistant(),
}
_HUMANS: dict[str, Callable[[Episode], Human]] = {
    "scripted": lambda e: ScriptedHuman(e.task),
    "rules": lambda _: RulesHuman(),
}
SCRIPTED_ASSISTANTS = frozenset(_ASSISTANTS)
"""Control assistants: they may run without frames, and they alone see the episode's progress."""


def make_assistant(name: str, episode: Episode) -> Assistant:
    """An assistant for one episode: `oracle`, `silent`, `wrong`, `early`, or `module:Class` (called without arguments).

    Raises:
        AgentError: no such assistant.
    """
    if name in _ASSISTANTS:
        return _ASSISTANTS[name](episode)
    agent: Assistant = _own(name, "assistant", sorted(_ASSISTANTS))
    return agent


def make_human(name: str, episode: Episode) -> Human:
    """A human for one episode: `scripted`, `rules`, or `module:Class` (called without arguments).

    Raises:
        AgentError: no such human.
    """
    if name in _HUMANS:
        return _HUMANS[name](episode)
    agent: Human = _own(name, "human", sorted(_HUMANS))
    return agent


def code_digest(name: str) -> str | None:
    """The digest of the file that holds a user's own agent, or None for the agents of iwkit, which the digest of the
    runtime covers. What that file imports is not covered.

    Raises:
        AgentError: there is no such module.
    """
    if ":" not in name:
        return None
    try:
        source = inspect.getsourcefile(importlib.import_module(name.partition(":")[0]))
    except (ImportError, TypeError) as error:
        raise AgentError(f"agent {name!r}: cannot import it: {error}; is its folder on PYTHONPATH?") from error
    return file_digest(Path(source)) if source else None


def _own(name: str, role: str, known: list[str]) -> Any:
    module_name, colon, class_name = name.partition(":")
    if not colon:
        raise AgentError(f"no {role} {name!r}: use {', '.join(known)}, or module:Class for your own")
    try:
        agent = getattr(importlib.import_module(module_name), class_name)()
    except ImportError as error:
        raise AgentError(
            f"{role} {name!r}: cannot import {module_name!r}: {error}; is its folder on PYTHONPATH?"
        ) from error
    except AttributeError as error:
        raise AgentError(f"{role} {name!r}: module {module_name!r} has no {class_name!r}") from error
    except TypeError as error:
        raise AgentError(f"{role} {name!r}: {class_name} must be made without arguments: {error}") from error
    if not callable(getattr(agent, "answer", None)):
        raise AgentError(f"{role} {name!r}: {class_name} has no method answer(view)")
    return agent
