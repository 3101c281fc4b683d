"""The paper's descent beside the analytic arm: what both promise, and that a run says which it had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.errors import UsageError
from iwkit_runtime.body import arms, ccd
from iwkit_runtime.body.legs import SIDES
from iwkit_runtime.body.model import Body, joint
from iwkit_runtime.body.pose import Side
from iwkit_runtime.body.posture import stand
from iwkit_runtime.identity import cell_key
from iwkit_runtime.physical.wearer import person
from iwkit_runtime.runs import Config, make_world

shares = st.lists(st.floats(0, 1), min_size=9, max_size=9)


@pytest.fixture(scope="module")
def other(body: Body) -> Body:
    return replace(body, solver="ccd")


@settings(max_examples=40)
@given(side=st.sampled_from(SIDES), share=shares)
def test_what_it_reaches_it_reaches_to_a_millimetre_within_the_limits(
    other: Body, side: Side, share: list[float]
) -> None:
    at = other.placed(stand(other), 0, 0, 0.3)
    there = arms.posed(at.pose, side, arms.LOW + (arms.HIGH - arms.LOW) * np.array(share))
    wrist = joint(other.forward(there, at.translation), f"{side}_wrist")[:3, 3]
    found = arms.reach(other, at, side, wrist)
    if found is not None:
        got = joint(other.forward(*found.body), f"{side}_wrist")[:3, 3]
        assert np.linalg.norm(got - wrist) <= ccd.TOLERANCE + 1e-9
        assert ((found.angles >= arms.LOW - 1e-6) & (found.angles <= arms.HIGH + 1e-6)).all()


def test_most_of_what_is_before_the_wearer_is_reached_by_both(body: Body, other: Body) -> None:
    at = body.placed(stand(body), 0, 0, 0)
    rng = np.random.default_rng(2)
    targets = rng.uniform((0.25, -0.35, 0.85), (0.5, 0.1, 1.35), (60, 3))
    exact = [arms.reach(body, at, "right", target) is not None for target in targets]
    descended = [arms.reach(other, at, "right", target) is not None for target in targets]
    assert np.mean(exact) > 0.6
    assert np.mean(descended) > 0.75 * np.mean(exact)
    assert not any(d and not e for d, e in zip(descended, exact, strict=True)), "what one reaches, the exact one does"


def test_it_stops_after_28_rounds_and_tells_what_is_left(body: Body) -> None:
    bones = np.array([[0.05, 0, 0], [0.12, 0, 0], [0.27, 0, 0], [0.25, 0, 0]])
    targets = np.array([[0.4, 0.2, 0.2], [3.0, 0, 0]])
    start = np.zeros(6)
    found = ccd.descend(bones, targets, start, arms.LOW[:6], arms.HIGH[:6])
    assert found.rounds[0] <= ccd.ITERATIONS
    assert found.error[0] <= ccd.TOLERANCE
    assert found.rounds[1] == ccd.ITERATIONS
    assert found.error[1] > 2.0


def test_many_goals_at_once_come_from_the_descent_too(body: Body, other: Body) -> None:
    at = body.placed(stand(body), 0, 0, 0)
    wrist = joint(body.forward(arms.posed(at.pose, "right", arms._STARTS[1]), at.translation), "right_wrist")
    targets = np.stack([wrist[:3, 3], wrist[:3, 3] + [4.0, 0, 0]])
    palms, fingers = np.tile(-wrist[:3, 1], (2, 1)), np.tile(-wrist[:3, 0], (2, 1))
    for one in (body, other):
        found = arms.solutions(one, at, "right", targets, np.zeros((2, 3)), palms, fingers)
        assert {*found.goal.tolist()} == {0}, "the second one is 4 m away"
        for angles in found.angles:
            there = joint(one.forward(arms.posed(at.pose, "right", angles), at.translation), "right_wrist")
            assert np.linalg.norm(there[:3, 3] - targets[0]) <= ccd.TOLERANCE + 1e-9
            assert there[:3, :3] == pytest.approx(wrist[:3, :3], abs=1e-6)


def test_the_solver_is_part_of_what_identifies_a_result() -> None:
    configs = [Config("oracle", "rules", "physical", solver=solver) for solver in ("swivel", "ccd")]
    assert len({cell_key("uses", 0, config.settings()) for config in configs}) == 2
    assert [config.header()["solver"] for config in configs] == ["swivel", "ccd"]
    assert person("ccd").body.solver == "ccd"
    assert person().body.solver == "swivel"


@pytest.mark.parametrize(
    ("world", "solver", "why"), [("physical", "cdc", "no solver 'cdc'"), ("symbolic", "ccd", "no arms to solve")]
)
def test_a_wrong_solver_is_refused(world: str, solver: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        make_world(world, solver)
