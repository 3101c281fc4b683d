"""An episode with pictures that is broken off and goes on is the undisturbed one, file for file (EVAL-7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iwkit.ledger import comparable
from iwkit.runfolder import cell_name, selected_attempt
from iwkit_runtime.runs import Config, no_pictures, run
from iwkit_runtime.selection import select
from iwkit_runtime.studio import PhysicalStudio

TASK = "W12"
STRIKES = (2, 8)
"""Intervals after which it breaks off: in the opening, and later. Their pictures are on disk, and no record."""


class BrokenOffError(BaseException):
    """The process is gone."""


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for name in ("frames", "trajectories") for p in folder.glob(f"{name}/*")}


@pytest.mark.slow
def test_an_episode_with_pictures_goes_on_where_it_broke_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if why := no_pictures("oracle", "physical"):
        pytest.skip(why)
    config = Config("oracle", "rules", "physical", draft=True, pictures=True)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run(select([TASK], draft=True), config, whole, lambda *_: None)
    for strike in STRIKES:
        count = 0

        def interval(self: PhysicalStudio, inner: Any = PhysicalStudio.interval, last: int = strike) -> Any:
            nonlocal count
            count += 1
            found = inner(self)
            if count == last:
                raise BrokenOffError
            return found

        with monkeypatch.context() as patch, pytest.raises(BrokenOffError):
            patch.setattr(PhysicalStudio, "interval", interval)
            run(select([TASK], draft=True), config, broken, lambda *_: None)
    run(select([TASK], draft=True), config, broken, lambda *_: None)
    records = []
    for folder in (whole, broken):
        chosen = selected_attempt(folder, cell_name(TASK, 0))
        assert chosen is not None
        records.append([comparable(r) for r in chosen[1]])
    assert [r for r in records[1] if r["kind"] != "resumed"] == records[0]
    assert sum(r["kind"] == "resumed" for r in records[1]) == len(STRIKES)
    assert any(r.get("frames") for r in records[0] if r["kind"] == "step")
    assert files(broken) == files(whole)
