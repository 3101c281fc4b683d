"""Agents of a user's own that never answer: the cell is void, and the run goes on (design: timeouts on every await)."""

from __future__ import annotations

import gc
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from iwkit.errors import AgentError
from iwkit.runfolder import attempt_paths
from iwkit_runtime.agents.guarded import Guarded
from iwkit_runtime.runs import Config, run
from iwkit_runtime.selection import select

AGENTS = """
import threading
from pathlib import Path

class HangsOnce:
    def answer(self, view):
        hung = Path(__file__).with_name("hung")
        if view.tick == 2 and not hung.exists():
            hung.touch()
            threading.Event().wait()
        return "$silent$" if view.tick < 3 else "$done$"

class NeverAnswers:
    def answer(self, view):
        threading.Event().wait()

class NeverMade:
    def __init__(self):
        threading.Event().wait()

class OneThread:
    # Objects of many libraries may be used in the thread only that made them.
    def __init__(self):
        self.thread = threading.current_thread()
    def answer(self, view):
        assert threading.current_thread() is self.thread
        return "$done$"

class Wrong:
    def answer(self, view):
        return 1 / 0
"""


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Play two tasks with agents of a user's own: task -> closing record."""
    (tmp_path / "guarded_agents.py").write_text(AGENTS, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "guarded_agents", raising=False)

    def played(assistant: str, human: str = "rules", timeout: float = 0.5) -> dict[str, Any]:
        ends: dict[str, Any] = {}
        config = Config(assistant, human, "symbolic", draft=True, timeout=timeout)
        run(select(["A1", "F10"], draft=True), config, tmp_path / "run", ends.__setitem__)
        return ends

    return played


def test_one_that_does_not_answer_makes_its_cell_void_and_the_run_goes_on(play: Any, tmp_path: Path) -> None:
    ends = play("guarded_agents:HangsOnce")
    assert ends["A1"]["status"] == "void"
    assert "the assistant failed: AgentError: no answer within 0.5 s (--timeout)" in ends["A1"]["void"]
    assert ends["F10"]["stop_reason"] == "done"
    again = play("guarded_agents:HangsOnce", timeout=60.0)  # another timeout is no other configuration
    assert again["A1"]["stop_reason"] == "done"
    assert len(attempt_paths(tmp_path / "run", "A1-s0")) == 2


def test_a_human_that_does_not_answer_makes_its_cell_void(play: Any) -> None:
    ends = play("oracle", "guarded_agents:NeverAnswers", timeout=0.2)
    assert {end["status"] for end in ends.values()} == {"void"}
    assert all("the human failed" in end["void"] for end in ends.values())


def test_one_that_is_never_made_is_refused(play: Any, tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"guarded_agents:NeverMade.*no answer within 0\.2 s"):
        play("guarded_agents:NeverMade", timeout=0.2)
    assert not (tmp_path / "run").exists()


def test_one_is_made_and_asked_in_one_thread_and_errors_keep_their_place(play: Any, tmp_path: Path) -> None:
    assert {end["stop_reason"] for end in play("guarded_agents:OneThread").values()} == {"done"}
    shutil.rmtree(tmp_path / "run")
    assert "guarded_agents.py:31, in answer" in play("guarded_agents:Wrong")["A1"]["void"]


def test_threads_end_with_their_agents() -> None:
    class Echo:
        turns = 3

        def answer(self, view: str) -> str:
            return view

    before = set(threading.enumerate())
    guarded = [Guarded(Echo) for _ in range(5)]
    assert [g.answer("hello") for g in guarded] == ["hello"] * 5
    assert guarded[0].turns == 3
    assert not hasattr(guarded[0], "recall")
    guarded.clear()
    gc.collect()
    end = time.monotonic() + 10
    while set(threading.enumerate()) - before and time.monotonic() < end:
        time.sleep(0.01)
    assert not set(threading.enumerate()) - before
