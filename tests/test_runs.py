"""Runs in a folder: what may share one, void cells, agents that fail, and the trace that the record holds (EVAL-8)."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit import resources
from iwkit.errors import AgentError, LedgerError, UsageError
from iwkit.ledger import RESUMED, Record, exclusive, read_records, trace_of
from iwkit.library import Library
from iwkit.report.summary import Summary, summarise
from iwkit.report.tables import tables
from iwkit.runfolder import attempt_paths
from iwkit.trace import Trace
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime import runs
from iwkit_runtime.agents import make_human
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.runs import Config, run
from iwkit_runtime.selection import select
from iwkit_runtime.sources import Source

PACKS = sorted(resources.root("taskpacks").glob("*/*.yaml"))
LIBRARY = Library()
SOURCES = {s.task.id: s for s in select([str(p) for p in PACKS], LIBRARY, draft=True)}
F10, A1 = SOURCES["F10"], SOURCES["A1"]
SCRIPTED = Config("oracle", "scripted", "symbolic", draft=True)

Play = Callable[..., Summary]


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """That records are synced is tested in test_ledger.py."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(os, "fdatasync", lambda _: None)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def play(out: Path) -> Play:
    """Run sources into `out` and read the folder."""

    def played(*sources: Source, config: Config = SCRIPTED) -> Summary:
        run(sources, config, out, lambda _task, _end: None)
        return summarise(out)

    return played


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Config]]:
    """Write a user's own assistant (or human) whose `answer` has the body given; returns the configuration."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    made: list[str] = []

    def written(body: str, *, role: str = "assistant") -> Config:
        name = f"own_{role}_{len(made)}"
        made.append(name)
        code = f"calls = []\nclass Own:\n    def answer(self, view):\n        calls.append(view.tick)\n        {body}\n"
        (folder / f"{name}.py").write_text(code, "utf-8")
        return replace(SCRIPTED, **{role: f"{name}:Own"})

    yield written
    for name in made:
        sys.modules.pop(name, None)


def calls(config: Config) -> list[int]:
    """The ticks at which a user's own assistant was asked."""
    found: list[int] = sys.modules[config.assistant.partition(":")[0]].calls
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rewrite(path: Path, change: Callable[[list[Record]], list[Record]]) -> None:
    records = change(read_records(path)[0])
    path.write_text("".join(json.dumps(r) + "\n" for r in records), "utf-8")


# One configuration a folder


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"assistant": "silent"}, "assistant (oracle, not silent)"),
        ({"human": "rules"}, "human (scripted, not rules)"),
        ({"world": "other"}, "world (symbolic, not other)"),
        ({"draft": False}, "draft (True, not False)"),
        ({"assistant": "wrong", "human": "rules"}, "assistant (oracle, not wrong), human (scripted, not rules)"),
    ],
)
def test_another_configuration_is_refused(
    play: Play, out: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], names: str
) -> None:
    monkeypatch.setitem(runs.WORLDS, "other", lambda _solver: SymbolicWorld())
    play(F10)
    before = contents(out)
    with pytest.raises(LedgerError, match=re.escape(f"holds a run with another {names}: choose another --out")):
        play(F10, config=replace(SCRIPTED, **changed))
    assert contents(out) == before


def test_other_code_is_refused(play: Play, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(F10)
    monkeypatch.setattr(runs, "runtime_digest", lambda: "sha256:other")
    with pytest.raises(LedgerError, match="holds a run with another version of iwkit's code: choose another --out"):
        play(F10)


def test_more_tasks_can_be_added_and_what_is_done_stays(play: Play, out: Path) -> None:
    play(F10)
    before = contents(out)
    both = play(A1, F10)
    assert [r.task for r in both.results] == ["F10", "A1"]
    after = contents(out)
    journal = "cells/F10-s0/attempt-001.jsonl"
    assert after[journal] == before[journal]
    assert sorted(after) == [
        "cells/A1-s0/attempt-001.jsonl",
        journal,
        "lock",
        "packs/A1.yaml",
        "packs/F10.yaml",
        "plan.json",
    ]
    assert after["packs/A1.yaml"] == A1.path.read_bytes()


def test_a_changed_pack_is_refused_and_a_review_is_no_change(play: Play, out: Path, tmp_path: Path) -> None:
    path = tmp_path / "packs" / "finding" / "F10.yaml"
    path.parent.mkdir(parents=True)

    def changed(old: str, new: str) -> Source:
        text = F10.path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")
        (source,) = select([str(path)], LIBRARY, draft=True)
        return source

    play(F10)
    play(changed("\ntitle:", "\n# a remark\ntitle:"))
    before = contents(out)
    with pytest.raises(LedgerError, match="holds F10 with another digest: choose another --out"):
        play(A1, changed("\ntitle: ", "\ntitle: Another "))
    assert contents(out) == before


def test_the_lock_is_respected(play: Play, out: Path) -> None:
    with exclusive(out), pytest.raises(LedgerError, match="another process is writing to it"):
        play(F10)
    assert sorted(contents(out)) == ["lock"]


@pytest.mark.parametrize(
    ("world", "message"),
    [("matrix", "no world 'matrix': use physical, symbolic"), ("", "no world '': use physical, symbolic")],
)
def test_worlds_that_there_are_not(play: Play, out: Path, world: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        play(F10, config=replace(SCRIPTED, world=world))
    assert not out.exists()


# Void cells


FAILURES = {
    "raises": ("raise ValueError('no [/b] network\\n[Open] <x>')", "ValueError: no [/b] network\n[Open] <x>"),
    "leaves the program": ("raise SystemExit(0)", "SystemExit: 0"),
    "answers nothing": ("return None", "TypeError: answered NoneType, not text"),
    "answers bytes": ("return b'$silent$'", "TypeError: answered bytes, not text"),
    "raises without Unicode": (r"raise OSError('\udcff')", "OSError: \ufffd"),
    "deep recursion": ("return self.answer(view)", "RecursionError: maximum recursion depth exceeded"),
}


@pytest.mark.parametrize(("body", "reason"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("role", ["assistant", "human"])
def test_an_agent_that_fails_makes_the_cell_void(
    play: Play, agent: Callable[..., Config], role: str, body: str, reason: str
) -> None:
    summary = play(F10, config=agent(body, role=role))
    (result,) = summary.results
    assert result.status == "void"
    assert (result.completion, result.actions, result.ticks) == (None, None, None)
    assert result.reason is not None
    assert result.reason.startswith(f"the {role} failed: {reason}")
    assert (summary.total.pass_rate, summary.total.low, summary.total.high) == (None, 0.0, 1.0)


MALFORMED = {
    "empty": "return ''",
    "chatter": "return 'Sure! $silent$'",
    "unknown token": "return '$speak$ hello'",
    "two answers": "return '$silent$ $done$'",
    "too long": "return 'x' * 50_000",
    "half a surrogate pair": r"return '\ud800'",
    "terminal codes": r"return '\x1b[2J\x00'",
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_answer_is_a_failure_of_the_assistant_not_a_void_cell(
    play: Play, agent: Callable[..., Config], body: str
) -> None:
    summary = play(F10, config=agent(body))
    (result,) = summary.results
    assert (result.status, result.completion, result.reason) == ("fail", 0.0, "tick budget")
    assert "Every answer of F10 was malformed: see docs/answers.md." in tables(summary)[0].note


def test_a_few_malformed_answers_are_not_all(play: Play, agent: Callable[..., Config]) -> None:
    summary = play(F10, config=agent("return 'Open it.' if view.tick < 4 else '$silent$'"))
    assert summary.results[0].malformed == 3
    assert "malformed" not in tables(summary)[0].note


def test_a_failure_says_where_in_the_users_file(play: Play, agent: Callable[..., Config]) -> None:
    config = agent("return helped(view)\n\n\ndef helped(view):\n    return view.nothing_like_it")
    (result,) = play(F10, config=config).results
    module = config.assistant.partition(":")[0]
    assert result.reason.endswith(f" ({module}.py:9, in helped)")
    assert result.status == "void"


def test_speech_that_is_not_unicode_is_heard_and_recorded(play: Play, agent: Callable[..., Config], out: Path) -> None:
    config = agent(r"return '$interrupt$ Open \ud83d it. \U0001f321'")
    (result,) = play(F10, config=config).results
    assert result.status == "fail"
    records = read_records(attempt_paths(out, "F10-s0")[0])[0]
    assert "Open \ufffd it. \U0001f321" in {r["text"] for r in records if r["kind"] == "speech"}


def test_only_void_cells_are_tried_again(play: Play, agent: Callable[..., Config], out: Path, tmp_path: Path) -> None:
    """The assistant's service is down for one task. Later it is up."""
    up = tmp_path / "up"
    config = agent(
        f"import pathlib; up = pathlib.Path({str(up)!r}).exists() or 'juice' in str(view);"
        " return '$done$' if up else 1 / 0"
    )
    assert "juice" in A1.task.pack.interaction.handoff
    first = play(F10, A1, config=config)
    assert [r.status for r in first.results] == ["void", "fail"]
    assert calls(config) == [1, 1]
    before = contents(out)

    second = play(F10, A1, config=config)
    assert [r.status for r in second.results] == ["void", "fail"]
    assert calls(config) == [1, 1, 1], "the task that was done is not played again"
    assert [p.name for p in attempt_paths(out, "F10-s0")] == ["attempt-001.jsonl", "attempt-002.jsonl"]

    up.touch()
    third = play(F10, A1, config=config)
    assert [r.status for r in third.results] == ["fail", "fail"]
    assert third.total.pass_rate == 0.0
    after = contents(out)
    assert len(attempt_paths(out, "F10-s0")) == 3
    assert all(after[name] == data for name, data in before.items()), "attempts are never changed"

    play(F10, A1, config=config)
    assert contents(out) == after
    assert len(calls(config)) == 4


def test_a_failure_on_disk_is_not_asked_again(play: Play, agent: Callable[..., Config], out: Path) -> None:
    """Killed between the record of the failure and the closing record."""
    config = agent("raise ValueError(f'call {len(calls)}')")
    play(F10, config=config)
    (path,) = attempt_paths(out, "F10-s0")
    whole = contents(out)
    rewrite(path, lambda records: records[:-1])
    play(F10, config=config)
    assert calls(config) == [1]
    assert read_records(path)[0][-2]["kind"] == RESUMED
    assert contents(out).keys() == whole.keys()


def test_an_assistant_that_cannot_be_had(play: Play, agent: Callable[..., Config], out: Path, tmp_path: Path) -> None:
    (tmp_path / "project" / "own.py").write_text(
        "class Mute: pass\n"
        "class Needy:\n    def __init__(self, key): pass\n"
        "class Broken:\n    def __init__(self): raise KeyError('OPENAI_API_KEY')\n",
        "utf-8",
    )
    (tmp_path / "project" / "garbled.py").write_text("class X:\n    def answer(self, view)\n", "utf-8")
    refused = {
        "garbled:X": r"^assistant 'garbled:X' cannot be made: SyntaxError: .*garbled\.py, line 2",
        "orakel": "no assistant 'orakel': use early, oracle, silent, wrong, person, openai:MODEL, .*, or module:Class",
        "nowhere:Own": "cannot import 'nowhere': .* PYTHONPATH",
        "own:Missing": "module 'own' has no 'Missing'",
        "own:Needy": "Needy must be made without arguments",
        "own:Broken": "^assistant 'own:Broken' cannot be made: KeyError: 'OPENAI_API_KEY'",
        "own:Brokn": "module 'own' has no 'Brokn': did you mean `Broken`",
        "own.Mute": "no assistant 'own.Mute': .*; did you mean `own:Mute`",
        "orcle": ".*for your own; did you mean `oracle`",
        "gpt-5": "did you mean `openai:gpt-5`",
        "own:Mute": r"Mute has no method answer\(view\)",
    }
    for name, message in refused.items():
        with pytest.raises(AgentError, match=message):
            play(F10, config=replace(SCRIPTED, assistant=name))
        assert not out.exists(), "a name that was mistyped claims no folder"


# Continuing


def edited(kind: str, field: str, value: Any) -> Callable[[list[Record]], list[Record]]:
    """Cut the closing record off, and change one field of the first record of a kind."""

    def change(records: list[Record]) -> list[Record]:
        record = next(r for r in records if r["kind"] == kind)
        record[field] = value
        return records[:-1]

    return change


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("header", "digest", "sha256:0"),
        ("reset", "state", []),
        ("step", "command", "[Open] <desk>"),
        ("ask", "view", "sha256:0"),
        ("answer", "text", "$interrupt$ Sit down."),
        ("speech", "text", "Other words."),
    ],
)
def test_a_record_that_does_not_come_out_again(play: Play, out: Path, kind: str, field: str, value: Any) -> None:
    play(F10)
    (path,) = attempt_paths(out, "F10-s0")
    rewrite(path, edited(kind, field, value))
    with pytest.raises(LedgerError, match=r"attempt-001\.jsonl: record \d+ \(\w+\) comes out differently .* new run"):
        play(F10)


@pytest.mark.parametrize("script", ["oracle", "wrong", "early"])
@pytest.mark.parametrize("task", SOURCES)
def test_a_run_cut_anywhere_ends_as_if_it_had_not_been(play: Play, out: Path, task: str, script: str) -> None:
    """Cut at six places. Killing real processes is in tests/crash."""
    config = replace(SCRIPTED, assistant=script)
    before = play(SOURCES[task], config=config)
    (path,) = attempt_paths(out, f"{task}-s0")
    lines = path.read_bytes().splitlines(keepends=True)
    records = comparable_records(path)
    for cut in range(1, len(lines), max(1, len(lines) // 6)):
        path.write_bytes(b"".join(lines[:cut]) + lines[cut][: cut % len(lines[cut])])
        assert play(SOURCES[task], config=config) == before
        assert comparable_records(path) == records


def comparable_records(path: Path) -> list[Record]:
    kept = (r for r in read_records(path)[0] if r["kind"] != RESUMED)
    return [{k: v for k, v in r.items() if not k.startswith("t_wall")} for r in kept]


# The record and the trace


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_records_hold_the_trace(data: st.DataObject) -> None:
    """At every turn of an episode, whatever the assistant says."""
    source = data.draw(st.sampled_from(list(SOURCES.values())), label="task")
    scripts = source.task.scripts.values()
    said = sorted({line.say for script in scripts for line in script.lines if line.say is not None})
    answers = st.sampled_from([*(f"$interrupt$ {text}" for text in said), "$silent$", "nonsense"])
    records: list[Record] = []
    traces: list[tuple[int, Trace]] = []

    def sink(kind: str, fields: dict[str, Any]) -> None:
        records.append(json.loads(json.dumps({"n": len(records), "kind": kind, **fields})))

    episode = Episode(source.task, SymbolicWorld(), sink)
    human = make_human("scripted", episode)
    plan = iter([*data.draw(st.lists(answers, max_size=6), label="answers"), "$done$"])
    traces.append((len(records), episode.recorder.trace()))
    while (role := episode.pending) is not None:
        view = episode.observe(role)
        episode.answer(role, next(plan) if role == "assistant" else human.answer(view))  # type: ignore[arg-type]
        traces.append((len(records), episode.recorder.trace()))
    for count, trace in traces:
        assert trace_of(records[:count]) == trace
    numbers = [e.seq for e in traces[-1][1].events()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_an_assistant_whose_code_changed_is_another_one(
    play: Play, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "edited_agent.py"
    module.write_text("class E:\n    def answer(self, view):\n        return '$silent$'\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    config = replace(SCRIPTED, assistant="edited_agent:E")
    play(F10, config=config)
    module.write_text(module.read_text("utf-8").replace("$silent$", "$done$"), "utf-8")
    said = f"holds a run, and the code of {module.name} changed since: choose another --out, or delete the folder"
    with pytest.raises(LedgerError, match=said):
        play(F10, A1, config=config)


def test_malformed_answers_are_counted(play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chatty_agent.py").write_text(
        "class E:\n    def answer(self, view):\n        return 'Open it, please.' if view.tick < 4 else '$done$'\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    (result,) = play(F10, config=replace(SCRIPTED, assistant="chatty_agent:E")).results
    assert (result.status, result.malformed) == ("fail", 3)


def test_an_agent_with_a_state_recalls_its_answers(
    play: Play, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that counts its turns says the same after it was stopped, if it has `recall`."""
    (tmp_path / "counting_agent.py").write_text(
        "class E:\n"
        "    turns = 0\n"
        "    fragile = False\n"
        "    def answer(self, view):\n"
        "        self.turns += 1\n"
        "        if self.fragile and self.turns == 4:\n"
        "            raise KeyboardInterrupt\n"
        "        return '$done$' if self.turns == 6 else '$silent$'\n"
        "    def recall(self, view, text):\n"
        "        self.turns += 1\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import counting_agent  # type: ignore[import-not-found]

    config = replace(SCRIPTED, assistant="counting_agent:E")
    monkeypatch.setattr(counting_agent.E, "fragile", True)
    with pytest.raises(KeyboardInterrupt):
        play(F10, config=config)
    monkeypatch.setattr(counting_agent.E, "fragile", False)
    (result,) = play(F10, config=config).results
    assert result.ticks == 6
