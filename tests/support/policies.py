"""The shipped tasks in the symbolic world, and the humans of policy files in them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from iwkit.compile import load_task
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.agents.policy import PolicyHuman
from iwkit_runtime.agents.registry import make_human
from iwkit_runtime.loop.answers import read_human
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.loop.views import HumanView
from iwkit_runtime.selection import select
from iwkit_runtime.sources import Source

ROOT = Path(__file__).parents[2]
POLICIES = ROOT / "tests" / "data" / "policies"
TASKS = {path.stem: load_task(path) for path in sorted((ROOT / "taskpacks").glob("*/*.yaml"))}


@cache
def sources(name: str) -> list[Source]:
    return select([name], draft=True)


def episode_of(name: str) -> Episode:
    return Episode(TASKS[name], SymbolicWorld(), lambda _kind, _fields: None)


def policy_human(name: str, episode: Episode) -> PolicyHuman:
    human = make_human(f"policy:{POLICIES / name}.yaml", episode)
    assert isinstance(human, PolicyHuman)
    return human


def turn(episode: Episode, human: PolicyHuman, speech: str | None = None) -> tuple[str, str]:
    """One tick: what the human does and says."""
    episode.answer("assistant", "$silent$" if speech is None else f"$interrupt$ {speech}")
    view = episode.observe("human")
    assert isinstance(view, HumanView)
    text = human.answer(view)
    episode.answer("human", text)
    answer = read_human(text)
    return answer.action, answer.speak
