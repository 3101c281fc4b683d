"""The closed loop in the physical world: the oracle helps through a body, and sees from its eyes (EVAL-4, EVAL-5)."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from iwkit import resources
from iwkit.compile import load_task
from iwkit.ledger import comparable, read_records
from iwkit.runfolder import attempt_path, cell_name
from iwkit_runtime.runs import Config, Source, no_pictures, run


def played(pack: str, out: Path, *, pictures: bool) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    (path,) = resources.root("taskpacks").glob(f"*/{pack}.yaml")
    task = load_task(path)
    ends: dict[str, Any] = {}
    config = Config("oracle", "rules", "physical", draft=True, pictures=pictures)
    run([Source(task, path, task.digest, "draft")], config, out, ends.__setitem__)
    records, _ = read_records(attempt_path(out, cell_name(pack, 0), 1))
    return records, ends[pack]


@pytest.mark.slow
@pytest.mark.parametrize("pack", ["A1", "D5"])
def test_the_oracle_passes_and_the_assistant_is_shown_what_the_wearer_sees(pack: str, tmp_path: Path) -> None:
    if why := no_pictures("oracle", "physical"):
        pytest.skip(why)
    records, end = played(pack, tmp_path, pictures=True)
    assert end["status"] == "pass", end["score"]["conditions"]
    taken = [digest for r in records if r["kind"] == "step" for digest in r.get("frames", ())]
    assert taken
    for digest in set(taken):
        file = (tmp_path / "frames" / f"{digest}.png").read_bytes()
        assert hashlib.sha256(file).hexdigest() == digest
    shown = [r.get("frames", []) for r in records if r["kind"] == "ask" and r["role"] == "assistant"]
    assert shown[0], "the opening is shown at the handoff"
    told = iter(taken)
    assert all(d in told for frames in shown for d in frames), "what is shown was taken, in this order"
    for before, after in pairwise(d for frames in shown for d in frames[:-1]):
        assert before != after, "equal pictures in a row are shown once"
    if pack == "A1":
        assert not any(r.get("frames") for r in records if r["kind"] == "ask" and r["role"] == "human"), "NARRATE"
    for r in records:
        if r["kind"] == "step" and "picked" in r:
            assert r["picked"][-1][0] == r["receipt"]["frames"] - 1, "the true result frame"
            assert ("look_hold" in [kind for _, kind in r["picked"]]) == ("[LookAt]" in r["command"])
            assert (tmp_path / "trajectories" / f"{r['trajectory']}.json.gz").is_file()


@pytest.mark.slow
def test_two_episodes_are_the_same(tmp_path: Path) -> None:
    first, _ = played("A1", tmp_path / "one", pictures=False)
    second, _ = played("A1", tmp_path / "two", pictures=False)
    assert [comparable(r) for r in first] == [comparable(r) for r in second]
