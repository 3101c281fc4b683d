"""Recorded frames with numbers beside the things."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from iwkit.errors import UsageError
from iwkit_runtime.render.numbered import INK, SCALE, Wanted, numbered
from iwkit_runtime.runs import no_pictures

COUNTER = "[LookAt] <counter>"


@pytest.fixture(scope="module")
def folder(run_of: Callable[..., Path]) -> Path:
    if why := no_pictures("silent", "physical"):
        pytest.skip(why)
    return run_of("A1", "silent")


@pytest.mark.slow
def test_the_frame_of_the_ledger_is_marked_on_the_things(folder: Path) -> None:
    picture = numbered(folder, "A1", [Wanted(COUNTER, "look_hold", ("juice", "banana"))])
    records = map(json.loads, next((folder / "cells").rglob("*.jsonl")).read_text().splitlines())
    step = next(r for r in records if r["kind"] == "step" and r["command"] == COUNTER)
    digest = step["frames"][[kind for _, kind in step["picked"]].index("look_hold")]
    plain = Image.open(folder / "frames" / f"{digest}.png").convert("RGB")
    changed = np.abs(np.asarray(picture, int) - np.asarray(plain.resize(picture.size, Image.Resampling.LANCZOS), int))
    assert picture.size == (640 * SCALE, 480 * SCALE)
    assert 0.001 < (changed.max(2) > 0).mean() < 0.02, "nothing but the marks is changed"
    orange = (np.asarray(plain, int) - (255, 140, 30)).__abs__().max(2) < 40
    y, x = (int(v.mean() * SCALE) for v in np.nonzero(orange))
    near = np.asarray(picture)[y - 90 : y + 90, x - 90 : x + 90].reshape(-1, 3)
    assert (near == INK).all(1).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (Wanted("[LookAt] <sofa>", "look_hold", ()), "has no look_hold frame of"),
        (Wanted(COUNTER, "nice", ()), "has no nice frame of"),
        (Wanted(COUNTER, "look_hold", ("unicorn",)), "unicorn is not in this picture: it shows"),
    ],
)
def test_what_is_not_there_is_told(folder: Path, wanted: Wanted, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        numbered(folder, "A1", [wanted])
