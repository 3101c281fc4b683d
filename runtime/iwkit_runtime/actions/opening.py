"""Opening and closing as commands: go to the handle, move the joint, look inside (ACT-4, ACT-8)."""

from __future__ import annotations

from iwkit_runtime.actions import looking
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import Reasons
from iwkit_runtime.actions.operate import (
    Swing,
    execute_swing,
    handle_at,
    leaf_at,
    moving_link,
    open_grid,
    plan_swing,
    swing_stances,
)
from iwkit_runtime.actions.refusals import RefusedError
from iwkit_runtime.actions.stances import go_and
from iwkit_runtime.actions.walking import attempt
from iwkit_runtime.nav.grid import LADDER, Obstacle, Space
from iwkit_runtime.nav.stance import Stance
from iwkit_runtime.physical.spec import Link
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand

ROUNDS = 4
"""Places from which one joint is moved, one after the other, at most."""
PARTS = 4
"""Places tried for a part of the movement."""
LEFT = 0.5
"""Where another place will do, nobody opens a leaf from one where it leaves them less of the floor than this share."""


def open_thing(act: Act) -> None:
    """Go to a thing and open it; then look inside."""
    _operate(act, opening=True)
    act.emit("opened", object=act.names[0])
    act.expect = (("open", act.names[0]),)
    if act.stage.placed[act.names[0]].kind != "door":
        looking.gaze_at(act, act.names[0])


def close_thing(act: Act) -> None:
    """Go to a thing and close it."""
    _operate(act, opening=False)
    act.forget(act.names[0])
    act.emit("closed", object=act.names[0])
    act.expect = (("closed", act.names[0]),)


def _operate(act: Act, *, opening: bool) -> None:
    """Move a joint to its limit, from as many places as it takes.

    Raises:
        RefusedError: it can't be moved to its limit.
    """
    stage, name = act.stage, act.names[0]
    goal = act.at.goal(name)
    for turn in range(ROUNDS):
        swing = _go_and_plan(act, name, opening, last=turn == ROUNDS - 1)
        if turn == 0:
            if goal is not None:
                act.place = goal.at
            looking.look_over(act, name, looking.focus(act, name))
            act.see()
        execute_swing(act, swing)
        stage.settle(stage.idle(), stage.wearer.gaze)
        if swing.whole:
            return


def _go_and_plan(act: Act, name: str, opening: bool, *, last: bool) -> Swing:
    """Go where the joint can be moved to its limit; if there is no such place, where it can be moved furthest."""
    stage, link = act.stage, _link(act, name)
    contact = handle_at(stage, name, link, stage.engine.joints()[name, link.name])
    parts: list[tuple[int, Stand]] = []

    shut_in: list[Stand] = []

    def plan(at: Stand, reasons: Reasons) -> Swing | None:
        swing = plan_swing(stage, name, at, opening=opening, reasons=reasons)
        parts.extend(reasons.parts)
        reasons.parts.clear()
        if swing is not None and opening and _shuts_in(stage, swing, at):
            shut_in.append(at)
            return None
        return swing

    def all_the_same(at: Stand, reasons: Reasons) -> Swing | None:
        return plan_swing(stage, name, at, opening=opening, reasons=reasons)

    try:
        return go_and(act, name, contact[:2], plan, among=swing_stances(stage, name, opening=opening))
    except RefusedError:
        if shut_in:
            return go_and(act, name, contact[:2], all_the_same, among=[Stance(*at, 0.0) for at in shut_in])
        swing = None if last else _part(act, name, opening, parts)
        if swing is None:
            raise
        return swing


def _shuts_in(stage: Stage, swing: Swing, at: Stand) -> bool:
    """Whether the leaf, once it is moved, leaves the wearer little of the floor that it can walk to."""
    grid = open_grid(stage)
    moved = grid.without(swing.name).with_pieces(
        Obstacle(swing.name, "furniture", piece) for piece in leaf_at(stage, swing.name, swing.values[-1])
    )
    before, after = (Space(g, LADDER[0], at[:2]).reachable.sum() for g in (grid, moved))
    return bool(after < LEFT * before)


def _part(act: Act, name: str, opening: bool, parts: list[tuple[int, Stand]]) -> Swing | None:
    """Go where a joint can be moved for a part of its way, the longest first."""
    stage, walks = act.stage, 0
    for stand in dict.fromkeys(stand for _, stand in sorted(parts, key=lambda part: -part[0])):
        swing = plan_swing(stage, name, stand, opening=opening, part=True)
        if swing is None:
            continue
        if stand == stage.wearer.stand or attempt(act, stand, f"to {act.public(name)}") is None:
            return swing
        walks += 1
        if walks == PARTS:
            break
    return None


def _link(act: Act, name: str) -> Link:
    link = moving_link(act.stage.placed[name])
    if link is None or link.joint is None:
        raise RefusedError("NOT_BUILT", f"[{act.command.verb}] without a handle")
    return link
