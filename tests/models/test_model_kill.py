"""A run with models that is killed again and again ends like one that was left alone, and asks nothing twice."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from iwkit import resources
from iwkit.compile import load_task
from iwkit.ledger import RESUMED, comparable, read_records
from iwkit.report.calls import read_book

F10 = resources.root("taskpacks") / "finding" / "F10.yaml"
KILLS = 3


def command(kit: Any, out: Path) -> list[str]:
    given = ["run", str(F10), "--draft", "--world", "symbolic", "--assistant", "openai:m", "--human", "google:m"]
    program = "from iwkit.cli.main import main; main()"
    return [
        sys.executable,
        "-c",
        program,
        *given,
        "--models",
        str(kit.folder.parent / "models.yaml"),
        "--out",
        str(out),
    ]


def finish(kit: Any, out: Path) -> None:
    done = subprocess.run(command(kit, out), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def records(out: Path) -> list[dict[str, Any]]:
    """The episode's records without what differs between two runs of it."""
    found, _ = read_records(out / "cells" / "F10-s0" / "attempt-001.jsonl")
    return [comparable(r) | ({"n": None} if "n" in r else {}) for r in found if r["kind"] != RESUMED]


def knows_the_task(provider: Any) -> Callable[[Any], None]:
    """Answers as assistant and as human, always the same to the same request, and takes a while for each."""
    task = load_task(F10)
    lines = [line for line in task.scripts["oracle"].lines if line.say is not None]
    steps = {
        f"The assistant says now: {line.say}": f"[{line.do[0].verb}] "
        + " ".join(str(task.handles[ref.name]) for ref in line.do[0].args)
        for line in lines
    }

    def act(to: Any) -> None:
        time.sleep(0.1)
        asked = to.seen.json
        if "contents" in asked:
            told = asked["contents"][0]["parts"][-1]["text"]
            step = next((command for words, command in steps.items() if words in told), "")
            provider.says(f"<action>{step}</action><speak>{'' if step else 'What next?'}</speak>")(to)
            return
        talk = asked["messages"]
        said = sum("$interrupt$" in str(m["content"]) for m in talk if m["role"] == "assistant")
        heard = "The wearer says:" in str(talk[-1]["content"])
        provider.says("$silent$" if not heard else f"$interrupt$ {lines[said].say}" if said < len(lines) else "$done$")(
            to
        )

    return act


@pytest.mark.slow
def test_a_killed_run_ends_like_one_left_alone(kit: Any) -> None:
    provider = kit.provider
    provider.always = knows_the_task(provider)
    address = f"{{base_url: {provider.url}/v1}}"
    (kit.folder.parent / "models.yaml").write_text(
        f'models: "1.0"\nagents: {{openai:m: {address}, google:m: {{base_url: {provider.url}}}}}\n', "utf-8"
    )
    begun = time.monotonic()
    finish(kit, kit.folder.parent / "alone")
    whole, took = len(provider.requests), time.monotonic() - begun
    provider.requests.clear()
    chance = random.Random(20261130)
    for _ in range(KILLS):
        process = subprocess.Popen(command(kit, kit.folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = len(provider.requests)
        deadline = time.monotonic() + 10 * took
        while len(provider.requests) < before + chance.randint(1, 3) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(chance.random() * 0.15)
        process.kill()
        process.wait()
    finish(kit, kit.folder)
    assert records(kit.folder) == records(kit.folder.parent / "alone")
    assert records(kit.folder)[-1]["status"] == "pass"
    assert whole <= len(provider.requests) <= whole + KILLS, "at most the answer that was under way is asked for again"
    outcomes = [call["outcome"] for call in read_book(kit.folder)]
    assert outcomes.count("answered") >= whole
    assert outcomes.count(None) <= KILLS
