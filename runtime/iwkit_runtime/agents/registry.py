"""Names on the command line to agents: iwkit's own, models of providers, a person, and `module:Class`, a user's own."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from iwkit.digest import digest, file_digest
from iwkit.errors import AgentError, Problems
from iwkit.families import families
from iwkit.source.check import check
from iwkit.source.reader import read
from iwkit.spec.policy import Policy
from iwkit.suggest import ask, closest, did_you_mean
from iwkit_runtime.agents.base import Assistant, Human
from iwkit_runtime.agents.guarded import TIMEOUT, Guarded
from iwkit_runtime.agents.policy import PolicyHuman
from iwkit_runtime.agents.rules import RulesHuman
from iwkit_runtime.agents.scripted import ScriptedAssistant, ScriptedHuman, SilentAssistant
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.models.person import Desktop, PersonAssistant, PersonHuman
from iwkit_runtime.models.settings import PERSON, PROVIDERS, is_model, prices
from iwkit_runtime.verifier import RulesVerifier, Verifier, rules_digest
from iwkit_validators.policy import load_policy

if TYPE_CHECKING:
    from iwkit_runtime.models.agents import Front

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

_MODELS: Final = [f"{provider}:MODEL" for provider in PROVIDERS]
POLICY: Final = "policy:"
"""How the name of a human begins that is a policy file."""
RULES: Final = "rules"


def make_assistant(
    name: str, episode: Episode, desk: Front | None = None, cell: str = "", timeout: float = TIMEOUT
) -> Assistant:
    """An assistant for one episode: `oracle`, `silent`, `wrong`, `early`, `person`, a model (`openai:MODEL`,
    `openai-responses:MODEL`, `google:MODEL`), or `module:Class` (called without arguments).

    Args:
        desk: where models are asked; without one, a model gets a desk of its own that keeps no book.
        cell: goes into the book of calls, and nowhere else.
        timeout: seconds that a user's own agent may take, to be made and for each turn.

    Raises:
        AgentError: no such assistant, or a model that cannot be asked.
    """
    if name in _ASSISTANTS:
        return _ASSISTANTS[name](episode)
    if name == PERSON:
        return PersonAssistant(Desktop())
    if is_model(name):
        return _desk(desk).assistant(name, _family(episode), cell)
    agent: Assistant = _own(name, "assistant", [*sorted(_ASSISTANTS), PERSON, *_MODELS], timeout)
    return agent


def make_human(
    name: str, episode: Episode, desk: Front | None = None, cell: str = "", timeout: float = TIMEOUT
) -> Human:
    """A human for one episode: `scripted`, `rules`, `policy:FILE`, `person`, a model, or `module:Class`; see
    `make_assistant`.

    Raises:
        AgentError: no such human, a model that cannot be asked, or a policy that is unsound or for another task.
    """
    if name in _HUMANS:
        return _HUMANS[name](episode)
    if name == PERSON:
        return PersonHuman(Desktop())
    if is_model(name):
        return _desk(desk).human(name, _family(episode), cell)
    if name.startswith(POLICY):
        return _policy_human(name, episode, timeout)
    agent: Human = _own(name, "human", [*sorted(_HUMANS), "policy:FILE", PERSON, *_MODELS], timeout)
    return agent


def _desk(desk: Front | None) -> Front:
    from iwkit_runtime.models.desk import Desk as Own  # noqa: PLC0415  only wanted where a model is

    return desk or Own()


def _family(episode: Episode) -> str:
    """The folder of the family whose rules the human is under: all that a model's prompts are told of a task."""
    return families()[episode.task.pack.source_family].id


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
    if ":" not in name or is_model(name):
        return None
    try:
        source = inspect.getsourcefile(importlib.import_module(name.partition(":")[0]))
    except (ImportError, TypeError) as error:
        raise AgentError(f"agent {name!r}: cannot import it: {error}; is its folder on PYTHONPATH?") from error
    return file_digest(Path(source)) if source else None


def code_file(name: str) -> str:
    """The file of a user's own agent as its user would name it: `mine.py` of `mine:Class`."""
    if name.startswith(POLICY):
        return name.removeprefix(POLICY)
    return name.partition(":")[0].replace(".", "/") + ".py"


def make_verifier(name: str, timeout: float = TIMEOUT) -> Verifier:
    """A semantic verifier: `rules`, or `module:Class` (called without arguments).

    Raises:
        AgentError: no such verifier.
    """
    if name == RULES:
        return RulesVerifier()
    verifier: Verifier = _own(name, "verifier", [RULES], timeout, method="verify", takes="speech, view")
    return verifier


def _policy_human(name: str, episode: Episode, timeout: float) -> PolicyHuman:
    try:
        policy = load_policy(Path(name.removeprefix(POLICY)), episode.task)
    except Problems as error:
        raise AgentError(f"human {name!r}:\n{error}") from error
    return PolicyHuman(policy, episode, make_verifier(policy.verifier, timeout))


def _own(
    name: str, role: str, known: list[str], timeout: float, *, method: str = "answer", takes: str = "view"
) -> Guarded:
    module_name, colon, class_name = name.partition(":")
    if not colon:
        meant = _meant(name, known)
        raise AgentError(
            f"no {role} {name!r}: use {', '.join(known)}, or module:Class for your own{meant and f'; {meant}'}"
        )
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        meant = did_you_mean(module_name, (path.stem for path in Path().glob("*.py")))
        raise AgentError(
            f"{role} {name!r}: cannot import {module_name!r}: {error}; {meant or 'is its folder on PYTHONPATH?'}"
        ) from error
    made = getattr(module, class_name, None)
    if made is None:
        meant = did_you_mean(class_name, (word for word, it in vars(module).items() if inspect.isclass(it)))
        raise AgentError(f"{role} {name!r}: module {module_name!r} has no {class_name!r}{meant and f': {meant}'}")
    try:
        agent = Guarded(made, timeout)
    except TypeError as error:
        raise AgentError(f"{role} {name!r}: {class_name} must be made without arguments: {error}") from error
    except AgentError as error:
        raise AgentError(f"{role} {name!r}: {class_name}() is not made: {error}") from error
    if not callable(getattr(agent, method, None)):
        raise AgentError(f"{role} {name!r}: {class_name} has no method {method}({takes})")
    return agent


def _meant(name: str, known: list[str]) -> str:
    """What a name without a colon may stand for: a model without its provider, a word that is nearly it, or a class
    after a dot."""
    words = [word for word in known if ":" not in word]
    maker, dash, _ = name.partition("-")
    houses = sorted(model.partition(":")[0] for model in prices() if dash and f":{maker}-" in model)
    if houses:
        return ask([f"{houses[0]}:{name}"])
    near = closest(name, words)
    if not near and "." in name:
        near = [":".join(name.rpartition(".")[::2])]
    return ask(near)
