"""How deep the body and what it holds are in anything: by half-spaces of the convex pieces (PHY-5 to PHY-10)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iwkit_runtime.audit.body import Measure
from iwkit_runtime.audit.film import Film, Scene, Shot, the_body
from iwkit_runtime.audit.holds import holds
from iwkit_runtime.audit.shapes import Bools, Floats, Hull, depths, overlap
from iwkit_runtime.body.pose import INDEX

EYES = 0.05
"""Radius in metres of the ball around the point between the eyes that must stay clear."""
SPACING = 0.5
"""Between the balls along a limb, as a share of its radius."""
SKULL, CRANIUM = 0.03, 0.09
"""Metres above the joint of the head at which the middle of the skull is, and half its width from ear to ear."""


class _Limb(NamedTuple):
    """A part of the body as a rounded bar between two joints; its radius in metres is measured on the default body."""

    name: str
    start: str
    end: str
    radius: float


_SIDED = (
    _Limb("upper arm", "shoulder", "elbow", 0.055),
    _Limb("forearm", "elbow", "wrist", 0.035),
    _Limb("hand", "wrist", "middle1", 0.033),
    _Limb("thigh", "hip", "knee", 0.09),
    _Limb("shin", "knee", "ankle", 0.055),
    _Limb("foot", "ankle", "foot", 0.04),
)
_MIDDLE = (
    _Limb("pelvis", "left_hip", "right_hip", 0.13),
    _Limb("chest", "spine1", "spine3", 0.13),
    _Limb("shoulders", "left_collar", "right_collar", 0.11),
    _Limb("neck", "neck", "head", 0.065),
)
LIMBS = (
    *_MIDDLE,
    *(_Limb(f"{s} {k.name}", f"{s}_{k.start}", f"{s}_{k.end}", k.radius) for s in ("left", "right") for k in _SIDED),
)
_JOINED = (
    *("pelvis chest", "chest shoulders", "chest neck", "shoulders neck", "shoulders * upper arm", "chest * upper arm"),
    *(
        "* upper arm * forearm",
        "* forearm * hand",
        "pelvis * thigh",
        "chest * thigh",
        "* thigh * shin",
        "* shin * foot",
    ),
    "left thigh right thigh",
)
"""Limbs that are joined, `*` for either side, or lie against each other as one stands."""
_HANDS = frozenset(n for n, limb in enumerate(LIMBS) if limb.name.endswith("hand"))
_HOLDING = frozenset(n for n, limb in enumerate(LIMBS) if limb.name in {"right hand", "right forearm"})
"""What may be around a held thing: fingers close on it, and the forearm lies along it."""


def _free_pairs() -> Bools:
    """Which limbs (n, n) have nothing to do with each other."""
    joined = {words.replace("*", side) for words in _JOINED for side in ("left", "right")}
    names = [limb.name for limb in LIMBS]
    beside = np.array([[a == b or f"{a} {b}" in joined or f"{b} {a}" in joined for b in names] for a in names])
    return np.triu(~beside)


_FREE_PAIRS = _free_pairs()


class Balls(NamedTuple):
    """Balls that fill the body: centres (n, 3), radii (n,), and the numbers (n,) of their limbs."""

    centres: Floats
    radii: Floats
    limbs: Floats


def balls(bones: Floats) -> Balls:
    """The body's balls for joint frames (52, 4, 4), the eyes not among them."""
    centres, radii, numbers = [], [], []
    for number, limb in enumerate(LIMBS):
        start, end = bones[INDEX[limb.start], :3, 3], bones[INDEX[limb.end], :3, 3]
        count = int(np.ceil(np.linalg.norm(end - start) / (SPACING * limb.radius))) + 1
        centres.append(start + np.linspace(0, 1, count)[:, None] * (end - start))
        radii += [limb.radius] * count
        numbers += [number] * count
    return Balls(np.concatenate(centres), np.array(radii), np.array(numbers))


def eyes(bones: Floats) -> Floats:
    """The point (3,) between the eyes."""
    body, head = the_body(), bones[INDEX["head"]]
    return np.asarray(head[:3, :3] @ (body.eye - body.joints[INDEX["head"]]) + head[:3, 3])


def penetration(film: Film) -> Iterator[Measure]:
    """The body, its eyes, and what it holds, in every frame; what has moved, at the end of every command."""
    scene = Scene(film)
    held = {n: hold for hold in holds(film) for n in range(hold.first, hold.last + 1)}
    touching: frozenset[str] = frozenset()
    for n, shot in enumerate(film.shots):
        hold = held.get(n)
        if hold is not None and n == hold.first:
            touching = frozenset(_touched(scene, hold.name))
        scene.show(shot)
        yield from _body(scene, shot, None if hold is None else hold.name)
        if hold is not None:
            yield from _thing(scene, shot, hold.name, "load", touching)
            touching &= frozenset(_touched(scene, hold.name))
        if n + 1 == len(film.shots) or film.shots[n + 1].interval is not shot.interval:
            for name in sorted(_moved(film, shot)):
                yield from _thing(scene, shot, name, "final", frozenset())


def _body(scene: Scene, shot: Shot, held: str | None) -> Iterator[Measure]:
    found, eye = balls(shot.bones), eyes(shot.bones)
    low, high = found.centres - found.radii[:, None], found.centres + found.radii[:, None]
    yield from _itself(found, shot)
    handled = _handled(shot)
    for piece, hull in scene.near(np.minimum(low.min(0), eye - EYES), np.maximum(high.max(0), eye + EYES)):
        seeing = float(depths(hull, eye[None], np.array([EYES]))[0])
        if seeing > 0:
            yield Measure("eyes", seeing, shot.place, f"in {piece.owner}")
        if piece.owner == held:
            yield from _skull(shot, hull, held)
        if piece.kind == "floor":
            continue
        deep = depths(hull, found.centres, found.radii)
        for number in sorted(set(found.limbs[deep > 0].tolist())):
            worst = float(deep[found.limbs == number].max())
            if piece.owner == held:
                if number not in _HOLDING:
                    yield Measure("own", worst, shot.place, f"{held} in the {LIMBS[number].name}")
                continue
            meant = number in _HANDS and piece.owner in handled
            what = f"{LIMBS[number].name} in {piece.owner}"
            yield Measure("contact" if meant else "limbs", worst, shot.place, what)


def _itself(found: Balls, shot: Shot) -> Iterator[Measure]:
    """The body in itself: the deepest of its limbs."""
    gaps = np.linalg.norm(found.centres[:, None] - found.centres, axis=-1)
    deep = np.where(_FREE_PAIRS[np.ix_(found.limbs, found.limbs)], found.radii[:, None] + found.radii - gaps, 0.0)
    one, other = np.unravel_index(int(deep.argmax()), deep.shape)
    if deep[one, other] > 0:
        names = [LIMBS[int(found.limbs[n])].name for n in (one, other)]
        yield Measure("itself", float(deep[one, other]), shot.place, f"{names[0]} in {names[1]}")


def _skull(shot: Shot, hull: Hull, held: str) -> Iterator[Measure]:
    """A held thing in the head, of which the bars are only the neck."""
    head = shot.bones[INDEX["head"]]
    middle = head[:3, 3] + SKULL * head[:3, 1]
    deep = float(depths(hull, middle[None], np.array([CRANIUM]))[0])
    if deep > 0:
        yield Measure("own_head", deep, shot.place, f"{held} in the head")


def _thing(scene: Scene, shot: Shot, name: str, check: str, but: frozenset[str]) -> Iterator[Measure]:
    for hull in scene.of(name):
        for piece, other in scene.near(hull.corners.min(0), hull.corners.max(0)):
            if piece.owner != name and piece.owner not in but:
                deep = overlap(hull, other)
                if deep > 0:
                    yield Measure(check, deep, shot.place, f"{name} in {piece.owner}")


def _touched(scene: Scene, name: str) -> Iterator[str]:
    """What a thing overlaps as the scene is shown."""
    for hull in scene.of(name):
        for piece, other in scene.near(hull.corners.min(0), hull.corners.max(0)):
            if piece.owner != name and overlap(hull, other) > 0:
                yield piece.owner


def _handled(shot: Shot) -> frozenset[str]:
    """What the command of a shot names, or the events say was handled."""
    if shot.interval is None:
        return frozenset()
    named = re.findall(r"<([^>]+)>", shot.interval.command)
    events = [h.roles for h in shot.interval.happenings if h.kind in {"grabbed", "released", "opened", "closed"}]
    return frozenset([*named, *(str(value) for roles in events for value in roles.values())])


def _moved(film: Film, shot: Shot) -> frozenset[str]:
    if shot.interval is None:
        return frozenset()
    moved: frozenset[str] = frozenset().union(*(other.changed for other in film.of(shot.interval)))
    return frozenset(name for name in moved if film.placed[name].kind == "object")
