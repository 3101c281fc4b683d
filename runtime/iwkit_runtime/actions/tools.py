"""Using what is held: cutting, stirring, pouring, wiping; and cooking, which is watched (ACT-8; spec Table 5).

What comes of it (cut, clean, poured) is of the mind: symbolic by design.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, product

import numpy as np

from iwkit.world.checks import cooks_in
from iwkit_runtime.actions import looking, walking
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.curves import CURVES, Curve, Patch, ways
from iwkit_runtime.actions.grab import take
from iwkit_runtime.actions.looking import look_over
from iwkit_runtime.actions.motion import (
    JUMP,
    BlockedError,
    Key,
    Move,
    Reasons,
    Screen,
    Trunk,
    at_stand,
    bridge,
    elbows,
    gazing,
    rest,
)
from iwkit_runtime.actions.refusals import NoWayError, RefusedError
from iwkit_runtime.actions.stances import go_and
from iwkit_runtime.body.arms import PALM_TILTS, Reach, angles_of, arm_length, reach
from iwkit_runtime.body.hands import aims, grip_point
from iwkit_runtime.body.pose import BodyPose, arm_joints, overlay
from iwkit_runtime.body.posture import Posture
from iwkit_runtime.body.reaching import SHRUG, shoulder
from iwkit_runtime.body.reaching import Stance as Feet
from iwkit_runtime.physical.kinematics import Frame, about, frame
from iwkit_runtime.physical.placer import regions_for
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import CATCHES, POURS, Stand
from iwkit_runtime.physical.wearer import Hold

POSTURES = 3
"""Postures in which the beginning of one curve is tried."""
WAYS = 24
"""Curves from one stance whose lowest frame is free and that are followed to their ends."""
STANCES = 16
"""Stances from which a tool is used."""
RIM = 0.55
"""Share of a target's box that its hollow takes up where its recipe has no interior."""
SWEEPS = ((0.22, 0.13), (0.12, 0.08), (0.05, 0.04), (0.0, 0.0))
"""Half width and depth of the part of a surface that is wiped, metres: the largest that is free."""
CELL = 0.07
"""Metres between the middles of such parts that are looked at."""
EACH = 2
"""Parts of each size that are tried."""
THIN = 0.3
"""A thing that is less deep than this share of its height is wiped on its front."""
TIPPED = 65
"""From so many degrees on it runs out of what is tipped."""
OUTWARDS = np.array([(1.0, 1.0, -1.0, -1.0), (1.0, -1.0, 1.0, -1.0)])
"""Directions on the plan, columns (2, 4), in which the outermost places of a tool are asked for first."""
COOKING = 60
"""Frames for which the wearer watches what cooks: 5 s, as in the symbolic world."""


def cut(act: Act) -> None:
    """Chop what is named with the tool in the hand."""
    target, tool = act.names
    _use(act, "cut", target)
    act.emit("cut", object=target, with_=tool)


def stir(act: Act) -> None:
    """Move the tool in the hand around in a vessel."""
    target, tool = act.names
    _use(act, "stir", target)
    act.emit("stirred", object=target, with_=tool)


def pour(act: Act) -> None:
    """Tilt what is in the hand over the rim of a vessel."""
    target, source = act.names
    _use(act, "pour", target)
    for substance in act.at.state.contents.get(source, ()):
        act.emit("poured", object=source, into=target, substance=substance)


def wipe(act: Act) -> None:
    """Sweep a wiper over a thing, taking it into the hand first."""
    tool, target = act.names if act.at.has(act.names[0], "wiper") else act.names[::-1]
    if act.at.held != tool:
        take(act, tool)
        act.see()
    first: RefusedError | None = None
    for patch in _sweeps(act.stage, tool, target):
        try:
            _use(act, "wipe", target, patch)
            break
        except NoWayError:
            raise
        except RefusedError as refused:
            first = first or refused
    else:
        raise first or RefusedError("NO_ROOM", tool, target)
    act.emit("wiped", object=target, with_=tool)


def cook(act: Act) -> None:
    """Go to food on a running heater and watch it until it is done."""
    food = act.names[0]
    walking.approach(act, food)
    point = looking.focus(act, food)
    looking.face(act, point)
    look_over(act, act.at.root(food), point)
    act.see()
    for _ in range(COOKING):
        act.stage.shoot(act.stage.idle(), gaze=point)
    act.emit("cooked", object=food, in_=cooks_in(act.at, food))


# --- doing ------------------------------------------------------------------------------------------------------------


def _use(act: Act, verb: str, target: str, patch: Patch | None = None) -> None:
    """Go to a target and move the tool in the hand along its curve.

    Raises:
        RefusedError: PATH_BLOCKED, OUT_OF_REACH or TRAJECTORY_COLLISION.
    """
    stage, hold, goal = act.stage, act.stage.wearer.hold, act.at.goal(target)
    if hold is None:
        raise RefusedError("OUT_OF_REACH", target)
    curve = CURVES[verb]
    found = patch or _patch(stage, target, curve)
    x, y, z = found.at.at.tolist()
    plan = partial(plan_use, stage, hold, curve, found, patch is not None)
    move = go_and(act, target, (x, y), plan, tries=STANCES)
    act.place = act.at.state.wearer.at if goal is None else goal.at
    look_over(act, act.at.root(target), (x, y, z))
    act.see()
    poured = act.at.state.contents.get(hold.name, ()) if verb == "pour" else ()
    for body in move:
        if poured:
            _run_out(stage, hold, target, body)
        stage.shoot(body, gaze=(x, y, z))
    stage.sync()


def _run_out(stage: Stage, hold: Hold, target: str, body: BodyPose) -> None:
    """Show whether something runs out of what is held in a body frame, and that it is in the target once it does."""
    pose = stage.person.held_pose(stage.person.body.forward(*body), hold)
    runs = float(frame(pose).turn[2, 2]) < math.cos(math.radians(TIPPED))
    stage.mark(hold.name, POURS, on=runs)
    stage.mark(target, CATCHES, on=runs)
    if runs:
        stage.mark(target, "filled", on=True)


def plan_use(  # noqa: PLR0917 (bound one by one)
    stage: Stage, hold: Hold, curve: Curve, patch: Patch, fixed: bool, at: Stand, reasons: Reasons
) -> Move | None:
    """The body's way with a tool along a curve, there and back, from where the wearer stands; None when there is none.
    `fixed`: the patch lies as it is, else its "ahead" is the wearer's."""
    if not fixed:
        bearing = math.atan2(patch.at.at[1] - at.y, patch.at.at[0] - at.x)
        patch = Patch(Frame(about((0, 0, 1), bearing - math.pi / 2), patch.at.at), patch.half)
    carried = frame(stage.person.held_pose(stage.person.body.forward(*stage.idle()), hold)).turn
    first = math.atan2(carried[1, 1], carried[0, 1])
    x, y, z = patch.at.at.tolist()
    tried = 0
    with gazing(stage, (x, y, z)):
        for frames in ways(curve, stage.placed[hold.name].asset.size, patch, first):
            deepest = min(range(len(frames)), key=lambda n: round(float(frames[n].at[2]), 6))
            for key in _starts(stage, hold, frames, deepest, curve.lean, at, reasons):
                hit = Screen(hold).hit(stage, key.body)
                if hit is not None:
                    reasons.blocked(hit.owner)
                    continue
                try:
                    return followed(stage, hold, key, frames, curve.lean, deepest)
                except BlockedError as blocked:
                    reasons.blocked(blocked.owner)
                tried += 1
                if tried == WAYS:
                    return None
    return None


def _starts(  # noqa: PLR0917 (part of one search)
    stage: Stage, hold: Hold, frames: Sequence[Frame], n: int, lean: float, at: Stand, reasons: Reasons
) -> Iterator[Key]:
    """The body with the held thing at the nth of some frames, in postures in which all of these are within reach."""
    body = stage.person.body
    grips = [thing.then(frame(hold.offset).inverse()) for thing in frames]
    palm, fingers = aims(body, "right", hold.grip, grips[n].turn)
    point = grip_point(body, "right", hold.grip)
    trunk, targets = Trunk(stage, Screen(hold), reasons), np.array([grip.at for grip in grips])
    farthest = arm_length(body, "right") + float(np.linalg.norm(point)) + SHRUG

    def fits(posture: Posture, standing: BodyPose) -> bool:
        joint = np.array(shoulder(body, Feet(*at), posture, "right"))
        return float(np.linalg.norm(targets - joint, axis=1).max()) <= farthest and trunk(posture, standing)

    hand = partial(elbows, body, at, "right", grips[n].at, point=point, palm=palm, fingers=fingers)
    for posed in islice(hand(others=False, most=lean, trunk=fits), POSTURES):
        gaze = stage.wearer.gaze or frames[n].at.tolist()
        looked = stage.person.looking(at_stand(body, at, posed.posture), gaze)
        yield Key(posed.posture, posed.reach.body).head(looked).hand("right", hold.fingers)


def followed(  # noqa: PLR0917 (one movement)
    stage: Stage, hold: Hold, key: Key, frames: Sequence[Frame], lean: float, at: int = 0
) -> Move:
    """From rest with the held thing along frames, and back to rest, through a key that holds it `at` one of them: the
    posture must suit where the hand is lowest.

    Raises:
        BlockedError: something is in the way, or the arm can't follow.
    """
    screen = Screen(hold)
    screen.check(stage, key.body)
    near = angles_of(key.body.pose, "right")
    if any(follow(stage, hold, key.body, frames[n], near, most=lean) is None for n in _corners(frames)):
        raise BlockedError(hold.name)
    onwards = _onwards(stage, hold, key.body, frames[at + 1 :], lean)
    move = [*reversed(_onwards(stage, hold, key.body, frames[:at][::-1], lean)), key.body, *onwards]
    first, last = Key(key.posture, move[0]), Key(key.posture, move[-1])
    there, back = (bridge(stage, *ends, "right", screen) for ends in ((rest(stage), first), (last, rest(stage))))
    return [*there, *move[1:], *back]


def _corners(frames: Sequence[Frame]) -> list[int]:
    """The numbers of the outermost of some frames on the plan: where the arm can't get to one of these, it needn't be
    led along the others."""
    places = np.array([thing.at for thing in frames])[:, :2] @ OUTWARDS
    return sorted({*places.argmax(0).tolist()})


def _onwards(stage: Stage, hold: Hold, now: BodyPose, frames: Sequence[Frame], lean: float) -> Move:
    """The body with the load along frames, one after the other, each near to the one before it.

    Raises:
        BlockedError: something is in the way, or the arm can't follow.
    """
    screen, near, move = Screen(hold), angles_of(now.pose, "right"), []
    for thing in frames:
        found = follow(stage, hold, now, thing, near, most=lean)
        if found is None or float(np.abs(found.angles - near).max()) > JUMP:
            raise BlockedError(hold.name)
        now, near = found.body, found.angles
        screen.check(stage, now)
        move.append(now)
    return move


def follow(
    stage: Stage, hold: Hold, now: BodyPose, thing: Frame, near: Floats, *, most: float = PALM_TILTS[-1]
) -> Reach | None:
    """The body with the held thing at a frame, the arm near to angles, the fingers as they are; `most` as for
    `arms.reach`."""
    body = stage.person.body
    grip = thing.then(frame(hold.offset).inverse())
    point = grip_point(body, "right", hold.grip)
    palm, fingers = aims(body, "right", hold.grip, grip.turn)
    found = reach(body, now, "right", grip.at, point=point, palm=palm, fingers=fingers, near=near, most=most)
    if found is None:
        return None
    return found._replace(body=now._replace(pose=overlay(now.pose, found.body.pose, arm_joints("right")[:4])))


# --- where ------------------------------------------------------------------------------------------------------------


def _patch(stage: Stage, target: str, curve: Curve) -> Patch:
    """The top of a target, or the floor of its hollow."""
    asset = stage.placed[target].asset
    root = stage.collision.frames(target)[asset.links[0].name]
    wide, deep, high = asset.size
    inside = next((r for r in asset.regions if r.kind == "interior" and r.link == asset.links[0].name), None)
    if inside is None:
        share = RIM if curve.ground == "inside" else 1.0
        height = 0.01 if curve.ground == "inside" else high
        return Patch(Frame(np.eye(3), root.point((0, 0, height))), (share * wide / 2, share * deep / 2))
    x, y, z = inside.centre
    height = z - inside.size[2] / 2 if curve.ground == "inside" else high
    return Patch(Frame(np.eye(3), root.point((x, y, height))), (inside.size[0] / 2, inside.size[1] / 2))


def _sweeps(stage: Stage, tool: str, target: str) -> Iterator[Patch]:
    """Free parts of a target's surface, large ones first, of these the nearest to the wearer."""
    here = np.array((*stage.wearer.stand[:2], 0.0))
    faces = _faces(stage, target)
    for half in SWEEPS:
        found = [Patch(Frame(face.at.turn, at), half) for face in faces for at in _middles(face, half)]
        found.sort(key=lambda patch: round(float(np.hypot(*(patch.at.at - here)[:2])), 6))
        yield from islice((patch for patch in found if _free(stage, tool, target, patch)), EACH)


def _middles(face: Patch, half: tuple[float, float]) -> Iterator[Floats]:
    """Where a part of a face can be; none where it is too large for it."""
    room = [whole - part for whole, part in zip(face.half, half, strict=True)]
    if min(room) < 0:
        return
    ticks = [np.linspace(-r, r, 2 * max(0, math.floor(r / CELL)) + 1).tolist() for r in room]
    yield from (face.at.point((x, y, 0.0)) for x, y in product(*ticks))


def _faces(stage: Stage, target: str) -> list[Patch]:
    """What is wiped: the surfaces, else the front of what is thin and stands, else the inside, else the top."""
    asset = stage.placed[target].asset
    frames = stage.collision.frames(target)
    root = frames[asset.links[0].name]
    wide, deep, high = asset.size
    if deep < THIN * high and not regions_for(asset, "surface"):
        out = Frame(np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]), np.array([0, -deep / 2, high / 2]))
        return [Patch(root.then(out), (wide / 2, high / 2))]
    regions = regions_for(asset, "surface") or regions_for(asset, "interior")
    if not regions:
        return [Patch(Frame(root.turn, root.point((0, 0, high))), (wide / 2, deep / 2))]
    found = []
    for region in regions:
        x, y, z = region.centre
        at = frames[region.link]
        bottom = at.point((x, y, z - region.size[2] / 2))
        found.append(Patch(Frame(at.turn, bottom), (region.size[0] / 2, region.size[1] / 2)))
    return found


def _free(stage: Stage, tool: str, target: str, patch: Patch) -> bool:
    """Whether the tool touches nothing but the target anywhere on a part of its surface."""
    reach_ = max(stage.placed[tool].asset.size[:2]) / 4
    for across, ahead in product((-1, 0, 1), repeat=2):
        point = (across * (patch.half[0] + reach_), ahead * (patch.half[1] + reach_), 0.004)
        poses = stage.carried(tool, Frame(patch.at.turn, patch.at.point(point)).pose)
        if any(hit.owner not in (target, tool) and hit.depth > 0 for hit in stage.collision.hits(poses=poses)):
            return False
    return True
