"""Whether a recording can be judged at all: finite numbers, known things, unit quaternions, and the film's time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iwkit_runtime.audit.body import Measure
from iwkit_runtime.audit.film import Place
from iwkit_runtime.body.pose import BodyPose
from iwkit_runtime.physical.scene_spec import Joints, Poses
from iwkit_runtime.recording import Recording


def sound(recording: Recording) -> Iterator[Measure]:
    """The figures of `finite`, `unit` and `time`."""
    things = {placed.name for placed in recording.spec.placed}
    parts = {(p.name, link.name) for p in recording.spec.placed for link in p.asset.links if link.joint}
    start = Place(0, 0, "reset")
    yield Measure(
        "finite", len(things ^ recording.poses.keys()) + len(parts ^ recording.joints.keys()), start, "things"
    )
    yield from _state(start, recording.body, recording.stand, recording.poses, recording.joints)
    for interval in recording.intervals:
        place = Place(interval.step, 0, interval.command)
        yield Measure("time", abs(interval.stated - len(interval.frames)), place, "frames")
        for n, frame in enumerate(interval.frames):
            here = place._replace(frame=n)
            unknown = len(frame.poses.keys() - things) + len(frame.joints.keys() - parts)
            yield Measure("finite", unknown, here, "things that are not in the scene")
            yield from _state(here, frame.body, frame.stand, frame.poses, frame.joints)


def _state(
    place: Place, body: BodyPose, stand: tuple[float, float, float], poses: Poses, joints: Joints
) -> Iterator[Measure]:
    for what, numbers in (("body", (*body.pose, *body.translation)), ("stand", stand), ("joints", joints.values())):
        yield Measure("finite", int((~np.isfinite([*numbers])).sum()), place, what)
    for name, (at, turn) in poses.items():
        yield Measure("finite", int((~np.isfinite([*at, *turn])).sum()), place, name)
        yield Measure("unit", abs(float(np.linalg.norm(turn)) - 1), place, name)
