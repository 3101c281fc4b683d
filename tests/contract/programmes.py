"""Random programs, some of whose commands make sense, and the promises of a world checked at every step of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from itertools import islice

from promises import FACTORIES, LATER, PLACES, TRIP, check_receipt, check_relations, flat

from iwkit.compile import CompiledTask
from iwkit.grammar import Command, Ref, parse, render
from iwkit.verbs import PRIMITIVES
from iwkit.world.base import Receipt, World

CONNECTORS = ("peg", "hole", "knob")
NUMBERS = {"distance": "1.5m", "angle": "45", "duration": "2", "angle_error": "3"}


def wild(rng: random.Random, names: tuple[str, ...]) -> Command:
    """Any legal command of the grammar about these things, sense or nonsense."""
    row = rng.choice(PRIMITIVES)
    verb = rng.choice(row.verbs)
    text = f"[{verb}]"
    for n in range(len(row.args) - rng.randint(0, row.optional)):
        name, index = (rng.choice(CONNECTORS), rng.randint(0, 1)) if n in row.connectors else (rng.choice(names), 1)
        text += f" <{name}> ({index})"
    if row.scalar and verb != "TurnAround" and rng.random() < 0.5:
        text += " " + NUMBERS[row.scalar.kind]
    if row.spot and rng.random() < 0.5:
        text += " @place_spot=0.5:0.25"
    return parse(text)


FEW = ("cup", "tray", "milk", "fridge", "counter", "table", "crate", "lunch_box", "sponge", "knife", "board", "frame")
FEW += ("chair", "bedroom_door", "kitchen", "bottle", "pot", "tomato", "potato", "stove", "laptop", "phone")
FEW_IN_WARD = ("trolley", "basket", "soda", "thermometer", "desk", "bed", "computer", "supply_door", "cabinet")

SENSIBLE = [
    parse(text.replace("*", name))
    for text, names in (
        (
            "[Grab] <*>",
            "cup tray milk lunch_box crate eraser stapler knife spoon sponge bottle phone board frame potato pan",
        ),
        ("[Put] <it> <*>", "table counter side tray plate stove board bed chair"),
        ("[PutIn] <it> <*>", "fridge crate lunch_box pan oven cupboard"),
        ("[PutOnFloor] <it> <*>", "table board bedroom_door kitchen"),
        ("[Open] <*>", "fridge lunch_box crate oven cupboard laptop bedroom_door"),
        ("[Close] <*>", "fridge lunch_box crate oven laptop bedroom_door"),
        ("[FallToFloor] <*> <table>", "phone glass plate cup"),
        ("[Attach] <board> <peg> (*) <frame> <hole>", "0 1"),
        ("[Detach] <board> <frame>", "-"),
        ("[Raise] <frame>", "-"),
        ("[OpenDoor] <*>", "bedroom_door passage"),
        ("[CloseDoor] <*>", "bedroom_door"),
        ("[TurnOn] <*>", "stove oven"),
        ("[TurnOff] <*>", "stove oven"),
        ("[Cook] <potato>", "-"),
        ("[Cut] <*> <it>", "tomato potato"),
        ("[Pour] <*> <it>", "pot glass cup"),
        ("[Stir] <pot> <it>", "-"),
        ("[Wipe] <it> <*>", "table plate"),
        ("[*] <it>", "Flip Drop AnswerPhone"),
        ("[UseComputer] <laptop>", "-"),
        ("[Sit] <*>", "chair bed"),
        ("[Walk] <*>", "bedroom kitchen board milk bedroom_door"),
        ("[*]", "TurnAround Forward"),
    )
    for name in names.split()
]
SENSIBLE_IN_WARD = [
    parse(text.replace("*", name))
    for text, names in (
        ("[Push] <trolley> <*>", "desk bed computer supply_door ward cabinet soda"),
        ("[Pull] <trolley> <*>", "doctor_desk corridor"),
        ("[Grab] <*>", "basket soda thermometer pills"),
        ("[Put] <it> <*>", "trolley desk doctor_desk cabinet"),
        ("[PutIn] <it> <*>", "cabinet basket"),
        ("[Open] <cabinet>", "-"),
        ("[UseComputer] <computer>", "-"),
        ("[Walk] <*>", "trolley soda"),
    )
    for name in names.split()
]
"""Commands that often make sense; `it` is what the wearer holds, whatever that is."""
TAKEN = {"place": "tray", "cut": "knife", "stir": "spoon", "pour": "bottle", "wipe": "sponge", "answer_phone": "phone"}
"""What the wearer takes first where a command needs something in the hand."""


def likely(rng: random.Random, world: World, sensible: list[Command]) -> Command:
    """A command that often makes sense as the world is now."""
    held = world.held()
    if any(relation[0] == "sitting" for relation in world.relations()) and rng.random() < 0.5:
        return parse("[StandUp]")
    uses = [primitive for primitive, tool in TAKEN.items() if tool == held and rng.random() < 0.3]
    primitive = rng.choice(uses or sorted({c.primitive for c in sensible}))
    command = rng.choice([c for c in sensible if c.primitive == primitive])
    if Ref("it") not in command.args:
        return command
    if held is None:
        grabs = [c for c in sensible if c.primitive == "pick"]
        return rng.choice([c for c in grabs if c.args[0].name == TAKEN.get(command.primitive)] or grabs)
    args = tuple(Ref(held) if ref.name == "it" else ref for ref in command.args)
    return Command(command.primitive, command.verb, args, command.scalar, command.spot)


def programme(rng: random.Random, world: World, task: CompiledTask) -> Iterator[Command]:
    """Commands without end, each chosen when it is asked for."""
    in_ward = task.scene.id == "infirmary"
    sensible, names = (SENSIBLE_IN_WARD, FEW_IN_WARD) if in_ward else (SENSIBLE, FEW)
    while True:
        yield wild(rng, names) if rng.random() < 0.2 else likely(rng, world, sensible)


def run_program(
    world: World, task: CompiledTask, seed: int, length: int, note: Callable[[str], None] | None = None
) -> list[tuple[str, Receipt]]:
    """Play a random program and check the world after each step; the commands and their receipts."""
    world.reset(task)
    everything = {n for n, t in task.things.items() if t.kind == "object"}
    played = []
    for n, command in enumerate(islice(programme(random.Random(seed), world, task), length)):
        before = world.snapshot()
        receipt = world.execute(command)
        if note:
            note(f"{render(command)}: {receipt.code}")
        check_receipt(receipt, before, world, task, command)
        if n == length // 2:
            world.mark_baseline()
        if receipt.ok:
            check_relations(world, task)
        assert {r[1] for r in world.relations() if r[0] in PLACES} == everything
        played.append((render(command), receipt))
    return played


def replay(name: str, steps: int) -> str:
    """All there is to tell of the trip and of so many random commands after it, in a world of this name: two lines of
    each."""
    task, world = flat(), FACTORIES[name]()
    world.reset(task)
    told = []
    for command in (*map(parse, (*TRIP, *LATER)), *islice(programme(random.Random(7), world, task), steps)):
        receipt = world.execute(command)
        happened = [(h.kind, list(h.roles.items())) for h in receipt.happenings]
        told.append(f"{receipt.code} {receipt.frames} {happened}")
        told.append(f"{json.dumps(world.snapshot())} {sorted(world.relations())}")
    return "\n".join(told)
