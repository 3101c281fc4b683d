"""The convex pieces of a scene where they are now. Metres, world frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from iwkit.errors import UsageError
from iwkit_runtime.physical.hulls import EMPTY, Stack, shapes
from iwkit_runtime.physical.kinematics import Frame, frame, link_frames, root_frame, values_at_start
from iwkit_runtime.physical.scene_spec import Pose, SceneSpec
from iwkit_runtime.physical.spec import Floats


class Owner(NamedTuple):
    """Whose a piece is: a thing and its link, or a part of the building and ''."""

    name: str
    link: str


class Posed(NamedTuple):
    """A thing where it is: `owners` are those of its pieces, `centre` is its centre of mass at even density, `weights`
    (s,) those of the pieces' points."""

    frames: Mapping[str, Frame]
    pieces: Stack
    owners: tuple[Owner, ...]
    low: Floats
    high: Floats
    centre: Floats
    weights: Floats


class Solids:
    """Everything in a scene that has pieces; what hasn't moved since the last question is not computed again, and what
    stands fast is computed at once where it starts.

    `building` are the pieces of what never moves, `parts` their owners.

    Raises:
        UsageError: a piece is no solid.
    """

    def __init__(self, spec: SceneSpec) -> None:
        self.placed = {p.name: p for p in spec.placed if any(link.pieces for link in p.asset.links)}
        self.layers = {s.name: s.layer for s in spec.statics}
        statics = [(static.name, static.pieces) for static in spec.statics if static.pieces]
        links = [(p.name, link) for p in self.placed.values() for link in p.asset.links if link.pieces]
        found = shapes([*statics, *((name, link.pieces) for name, link in links)])
        self.parts = tuple(Owner(name, "") for name, pieces in statics for _ in pieces)
        self.building = Stack.join([EMPTY, *(shape.pieces for shape in found[: len(statics)])])
        self._links: dict[str, list[tuple[str, Stack]]] = {name: [] for name in self.placed}
        self._owners: dict[str, tuple[Owner, ...]] = dict.fromkeys(self.placed, ())
        for (name, link), shape in zip(links, found[len(statics) :], strict=True):
            self._links[name].append((link.name, shape.pieces))
            self._owners[name] += (Owner(name, link.name),) * len(link.pieces)
        self._kept: dict[str, tuple[object, Posed]] = {}
        for fast in (placed for placed in self.placed.values() if placed.kind != "object"):
            self.at(fast.name, {fast.name: root_frame(fast).pose}, values_at_start(fast))

    def at(self, name: str, poses: Mapping[str, Pose], joints: Mapping[tuple[str, str], float]) -> Posed:
        """A thing as it is with these poses and joints. The same object as last time if it hasn't moved.

        Raises:
            UsageError: no pose for it.
        """
        if name not in poses:
            raise UsageError(f"there is no pose for '{name}': give the poses of every thing of the scene")
        links = self.placed[name].asset.links
        values = {link.name: joints.get((name, link.name), 0.0) for link in links if link.joint}
        key = (poses[name], tuple(values.values()))
        kept = self._kept.get(name)
        if kept is None or kept[0] != key:
            kept = self._kept[name] = (key, self._posed(name, poses[name], values))
        return kept[1]

    def _posed(self, name: str, pose: Pose, values: Mapping[str, float]) -> Posed:
        frames = link_frames(self.placed[name].asset, frame(pose), values)
        pieces = Stack.join([stack.moved(frames[link]) for link, stack in self._links[name]])
        volumes, counts = pieces.volumes, pieces.counts[:, 2]
        centre = volumes @ pieces.centroids / volumes.sum()
        weights = np.repeat(volumes / counts, counts)
        low, high = pieces.low.min(0), pieces.high.max(0)
        return Posed(frames, pieces, self._owners[name], low, high, centre, weights / weights.sum())
