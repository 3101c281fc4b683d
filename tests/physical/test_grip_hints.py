"""Calibrations order the ways in which a thing is taken, and lose none; one may say where exactly it is in the hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from iwkit.errors import Problems
from iwkit.grammar import parse
from iwkit_runtime.actions import grab
from iwkit_runtime.actions.grips import Shape, calibrated, goals, styles
from iwkit_runtime.body import atlas
from iwkit_runtime.body.atlas import AUTO, Calibration, InHand, calibration
from iwkit_runtime.body.rotations import vector
from iwkit_runtime.physical.kinematics import Frame, about, frame
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.world import PhysicalWorld


def hint(**fields: object) -> Calibration:
    return Calibration(calibration="1.0", categories=(), **fields)


CUP = styles(0.075, 0.075, 0.128)
JAR = styles(0.045, 0.045, 0.085)
BOARD = np.array([(x, y, z) for x in (-0.2, 0.2) for y in (-0.15, 0.15) for z in (0.0, 0.01)])


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


@pytest.mark.parametrize(
    ("wanted", "height"),
    [({"height": 0.25}, 0.032), ({"height": 0.25, "clearance": 0.07}, 0.07), ({"clearance": 0.5}, 0.128)],
)
def test_the_hand_keeps_clear_of_what_a_thing_stands_on(wanted: dict[str, float], height: float) -> None:
    found = calibrated(CUP, hint(**wanted), 0.128)
    assert [style.height for style in found if not style.edge] == pytest.approx([height, height])
    assert [style for style in found if style.edge] == [style for style in CUP if style.edge]


@pytest.mark.parametrize(
    ("edges", "way"),
    [(("left",), (-1, 0)), (("right",), (1, 0)), (("front",), (0, -1)), (("back",), (0, 1))],
)
def test_preferred_edges_come_first_and_the_others_after(edges: tuple[str, ...], way: tuple[int, int]) -> None:
    turn = about((0, 0, 1), 0.5)
    board = Shape([BOARD @ turn.T], 0.5)
    first, *others = [np.concatenate([level.outwards for level in style]) for style in goals(board, hint(edges=edges))]
    towards = first @ turn @ (*way, 0)
    assert towards.min() >= math.cos(math.pi / 4) - 1e-9
    (every,) = [np.concatenate([level.outwards for level in style]) for style in goals(board)]
    assert _rows(np.concatenate([first, *others])) == _rows(every)


def _rows(directions: Floats) -> list[list[float]]:
    return sorted(np.round(directions, 9).tolist())


def test_a_place_in_the_hand_is_tried_first_wherever_the_thing_lies() -> None:
    place = InHand(family="pinch", opening=0.02, at=(0.01, -0.02, 0.03), turn=(0, 0, 90))
    thing = Frame(about((0.3, 1, 0.2), 0.8), np.array([1.0, 2.0, 0.9]))
    found = list(goals(Shape([thing.point(BOARD)], 0.1), hint(in_hand=place), thing))
    ((way,),) = found[:1]
    held = Frame(way.frames[0], way.targets[0]).inverse().then(thing)
    assert (way.grip, held.at.tolist()) == (("pinch", 0.02), pytest.approx([0.01, -0.02, 0.03]))
    assert np.degrees(vector(held.turn)).tolist() == pytest.approx([0, 0, 90], abs=1e-6)
    assert len(found) == 1 + len(list(goals(Shape([thing.point(BOARD)], 0.1))))


def test_a_thing_is_taken_as_its_place_in_the_hand_says(a1: PhysicalWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    start = a1.snapshot()
    try:
        assert a1.execute(parse("[Grab] <juice>")).ok
        usual = a1.stage.wearer.hold
        assert usual is not None
        at = frame(usual.offset)
        higher = at.at - at.turn @ (0, 0, 0.015)
        place = InHand(
            family=usual.grip.family,
            opening=usual.grip.opening,
            at=tuple(higher.tolist()),
            turn=tuple(np.degrees(vector(at.turn)).tolist()),
        )
        a1.restore(start)
        monkeypatch.setattr(grab, "calibration", lambda _: hint(in_hand=place))
        assert a1.execute(parse("[Grab] <juice>")).ok
        hold = a1.stage.wearer.hold
        assert hold is not None
        assert frame(hold.offset).at == pytest.approx(higher, abs=1e-4)
        assert frame(hold.offset).turn == pytest.approx(at.turn, abs=1e-3)
    finally:
        a1.restore(start)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("region: corner", "region"),
        ("edges: [top]", "front"),
        ("clearance: 5 cm", "clearance"),
        ("in_hand: {family: hook, opening: 0.05, at: [0, 0, 0]}", "no grip is called 'hook'"),
        ("in_hand: {family: pinch, opening: 0.15, at: [0, 0, 0]}", "opens 0 to 0.08 m, not 0.15 m"),
        ("in_hand: {family: pinch, opening: 0.05, at: [0, 0]}", "at"),
        ("in_hand: {family: pinch, opening: 0.05, at: [0, 0, 0], turn: [0, 0, 270]}", "turn"),
    ],
)
def test_bad_data_is_refused_where_it_is_wrong(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "thing.yaml"
    path.write_text(f'calibration: "1.0"\ncategories: [mug]\n{line}\n', encoding="utf-8")
    with pytest.raises(Problems, match=why) as caught:
        atlas.load(path, Calibration)
    assert f"{path.name}:3:" in str(caught.value)
