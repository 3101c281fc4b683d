"""The closed loop in the physical world: the oracle helps through a body, and sees from its eyes (EVAL-4, EVAL-5)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from iwkit.ledger import read_records
from iwkit.runfolder import attempt_path, cell_name
from iwkit_runtime.runs import no_pictures


@pytest.mark.slow
@pytest.mark.parametrize("pack", ["A1", "D5"])
def test_the_oracle_passes_and_the_assistant_is_shown_what_the_wearer_sees(
    pack: str, run_of: Callable[[str], Path]
) -> None:
    if why := no_pictures("oracle", "physical"):
        pytest.skip(why)
    folder = run_of(pack)
    records, _ = read_records(attempt_path(folder, cell_name(pack, 0), 1))
    assert records[-1]["status"] == "pass", records[-1]["score"]["conditions"]
    taken = [digest for r in records if r["kind"] == "step" for digest in r.get("frames", ())]
    assert taken
    for digest in set(taken):
        file = (folder / "frames" / f"{digest}.png").read_bytes()
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
            assert (folder / "trajectories" / f"{r['trajectory']}.json.gz").is_file()
