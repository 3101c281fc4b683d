"""Which frames are kept and shown (EVAL-5)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwkit_runtime.loop.frames import NEWEST, PER_ACTION, PER_TURN, FrameRef, distinct, picked, within_budget


@pytest.mark.parametrize(
    ("length", "indices"),
    [(0, []), (1, [0]), (2, [0, 1]), (4, [0, 1, 2, 3]), (8, [1, 3, 5, 7]), (49, [12, 24, 36, 48])],
)
def test_frames_of_an_action(length: int, indices: list[int]) -> None:
    assert [i for i, _ in picked([False] * length)] == indices


@given(st.lists(st.booleans(), min_size=1, max_size=300), st.booleans())
def test_the_true_result_is_always_kept(moves: list[bool], hold: bool) -> None:
    still = [False, *moves]
    frames = picked(still, hold=hold)
    kept = [i for i, _ in frames]
    assert kept[-1] == len(still) - 1
    assert frames[-1][1] in ("result", "look_hold")
    assert len(frames) <= PER_ACTION
    assert kept == sorted(set(kept))
    assert [kind for _, kind in frames].count("look_hold") == hold
    for i, j in pairwise(kept):
        assert not all(still[i + 1 : j + 1]), "between two kept frames something moves"


def walk_and(*parts: tuple[int, bool]) -> list[bool]:
    return [still for length, still in parts for _ in range(length)]


def test_the_end_of_the_last_rest_is_the_look_hold() -> None:
    there_and_back = walk_and((20, False), (12, True), (9, False))
    assert picked(there_and_back, hold=True) == ((6, "sample"), (12, "sample"), (31, "look_hold"), (40, "result"))
    assert picked(walk_and((20, False), (12, True)), hold=True)[-1] == (31, "look_hold")
    assert picked(walk_and((20, False)), hold=True)[-1] == (19, "look_hold"), "a look without any rest"


def test_a_rest_counts_once() -> None:
    assert picked(walk_and((1, False), (59, True))) == ((59, "result"),)
    assert picked(walk_and((1, False), (15, True)), hold=True) == ((15, "look_hold"),)


def test_equal_pictures_in_a_row_are_shown_once() -> None:
    a, b = "a" * 64, "b" * 64
    frames = [FrameRef(a, 3, "look_hold"), FrameRef(a, 0, "sample"), FrameRef(b, 1, "sample"), FrameRef(a, 2, "result")]
    assert distinct(frames) == (FrameRef(a, 0, "look_hold"), *frames[2:])
    assert distinct([]) == ()


def refs(kinds: list[str]) -> list[FrameRef]:
    return [FrameRef(f"{i:064x}", 0, kind) for i, kind in enumerate(kinds)]


KINDS = st.lists(st.sampled_from(["sample", "sample", "sample", "result", "look_hold"]), max_size=200)


@given(KINDS)
def test_the_budget_of_a_turn(kinds: list[str]) -> None:
    frames = refs(kinds)
    shown = within_budget(frames)
    assert len(shown) == min(len(frames), PER_TURN)
    assert list(shown) == sorted(shown, key=frames.index), "oldest first"
    assert list(shown[-NEWEST:]) == frames[-NEWEST:], "the newest are all there"


@given(KINDS)
def test_what_could_be_read_is_not_replaced(kinds: list[str]) -> None:
    frames = refs(kinds)
    holds = [f for f in frames if f.kind == "look_hold"]
    shown = within_budget(frames)
    if len(holds) <= PER_TURN - NEWEST:
        assert set(holds) <= set(shown)


def test_the_older_ones_are_sampled_evenly() -> None:
    shown = within_budget(refs(["sample"] * 104))
    assert [int(f.digest, 16) for f in shown[:24]] == [4 * k for k in range(24)]
