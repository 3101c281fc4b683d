"""The body as 17 capsules, a head sphere and the eye volume, for collision queries (PHY-5 to PHY-10; paper B.1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit_runtime.body.legs import SIDES, leg_of
from iwkit_runtime.body.model import Body
from iwkit_runtime.body.pose import INDEX, JOINTS, Side

Array = NDArray[np.float64]
Indices = NDArray[np.int32]

SHARE = 0.70
"""Share of the skin around a segment that its radius takes in; with all of it a chest were as deep as it is wide."""
HEAD_SHARE = 0.90
SPACING = 0.5
BELOW_SHOULDER = ("_upper_arm", "_lower_arm", "_hand")
"""Ends of the names of the segments that an arm moves but for the collar, which is part of the trunk as well."""
BALLS = (0.25, 0.5, 0.75, 1.0)
"""Where along them balls stand for these when it is asked whether they are in the body itself. Where the first of them
begins is the trunk, where the others begin another one ends."""
_NO_LENGTH = 1e-12


class _Segment(NamedTuple):
    """The joints at the two ends, the joints on whose skin the radius is measured, and the neighbours."""

    start: str
    end: str
    skin: tuple[str, ...]
    beside: tuple[str, ...]


# `*` stands for a side
_MIDDLE = {
    "pelvis": _Segment("left_hip", "right_hip", ("pelvis", "spine1", "left_hip", "right_hip"), ("spine",)),
    "spine": _Segment("spine1", "spine3", ("pelvis", "spine1", "spine2", "spine3"), ("neck",)),
    "neck": _Segment("neck", "head", ("neck",), ("head",)),
}
_SIDED = {
    "*_collar": _Segment("*_collar", "*_shoulder", ("spine3", "*_collar", "*_shoulder"), ("neck", "spine", "head")),
    "*_upper_arm": _Segment("*_shoulder", "*_elbow", ("*_shoulder",), ("*_collar", "spine")),
    "*_lower_arm": _Segment("*_elbow", "*_wrist", ("*_elbow",), ("*_upper_arm",)),
    "*_hand": _Segment("*_wrist", "*_middle1", ("*_wrist",), ("*_lower_arm",)),
    "*_thigh": _Segment("*_hip", "*_knee", ("*_hip",), ("pelvis", "spine")),
    "*_shin": _Segment("*_knee", "*_ankle", ("*_knee",), ("*_thigh",)),
    "*_foot": _Segment("*_ankle", "*_foot", (), ("*_shin",)),
}
_ACROSS = (("left_collar", "right_collar"), ("left_thigh", "right_thigh"))
_SPINE_TOP = "spine3"
HEAD = "head"
EYES = "eyes"
EYE_RADIUS = 0.053
"""Metres: the 5 cm around the point between the eyes that stay clear, a tolerance of 2 mm, and what rounding takes."""
_HEAD_SKIN = ("head",)


class Spheres(NamedTuple):
    """Spheres along the capsules: centres (m, 3) in the world, radii (m,), and the number (m,) of their segment."""

    centres: Array
    radii: Array
    segments: Indices


@dataclass(frozen=True, eq=False)
class Rig:
    """The collision proxy of a body: n = 19 segments. The last two of them are the head and the eye volume, spheres
    whose two ends coincide.

    names (n,); joints (n, 2) that the ends move with and points (n, 2, 3) of the ends in those joints' frames;
    radii (n,) metres; adjacent (n, n) true where contact between two segments is ignored, the diagonal included;
    samples: how far along (m,) which segment (m,) the spheres of `spheres` lie.
    """

    names: tuple[str, ...]
    joints: Indices
    points: Array
    radii: Array
    adjacent: NDArray[np.bool_]
    samples: tuple[Array, Indices]

    def ends(self, frames: Array) -> Array:
        """World end points (n, 2, 3) of the segments for joint frames (52, 4, 4)."""
        moving = frames[self.joints]
        return np.asarray((moving[..., :3, :3] @ self.points[..., None])[..., 0] + moving[..., :3, 3])

    def spheres(self, frames: Array) -> Spheres:
        """Spheres along each segment, ends included, at most `SPACING` of its radius apart at rest.

        Row k is the same place on the body at every pose.
        """
        along, segments = self.samples
        ends = self.ends(frames)[segments]
        return Spheres(ends[:, 0] + along[:, None] * (ends[:, 1] - ends[:, 0]), self.radii[segments], segments)

    @cached_property
    def _arms(self) -> tuple[Array, Indices, Array]:
        """Where on which segment the balls lie that stand for the arms, and how near (m, n) they touch each segment;
        where contact is ignored, not even at no distance."""
        rows = [n for n, name in enumerate(self.names) if name.endswith(BELOW_SHOULDER)]
        along, segments = np.tile(BALLS, len(rows)), np.repeat(np.array(rows, np.int32), len(BALLS))
        touching = self.radii[segments, None] + self.radii
        return along[:, None], segments, np.where(self.adjacent[segments], 0.0, touching)

    def crossing(self, ends: Array, tolerance: float) -> tuple[int, int, float] | None:
        """The arm's segment that is deepest in another segment of the body, by more than `tolerance`: the numbers of
        both, and the depth in metres (PHY-5). Asked at balls along the arms, as the paper samples
        capsules.

        `ends` (n, 2, 3) are those of a pose.
        """
        along, segments, touching = self._arms
        start = ends[:, 0]
        line = ends[:, 1] - start
        gap = (start[segments] + along * line[segments])[:, None] - start
        share = np.einsum("mnk,nk->mn", gap, line) / np.maximum((line * line).sum(1), _NO_LENGTH)
        gap -= np.minimum(np.maximum(share, 0), 1)[..., None] * line
        square = np.einsum("mnk,mnk->mn", gap, gap)
        if not (square < np.square(np.maximum(touching - tolerance, 0))).any():
            return None
        depth = touching - np.sqrt(square)
        ball, other = np.unravel_index(int(depth.argmax()), depth.shape)
        return int(segments[ball]), int(other), float(depth[ball, other])


def build_rig(body: Body) -> Rig:
    """The capsules of a body: ends at its joints, radii from its skin in the T-pose."""
    table = _segments()
    names = (*table, HEAD, EYES)
    joints = np.array([[INDEX[s.start], INDEX[s.end]] for s in table.values()] + [[INDEX[HEAD]] * 2] * 2, np.int32)
    ends = body.joints[joints].copy()
    ends[names.index("spine"), 1] = body.tips[INDEX[_SPINE_TOP]]
    for side in SIDES:
        ends[names.index(f"{side}_foot")] = _sole(body, side)
    head = body.vertices[_skin_of(body, _HEAD_SKIN)]
    ends[-2], ends[-1] = (head.min(0) + head.max(0)) / 2, body.eye
    radii = np.append(_radii(body, table, ends[:-1]), EYE_RADIUS)
    adjacent = np.eye(len(names), dtype=bool)
    pairs = [(name, other) for name, segment in table.items() for other in segment.beside]
    for a, b in (*pairs, *_ACROSS, (EYES, HEAD), (EYES, "neck")):
        adjacent[names.index(a), names.index(b)] = adjacent[names.index(b), names.index(a)] = True
    return Rig(names, joints, ends - body.joints[joints], radii, adjacent, _samples(ends, radii))


def _samples(ends: Array, radii: Array) -> tuple[Array, Indices]:
    """Where along which segment the spheres lie."""
    counts = np.ceil(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / (SPACING * radii)).astype(int) + 1
    along = [np.linspace(0, 1, n) if n > 1 else np.zeros(1) for n in counts]
    return np.concatenate(along), np.repeat(np.arange(len(counts), dtype=np.int32), counts)


def _segments() -> dict[str, _Segment]:
    """The 17 capsules by name, sides filled in."""
    table = dict(_MIDDLE)
    for side in SIDES:
        for name, (start, end, skin, beside) in _SIDED.items():
            ends, covered, near = (tuple(w.replace("*", side) for w in words) for words in ((start, end), skin, beside))
            table[name.replace("*", side)] = _Segment(ends[0], ends[1], covered, near)
    return table


def _sole(body: Body, side: Side) -> Array:
    """The ends (2, 3) of the capsule that lies on the sole from heel to toes; its diameter is the ankle's height."""
    leg, ankle, toes = leg_of(body, side), body.joints[INDEX[f"{side}_ankle"]], body.tips[INDEX[f"{side}_foot"]]
    radius = -leg.heel[1] / 2
    height = body.ground + radius
    return np.array([[ankle[0], height, ankle[2] + leg.heel[2] + radius], [toes[0], height, toes[2] - radius]])


def _skin_of(body: Body, joints: tuple[str, ...]) -> NDArray[np.bool_]:
    """The vertices (V,) that these joints move most."""
    chosen = np.isin(np.arange(len(JOINTS)), [INDEX[name] for name in joints])
    return np.asarray(chosen[body.carried_by])


def _radii(body: Body, table: dict[str, _Segment], ends: Array) -> Array:
    """Radii (n,): every vertex counts for the nearest of the segments that may cover it."""
    distance = np.array([_distances(body.vertices, *pair) for pair in ends])
    for row, segment in enumerate(table.values()):
        distance[row, ~_skin_of(body, segment.skin)] = np.inf
    distance[-1, ~_skin_of(body, _HEAD_SKIN)] = np.inf
    nearest = distance.argmin(0)
    radii = []
    for row, name in enumerate((*table, HEAD)):
        mine = distance[row, (nearest == row) & np.isfinite(distance[row])]
        share = HEAD_SHARE if name == HEAD else SHARE
        foot = name.endswith("_foot")
        radii.append(ends[row, 0, 1] - body.ground if foot else float(np.quantile(mine, share)))
    return np.array(radii)


def _distances(points: Array, start: Array, end: Array) -> Array:
    """Distances (m,) of points (m, 3) from a line segment."""
    line = end - start
    along = np.clip((points - start) @ line / max(float(line @ line), 1e-12), 0, 1)
    return np.asarray(np.linalg.norm(points - start - along[:, None] * line, axis=1))
