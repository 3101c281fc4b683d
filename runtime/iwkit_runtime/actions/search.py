"""Looking for a way for the right hand: cheap tests of many at once first, dear tests of the best only (ACT-1, ACT-7).

From one stance: the arm's length, then the trunk's room, then arms by the dozen, then the room for these. What is left
is planned in full by the caller, one after the other. All of it is counted, so that a search ends after the same work
on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit_runtime.actions.grips import Goals
from iwkit_runtime.actions.motion import BRUSH, Key, Reasons, Screen, Trunk, at_stand, freed
from iwkit_runtime.body.arms import Solutions, arm_length, posed, solutions, strained
from iwkit_runtime.body.hands import Grip, aims, grip_frame, grip_point
from iwkit_runtime.body.pose import INDEX, JOINTS, BodyPose
from iwkit_runtime.body.posture import Posture, ladder
from iwkit_runtime.body.reaching import SHRUG, Stance, shoulder
from iwkit_runtime.engines.collision import Allowed, Capsules
from iwkit_runtime.physical.spec import Floats, Vector
from iwkit_runtime.physical.stage import GRASP, Stage
from iwkit_runtime.physical.trajectory import Stand

Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]

CHUNK = 48
"""Goals for which arms are solved at once."""
ARMS = 24
"""Arms, the most comfortable ones of a chunk, for which is asked whether they are free."""
EACH = 3
"""Free arms of one chunk that are planned in full."""
ROAMING = 4_000
"""Work on ways around what is in the way, for one arm at a thing or a place."""
HAND = "right_hand"
SEGMENTS = ("right_collar", "right_upper_arm", "right_lower_arm", HAND)
"""The capsules of an arm, from joint to joint."""
GOAL, ARM, TRUNK, PLAN = 1, 4, 2, 900
"""Work, in thirtieths of a millisecond: solving the arm for a goal, and asking whether an arm, or a trunk, is free; one
plan in full."""


class Look(NamedTuple):
    """How broadly a way is looked for: so many levels of turns of the hand, plans in full from one stance, stances, and
    so much work; `broad`: from near and far, turned in all ways; `anywhere`: also from beside what it is in."""

    levels: int
    plans: int
    stances: int
    work: int
    broad: bool = False
    anywhere: bool = False


@dataclass
class Effort:
    """How much work a search may still do."""

    left: float

    def spend(self, work: float) -> None:
        """Count some work."""
        self.left -= work

    @property
    def spent(self) -> bool:
        """Whether it has all been done."""
        return self.left <= 0

    @contextmanager
    def part(self, most: float) -> Iterator[Effort]:
        """No more than so much of it: rather the next way than all on one."""
        given = min(most, self.left)
        part = Effort(given)
        try:
            yield part
        finally:
            self.spend(given - part.left)


class Contact(NamedTuple):
    """A body whose hand is at one of some goals, by its number, and which is free there."""

    posture: Posture
    body: BodyPose
    goals: Goals
    number: int

    @property
    def target(self) -> Vector:
        """Where the middle of the grip is."""
        x, y, z = self.goals.targets[self.number].tolist()
        return x, y, z


@dataclass
class Level:
    """Goals, and what is in the way of a hand at them, asked when it is first needed."""

    stage: Stage
    goals: Goals
    touching: str | None
    """What the hand may press, as far as a hand may."""
    blockers: list[str | None] = field(default_factory=list)

    @property
    def free(self) -> Bools:
        """Which of the goals are free for the hand (k,)."""
        if len(self.blockers) < len(self.goals):
            ends = hand_ends(self.stage, self.goals)
            self.blockers = blockers(self.stage, ends[:, None], [HAND], self.touching)
        return np.array([b is None for b in self.blockers], dtype=bool)


def hand_ends(stage: Stage, goals: Goals) -> Floats:
    """The ends (k, 2, 3) of the hand's capsule at each goal: the wrist and the knuckles."""
    body = stage.person.body
    local = _grip(stage, goals.grip)
    start, end = (body.joints[INDEX[f"right_{name}"]] for name in ("wrist", "middle1"))
    ends = (np.stack([start, end]) - start - local[:3, 3]) @ local[:3, :3]
    return np.asarray(goals.targets[:, None] + np.einsum("kij,nj->kni", goals.frames, ends))


def _grip(stage: Stage, grip: Grip) -> Floats:
    """The frame (4, 4) of a grip in that of the wrist."""
    rest = np.broadcast_to(np.eye(4), (len(JOINTS), 4, 4))
    return grip_frame(stage.person.body, rest, "right", grip)


def blockers(stage: Stage, ends: Floats, names: Sequence[str], touching: str | None) -> list[str | None]:
    """What each of k chains of capsules with ends (k, n, 2, 3) is in; None where it is free."""
    rig = stage.person.rig
    count = len(names)
    radii = np.tile(rig.radii[[rig.names.index(name) for name in names]], len(ends))
    found: list[str | None] = [None] * len(ends)
    hold = stage.wearer.hold  # it goes along, wherever it is now
    load = () if hold is None else (hold.name, *stage.engine.riders(hold.name))
    for hit in stage.collision.hits(Capsules(ends.reshape(-1, 2, 3), radii), ignore={*stage.floors, *load}):
        if not isinstance(hit.by, int) or hit.depth <= BRUSH:
            continue
        chain, which = divmod(hit.by, count)
        hand = names[which].endswith("_hand")
        if found[chain] is None and not (hand and hit.owner == touching and hit.depth <= GRASP):
            found[chain] = hit.owner
    return found


def contacts(  # noqa: PLR0917 (one search)
    stage: Stage,
    at: Stand,
    levels: Sequence[Level],
    covered: bool,
    screen: Screen,
    reasons: Reasons,
    effort: Effort,
    *,
    broad: bool = False,
    usual: bool = False,
) -> Iterator[Contact]:
    """Bodies standing there whose hand is at a goal, and which are free: posture by posture, the easiest first; in
    each, the first levels first; in each of these, the most comfortable arms first. Edges that look away from the
    wearer are only taken in a `broad` look, and so are squats with the knees together and shoulders that turn further,
    unless all is to be `usual`."""
    body = stage.person.body
    trunk = Trunk(stage, screen, reasons)
    levels = [level for level in levels if len(level.goals)]
    if not levels:
        return
    wanted = [np.bool_(broad) | level.goals.before(at.x, at.y) for level in levels]
    wrists = [hand_ends(stage, level.goals)[:, 0] for level in levels]
    bound = arm_length(body, "right") + SHRUG
    for posture in ladder(float(np.mean(levels[0].goals.targets[:, 2])), shelf=covered, narrow=broad and not usual):
        joint = np.array(shoulder(body, Stance(*at), posture, "right"))
        near = [(np.linalg.norm(w - joint, axis=1) < bound) & want for w, want in zip(wrists, wanted, strict=True)]
        if not any(close.any() for close in near):
            continue
        standing = at_stand(body, at, posture)
        effort.spend(TRUNK)
        if reasons.reached and not any((close & level.free).any() for level, close in zip(levels, near, strict=True)):
            continue  # there is no room for the hand, wherever the trunk is
        if not trunk(posture, standing):
            continue
        yield from _in_posture(
            stage, Key(posture, standing), levels, near, trunk, screen, reasons, effort, broad and not usual
        )
        if effort.spent:
            return


def _in_posture(  # noqa: PLR0917 (part of one search)
    stage: Stage,
    standing: Key,
    levels: Sequence[Level],
    near: Sequence[Bools],
    trunk: Trunk,
    screen: Screen,
    reasons: Reasons,
    effort: Effort,
    wide: bool,
) -> Iterator[Contact]:
    """Those in one posture, until it turns out that the body can't be in it, whatever the arm does."""
    for level, close in zip(levels, near, strict=True):
        numbers = np.flatnonzero(close & level.free)
        if not reasons.reached and not len(numbers):
            _first_reason(stage, standing.body, level, np.flatnonzero(close)[:CHUNK], reasons)
        for first in range(0, len(numbers), CHUNK):
            if effort.spent or not trunk(standing.posture, standing.body):
                return
            some = numbers[first : first + CHUNK]
            for contact in _free_arms(stage, standing, level, some, trunk, screen, reasons, effort, wide):
                if not trunk.rises(standing.posture):
                    return
                yield contact


def _first_reason(stage: Stage, standing: BodyPose, level: Level, numbers: Indices, reasons: Reasons) -> None:
    """No goal is free for the hand: whether an arm would reach there at all."""
    found = _solved(stage, standing, level.goals, numbers)
    if len(found.goal):
        reasons.blocked(level.blockers[int(numbers[found.goal[0]])] or "")


def _free_arms(  # noqa: PLR0917 (part of one search)
    stage: Stage,
    standing: Key,
    level: Level,
    numbers: Indices,
    trunk: Trunk,
    screen: Screen,
    reasons: Reasons,
    effort: Effort,
    wide: bool,
) -> Iterator[Contact]:
    """Some of the arms that are free, each at another goal or with the elbow elsewhere; those whose shoulder turns
    further (`wide`) only where there are no others."""
    found = _solved(stage, standing.body, level.goals, numbers, wide=wide)
    effort.spend(GOAL * len(numbers))
    further = np.array([strained(angles) for angles in found.angles], dtype=bool)
    for which in (np.flatnonzero(~further), np.flatnonzero(further)):
        most = which[:ARMS]
        some = Solutions(found.goal[most], found.angles[most], found.joints[most])
        taken = 0
        for contact in _screened(stage, standing, level, numbers, some, trunk, screen, reasons, effort):
            yield contact
            taken += 1
        if taken or not trunk(standing.posture, standing.body):
            return


def _screened(  # noqa: PLR0917 (part of one search)
    stage: Stage,
    standing: Key,
    level: Level,
    numbers: Indices,
    found: Solutions,
    trunk: Trunk,
    screen: Screen,
    reasons: Reasons,
    effort: Effort,
) -> Iterator[Contact]:
    """Those of some arms that are free."""
    effort.spend(ARM * len(found.goal))
    if not len(found.goal):
        return
    joints = found.joints
    hands = hand_ends(stage, level.goals.chosen(numbers[found.goal]))
    chains = np.concatenate([np.stack([joints[:, :-1], joints[:, 1:]], 2), hands[:, None]], 1)
    taken = 0
    for k, owner in enumerate(blockers(stage, chains, SEGMENTS, level.touching)):
        if owner is not None:
            reasons.blocked(owner)
            continue
        body = standing.body._replace(pose=posed(standing.body.pose, "right", found.angles[k]))
        contact = Contact(standing.posture, body, level.goals, int(numbers[found.goal[k]]))
        meant = () if level.touching is None else (Allowed(level.touching, contact.target),)
        body, hit = freed(stage, replace(screen, allow=meant), Key(standing.posture, body))
        if hit is not None:
            reasons.blocked(hit.owner)
            if not trunk(standing.posture, standing.body):
                return
            continue
        yield contact._replace(body=body)
        taken += 1
        if taken == EACH:
            return


def _solved(stage: Stage, standing: BodyPose, goals: Goals, numbers: Indices, *, wide: bool = False) -> Solutions:
    body, chosen = stage.person.body, goals.chosen(numbers)
    points = np.broadcast_to(grip_point(body, "right", goals.grip), chosen.targets.shape)
    palms, fingers = aims(body, "right", goals.grip, chosen.frames)
    return solutions(body, standing, "right", chosen.targets, points, palms, fingers, wide=wide)
