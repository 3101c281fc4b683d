"""Film strips of all 36 primitives, from the head and from outside, and the page in the docs that shows them.

python benchmarks/films.py [--only NAME ...] [--columns N] [--folder FOLDER] [--page]

Without --page only the strips are written, as PNG, to look at; with it `docs/films.md` and its pictures are renewed.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from staging import staged

from iwkit import __version__
from iwkit.compile import CompiledTask
from iwkit.errors import IwkitError
from iwkit.grammar import Command, parse
from iwkit.library import Library
from iwkit.verbs import PRIMITIVES
from iwkit_runtime.body.camera import camera_frame
from iwkit_runtime.physical.spec import Pixels
from iwkit_runtime.physical.wearer import default_body
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.render.follow import FIELD_OF_VIEW as OUTSIDE
from iwkit_runtime.render.follow import follow, opened
from iwkit_runtime.render.renderer import FIELD_OF_VIEW, Renderer
from iwkit_runtime.render.telling import Caption, Moment

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "pictures" / "films"
SIZE = (320, 240)
"""Of each picture as it is drawn; strips on the page are smaller."""
SMALL = (232, 174)
COLUMNS = 6
"""Moments of a strip."""
QUALITY = 55
GAP = 3

ODD = """
## What still looks odd

Looked at on 2026-11-30, all 36:

- **attach**, **detach**, **raise**: board and frame are plain boxes, pegs and holes are not seen.
- **pour**: the cap stays on the bottle, and the stream has the colour of water whatever is poured. Where a bottle could
  only be taken by its neck, the hand hides its mouth from the head.
- **cook**: nobody touches anything, the food is watched until it is brown.
- **fall_to_floor**: the thing slides off by itself; no hand pushes it.
- **answer_phone**: at the ear the phone is out of the head's view, as in life.
- **close**: the leaf of a wide door leaves the head's view on its way, since the gaze stays where the handle was taken.
- **squat**: the arms stay stretched out before the knees.
- From outside, a picture in another room may stand before the camera.
"""
PARTS = """
catalogue: "1.0"
categories:
  rack_board:
    {kind: object, public: [rack board], size: [0.4, 0.2, 0.02], mass: 1, connectors: [peg, peg], affords: [surface]}
  rack_frame:
    {kind: object, public: [rack frame], size: [0.5, 0.3, 0.1], mass: 3, connectors: [hole, hole], affords: [erectable]}
"""
KITCHEN: dict[str, Any] = {
    "scene": "flat",
    "wearer": {"at": "counter"},
    "entities": {
        "counter": {"fixture": "counter_1"},
        "side": {"fixture": "counter_2"},
        "stove": {"fixture": "stove_1"},
        "fridge": {"fixture": "fridge_1"},
        "sink": {"fixture": "kitchen_sink_1"},
        "table": {"fixture": "breakfast_table_1", "is": ["dirty"]},
        "mug": {"category": "mug", "on": "counter"},
        "knife": {"category": "knife", "on": "counter", "spot": [0.5, 0.5]},
        "tomato": {"category": "tomato", "on": "counter"},
        "sponge": {"category": "sponge", "on": "sink"},
        "potato": {"category": "potato", "on": "stove"},
        "milk": {"category": "milk_carton", "on": "table"},
        "pot": {"category": "cooking_pot", "on": "side", "contains": ["water"]},
        "spatula": {"category": "spatula", "on": "counter", "spot": [-0.4, 0.5]},
        "glass": {"category": "drinking_glass", "on": "table"},
        "bottle": {"category": "water_bottle", "on": "table", "spot": [0.5, 0.7], "contains": ["water"]},
        "door": {"door": "bedroom_door"},
        "phone": {"category": "cell_phone", "on": "table"},
    },
}
BEDROOM: dict[str, Any] = {
    "scene": "flat",
    "wearer": {"at": "desk"},
    "entities": {
        "desk": {"fixture": "desk_1"},
        "laptop": {"category": "laptop", "on": "desk", "open": True},
    },
}
STUDY: dict[str, Any] = {
    "scene": "house",
    "wearer": {"at": "study"},
    "entities": {
        "study": {"room": "study"},
        "desk": {"fixture": "desk_1"},
        "chair": {"fixture": "office_chair_1"},
        "computer": {"fixture": "computer_1"},
    },
}
LIVING: dict[str, Any] = {
    "scene": "flat",
    "wearer": {"at": "shelf"},
    "entities": {"shelf": {"fixture": "tv_stand_1"}, "sofa": {"fixture": "sofa_1"}},
}
ASSEMBLY: dict[str, Any] = {
    "scene": "flat",
    "wearer": {"at": "table"},
    "entities": {
        "kitchen": {"room": "kitchen"},
        "table": {"fixture": "breakfast_table_1"},
        "cupboard": {"fixture": "kitchen_cabinet_1"},
        "sofa": {"fixture": "sofa_1"},
        "board": {"category": "rack_board", "beside": "cupboard"},
        "frame": {"category": "rack_frame", "beside": "sofa"},
    },
}
WARD: dict[str, Any] = {
    "scene": "infirmary",
    "wearer": {"at": "ward"},
    "entities": {
        "ward": {"room": "ward"},
        "trolley": {"fixture": "trolley_1"},
        "desk": {"fixture": "desk_1"},
        "basket": {"category": "basket", "on": "trolley"},
    },
}


@dataclass(frozen=True)
class Story:
    """A scene and what is done in it; of these the commands with a name are shown."""

    physical: dict[str, Any]
    program: tuple[tuple[str, str], ...]


def story(physical: dict[str, Any], *commands: str) -> Story:
    """Commands, those that are shown written as `name: command`."""
    pairs = (text.split(": ", 1) if ": " in text else ("", text) for text in commands)
    return Story(physical, tuple((name, command) for name, command in pairs))


STORIES = (
    story(KITCHEN, "navigate_to: [Walk] <fridge>", "open: [Open] <fridge>", "close: [Close] <fridge>"),
    story(BEDROOM, "turn: [TurnLeft] 180", "squat: [Squat]", "forward: [Forward] 2", "wait: [Wait] 1"),
    story(KITCHEN, "pick: [Grab] <mug>", "place: [Put] <mug> <table>", "confirm: [Confirm]"),
    story(KITCHEN, "[Walk] <fridge>", "[Open] <fridge>", "[Grab] <milk>", "place_inside: [PutIn] <milk> <fridge>"),
    story(KITCHEN, "[Grab] <milk>", "place_on_floor: [PutOnFloor] <milk> <table>", "look_at: [LookAt] <table>"),
    story(KITCHEN, "[Grab] <tomato>", "release: [Drop] <tomato>"),
    story(KITCHEN, "[Grab] <bottle>", "flip: [Flip] <bottle>"),
    story(KITCHEN, "[Walk] <table>", "fall_to_floor: [FallToFloor] <phone> <table>"),
    story(KITCHEN, "turn_on: [TurnOn] <stove>", "cook: [Cook] <potato>", "turn_off: [TurnOff] <stove>"),
    story(KITCHEN, "[Grab] <knife>", "cut: [Cut] <tomato> <knife>"),
    story(KITCHEN, "[Grab] <spatula>", "stir: [Stir] <pot> <spatula>"),
    story(KITCHEN, "[Grab] <bottle>", "pour: [Pour] <glass> <bottle>"),
    story(KITCHEN, "wipe: [Wipe] <sponge> <table>"),
    story(KITCHEN, "[Grab] <phone>", "answer_phone: [AnswerPhone] <phone>"),
    story(STUDY, "use_computer: [UseComputer] <computer>"),
    story(LIVING, "sit: [Sit] <sofa>", "standup: [StandUp]"),
    story(KITCHEN, "look_around: [LookAround]", "look_scan: [LookScan]"),
    story(ASSEMBLY, "raise: [Raise] <frame>"),
    story(
        ASSEMBLY,
        "[Grab] <board>",
        "attach: [Attach] <board> <peg> (1) <frame> <hole> (0)",
        "detach: [Detach] <board> <frame>",
    ),
    story(WARD, "push: [Push] <trolley> <desk>"),
    story(WARD, "pull: [Pull] <trolley> <desk>"),
    story(KITCHEN, "open_door: [OpenDoor] <door>", "close_door: [CloseDoor] <door>"),
)


@cache
def library() -> Library:
    """The shipped catalogue with the parts of a rack."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "parts.yaml"
        path.write_text(PARTS, encoding="utf-8")
        found = Library(catalogues=[path])
        _ = found.catalogue
        return found


@dataclass(frozen=True)
class Take:
    """One primitive as it was done."""

    name: str
    command: str
    task: CompiledTask
    world: PhysicalWorld
    moments: tuple[Moment, ...]


def takes(stories: Sequence[Story], only: frozenset[str]) -> Iterator[Take]:
    """Play the stories, and hand on what is to be shown of them. What goes wrong is told."""
    for number, told in enumerate(stories):
        if only and not only & {name for name, _ in told.program}:
            continue
        task, world = staged(told.physical, f"FILM{number}", library()), PhysicalWorld()
        world.reset(task)
        for name, text in told.program:
            stage = world.stage
            poses, joints, states = dict(stage.engine.poses()), dict(stage.engine.joints()), dict(stage.states)
            command = parse(text)
            start = time.perf_counter()
            receipt = world.execute(command)
            took = time.perf_counter() - start
            print(f"{name or '-':16} {text:44} {receipt.code:6} {receipt.frames:4} frames {took:5.1f} s", flush=True)
            if not receipt.ok:
                print(f"    {receipt.text}", flush=True)
            if name and receipt.ok and (not only or name in only):
                yield Take(name, text, task, world, tuple(_moments(world, command, poses, joints, states)))


def _moments(world: PhysicalWorld, command: Command, poses: Any, joints: Any, states: Any) -> Iterator[Moment]:
    about = tuple(ref.name for ref in command.args if ref.name in poses)
    frames = world.trajectory.frames
    for frame in frames:
        poses, joints, states = poses | frame.poses, joints | frame.joints, states | frame.states
        yield Moment(frame.body, frame.stand, poses, joints, states, Caption(), moving=True, about=about)
    if not frames:
        stage = world.stage
        yield Moment(stage.idle(), stage.wearer.stand, poses, joints, states, Caption(), moving=True, about=about)


def strip(take: Take, columns: int, size: tuple[int, int]) -> Pixels:
    """A row of moments as the head camera sees them above the same from outside."""
    chosen = np.unique(np.linspace(0, len(take.moments) - 1, columns).round().astype(int)).tolist()
    body, spec = default_body(), take.world.stage.spec
    shots = follow(take.task.scene, spec, body, take.moments)
    pictures: list[list[Pixels]] = [[], []]
    with contextlib.ExitStack() as stack:
        head = stack.enter_context(Renderer(spec, body, size=SIZE, fov=FIELD_OF_VIEW))
        outside = stack.enter_context(Renderer(opened(spec), body, size=SIZE, fov=OUTSIDE))
        for n in chosen:
            moment = take.moments[n]
            frames = body.forward(*moment.body)
            skin, lens = body.skin(frames), camera_frame(body, frames)
            pictures[0].append(head.frame(lens, moment.poses, moment.joints, skin, states=moment.states))
            shot = shots[n]
            pictures[1].append(
                outside.frame(
                    shot.camera,
                    moment.poses,
                    moment.joints,
                    skin,
                    from_head=False,
                    hidden=shot.hidden,
                    states=moment.states,
                )
            )
    return np.vstack([np.hstack([_scaled(picture, size) for picture in row]) for row in pictures])


def _scaled(picture: Pixels, size: tuple[int, int]) -> Pixels:
    """A picture of a strip, with a white gap to the next one."""
    small = np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))
    return np.pad(small, ((0, GAP), (0, GAP), (0, 0)), constant_values=255)


def page(shown: dict[str, tuple[str, int]]) -> str:
    """The page in the docs: primitive by primitive what was commanded and for how long it takes, and the strip."""
    lines = [
        "# Films of the primitives",
        "",
        "Each of the 36 primitives as the body does it: above what the head camera sees, below the same moments from",
        "outside, evenly spread over the time that it takes.",
        "`python benchmarks/films.py --page` makes this page; [replay.md](replay.md) says how to film an episode.",
        "",
        f"Made with iwkit {__version__} on {datetime.now(UTC).date().isoformat()}.",
        "",
    ]
    for group in dict.fromkeys(p.group for p in PRIMITIVES):
        lines += [f"## {group[0].upper()}{group[1:]}", ""]
        for primitive in (p for p in PRIMITIVES if p.group == group and p.name in shown):
            command, frames = shown[primitive.name]
            lines += [
                f"**{primitive.name}**: `{command}`, {frames / 12:.1f} s",
                "",
                f"![{primitive.name}, from the head and from outside](pictures/films/{primitive.name}.webp)",
                "",
            ]
    return "\n".join(lines).rstrip() + "\n" + ODD


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, and say what could not be done."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", nargs="*", default=[], help="names of primitives")
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--folder", type=Path, default=Path("films"), help="where strips to look at go")
    parser.add_argument("--page", action="store_true", help="renew the page in the docs")
    options = parser.parse_args(arguments)
    folder = PICTURES if options.page else options.folder
    folder.mkdir(parents=True, exist_ok=True)
    shown: dict[str, tuple[str, int]] = {}
    try:
        for take in takes(STORIES, frozenset(options.only)):
            image = Image.fromarray(strip(take, options.columns, SMALL if options.page else SIZE))
            if options.page:
                image.save(folder / f"{take.name}.webp", quality=QUALITY, method=6)
            else:
                image.save(folder / f"{take.name}.png")
            shown[take.name] = (take.command, len(take.moments))
    except IwkitError as error:
        sys.exit(str(error))
    missing = [p.name for p in PRIMITIVES if p.name not in shown and not options.only]
    if missing:
        sys.exit(f"not shown: {', '.join(missing)}")
    if options.page and not options.only:
        (DOCS / "films.md").write_text(page(shown), encoding="utf-8")


if __name__ == "__main__":
    main()
