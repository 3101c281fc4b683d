"""Which frames are kept and shown (EVAL-5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwkit_runtime.loop.frames import NEWEST, PER_ACTION, PER_TURN, FrameRef, picked, within_budget


@pytest.mark.parametrize(
    ("length", "indices"),
    [(0, []), (1, [0]), (2, [0, 1]), (4, [0, 1, 2, 3]), (8, [1, 3, 5, 7]), (49, [12, 24, 36, 48])],
)
def test_frames_of_an_action(length: int, indices: list[int]) -> None:
    assert [i for i, _ in picked(length)] == indices


@given(st.integers(1, 10_000), st.booleans())
def test_the_true_result_is_always_kept(length: int, hold: bool) -> None:
    frames = picked(length, hold=hold)
    assert frames[-1] == (length - 1, "look_hold" if hold else "result")
    assert len(frames) == min(length, PER_ACTION)
    assert [i for i, _ in frames] == sorted({i for i, _ in frames})


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
