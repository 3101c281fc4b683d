"""Play one episode over a journal: the only place where agents are asked and their failures caught."""

from __future__ import annotations

import re
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from iwkit.compile import CompiledTask
from iwkit.digest import digest
from iwkit.errors import AgentError, LedgerError, RunStopped
from iwkit.ledger import END, Record, Records
from iwkit.runfolder import cell_name
from iwkit.score import stable_completion_index
from iwkit.world.base import World
from iwkit_runtime.agents import Assistant, Human, make_assistant, make_human
from iwkit_runtime.agents.guarded import TIMEOUT
from iwkit_runtime.loop.episode import Episode, Role
from iwkit_runtime.loop.frames import Studio
from iwkit_runtime.loop.views import AssistantView, HumanView

if TYPE_CHECKING:
    from iwkit_runtime.models.agents import Front

Agent = TypeVar("Agent", bound=Assistant | Human)

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def play(
    task: CompiledTask,
    world: World,
    journal: Records,
    header: Mapping[str, Any],
    *,
    assistant: str,
    human: str,
    studio: Studio | None = None,
    desk: Front | None = None,
    memory: bool = False,
    timeout: float = TIMEOUT,
) -> Record:
    """Play a task to its end, from the start or from where the journal stops, and return its closing record.

    Args:
        header: identifies the cell; it is the first record, and must be the same when an episode is continued.
        studio: takes the pictures; without it the views have none.
        desk: where models are asked.
        memory: the assistant may keep notes (EVAL-6).
        timeout: seconds that a user's own agent may take for a turn; one that takes longer failed.

    Raises:
        RunStopped: an agent cannot be asked now. The journal is left open, and the episode can be continued.
    """
    journal.append("header", header)
    episode = Episode(task, world, journal.append, studio, memory=memory)
    given = {"assistant": assistant, "human": human}
    agents = make_agents(episode, **given, desk=desk, seed=header.get("seed", 0), timeout=timeout)
    while (role := episode.pending) is not None:
        text = _ask(episode, role, agents[role], journal)
        if text is not None:
            episode.answer(role, text)
    journal.append(END, closing(episode))
    return dict(journal.end or {})


def make_agents(
    episode: Episode,
    *,
    assistant: str,
    human: str,
    desk: Front | None = None,
    seed: int = 0,
    timeout: float = TIMEOUT,
) -> dict[Role, Assistant | Human]:
    """The two agents of an episode, which is of the cell with this seed.

    Raises:
        AgentError: there is none of that name, or it cannot be made.
    """
    cell = cell_name(episode.task.id, seed)
    return {
        "assistant": _made("assistant", assistant, lambda: make_assistant(assistant, episode, desk, cell, timeout)),
        "human": _made("human", human, lambda: make_human(human, episode, desk, cell, timeout)),
    }


def _made(role: Role, name: str, make: Callable[[], Agent]) -> Agent:
    try:
        return make()
    except AgentError:
        raise
    except Exception as error:
        raise AgentError(f"{role} {name!r} cannot be made: {type(error).__name__}: {error}") from error


def _ask(episode: Episode, role: Role, agent: Assistant | Human, journal: Records) -> str | None:
    """The agent's answer, recorded or fresh. An agent that fails makes the cell void, and None is returned."""
    view = episode.observe(role)
    shown = {"frames": [frame.digest for frame in view.frames]} if view.frames else {}
    journal.append("ask", {"role": role, "tick": episode.tick, "view": digest(view.to_json()), **shown})
    recorded = journal.recall("answer") or journal.recall("agent_failed")
    record = recorded or _fresh(role, agent, view, journal)
    if record["kind"] == "answer":
        if recorded and callable(remember := getattr(agent, "recall", None)):
            remember(view, str(record["text"]))
        return str(record["text"])
    episode.give_up("agent failed", void=record["reason"])
    return None


def _fresh(role: Role, agent: Assistant | Human, view: AssistantView | HumanView, journal: Records) -> Record:
    """Ask the agent, and record its answer or its failure."""
    kind = "answer"
    start = time.monotonic()
    try:
        text = agent.answer(view)  # type: ignore[arg-type]  # the role decides which view and agent meet
        if not isinstance(text, str):
            raise TypeError(f"answered {type(text).__name__}, not text")
        fields: dict[str, Any] = {"role": role, "text": _unicode(text)}
    except (RunStopped, LedgerError):
        raise
    except (Exception, SystemExit) as error:
        kind = "agent_failed"
        reason = f"the {role} failed: {type(error).__name__}: {error}{_where(error, agent)}"
        fields = {"role": role, "reason": _unicode(reason), "traceback": _unicode(traceback.format_exc())}
    if callable(account := getattr(agent, "account", None)) and (taken := account()) is not None:
        fields["call"] = taken
    journal.append(kind, {**fields, "t_wall_latency": round(time.monotonic() - start, 4)})
    return {"kind": kind, **fields}


def _where(error: BaseException, agent: Assistant | Human) -> str:
    """` (mine.py:4, in answer)`: the innermost line of the agent's own file that an error came through. Nothing for
    agents of iwkit's: their users did not write them."""
    module = type(getattr(agent, "own", agent)).__module__
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or module.partition(".")[0].startswith("iwkit"):
        return ""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" ({Path(file).name}:{own[-1].lineno}, in {own[-1].name})" if own else ""


def _unicode(text: str) -> str:
    """Text that can be written as UTF-8: half of a surrogate pair is no character."""
    return _SURROGATE.sub("\ufffd", text)


def closing(episode: Episode) -> dict[str, Any]:
    """The fields of the closing record (EVAL-8)."""
    pack = episode.task.pack
    result = episode.score()
    status = "void" if result.void else "pass" if result.passed else "fail"
    trace = episode.recorder.trace()
    return {
        "status": status,
        "stop_reason": episode.stop_reason,
        "void": result.void,
        "ticks": episode.tick,
        "actions": episode.actions,
        "malformed": episode.malformed,
        "stable_actions": None
        if result.void
        else stable_completion_index(pack.physical.goal, trace, episode.task.vocabulary, pack.physical.windows),
        "held": episode.world.held(),
        "score": result.to_json(),
    }
