"""Calibrations order the ways in which a thing is taken, and lose none."""

from __future__ import annotations

import pytest

from iwkit_runtime.actions.grips import calibrated, styles
from iwkit_runtime.body.atlas import AUTO, Calibration, calibration


def hint(**fields: object) -> Calibration:
    return Calibration(calibration="1.0", categories=(), **fields)


CUP = styles(0.075, 0.075, 0.128)
JAR = styles(0.045, 0.045, 0.085)


def test_without_a_hint_the_box_decides() -> None:
    assert calibrated(CUP, AUTO, 0.128) == list(CUP)


@pytest.mark.parametrize(
    ("wanted", "above", "edge"),
    [({"region": "edge"}, True, True), ({"region": "body"}, False, False), ({"region": "center"}, True, False)],
)
def test_the_region_comes_first(wanted: dict[str, str], above: bool, edge: bool) -> None:
    found = calibrated(CUP, hint(**wanted), 0.128)
    assert (found[0].above, found[0].edge) == (above, edge)
    assert sorted(found) == sorted(CUP)


def test_a_small_jar_is_pinched_by_its_cap() -> None:
    found = calibrated(JAR, calibration("medicine_bottle"), 0.085)
    assert found[0].family == "pinch"
    assert not found[0].edge
    assert found[0].height == pytest.approx(0.9 * 0.085)
    assert len(found) == len(JAR) + 1, "and the ways that its box allows are there too"
