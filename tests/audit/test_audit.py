"""Every check of the audit bites: a recording that passes is tampered with in one place."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from iwkit.trace import Happening
from iwkit_runtime.audit.checks import audit
from iwkit_runtime.audit.film import Film
from iwkit_runtime.audit.holds import holds
from iwkit_runtime.audit.limits import LIMITS
from iwkit_runtime.body.pose import INDEX, BodyPose, joint_slice
from iwkit_runtime.physical.trajectory import Frame, Stand
from iwkit_runtime.recording import Recording

GRAB, PUT, OPEN = 0, 1, 2


def failed(recording: Recording) -> set[str]:
    return {outcome.check for outcome in audit(recording) if not outcome.passed}


def edited(recording: Recording, interval: int, change: Callable[[int, Frame], Frame]) -> Recording:
    """The recording with the frames of one command changed."""
    parts = list(recording.intervals)
    frames = tuple(change(n, frame) for n, frame in enumerate(parts[interval].frames))
    parts[interval] = replace(parts[interval], frames=frames)
    return replace(recording, intervals=tuple(parts))


def shifted(frame: Frame, dx: float, dy: float = 0.0, dz: float = 0.0) -> Frame:
    """The wearer somewhere else."""
    x, y, heading = frame.stand
    body = BodyPose(frame.body.pose, frame.body.translation + np.array([dx, dy, dz]))
    return replace(frame, body=body, stand=Stand(x + dx, y + dy, heading))


def turned(frame: Frame, joint: str, degrees: float) -> Frame:
    """A joint of the body turned about z."""
    pose = frame.body.pose.copy()
    at = joint_slice(joint)
    pose[at] = (Rotation.from_rotvec(pose[at]) * Rotation.from_euler("z", degrees, degrees=True)).as_rotvec()
    return replace(frame, body=BodyPose(pose, frame.body.translation))


def last_of(recording: Recording, interval: int) -> int:
    return len(recording.intervals[interval].frames) - 1


def taken_at(recording: Recording) -> int:
    return next(n for n, frame in enumerate(recording.intervals[GRAB].frames) if "soda" in frame.poses)


def resting(recording: Recording, name: str) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    return recording.poses[name]


def test_an_honest_recording_passes(recording: Recording) -> None:
    outcomes = audit(recording)
    assert [o.check for o in outcomes] == [*LIMITS]
    assert {o.check: o.worst for o in outcomes if not o.passed} == {}
    judged = {o.check for o in outcomes if o.worst is not None}
    assert {"step", "turn", "hand", "held", "joint_hand", "slip", "final"} <= judged


# --- the body -------------------------------------------------------------------------------------------------------


def test_a_teleport(recording: Recording) -> None:
    far = edited(recording, OPEN, lambda n, f: shifted(f, 0.2) if n >= 5 else f)
    assert {"step", "slip", "pelvis"} <= failed(far)


def test_a_teleport_between_two_commands(recording: Recording) -> None:
    assert "step" in failed(edited(recording, OPEN, lambda _, f: shifted(f, 0.2)))


def test_a_turn_of_fifteen_degrees(recording: Recording) -> None:
    def turn(n: int, frame: Frame) -> Frame:
        x, y, heading = frame.stand
        return replace(frame, stand=Stand(x, y, heading + math.radians(15))) if n == last_of(recording, OPEN) else frame

    assert "turn" in failed(edited(recording, OPEN, turn))


def test_a_limb_that_jumps(recording: Recording) -> None:
    bent = edited(recording, OPEN, lambda n, f: turned(f, "left_shoulder", 80) if n == 3 else f)
    assert {"joint", "limb"} <= failed(bent)


def test_a_body_that_is_not_where_the_wearer_stands(recording: Recording) -> None:
    def drift(n: int, frame: Frame) -> Frame:
        body = BodyPose(frame.body.pose, frame.body.translation + np.array([min(0.01 * n, 0.5), 0, 0]))
        return replace(frame, body=body)

    assert "agree" in failed(edited(recording, OPEN, drift))


def test_a_foot_that_slides(recording: Recording) -> None:
    """Slower than a step, so that nothing else is wrong with it."""
    slid = edited(recording, OPEN, lambda n, f: shifted(f, 0.0, 0.03 if n == last_of(recording, OPEN) else 0.0))
    assert failed(slid) == {"slip"}


def test_feet_above_the_floor(recording: Recording) -> None:
    assert failed(edited(recording, OPEN, lambda _, f: shifted(f, 0, 0, 0.03))) == {"soles"}


def test_a_body_in_the_wall(recording: Recording) -> None:
    """The kitchen counter stands at the wall behind it: half a metre further the body is in it."""
    heading = recording.stand.heading
    ahead = np.array([math.cos(heading), math.sin(heading)])
    still = replace(
        recording.intervals[GRAB].frames[0], poses={}, joints={}, body=recording.body, stand=recording.stand
    )
    walk = tuple(shifted(still, *(0.08 * n * ahead)) for n in range(25))
    through = replace(recording.intervals[GRAB], frames=walk, stated=len(walk), happenings=())
    assert {"limbs", "eyes"} <= failed(replace(recording, intervals=(through,)))


# --- things ---------------------------------------------------------------------------------------------------------


def test_a_hand_too_far_from_what_it_takes(recording: Recording) -> None:
    """The can lies 16 cm off its place until it is taken."""
    (x, y, z), quaternion = resting(recording, "soda")
    away = replace(recording, poses={**recording.poses, "soda": ((x - 0.16, y, z), quaternion)})
    assert "hand" in failed(away)


def test_a_held_thing_that_slips(recording: Recording) -> None:
    first = taken_at(recording)

    def slip(n: int, frame: Frame) -> Frame:
        if n < first + 4 or "soda" not in frame.poses:
            return frame
        (x, y, z), quaternion = frame.poses["soda"]
        return replace(frame, poses={**frame.poses, "soda": ((x, y, z + 0.004), quaternion)})

    assert "held" in failed(edited(recording, GRAB, slip))


def test_a_held_thing_that_turns(recording: Recording) -> None:
    first = taken_at(recording)

    def turn(n: int, frame: Frame) -> Frame:
        if n < first + 4 or "soda" not in frame.poses:
            return frame
        at, (w, i, j, k) = frame.poses["soda"]
        i, j, k, w = (Rotation.from_quat([i, j, k, w]) * Rotation.from_euler("z", 2, degrees=True)).as_quat()
        return replace(frame, poses={**frame.poses, "soda": (at, (w, i, j, k))})

    assert "held_turn" in failed(edited(recording, GRAB, turn))


def test_a_thing_that_moves_by_itself(recording: Recording) -> None:
    (x, y, z), quaternion = resting(recording, "mug")
    alone = {"mug": ((x + 0.01, y, z), quaternion)}
    moved = edited(recording, GRAB, lambda n, f: replace(f, poses={**f.poses, **alone}) if n == 2 else f)
    assert failed(moved) == {"unheld"}


def test_a_thing_that_flies_after_it_was_let_go_of(recording: Recording) -> None:
    end = last_of(recording, PUT)

    def fly(n: int, frame: Frame) -> Frame:
        at = (0.5, 0.5, 2.0)
        return replace(frame, poses={**frame.poses, "soda": (at, (1.0, 0.0, 0.0, 0.0))}) if n == end else frame

    assert "fall" in failed(edited(recording, PUT, fly))


def taken_anew(recording: Recording, aside: float = 0.0, slip: float = 0.0) -> Recording:
    """The can's two commands as one: it is taken, set down, and then taken again as it was taken first, `aside` of
    where it lies, to be put down as before; `slip` is how much it moves in the hand meanwhile, a frame."""
    first, second, *others = recording.intervals
    start = replace(first.frames[0], body=recording.body, stand=recording.stand, poses={}, joints={})
    there = resting(recording, "soda")
    back = tuple(reversed(first.frames))
    poses = [frame.poses.get("soda") for frame in first.frames]
    for n in range(1, len(poses)):
        poses[n] = poses[n] or poses[n - 1]
    lowered = [replace(f, poses={"soda": poses[-n] or there}) for n, f in enumerate(back, start=1)]

    def lift(n: int, frame: Frame) -> Frame:
        pose = frame.poses.get("soda")
        if pose is None:
            return frame
        (x, y, z), quaternion = pose
        return replace(frame, poses={"soda": ((x + aside, y, z + slip * n), quaternion)})

    lie = replace(start, poses={"soda": ((there[0][0] + aside, *there[0][1:]), there[1])})
    again = tuple(lift(n, frame) for n, frame in enumerate(first.frames))
    frames = (*first.frames, *lowered, start, lie, *again)
    told = replace(first, frames=frames, stated=len(frames))
    last = replace(second, frames=(first.frames[-1], *second.frames), stated=1 + len(second.frames))
    whole = (*told.frames, *last.frames)
    happenings = (*told.happenings, *last.happenings)
    one = replace(told, frames=whole, stated=len(whole), happenings=happenings)
    return replace(recording, intervals=(one, *others))


def test_what_one_command_sets_down_and_takes_anew_is_held_twice(recording: Recording) -> None:
    held = [hold for hold in holds(Film(taken_anew(recording))) if hold.name == "soda"]
    assert len(held) == 2
    assert held[0].last < held[1].first
    assert not {"fall", "held", "hand"} & failed(taken_anew(recording))


def test_what_is_taken_anew_must_be_at_the_hand(recording: Recording) -> None:
    assert "hand" in failed(taken_anew(recording, aside=0.16))


def test_what_is_taken_anew_must_not_float_along(recording: Recording) -> None:
    """It never keeps its place in the hand, so that it is not held: then it flies."""
    assert "fall" in failed(taken_anew(recording, slip=0.004))


@pytest.mark.parametrize(
    ("joint", "wrong"),
    [("pelvis", {"own"}), ("left_wrist", {"own"}), ("head", {"own", "own_head"}), ("right_wrist", set())],
)
def test_a_held_thing_in_the_body_that_holds_it(recording: Recording, joint: str, wrong: set[str]) -> None:
    """The hand and the forearm that hold it may be around it."""
    end = last_of(recording, GRAB)
    shot = next(s for s in reversed(Film(recording).shots) if s.interval is recording.intervals[GRAB])
    x, y, z = shot.bones[INDEX[joint], :3, 3].tolist()
    sunk = {"soda": ((x, y, z - 0.05), (1.0, 0.0, 0.0, 0.0))}
    found = edited(recording, GRAB, lambda n, f: replace(f, poses={**f.poses, **sunk}) if n == end else f)
    assert {"own", "own_head"} & failed(found) == wrong


@pytest.mark.parametrize(
    "turned",
    [
        {"left_shoulder": (0, -1.3, -0.6), "left_elbow": (0, -2.4, 0)},
        {"left_hip": (0, 0, -0.3), "right_hip": (0, 0, 0.3)},
    ],
)
def test_a_limb_in_the_body_itself(recording: Recording, turned: dict[str, tuple[float, float, float]]) -> None:
    """A hand in the chest, and legs that go through each other."""
    end = last_of(recording, GRAB)

    def fold(n: int, frame: Frame) -> Frame:
        pose = frame.body.pose.copy()
        for joint, angles in turned.items():
            pose[3 * INDEX[joint] : 3 * INDEX[joint] + 3] = angles
        return replace(frame, body=frame.body._replace(pose=pose)) if n == end else frame

    assert "itself" in failed(edited(recording, GRAB, fold))


def test_a_held_thing_in_the_counter(recording: Recording) -> None:
    """The can is put through the top of the counter and back, with the hand."""
    end = last_of(recording, GRAB)
    x, y, _ = next(f.poses["soda"] for f in reversed(recording.intervals[GRAB].frames) if "soda" in f.poses)[0]
    down = ((x, y + 0.35, 0.87), (1.0, 0.0, 0.0, 0.0))
    sunk = edited(recording, GRAB, lambda n, f: replace(f, poses={**f.poses, "soda": down}) if n == end else f)
    assert {"load", "held"} <= failed(sunk)


def test_a_held_thing_in_the_counter_in_passing(recording: Recording) -> None:
    """4 mm deep and for one step: 2 mm are allowed, and walking allows no more than standing."""
    end = last_of(recording, GRAB)
    (x, y, z), quaternion = resting(recording, "soda")
    sunk = {"soda": ((x, y, z - 0.004), quaternion)}

    def step(n: int, frame: Frame) -> Frame:
        return replace(shifted(frame, 0.03), poses={**frame.poses, **sunk}) if n == end else frame

    assert "load" in failed(edited(recording, GRAB, step))


def test_a_thing_left_inside_another(recording: Recording) -> None:
    end = last_of(recording, PUT)
    (x, y, z), quaternion = resting(recording, "soda")
    sunk = {"soda": ((x, y, z - 0.004), quaternion)}
    found = edited(recording, PUT, lambda n, f: replace(f, poses={**f.poses, **sunk}) if n == end else f)
    assert "final" in failed(found)


def test_a_fixture_that_moves(recording: Recording) -> None:
    (x, y, z), quaternion = resting(recording, "fridge")
    there = {"fridge": ((x + 0.005, y, z), quaternion)}
    moved = edited(recording, OPEN, lambda n, f: replace(f, poses={**f.poses, **there}) if n == 2 else f)
    assert "fixture" in failed(moved)


def swung(recording: Recording, interval: int, frame_number: int, change: float) -> Recording:
    """The fridge's door moved in one frame, and back."""
    ((key, value),) = [(k, v) for k, v in recording.joints.items() if k == ("fridge", "door")]

    def swing(n: int, frame: Frame) -> Frame:
        if n == frame_number:
            return replace(frame, joints={**frame.joints, key: value + change})
        return replace(frame, joints={**frame.joints, key: value}) if n == frame_number + 1 else frame

    return edited(recording, interval, swing)


def test_a_joint_that_moves_with_nobody_near(recording: Recording) -> None:
    assert failed(swung(recording, GRAB, 4, 0.1)) == {"joint_hand"}


def test_a_joint_beyond_its_limit(recording: Recording) -> None:
    assert "joint_range" in failed(swung(recording, GRAB, 4, -0.01))


def test_a_joint_that_jumps(recording: Recording) -> None:
    assert "joint_speed" in failed(swung(recording, GRAB, 4, 0.3))


def test_a_leaf_that_goes_through_the_hand(recording: Recording) -> None:
    """The fridge's door is 8 degrees further open than the hand at its handle is."""
    key = ("fridge", "door")

    def further(_: int, frame: Frame) -> Frame:
        return replace(frame, joints={**frame.joints, key: frame.joints[key] + 0.14}) if key in frame.joints else frame

    assert failed(recording) == set()
    assert "contact" in failed(edited(recording, OPEN, further))


# --- what can't be judged -------------------------------------------------------------------------------------------


def test_numbers_that_are_not_finite(recording: Recording) -> None:
    pose = recording.body.pose.copy()
    pose[7] = math.nan
    broken = edited(recording, OPEN, lambda n, f: replace(f, body=BodyPose(pose, f.body.translation)) if n == 1 else f)
    outcomes = {o.check: o for o in audit(broken)}
    assert not outcomes["finite"].passed
    assert outcomes["step"].worst is None
    json.dumps([o.to_json() for o in outcomes.values()], allow_nan=False)


def test_a_thing_that_is_not_in_the_scene(recording: Recording) -> None:
    ghost = {"ghost": ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))}
    assert failed(edited(recording, OPEN, lambda n, f: replace(f, poses=ghost) if n == 1 else f)) == {"finite"}


def test_a_quaternion_that_is_none(recording: Recording) -> None:
    bad = {"mug": (resting(recording, "mug")[0], (1.0, 0.5, 0.0, 0.0))}
    assert failed(edited(recording, OPEN, lambda n, f: replace(f, poses=bad) if n == 1 else f)) == {"unit"}


def test_a_film_shorter_than_the_receipt_says(recording: Recording) -> None:
    parts = list(recording.intervals)
    parts[OPEN] = replace(parts[OPEN], frames=parts[OPEN].frames[:-1])
    assert failed(replace(recording, intervals=tuple(parts))) == {"time"}


# --- any tampering --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("metres", "wrong"), [(0.06, False), (0.09, True)])
def test_what_falls_by_itself_may_slide_but_not_jump(recording: Recording, metres: float, wrong: bool) -> None:
    (x, y, z), quaternion = recording.poses["plate"]

    def slide(n: int, frame: Frame) -> Frame:
        at = ((x - metres * min(n, 3), y, z), quaternion)
        return replace(frame, poses={**frame.poses, "plate": at}) if n else frame

    slid = edited(recording, GRAB, slide)
    assert "unheld" in failed(slid)
    first, *others = slid.intervals
    fell = Happening("fell", {"object": "plate", "from": "counter"})
    told = replace(slid, intervals=(replace(first, happenings=(*first.happenings, fell)), *others))
    assert ("fall" in failed(told)) == wrong
    assert not {"unheld", "jolt"} & failed(replace(told, intervals=told.intervals[:1]))


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_single_jump_above_a_limit_is_found(recording: Recording, data: st.DataObject) -> None:
    """Whichever frame, thing and direction."""
    interval = data.draw(st.sampled_from([GRAB, PUT, OPEN]))
    frame_number = data.draw(st.integers(1, last_of(recording, interval)))
    angle = data.draw(st.floats(0, math.tau))
    name = data.draw(st.sampled_from(["wearer", "mug", "plate", "juice", "water", "counter", "fridge"]))
    size = data.draw(st.floats(0.21, 2.0))
    shift = size * math.cos(angle), size * math.sin(angle)

    def tamper(n: int, frame: Frame) -> Frame:
        if n != frame_number:
            return frame
        if name == "wearer":
            return shifted(frame, *shift)
        (x, y, z), quaternion = frame.poses.get(name, recording.poses[name])
        there = ((x + shift[0], y + shift[1], z), quaternion)
        return replace(frame, poses={**frame.poses, name: there})

    expected = {"wearer": {"step"}, "counter": {"fixture"}, "fridge": {"fixture"}}.get(name, {"unheld", "jolt"})
    assert expected & failed(edited(recording, interval, tamper))
