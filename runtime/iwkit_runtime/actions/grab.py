"""Taking a thing into the right hand: stance, posture, grip, and the way there and back (ACT-6 to ACT-9, PHY-7)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from iwkit.world.state import FLOOR
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.carrying import held
from iwkit_runtime.actions.grips import Shape, goals
from iwkit_runtime.actions.looking import look_over
from iwkit_runtime.actions.motion import (
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
from iwkit_runtime.actions.roaming import bridge_or_roam
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
from iwkit_runtime.actions.shifts import Away, between, cleared, outer, shifted
from iwkit_runtime.actions.stances import front_of, look_and_go
from iwkit_runtime.actions.walking import leaves
from iwkit_runtime.actions.wrapping import better, closed_on
from iwkit_runtime.body.arms import angles_of
from iwkit_runtime.body.atlas import calibration
from iwkit_runtime.body.hands import Grip, closed, grip_frame
from iwkit_runtime.body.pose import blend
from iwkit_runtime.engines.collision import Allowed
from iwkit_runtime.physical.spec import Floats, Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import Hold, moved

LOOKS = (
    Look(2, 2, 24, 20_000),
    Look(4, 4, 400, 60_000, broad=True),
    Look(4, 4, 400, 30_000, broad=True, anywhere=True),
)
"""How a way is looked for: first from the nearest stances with the hand in natural turns, then broadly."""
CLOSING = 3
"""Frames in which the hand closes, and opens."""
LIFTS, LIFTS_INSIDE = (0.02, 0.006), (0.04, 0.02, 0.006)
"""Metres by which a thing is lifted before it is drawn back, more inside of something, over its edge and what stands
there; less where there is no room above it."""
ABOVE, BACK, FURTHER = (0.0, 0.12), (0.12, 0.015), (0.18, 0.0)
"""Where the hand is before contact: metres back towards the wearer, and up."""
BEFORE = {
    "above": (ABOVE, (0.08, 0.08), BACK),
    "aside": (BACK, (0.12, 0.08), ABOVE),
    "roofed": (BACK, FURTHER, (0.12, 0.06)),
}
LOOKS_DOWN = 0.5
"""A palm that looks down by more than this (cosine) comes from above."""
PARTS = (0.35, 0.7, 1.0)
"""Shares of the way back at which it is asked whether there is room for the thing."""
ASKEW = tuple(math.radians(angle) for angle in (0, 35, -35))
"""By how much the way back may differ from straight back to the wearer."""
BACKS = 3
"""Ways back from one contact on which the arm gets out, for which the way to the body is looked for: what is in its way
is in that of most."""
BEARINGS = 32
"""Directions that are told apart when it is asked where a thing can be drawn to."""
SETTLE = 4
"""Frames in which the gaze returns to where the thing was."""


@dataclass(frozen=True, eq=False)
class Taking:
    """A planned grab from a stance: the way to the thing, the hand closing, the way back with it."""

    target: Vector
    hold: Hold
    to: Move
    close: Move
    back: Move


def grab(act: Act) -> None:
    """Go to a thing and take it."""
    take(act, act.names[0])
    act.expect = (("held", act.names[0]),)


def take(act: Act, name: str) -> None:
    """Go to a thing and take it, as a command or as the first part of one."""
    source = act.at.support(name)
    reach_for(act, name)
    act.emit("grabbed", object=name, from_=FLOOR if source == "floor" else source)
    act.emit("moved", object=name)


def reach_for(act: Act, name: str) -> None:
    """The movement of taking a thing, there and back."""
    goal = act.at.goal(name)
    taking = _go_and_plan(act, name)
    if goal is not None:
        act.place = goal.at
    filmed(act, name, act.at.root(name), taking)


def filmed(act: Act, name: str, root: str, taking: Taking) -> None:
    """Do what is planned, from where the wearer stands; `root` is what bears the thing."""
    stage = act.stage
    look_over(act, root, taking.target)
    for body in taking.to:
        stage.shoot(body, gaze=taking.target)
    act.watch(name, taking.to)
    act.see()
    for body in taking.close:
        stage.shoot(body, gaze=taking.target)
    stage.wearer = moved(stage.wearer, hold=taking.hold, gaze=taking.target)
    for body in taking.back:
        stage.shoot(body, gaze=taking.target)
    upright, idle = taking.back[-1], stage.idle()
    for n in range(1, SETTLE + 1):  # the arm's way back was planned without regard to the gaze, which comes back here
        stage.shoot(blend(upright, idle, n / SETTLE), gaze=taking.target)
    stage.sync()


def _go_and_plan(act: Act, name: str) -> Taking:
    """Go to where a thing can be taken from.

    Raises:
        RefusedError: there is no such place.
    """
    stage = act.stage
    x, y, _ = stage.centre(name).tolist()
    place = act.at.state.places[name]
    front = front_of(stage, place.at) if place.how == "inside" and place.at in stage.placed else None
    search = Search(stage, name)
    return look_and_go(act, name, (x, y), LOOKS, search.plan, front=front)


class Search:
    """The ways to take a thing from where it is, whoever stands where."""

    def __init__(self, stage: Stage, name: str) -> None:
        self.stage, self.name = stage, name
        body = stage.placed[name].asset.links[0]  # lids and drawers are loose: it is taken by what they hang on
        root = stage.collision.frames(name)[body.name]
        corners = [root.point(piece.vertices) for piece in body.pieces]
        hint = calibration(stage.placed[name].asset.category)
        shape = Shape(corners, math.atan2(root.turn[1, 0], root.turn[0, 0]))
        self.styles = [[Level(stage, goals_, name) for goals_ in style] for style in goals(shape, hint, root)]
        self.covered = roofed(stage, (*shape.middle, shape.top + 0.01))
        self._pose = stage.engine.poses()[name]
        self._room: dict[tuple[float, ...], bool] = {}
        self._burdens: set[tuple[Stand, Grip, bytes]] = set()
        self._lifts = [lift for lift in (LIFTS_INSIDE if self.covered else LIFTS) if self._free((0.0, 0.0, lift))]

    def plan(self, look: Look, effort: Effort, at: Stand, reasons: Reasons) -> Taking | None:
        """How to take it from where the wearer stands; None when it can't be done from there."""
        for levels in self.styles:
            plans = 0
            for contact in contacts(
                self.stage, at, levels[: look.levels], self.covered, Screen(), reasons, effort, broad=look.broad
            ):
                ways = list(self._ways(contact, at, reasons))
                effort.spend(PLAN if ways else len(ASKEW) * ARM)
                with effort.part(ROAMING) as given:
                    roaming = given if look.broad else None
                    hands = self._hands(contact) if self._backs(contact, ways, reasons, roaming) else []
                    taking = self._planned(contact, hands, ways, reasons, roaming)
                if taking is not None:
                    return taking
                plans += bool(ways)
                if plans == look.plans or effort.spent:
                    break
        return None

    def _planned(
        self,
        contact: Contact,
        hands: Sequence[tuple[Key, Floats]],
        ways: Sequence[tuple[Away, float]],
        reasons: Reasons,
        roaming: Effort | None,
    ) -> Taking | None:
        stage, target = self.stage, contact.target
        screen = Screen(None, [Allowed(self.name, target)])
        before = stage.wearer
        stage.wearer = moved(before, gaze=target)
        try:
            for key, fingers in hands:
                try:
                    return self._taking(contact.goals.grip, key, fingers, ways, target, screen, roaming)
                except BlockedError as blocked:
                    reasons.blocked(blocked.owner)
        finally:
            stage.wearer = before
        return None

    def _backs(
        self, there: Contact, ways: Sequence[tuple[Away, float]], reasons: Reasons, roaming: Effort | None
    ) -> bool:
        """Whether the arm can be where it is before contact, on any of the ways: asked before the hand is fitted."""
        stage, screen = self.stage, Screen(None, [Allowed(self.name, there.target)])
        for away, _ in ways:
            try:
                cleared(stage, Key(there.posture, there.body), there.goals.grip, away, screen, roaming)
            except BlockedError as blocked:
                reasons.blocked(blocked.owner)
            else:
                return True
        return False

    def _hands(self, there: Contact) -> list[tuple[Key, Floats]]:
        """The hand open at the thing, and how its fingers close on it: with the wrist turned to where more of them hold
        it, if that helps, and as it is. A hand with too little contact to be said to hold it is left out."""
        stage, grip = self.stage, there.goals.grip
        body, at = stage.person.body, stage.wearer.stand
        screen = Screen(None, [Allowed(self.name, there.target)])
        looked = stage.person.looking(at_stand(body, at, there.posture), there.target)
        reached = Key(there.posture, there.body).head(looked)
        contact = reached.hand("right", closed(body, "right", grip, 0.0))
        wrap = closed_on(stage, self.name, grip, contact)
        fitted = None if wrap.holds else better(stage, self.name, grip, contact, screen)
        found = [] if fitted is None or not fitted[1].grasps else [(fitted[0], fitted[1].pose)]
        if wrap.grasps and screen.hit(stage, contact.body) is None:
            found.append((contact, wrap.pose))
        return found

    def _taking(  # noqa: PLR0917 (one plan)
        self,
        grip: Grip,
        contact: Key,
        fingers: Floats,
        ways: Sequence[tuple[Away, float]],
        target: Vector,
        screen: Screen,
        roaming: Effort | None,
    ) -> Taking:
        """Raises BlockedError: a part of it runs into something."""
        stage, shut = self.stage, contact.hand("right", fingers)
        close = straight(stage, [contact, shut], [CLOSING], screen)
        hold: Hold | None = None
        first: BlockedError | None = None
        tried = 0
        for away, lift in ways:
            if tried == BACKS:
                break
            try:
                pre, near = _nearing(stage, contact, grip, away, screen, roaming)
            except BlockedError as blocked:
                first = first or blocked
                continue
            hold = hold or self._held(grip, shut)  # what can't be carried comes back on no other way either
            tried += 1
            try:
                back = _drawing(stage, hold, shut, away, lift, pre, roaming)
                past = outer(stage, pre, grip, away.askew)
                to = [*bridge_or_roam(stage, rest(stage), pre, screen, past, roaming), *near]
                return Taking(target, hold, to, close, back)
            except BlockedError as blocked:
                first = first or blocked
        raise first or BlockedError(self.name)

    def _held(self, grip: Grip, shut: Key) -> Hold:
        """As `held`, which is asked once of a stance and a turn of the hand, as it looks at many ways to carry.

        Raises:
            BlockedError: it can't be carried so.
        """
        stage = self.stage
        body = stage.person.body
        turn = grip_frame(body, body.forward(*shut.body), "right", grip)[:3, :3]
        question = stage.wearer.stand, grip, turn.round(1).tobytes()
        if question in self._burdens:
            raise BlockedError(self.name)
        try:
            return held(stage, self.name, grip, shut.body)
        except BlockedError:
            self._burdens.add(question)
            raise

    def _ways(self, there: Contact, at: Stand, reasons: Reasons) -> Iterator[tuple[Away, float]]:
        """Ways back from a contact that have room for the thing and for the hand, each with how far it is lifted
        first."""
        x, y, _ = there.target
        bearing = math.atan2(y - at.y, x - at.x)
        way = "above" if there.goals.palms[there.number, 2] < -LOOKS_DOWN else "aside"
        hand = hand_ends(self.stage, there.goals.chosen([there.number]))
        for askew in ASKEW:
            for back, up in BEFORE["roofed" if self.covered else way]:
                if askew and not back:
                    continue
                away = Away(back, up, askew)
                offset = away.offset(np.array(there.target), at)
                for lift in self._lifts:
                    if not self._leads(bearing + askew, back, up + lift):
                        continue
                    above = hand + np.array([0.0, 0.0, lift])
                    ends = np.concatenate([above, hand + offset / 2, above + offset])
                    owners = [o for o in blockers(self.stage, ends[:, None], [HAND], self.name) if o is not None]
                    if not owners:
                        yield away, lift
                        break
                    reasons.blocked(owners[0])

    def _leads(self, bearing: float, back: float, up: float) -> bool:
        angle = round(bearing / math.tau * BEARINGS) * math.tau / BEARINGS
        x, y = -back * math.cos(angle), -back * math.sin(angle)
        return all(self._free((round(s * x, 4), round(s * y, 4), round(s * up, 4))) for s in PARTS)

    def _free(self, shift: Vector) -> bool:
        """Whether the thing, and what rides on it, has room when it is moved."""
        if shift not in self._room:
            (x, y, z), turn = self._pose
            pose = (x + shift[0], y + shift[1], z + shift[2]), turn
            poses = self.stage.carried(self.name, pose)
            self._room[shift] = self.stage.collision.free(poses=poses)
        return self._room[shift]


def _nearing(  # noqa: PLR0917 (part of a plan)
    stage: Stage, contact: Key, grip: Grip, away: Away, screen: Screen, roaming: Effort | None
) -> tuple[Key, Move]:
    """Where the hand is before contact, and the straight way from there."""
    pre = cleared(stage, contact, grip, away, screen, roaming)
    last = [pre, *between(stage, contact, grip, away, pre), contact]
    return pre, straight(stage, last, [SHORT] if len(last) == 2 else [3, 3], screen)


def _drawing(  # noqa: PLR0917 (part of a plan)
    stage: Stage, hold: Hold, shut: Key, away: Away, lift: float, pre: Key, roaming: Effort | None
) -> Move:
    """The way back with the thing: lifted, drawn back with the arm as it was before contact, and to the body."""
    grip, up = hold.grip, away._replace(up=away.up + lift)
    drawn = cleared(stage, shut, grip, up, Screen(hold), roaming, angles_of(pre.body.pose, "right"))
    lifted = shifted(stage, shut, grip, Away(up=lift)) or drawn
    return _back(stage, hold, [shut, lifted, drawn], away.askew, roaming)


def _back(stage: Stage, hold: Hold, keys: list[Key], askew: float, roaming: Effort | None) -> Move:
    """From the grip to standing with the thing before the wearer, who must get away from there with it."""
    screen = Screen(hold)
    drawn = straight(stage, keys, [3, SHORT], screen)
    before = stage.wearer
    stage.wearer = moved(before, hold=hold)
    try:
        past = outer(stage, keys[-1], hold.grip, askew)
        back = [*drawn, *bridge_or_roam(stage, keys[-1], rest(stage), screen, past, roaming)]
        if not stage.collision.once(("leaves", before.stand, hold), lambda: leaves(stage)):
            raise BlockedError(hold.name)
        return back
    finally:
        stage.wearer = before
