"""Lowering what is held onto a place, letting go, drawing the hand back (ACT-8, PHY-8, PHY-9)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.grab import CLOSING
from iwkit_runtime.actions.grips import FLAT, Goals
from iwkit_runtime.actions.looking import look_over
from iwkit_runtime.actions.motion import (
    BRUSH,
    SHORT,
    BlockedError,
    Key,
    Move,
    Reasons,
    Screen,
    at_stand,
    rest,
    roofed,
    straight,
)
from iwkit_runtime.actions.refusals import NoWayError, RefusedError
from iwkit_runtime.actions.roaming import bridge_or_roam, roam
from iwkit_runtime.actions.search import (
    ARM,
    HAND,
    PLAN,
    ROAMING,
    Contact,
    Effort,
    Level,
    Look,
    blockers,
    contacts,
    hand_ends,
)
from iwkit_runtime.actions.shifts import Away, between, cleared, outer
from iwkit_runtime.actions.spots import GAP, Spot, free, shuts, upright
from iwkit_runtime.actions.stances import WALKS, front_of, go_and, look_and_go
from iwkit_runtime.body.hands import closed
from iwkit_runtime.engines.collision import Allowed, Hit
from iwkit_runtime.nav.stance import Stance
from iwkit_runtime.physical.kinematics import Frame, about, frame
from iwkit_runtime.physical.scene_spec import Pose
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import Hold, moved

LOOKS = (Look(1, 2, 16, 4_000), Look(2, 3, 300, 12_000, broad=True, anywhere=True))
"""How each place is tried: from the nearest stances, and when no place is any good from there, broadly."""
YAWS = tuple(math.radians(angle) for angle in (0, 25, -25, 55, -55, 80, -80, 110, -110, 140, -140, 180))
"""How far from the way it is carried a thing is turned when it is put down."""
FACING = math.radians(60)
"""A thing is turned to face the wearer when that takes no more than this."""
DROP = 0.015
"""A flat thing is let go so far above its place, where there is room: fingers are below it."""
LEANS = tuple(math.radians(angle) for angle in (8, 16))
"""It may lean by so much then: it falls flat."""
AXES = 6
"""Axes on the plan about which it does."""
AGAIN = 3
"""How often a place is tried again when the hand doesn't get away from it."""
WITHDRAWAL = 6_000
"""Work for finding the way of the empty hand (see `search`)."""
OVER = ((0.0, 0.08), (0.06, 0.05), (0.14, 0.03), (0.14, 0.006))
"""Where the hand is before it lowers a thing: metres back, and up."""
ASKEW = tuple(math.radians(angle) for angle in (0, 35, -35))
"""By how much it may come from aside."""
PARTS = (0.5, 1.0)
"""Shares of the way down at which it is asked whether there is room."""
AWAY = (
    Away(0.12),
    Away(0.0, 0.12),
    Away(0.10, 0.08),
    Away(0.05, 0.03),
    Away(0.08, aside=0.06),
    Away(0.04, aside=0.04),
    Away(0.0, 0.04, aside=0.04),
    Away(0.06, askew=math.radians(50)),
    Away(0.06, askew=math.radians(-50)),
)
"""Where the empty hand goes first."""


@dataclass(frozen=True, eq=False)
class Putting:
    """A planned way to put a thing down from a stance."""

    spot: Spot
    to: Move
    last: Key


def attempted(  # noqa: PLR0917 (one trial)
    act: Act, support: str, hold: Hold, spot: Spot, look: Look, how: str, among: Sequence[Stance] | None = None
) -> RefusedError | None:
    """Put a thing at a place, from around it or from one of some stances; when that fails, everything is as before and
    the reason is given, a NoWayError if it is that the wearer got to none of the stances that would do. Stances from
    which the hand doesn't get away again are left out the next time."""
    stage = act.stage
    front = front_of(stage, support) if spot.inside else None
    barred: set[Stand] = set()
    search = Search(stage, hold, spot, "" if how == "floor" else support)
    refused: RefusedError | None = None
    for _ in range(AGAIN):
        before = act.mark()
        try:
            if among is None:
                found = look_and_go(act, support, (spot.x, spot.y), [look], search.plan, front=front, barred=barred)
            else:
                plan = partial(search.plan, look, Effort(look.work))
                found = go_and(act, support, (spot.x, spot.y), plan, among=among, barred=barred)
            look_over(act, support, (spot.x, spot.y, spot.z))
            _lower(act, support, hold, found)
        except (RefusedError, BlockedError) as failed:
            stuck_at = stage.wearer.stand
            act.undo(before)
            if isinstance(failed, RefusedError):
                lost = refused is None and len(barred) >= WALKS
                return refused or (NoWayError(failed.code, *failed.about) if lost else failed)
            barred.add(stuck_at)
            refused = refused or RefusedError("TRAJECTORY_COLLISION", support, act.public(failed.owner))
        else:
            return None
    return refused


class Search:
    """The ways to put what is held at a place, whoever stands where."""

    def __init__(self, stage: Stage, hold: Hold, spot: Spot, support: str) -> None:
        """`support` is what it may be close to: nothing on the floor."""
        self.stage, self.hold, self.spot, self.support = stage, hold, spot, support
        self.asset = stage.placed[hold.name].asset
        self.covered = roofed(stage, np.array([spot.x, spot.y, spot.z + 2 * GAP]))
        self.flat = self.asset.size[2] <= FLAT
        self._free: dict[float, float | None] = {}
        self._room: dict[Pose, bool] = {}

    def held_as(self, hold: Hold) -> Search:
        """The same with the thing held otherwise."""
        return Search(self.stage, hold, self.spot, self.support)

    def plan(self, look: Look, effort: Effort, at: Stand, reasons: Reasons) -> Putting | None:
        """How to lower it from where the wearer stands; None when it can't be done from there."""
        stage, hold, plans = self.stage, self.hold, 0
        levels = [Level(stage, goals, None) for goals in self._goals(at)[: look.levels]]
        for contact in contacts(stage, at, levels, self.covered, Screen(hold), reasons, effort):
            hit = self._struck(contact)
            if hit is not None:
                reasons.blocked(hit.owner)
                return None
            ways = list(self.ways(contact, at, reasons))
            effort.spend(PLAN if ways else len(ASKEW) * ARM)
            if not ways:
                continue
            plans += 1
            with effort.part(ROAMING) as roaming:
                putting = self._planned(contact, ways, reasons, roaming if look.broad else None)
            if putting is not None:
                return putting
            if plans == look.plans or effort.spent:
                break
        return None

    def _struck(self, there: Contact) -> Hit | None:
        """What the wearer gets into when it stands there with its hand empty again: then none of its ways down will
        do, as the hand can't get away."""
        stage, name = self.stage, self.hold.name
        grip = Frame(there.goals.frames[there.number], np.array(there.target))
        put = stage.carried(name, grip.then(frame(self.hold.offset)).pose)
        free_handed = moved(stage.wearer, hold=None, gaze=(self.spot.x, self.spot.y, self.spot.z))
        hit = stage.hit(stage.person.idle(free_handed), moved=put, brush=BRUSH)
        return None if hit is None or hit.owner in put else hit

    def _planned(
        self, contact: Contact, ways: Sequence[Away], reasons: Reasons, roaming: Effort | None
    ) -> Putting | None:
        stage, hold = self.stage, self.hold
        gaze = self.spot.x, self.spot.y, self.spot.z
        looked = stage.person.looking(at_stand(stage.person.body, stage.wearer.stand, contact.posture), gaze)
        key = Key(contact.posture, contact.body).head(looked).hand("right", hold.fingers)
        before = stage.wearer
        stage.wearer = moved(before, gaze=gaze)
        try:
            return Putting(self.spot, lowering(stage, hold, key, ways, roaming=roaming), key)
        except BlockedError as blocked:
            reasons.blocked(blocked.owner)
            return None
        finally:
            stage.wearer = before

    def _goals(self, at: Stand) -> list[Goals]:
        """Where the hand has to be for someone who stands there: with the thing upright, turned in all ways that are
        free; and with a flat one leaning a little."""
        spot, frames = self.spot, []
        for yaw in self._yaws(at):
            gap = self.gap(yaw)
            if gap is not None:
                frames.append(frame(upright((spot.x, spot.y, spot.z + gap), yaw)))
        levels = [self._at(frames)]
        if self.flat and frames:
            axes = [(math.cos(a), math.sin(a), 0.0) for a in np.arange(AXES) * math.tau / AXES]
            turns = [about(axis, lean) for lean in LEANS for axis in axes]
            leaning = [Frame(turn @ thing.turn, thing.at) for turn in turns for thing in frames[:2]]
            levels.append(self._at([thing for thing in leaning if self._fits(thing.pose)]))
        return levels

    def _at(self, things: Sequence[Frame]) -> Goals:
        offset = frame(self.hold.offset).inverse()
        grips = [thing.then(offset) for thing in things]
        turns = np.array([grip.turn for grip in grips]).reshape(-1, 3, 3)
        return Goals(
            self.hold.grip, np.array([grip.at for grip in grips]).reshape(-1, 3), turns[:, :, 1], turns[:, :, 0]
        )

    def _yaws(self, at: Stand) -> Iterator[float]:
        """How to turn a thing: its front to the wearer if that is near to how it is carried, else as it is carried."""
        stage, hold = self.stage, self.hold
        person = stage.person
        turn = frame(person.held_pose(person.body.forward(*person.upright(stage.wearer)), hold)).turn
        carried = math.atan2(turn[1, 0], turn[0, 0])
        facing = at.heading - math.pi / 2
        if abs(math.remainder(facing - carried, math.tau)) <= FACING:
            yield facing
        yield from (carried + yaw for yaw in YAWS)
        yield from (self.spot.yaw, self.spot.yaw + math.pi)

    def gap(self, yaw: float) -> float | None:
        """How far above its place a thing that is turned so is let go; None where it has no room."""
        key = round(yaw, 2)
        if key not in self._free:
            stage, hold, spot = self.stage, self.hold, self.spot
            point = np.array([spot.x, spot.y, spot.z])
            good = spot.bears(self.asset, yaw) and free(stage, hold.name, self.support, point, yaw)
            self._free[key] = next((gap for gap in self._gaps() if good and self._stands(gap, yaw)), None)
        return self._free[key]

    def _gaps(self) -> tuple[float, ...]:
        return (DROP, GAP) if self.flat else (GAP,)

    def _stands(self, gap: float, yaw: float) -> bool:
        spot = self.spot
        pose = upright((spot.x, spot.y, spot.z + gap), yaw)
        return self._fits(pose) and (not spot.inside or shuts(self.stage, spot.inside, self.hold.name, pose))

    def _fits(self, pose: Pose) -> bool:
        """Whether the thing, and what rides on it, is in nothing at a pose."""
        if pose not in self._room:
            self._room[pose] = self.stage.collision.free(poses=self.stage.carried(self.hold.name, pose))
        return self._room[pose]

    def ways(self, there: Contact, at: Stand, reasons: Reasons) -> Iterator[Away]:
        """Ways down that have room for the thing and for the hand."""
        hand = hand_ends(self.stage, there.goals.chosen([there.number]))
        grip = Frame(there.goals.frames[there.number], np.array(there.target))
        thing = grip.then(frame(self.hold.offset))
        for askew, (back, up) in product(ASKEW, OVER):
            if askew and not back:
                continue
            away = Away(back, up, askew)
            shifts = [share * away.offset(grip.at, at) for share in PARTS]
            if not all(self._fits(Frame(thing.turn, thing.at + shift).pose) for shift in shifts):
                continue
            ends = np.concatenate([hand + shift for shift in shifts])
            owners = [o for o in blockers(self.stage, ends[:, None], [HAND], self.hold.name) if o is not None]
            if not owners:
                yield away
            else:
                reasons.blocked(owners[0])


def lowering(
    stage: Stage, hold: Hold, key: Key, ways: Iterable[Away] | None = None, *, roaming: Effort | None = None
) -> Move:
    """Raises BlockedError: every way runs into something."""
    screen = Screen(hold)
    first: BlockedError | None = None
    for over in (Away(*way) for way in OVER) if ways is None else ways:
        try:
            pre = cleared(stage, key, hold.grip, over, screen, roaming)
            last = [pre, *between(stage, key, hold.grip, over, pre), key]
            down = straight(stage, last, [SHORT] if len(last) == 2 else [3, 3], screen)
            past = outer(stage, pre, hold.grip, over.askew)
            return [*bridge_or_roam(stage, rest(stage), pre, screen, past, roaming), *down]
        except BlockedError as blocked:
            first = first or blocked
    raise first or BlockedError(hold.name)


def _lower(act: Act, support: str, hold: Hold, plan: Putting) -> None:
    """Film it: down, let go, settle, the hand away. Raises BlockedError when the hand can't get away."""
    stage, gaze = act.stage, (plan.spot.x, plan.spot.y, plan.spot.z)
    for body in plan.to:
        stage.shoot(body, gaze=gaze)
    stage.sync()
    act.watch(support, plan.to)
    act.see()
    stage.wearer = moved(stage.wearer, hold=None, gaze=gaze)
    open_key = plan.last.hand("right", closed(stage.person.body, "right", hold.grip, 0.0))
    stage.engine.release(hold.name)
    stage.sync()
    for body in straight(stage, [plan.last, open_key], [CLOSING], Screen(None, [around(stage, hold)])):
        stage.shoot(body, gaze=gaze)
    stage.settle(open_key.body, gaze)
    for body in withdrawn(stage, hold, open_key):
        stage.shoot(body, gaze=gaze)
    stage.sync()


def withdrawn(stage: Stage, hold: Hold, key: Key) -> Move:
    """The empty hand goes back from a thing, and down; where no way is free, ways around what is in the way are looked
    for. Raises BlockedError when it can't."""
    screen, end = Screen(None, [around(stage, hold)]), rest(stage)
    screen.check(stage, end.body)  # all ways lead there
    first: BlockedError | None = None
    begun: dict[Away, tuple[Key, Move]] = {}
    for roaming, away in product((None, Effort(WITHDRAWAL)), AWAY):
        known = begun.get(away)
        try:
            if known is not None and roaming is not None:  # what is free but leads nowhere
                back, move = known
                return [*move, *roam(stage, back, end, "right", screen, roaming)]
            back = cleared(stage, key, hold.grip, away, screen, roaming)
            move = straight(stage, [key, back], [SHORT], screen)
            begun[away] = back, move
            past = outer(stage, back, hold.grip, away.askew)
            return [*move, *bridge_or_roam(stage, back, end, screen, past, roaming)]
        except BlockedError as blocked:
            first = first or blocked
            if roaming is not None and roaming.spent:
                break
    raise first or BlockedError(hold.name)


def around(stage: Stage, hold: Hold) -> Allowed:
    """The hand may still touch what it has let go of, where it held it."""
    x, y, z = frame(stage.engine.poses()[hold.name]).then(frame(hold.offset).inverse()).at.tolist()
    return Allowed(hold.name, (x, y, z))
