"""Names on the command line to agents. `module:Class` loads a user's own."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from iwkit.digest import digest, file_digest
from iwkit.errors import AgentError, Problems
from iwkit.source.check import check
from iwkit.source.reader import read
from iwkit.spec.policy import Policy
from iwkit_runtime.agents.base import Assistant, Human
from iwkit_runtime.agents.policy import PolicyHuman
from iwkit_runtime.agents.rules import RulesHuman
from iwkit_runtime.agents.scripted import ScriptedAssistant, ScriptedHuman, SilentAssistant
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.verifier import RulesVerifier, Verifier, rules_digest
from iwkit_validators.policy import load_policy

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


POLICY: Final = "policy:"
"""How the name of a human begins that is a policy file."""
RULES: Final = "rules"


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
    """A human for one episode: `scripted`, `rules`, `policy:FILE`, or `module:Class` (called without arguments).

    Raises:
        AgentError: no such human, or a policy that is unsound or for another task.
    """
    if name in _HUMANS:
        return _HUMANS[name](episode)
    if name.startswith(POLICY):
        return _policy_human(name, episode)
    agent: Human = _own(name, "human", [*sorted(_HUMANS), "policy:FILE"])
    return agent


def code_digest(name: str) -> str | None:
    """The digest of the file that holds a user's own agent, or None for the agents of iwkit, which the digest of the
    runtime covers. What that file imports is not covered. Of a policy: its file's together with its verifier's.

    Raises:
        AgentError: there is no such module, or the policy cannot be read.
    """
    if name.startswith(POLICY):
        path = Path(name.removeprefix(POLICY))
        try:
            verifier = check(read(path), Policy).verifier
        except Problems as error:
            raise AgentError(f"human {name!r}:\n{error}") from error
        return digest([file_digest(path), rules_digest() if verifier == RULES else code_digest(verifier)])
    if ":" not in name:
        return None
    try:
        source = inspect.getsourcefile(importlib.import_module(name.partition(":")[0]))
    except (ImportError, TypeError) as error:
        raise AgentError(f"agent {name!r}: cannot import it: {error}; is its folder on PYTHONPATH?") from error
    return file_digest(Path(source)) if source else None


def make_verifier(name: str) -> Verifier:
    """A semantic verifier: `rules`, or `module:Class` (called without arguments).

    Raises:
        AgentError: no such verifier.
    """
    if name == RULES:
        return RulesVerifier()
    verifier: Verifier = _own(name, "verifier", [RULES], "verify", "speech, view")
    return verifier


def _policy_human(name: str, episode: Episode) -> PolicyHuman:
    try:
        policy = load_policy(Path(name.removeprefix(POLICY)), episode.task)
    except Problems as error:
        raise AgentError(f"human {name!r}:\n{error}") from error
    return PolicyHuman(policy, episode, make_verifier(policy.verifier))


def _own(name: str, role: str, known: list[str], method: str = "answer", takes: str = "view") -> Any:
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
    if not callable(getattr(agent, method, None)):
        raise AgentError(f"{role} {name!r}: {class_name} has no method {method}({takes})")
    return agent
