"""Runs with models from the command line: what is kept, how they stop and go on, and that no key is ever written."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from iwkit import resources
from iwkit.cli.main import main
from iwkit.errors import LedgerError
from iwkit.ledger import read_records
from iwkit.report.calls import read_book
from iwkit.report.consistency import contradictions
from iwkit.report.summary import summarise
from iwkit.report.tables import tables
from iwkit_runtime import selection
from iwkit_runtime.models.book import Book

F10 = resources.root("taskpacks") / "finding" / "F10.yaml"
Cli = Callable[..., tuple[int, str, str]]


@cache
def sources() -> list[Any]:
    return selection.select([str(F10)], draft=True)


@cache
def lines() -> list[str]:
    """What the oracle says."""
    return [line.say for line in sources()[0].task.scripts["oracle"].lines if line.say is not None]


def texts(value: Any) -> list[str]:
    """Every text in parsed JSON."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in inner for text in texts(part)]


def oracle(provider: Any, before: Callable[[int], Any] = lambda _: None) -> Callable[[Any], None]:
    """Answers as a model would that knows the oracle's lines: the next one whenever the wearer spoke."""

    def act(to: Any) -> None:
        if (trouble := before(len(provider.requests))) is not None:
            trouble(to)
            return
        talk = to.seen.json["messages"]
        said = sum("$interrupt$" in str(m["content"]) for m in talk[1:] if m["role"] == "assistant")
        heard = "The wearer says:" in "".join(texts(talk[-1]["content"]))
        text = "$silent$" if not heard else f"$interrupt$ {lines()[said]}" if said < len(lines()) else "$done$"
        provider.says(text)(to)

    return act


@pytest.fixture
def cli(kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """`iwkit run F10` in the symbolic world with a model; returns exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{kit.provider.url}/v1")
    found = sources()
    monkeypatch.setattr(selection, "select", lambda *_args, **_more: found)  # reading it again takes a second
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(os, "fdatasync", lambda _: None)
    settings = "max_output_tokens: 100, backoff: 0.01, late: 0, timeout: 5"
    price = "{input: 1, output: 100, as_of: 2026-11}"
    (tmp_path / "models.yaml").write_text(f'models: "1.0"\ndefault: {{{settings}, price: {price}}}\n', "utf-8")

    def called(*more: str, models: str = "models.yaml", assistant: str = "openai:m") -> tuple[int, str, str]:
        words = ["run", str(F10), "--draft", "--world", "symbolic", "--out", str(kit.folder), "--assistant", assistant]
        given = ["--models", models] if models else []
        monkeypatch.setattr(sys, "argv", ["iwkit", *words, *given, *more])
        with pytest.raises(SystemExit) as exit_:
            main()
        shown = capsys.readouterr()
        return int(exit_.value.code or 0), shown.out, shown.err

    return called


def records(kit: Any, attempt: int = 1) -> list[dict[str, Any]]:
    return read_records(kit.folder / "cells" / "F10-s0" / f"attempt-{attempt:03}.jsonl")[0]


def test_a_model_plays_a_task_and_all_of_it_is_on_record(kit: Any, cli: Cli) -> None:
    kit.provider.always = oracle(kit.provider)
    code, out, err = cli("--budget", "5")
    assert code == 0, err
    assert "pass" in out
    assert f"openai:m: {len(kit.provider.requests)} calls" in err
    plan = json.loads((kit.folder / "plan.json").read_text("utf-8"))
    model = plan["config"]["assistant_model"]
    assert model["base_url"] == f"{kit.provider.url}/v1"
    assert model["prompts"].startswith("sha256:")
    assert plan["config"]["human_model"] is None
    (row,) = tables(summarise(kit.folder), ("models",))[0].rows
    assert row[:3] == ("openai:m", *[str(len(kit.provider.requests))] * 2)
    assert row[5] == f"${len(kit.provider.requests) * 0.0011:.4f}"
    answers = [r for r in records(kit) if r["kind"] == "answer" and r["role"] == "assistant"]
    assert len(answers) == len(kit.provider.requests)
    for answer in answers:
        assert answer["call"]["tokens"]["input"] == 100
        assert answer["call"]["cost"] == pytest.approx(1100e-6)
        prompt = json.loads((kit.folder / "prompts" / f"{answer['call']['prompt'][7:]}.json").read_text("utf-8"))
        assert prompt["messages"][-1]["role"] == "user"
    humans = [r for r in records(kit) if r["kind"] == "answer" and r["role"] == "human"]
    assert humans and all("call" not in r for r in humans), "the rules human asks nobody"
    assert not list(contradictions(kit.folder))
    asked = len(kit.provider.requests)
    assert cli("--budget", "5")[0] == 0
    assert len(kit.provider.requests) == asked, "a finished run asks nothing"


def test_a_budget_stops_the_run_and_a_larger_one_goes_on(kit: Any, cli: Cli) -> None:
    kit.provider.always = oracle(kit.provider)
    assert cli("--out", "undisturbed")[0] == 0
    whole = len(kit.provider.requests)
    kit.provider.requests.clear()
    code, _, err = cli("--budget", "0.02")
    assert code == 1
    assert "stopped before the budget of $0.02 is passed" in err
    first = len(kit.provider.requests)
    assert 0 < first < whole
    assert records(kit)[-1]["kind"] == "ask", "the episode is left open"
    code, _, err = cli("--budget", "5")
    assert code == 0, err
    assert len(kit.provider.requests) == whole, "nothing was asked twice"
    assert len(list((kit.folder / "cells" / "F10-s0").iterdir())) == 1
    bodies = [r.body for r in kit.provider.requests]
    assert len(set(bodies)) == len(bodies)


def test_an_interrupted_run_goes_on_where_it_stopped(kit: Any, cli: Cli) -> None:
    provider = kit.provider

    def interrupted(count: int) -> Any:
        if count != 3:
            return None
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        return provider.stalls(0.6, provider.drops)

    provider.always = oracle(provider, interrupted)
    code, _, err = cli()
    assert code == 130, err
    assert [call["outcome"] for call in read_book(kit.folder)] == ["answered", "answered", "abandoned"]
    assert records(kit)[-1]["kind"] == "ask"
    provider.always = oracle(provider)
    assert cli()[0] == 0
    assert [r["kind"] for r in records(kit)].count("resumed") == 1


def test_a_server_that_fails_makes_the_cell_void_and_it_is_run_again(kit: Any, cli: Cli) -> None:
    kit.provider.always = oracle(kit.provider, lambda n: kit.provider.refuses(400, "zq bad") if n == 4 else None)
    code, out, _ = cli()
    assert code == 3
    assert "void" in out
    failed = next(r for r in records(kit) if r["kind"] == "agent_failed")
    assert "zq bad" in failed["reason"]
    assert failed["call"]["failed"] == ["bad_request"] or failed["call"]["requests"] == 1
    assert cli()[0] == 0
    assert records(kit, attempt=2)[-1]["status"] == "pass"


def test_what_only_the_user_can_mend_stops_the_run_and_voids_nothing(kit: Any, cli: Cli) -> None:
    kit.provider.always = oracle(kit.provider, lambda n: kit.provider.refuses(401, "wrong key") if n == 3 else None)
    code, _, err = cli()
    assert code == 1
    assert "wrong key" in err
    assert "Traceback" not in err
    assert records(kit)[-1]["kind"] == "ask"
    assert cli()[0] == 0


@pytest.mark.parametrize("in_flight", ["1", "2"])
def test_a_full_disk_stops_the_run_and_voids_nothing(
    kit: Any, cli: Cli, monkeypatch: pytest.MonkeyPatch, in_flight: str
) -> None:
    kit.provider.always = oracle(kit.provider)
    write, count = Book._write, [0]

    def full(book: Book, record: Any) -> None:
        count[0] += 1
        if count[0] > 4:
            raise LedgerError("calls.jsonl: cannot be written: No space left on device")
        write(book, record)

    monkeypatch.setattr(Book, "_write", full)
    code, _, err = cli("--seeds", in_flight, "--in-flight", in_flight)
    assert code == 1
    assert "No space left on device" in err
    assert all(end is None for end in ends(kit))
    monkeypatch.setattr(Book, "_write", write)
    assert cli("--seeds", in_flight)[0] == 0


def test_another_configuration_is_another_run(kit: Any, cli: Cli, tmp_path: Path) -> None:
    kit.provider.always = oracle(kit.provider)
    assert cli()[0] == 0
    (tmp_path / "warm.yaml").write_text('models: "1.0"\ndefault: {temperature: 1.5}\n', "utf-8")
    code, _, err = cli(models="warm.yaml")
    assert code == 1
    assert "holds a run with another address, parameters or prompts of the assistant" in err
    (tmp_path / "slow.yaml").write_text('models: "1.0"\ndefault: {max_output_tokens: 100, timeout: 9}\n', "utf-8")
    assert cli(models="slow.yaml")[0] == 0, "how a model is reached is no part of what was run"
    code, _, err = cli("--memory")
    assert code == 1
    assert "memory" in err


def test_no_key_is_written_anywhere(kit: Any, cli: Cli, tmp_path: Path) -> None:
    key = os.environ["OPENAI_API_KEY"]
    provider = kit.provider

    def echo(count: int) -> Any:
        told = provider.requests[-1].headers["authorization"]
        assert key in told
        return {
            1: provider.refuses(500, f"you sent {told}", request_id=key),
            2: provider.says(f"$interrupt$ Your key is {key}.", model=key, id=key),
            3: provider.raw(f"<p>{told}</p>".encode(), kind="text/html"),
            4: provider.refuses(400, f"Incorrect API key provided: {key}"),
        }.get(count)

    provider.always = oracle(provider, echo)
    code, out, err = cli("--cache", "cache", "--memory")
    assert code == 3
    said = next(r for r in records(kit) if r["kind"] == "answer" and r["role"] == "assistant")
    assert said["text"] == "$interrupt$ Your key is [key removed]."
    _, more_out, more_err = cli("--cache", "cache", "--memory")
    shown = out + err + more_out + more_err
    assert "[key removed]" in (kit.folder / "calls.jsonl").read_text("utf-8")
    assert key not in shown
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert {"plan.json", "calls.jsonl"} <= {p.name for p in files}
    for path in files:
        assert key.encode() not in path.read_bytes(), path
        assert key not in str(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"assistant": "oracle"}, "leave --models out"),
        ({"assistant": "openai:gpt-none", "models": ""}, "no price is known"),
        ({"assistant": "openai:"}, "no model 'openai:'"),
        ({"models": "nowhere.yaml"}, "nowhere.yaml"),
    ],
)
def test_what_cannot_be_run_is_said_before_anything_is_asked(kit: Any, cli: Cli, arguments: Any, message: str) -> None:
    code, _, err = cli(*(("--budget", "1") if arguments.get("models") == "" else ()), **arguments)
    assert code == 1
    assert message in err
    assert not kit.provider.requests
    assert not (kit.folder / "plan.json").exists()


def test_no_key_is_said_before_anything_is_written(kit: Any, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    code, _, err = cli()
    assert code == 1
    assert "put it into the environment variable OPENAI_API_KEY" in err
    assert not kit.folder.exists()


def test_a_person_plays_from_the_terminal(kit: Any, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{lines()[0]}\n\n"))
    code, out, err = cli(assistant="person", models="")
    assert code == 1
    assert "wearer: " in out
    assert "nobody is at the terminal any more" in err
    monkeypatch.setattr(sys, "stdin", io.StringIO("/done\n"))
    code, out, err = cli(assistant="person", models="")
    assert code == 0, err
    assert records(kit)[-1]["stop_reason"] == "done"
    assert sum(r["kind"] == "answer" and r["role"] == "assistant" for r in records(kit)) == 3


def test_episodes_in_flight_share_the_desk(kit: Any, cli: Cli) -> None:
    """Three cells in a worker process, asked for by this one: at the same time, under one budget."""
    provider, now, most = kit.provider, [0], [0]
    answer = oracle(provider)

    def slowly(to: Any) -> None:
        now[0] += 1
        most[0] = max(most[0], now[0])
        answer(to)
        time.sleep(0.1)
        now[0] -= 1

    provider.always = slowly
    code, _, err = cli("--seeds", "3", "--budget", "0.05")
    assert code == 1, err
    assert "before the budget of $0.05 is passed" in err
    first = len(provider.requests)
    assert all(end is None or end["status"] == "pass" for end in ends(kit)), "the budget voids nothing"
    assert cli("--seeds", "3", "--budget", "5")[0] == 0
    assert [end["status"] for end in ends(kit)] == ["pass"] * 3
    calls = list(read_book(kit.folder))
    assert len(calls) == len(provider.requests) > first
    assert {call["cell"] for call in calls} == {"F10-s0", "F10-s1", "F10-s2"}
    assert {call["outcome"] for call in calls} == {"answered"}
    assert most[0] > 1


def ends(kit: Any) -> list[Any]:
    """The closing record of each attempt, or None where it is open."""
    found = [read_records(path)[0] for path in sorted(kit.folder.glob("cells/*/attempt-*.jsonl"))]
    return [records[-1] if records[-1]["kind"] == "end" else None for records in found]
