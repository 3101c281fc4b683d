"""The rules human against hand-made views: what it understands, what it asks, and that it never errs in form."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workshop import BENCH, BLUE, GLUE, LAMP, LEFT, LEGEND, OIL, RAG, RED, RIGHT, carried_out, play, view

from iwkit.grammar import parse_block
from iwkit_runtime.agents.rules import RulesHuman
from iwkit_runtime.loop.answers import read_human
from iwkit_runtime.loop.views import Done, Instruction

DONE: list[tuple[str, list[str]]] = [
    # verbs and particles
    ("Pick up the glue.", [f"[Grab] {GLUE}"]),
    ("Pick the glue up.", [f"[Grab] {GLUE}"]),
    ("Grab the bottle of glue", [f"[Grab] {GLUE}"]),
    ("Take the oil can out of the chest.", [f"[Grab] {OIL}"]),
    ("Get the can.", [f"[Grab] {OIL}"]),
    ("Fetch the blue hammer from the stool, please!", [f"[Grab] {BLUE}"]),
    ("Reach into the left chest and take out the oil can.", [f"[Grab] {OIL}"]),
    ("Open the tool chest on the right as you face the workbench.", [f"[Open] {RIGHT}"]),
    ("Pull open the left-hand chest.", [f"[Open] {LEFT}"]),
    ("Shut the chest on the left.", [f"[Close] {LEFT}"]),
    ("Push the left chest shut.", [f"[Close] {LEFT}"]),
    ("Open the workshop door.", ["[OpenDoor] <door> (1)"]),
    ("Close the lid of the left tool chest.", [f"[Close] {LEFT}"]),
    ("Walk over to the workbench.", [f"[Walk] {BENCH}"]),
    ("Head back to the rack in the store room.", ["[Walk] <rack> (2)"]),
    ("Go into the store room.", ["[Walk] <store_room> (1)"]),
    ("Look at the vice.", ["[LookAt] <vice> (1)"]),
    ("Have a look at the receipt for $27.", ["[LookAt] <receipt> (2)"]),
    ("Look around.", ["[LookAround]"]),
    ("Turn the lamp on.", [f"[TurnOn] {LAMP}"]),
    ("Switch off the work light.", [f"[TurnOff] {LAMP}"]),
    ("Turn left.", ["[TurnLeft]"]),
    ("Turn 45 degrees to your right.", ["[TurnRight] 45"]),
    ("Turn around.", ["[TurnAround]"]),
    ("Take two steps forward.", ["[Forward] 2"]),
    ("Wait for ten seconds.", ["[Wait] 10"]),
    ("Sit down on the stool.", ["[Sit] <stool> (1)"]),
    ("Stand up.", ["[StandUp]"]),
    ("Wipe the vice with the rag.", [f"[Grab] {RAG}", f"[Wipe] {RAG} <vice> (1)"]),
    ("Use the rag to wipe the vice.", [f"[Grab] {RAG}", f"[Wipe] {RAG} <vice> (1)"]),
    # placing
    ("Put the glue on the rack by the door.", [f"[Grab] {GLUE}", "[Put] " + GLUE + " <rack> (1)"]),
    ("Put the hammer on the stool on the workbench.", [f"[Grab] {BLUE}", f"[Put] {BLUE} {BENCH}"]),
    ("Place the glue into the left chest.", [f"[Grab] {GLUE}", f"[PutInside] {GLUE} {LEFT}"]),
    ("Take the glue to the rack by the door.", [f"[Grab] {GLUE}", f"[Put] {GLUE} <rack> (1)"]),
    (
        "Take the glue to the rack by the door and put it down there.",
        [f"[Grab] {GLUE}", "[Walk] <rack> (1)", f"[Put] {GLUE} <rack> (1)"],
    ),
    (
        "Bring the glue over to the stool and set it down.",
        [f"[Grab] {GLUE}", "[Walk] <stool> (1)", f"[Put] {GLUE} <stool> (1)"],
    ),
    (
        "Open the right chest and put the glue inside.",
        [f"[Open] {RIGHT}", f"[Grab] {GLUE}", f"[PutInside] {GLUE} {RIGHT}"],
    ),
    ("Put the glue next to the blue hammer.", [f"[Grab] {GLUE}", f"[Put] {GLUE} <stool> (1)"]),
    ("Carry the glue into the store room.", [f"[Grab] {GLUE}", "[Walk] <store_room> (1)"]),
    # polite and indirect forms
    ("Could you please pick up the glue?", [f"[Grab] {GLUE}"]),
    ("You'll want to pick up the glue.", [f"[Grab] {GLUE}"]),
    ("You need to open the left chest.", [f"[Open] {LEFT}"]),
    ("I'd like you to open the left chest.", [f"[Open] {LEFT}"]),
    ("I would open the left chest.", [f"[Open] {LEFT}"]),
    ("Let's open the left chest.", [f"[Open] {LEFT}"]),
    ("Go ahead and open the left chest.", [f"[Open] {LEFT}"]),
    ("Make sure the left chest is closed.", [f"[Close] {LEFT}"]),
    ("Don't forget to close the left chest.", [f"[Close] {LEFT}"]),
    ("Try opening the left chest.", [f"[Open] {LEFT}"]),
    ("Would you mind closing the left chest?", [f"[Close] {LEFT}"]),
    ("How about opening the left chest?", [f"[Open] {LEFT}"]),
    ("The next step is to open the left chest.", [f"[Open] {LEFT}"]),
    ("All you have to do now is open the left chest.", [f"[Open] {LEFT}"]),
    ("The left chest needs to be closed.", [f"[Close] {LEFT}"]),
    ("I think you should open the left chest.", [f"[Open] {LEFT}"]),
    ("Okay, great. Now then, please open the left chest.", [f"[Open] {LEFT}"]),
    # order
    ("Before you do anything else, close the left chest.", [f"[Close] {LEFT}"]),
    ("After closing the left chest, pick up the glue.", [f"[Close] {LEFT}", f"[Grab] {GLUE}"]),
    ("Pick up the glue after closing the left chest.", [f"[Close] {LEFT}", f"[Grab] {GLUE}"]),
    (
        "Go over to the workbench, pick up the glue, then put it on the stool.",
        [f"[Walk] {BENCH}", f"[Grab] {GLUE}", f"[Put] {GLUE} <stool> (1)"],
    ),
    ("Head back to close the left chest.", [f"[Close] {LEFT}"]),
    # telling things apart
    ("Pick up the red hammer.", [f"[Grab] {RED}"]),
    ("Pick up the hammer on the stool.", [f"[Grab] {BLUE}"]),
    ("Pick up the eighteen dollar receipt.", ["[Grab] <receipt> (1)"]),
    ("Pick up the bill that says total $27.", ["[Grab] <receipt> (2)"]),
    ("Take the $27 one. I mean the receipt.", ["[Grab] <receipt> (2)"]),
    ("Grab the wood glue.", [f"[Grab] {GLUE}"]),
    ("Pick up one of the hammers.", [f"[Grab] {RED}"]),
    # remarks, referents, negation
    ("The left chest is still open, so please go back and shut it.", [f"[Close] {LEFT}"]),
    ("The glue is on the workbench, next to the rag. Pick it up.", [f"[Grab] {GLUE}"]),
    (
        "Next, the glue: take it and put it in the left chest, then close it.",
        [f"[Grab] {GLUE}", f"[PutInside] {GLUE} {LEFT}", f"[Close] {LEFT}"],
    ),
    ("Don't take the red hammer, take the blue one.", [f"[Grab] {BLUE}"]),
    ("Take the hammer, but not the red one.", [f"[Grab] {BLUE}"]),
    ("Not the red hammer! Pick up the other one.", [f"[Grab] {BLUE}"]),
    ("Stop! Pick up the glue instead.", [f"[Grab] {GLUE}"]),
    ("Without touching the hammers, pick up the glue.", [f"[Grab] {GLUE}"]),
    ("You can pick up the can now.", [f"[Grab] {OIL}"]),
    ("Please put away the glue in the left chest.", [f"[Grab] {GLUE}", f"[PutInside] {GLUE} {LEFT}"]),
    ("The oil can goes back into the left chest.", [f"[Grab] {OIL}", f"[PutInside] {OIL} {LEFT}"]),
    ("Get the blue hammer and bring it to the rack in the store room.", [f"[Grab] {BLUE}", f"[Put] {BLUE} <rack> (2)"]),
    ("Switch the lamp off before you leave.", ["[TurnOff] <lamp> (1)"]),
    ("The lamp is still on. Turn it off.", ["[TurnOff] <lamp> (1)"]),
    ("You left the lamp on! Please switch it off.", ["[TurnOff] <lamp> (1)"]),
    ("Turn off the lamp and close the workshop door.", ["[TurnOff] <lamp> (1)", "[CloseDoor] <door> (1)"]),
    ("Swap nothing, just wipe the workbench with the cloth.", [f"[Grab] {RAG}", f"[Wipe] {RAG} {BENCH}"]),
    ("Wipe down the workbench using the rag.", [f"[Grab] {RAG}", f"[Wipe] {RAG} {BENCH}"]),
    ("Put the red hammer back on the workbench.", [f"[Grab] {RED}", f"[Put] {RED} {BENCH}"]),
    ("Open the chest to the right of the workbench.", [f"[Open] {RIGHT}"]),
    ("Open the other chest, not the left one.", [f"[Open] {RIGHT}"]),
    ("Throw the rag into the right chest.", [f"[Grab] {RAG}", f"[PutInside] {RAG} {RIGHT}"]),
    ("Pour the glue into the vice.", [f"[Grab] {GLUE}", f"[Pour] <vice> (1) {GLUE}"]),
    ("Set the glue beside the rag.", [f"[Grab] {GLUE}", f"[Put] {GLUE} <stool> (1)"]),
    ("Never mind the hammer. Take the glue.", [f"[Grab] {GLUE}"]),
    ("Instead of the glue, take the oil can.", [f"[Grab] {OIL}"]),
    ("Actually, take the oil can instead of the glue.", [f"[Grab] {OIL}"]),
    ("Look for the oil can in the left chest.", [f"[LookAt] {OIL}"]),
    ("Come back to the workbench.", [f"[Walk] {BENCH}"]),
    ("Keep the red hammer on the bench and take the blue hammer.", [f"[Grab] {BLUE}"]),
    ("Walk straight ahead for 3 meters.", ["[Forward] 3m"]),
    ("Turn a bit to the left.", ["[TurnLeft]"]),
    ("Would you kindly fetch me the rag from the stool?", [f"[Grab] {RAG}"]),
    ("Once the left chest is open, take out the oil can.", [f"[Grab] {OIL}"]),
    ("If possible, pick up the glue.", [f"[Grab] {GLUE}"]),
    ("Pick up the glue if you can.", [f"[Grab] {GLUE}"]),
    ("Pick up the glue, if it is still there.", [f"[Grab] {GLUE}"]),
    ("As soon as you are at the bench, grab the glue.", [f"[Grab] {GLUE}"]),
    ("Put the glue on the floor next to the stool.", [f"[Grab] {GLUE}", f"[PutOnFloor] {GLUE} <stool> (1)"]),
    (
        "Take the receipt that says eighteen dollars and lay it in the right-hand chest.",
        ["[Grab] <receipt> (1)", f"[PutInside] <receipt> (1) {RIGHT}"],
    ),
    (
        "Pull the left chest open, grab the oil can inside and shut the chest again.",
        [f"[Open] {LEFT}", f"[Grab] {OIL}", f"[Close] {LEFT}"],
    ),
    ("Look behind you.", ["[TurnAround]"]),
    ("Look left.", ["[TurnLeft]"]),
    ("Flip the red hammer over.", [f"[Flip] {RED}"]),
    ("Stop what you're doing and open the left chest.", [f"[Open] {LEFT}"]),
    (
        "First open the left chest; after that pick up the oil can; finally put the can on the stool.",
        [f"[Open] {LEFT}", f"[Grab] {OIL}", f"[Put] {OIL} <stool> (1)"],
    ),
    ("Please make sure you close the left chest and turn off the lamp.", [f"[Close] {LEFT}", "[TurnOff] <lamp> (1)"]),
    ("Crouch down.", ["[Squat]"]),
    ("Walk to the stool, please, then sit down on it.", ["[Walk] <stool> (1)", "[Sit] <stool> (1)"]),
]


@pytest.mark.parametrize(("said", "commands"), DONE, ids=[said for said, _ in DONE])
def test_it_does_what_was_said(said: str, commands: list[str]) -> None:
    assert play(view(said))[0] == commands


ASKED = [
    "Pick up the hammer.",
    "Pick up the screwdriver.",
    "Open the tool chest.",
    "Open the door of the fridge.",
    "Pick up the green hammer.",
    "Pick up the receipt for $99.",
    "Put it on the workbench.",
    "Put the glue down.",
    "Pick up the red hammer or the blue hammer.",
    "Fold the rag.",
    "Could you fold the rag?",
    "If the can is empty, pick up the glue.",
    "Is there a label on the can?",
    "Do you see the glue?",
    "What does the label say?",
    "Stop.",
    "No, wait.",
    "Go back.",
    "Drop the glue.",
    "Öffne bitte die linke Kiste.",
    "Prends le marteau bleu, s'il te plaît.",
    "Don't touch the glue.",
    "The glue is on the workbench.",
    "Now the glue.",
    "You put the glue in the left chest earlier.",
    "You will find the glue on the workbench.",
    "The other one, please.",
    "asdf qwer zxcv",
    "Could you check whether the left chest is closed?",
    "Take both hammers.",
    "Sit down.",
    "Close both chests.",
    "Hand me the glue.",
    "Throw the rag away.",
    "Please don't pick up anything yet.",
    "I wonder where the glue is.",
    "Tell me what you see.",
    "How many hammers are there?",
    "Unless it's empty, take the glue.",
    "Either take the glue or the rag.",
    "Put the glue wherever you like.",
    "It's the receipt with the lower amount, take that one.",
    "Open it.",
    "Take it.",
    "Bring the red hammer here.",
]


@pytest.mark.parametrize("said", ASKED)
def test_it_asks_and_does_nothing(said: str) -> None:
    commands, speech = play(view(said))
    assert commands == []
    assert speech.endswith("?")


@pytest.mark.parametrize("said", ["Good.", "Great, thanks!", "Perfect.", "Okay", "Well done, that's it."])
def test_an_acknowledgement_authorises_nothing_and_is_not_questioned(said: str) -> None:
    commands, speech = play(view(said))
    assert commands == []
    assert "?" not in speech


def test_the_held_thing_is_what_is_put_down() -> None:
    assert play(view("Put it on the stool.", held=GLUE))[0] == [f"[Put] {GLUE} <stool> (1)"]
    assert play(view("Put the hammer on the stool.", held=RED))[0] == [f"[Put] {RED} <stool> (1)"]
    assert play(view("Put the bottle in your hand on the stool.", held=GLUE))[0] == [f"[Put] {GLUE} <stool> (1)"]
    assert play(view("Drop it.", held=GLUE))[0] == [f"[Drop] {GLUE}"]
    assert play(view("Let go of the glue.", held=GLUE))[0] == [f"[Drop] {GLUE}"]


def test_of_several_things_it_takes_the_first_and_asks_about_the_rest() -> None:
    commands, speech = play(view("Pick up the glue and the rag."))
    assert commands == [f"[Grab] {GLUE}"]
    assert "rest" in speech and speech.endswith("?")


def test_a_full_hand_is_told_and_not_emptied() -> None:
    commands, speech = play(view("Pick up the glue.", held=RED))
    assert commands == []
    assert "red hammer" in speech and speech.endswith("?")


def test_it_means_what_was_last_worked_on() -> None:
    last = Done(f"[Open] {LEFT}", True, "Done.")
    assert play(view("Close it again.", last=last))[0] == [f"[Close] {LEFT}"]
    assert play(view("Now open the other one.", last=last))[0] == [f"[Open] {RIGHT}"]


def test_a_named_place_is_where_it_looks_first() -> None:
    hidden = tuple(e for e in LEGEND if e.handle != OIL)
    start = view("Get the oil can from the rack in the store room.", legend=hidden)
    assert play(start)[0] == ["[Walk] <rack> (2)"]
    there = carried_out(start, "[Walk] <rack> (2)")
    found = replace(there, legend=LEGEND)
    assert play(found)[0] == [f"[Grab] {OIL}"]
    commands, speech = play(there)
    assert commands == [] and "oil can" in speech and speech.endswith("?")


def test_only_the_place_that_a_thing_is_said_to_be_in_is_opened_for_it() -> None:
    hidden = tuple(e for e in LEGEND if e.handle != OIL)
    assert play(view("Take the oil can.", legend=hidden))[0] == []
    assert play(view("Take the oil can from the rack in the store room.", legend=hidden))[0] == ["[Walk] <rack> (2)"]
    for said in ("Take the oil can out of the left chest.", "The oil can is in the left chest. Fetch it."):
        commands, speech = play(view(said, legend=hidden))
        assert commands == [f"[Walk] {LEFT}", f"[Open] {LEFT}"]
        assert "oil can" in speech and speech.endswith("?")


@pytest.mark.parametrize("family", ["ASK", "NARRATE"])
def test_one_exact_action_opens_nothing_else(family: str) -> None:
    hidden = tuple(e for e in LEGEND if e.handle != OIL)
    commands, _ = play(view("Take the oil can out of the left chest.", family=family, legend=hidden))
    assert commands == [f"[Walk] {LEFT}"]


def test_a_refusal_is_told_in_the_wearers_voice() -> None:
    now = carried_out(
        view("Open the left chest and take the oil can."), f"[Open] {LEFT}", ok=False, says="It is already open."
    )
    answer = read_human(RulesHuman().answer(now))
    assert answer.action == ""
    assert answer.speak.startswith("It is already open.") and answer.speak.endswith("?")


def test_a_remark_does_not_stop_what_is_under_way() -> None:
    start = carried_out(view("Take the glue to the stool."), f"[Grab] {GLUE}")
    remarked = replace(start, instructions=(*start.instructions, Instruction("Good, keep going.", new=True)))
    assert play(remarked)[0] == [f"[Put] {GLUE} <stool> (1)"]


def test_a_new_instruction_takes_the_place_of_the_old_one() -> None:
    start = carried_out(view("Take the glue to the stool."), f"[Grab] {GLUE}")
    changed = replace(
        start, instructions=(*start.instructions, Instruction("No, put it back on the workbench.", new=True))
    )
    assert play(changed)[0] == [f"[Put] {GLUE} {BENCH}"]
    stopped = replace(start, instructions=(*start.instructions, Instruction("Stop!", new=True)))
    assert play(stopped)[0] == []


def test_a_refused_answer_is_not_repeated() -> None:
    answer = read_human(RulesHuman().answer(replace(view("Pick up the glue."), notice="no such handle")))
    assert answer.action == "" and answer.speak.endswith("?")


# --- fuzz -------------------------------------------------------------------------------------------------------------

VOCABULARY = sorted(
    {w for said, _ in DONE for w in said.replace(",", " ,").replace(".", " .").split()} | set(" ".join(ASKED).split())
)
MOVABLE = {RED, BLUE, GLUE, OIL, RAG, "<receipt> (1)", "<receipt> (2)"}
ROOMS = {e.handle for e in LEGEND if e.room}
TABLES = {e.handle for e in LEGEND if e.top and not e.inside}
ANYTHING = st.one_of(st.text(max_size=120), st.lists(st.sampled_from(VOCABULARY), max_size=16).map(" ".join))


@settings(max_examples=200, deadline=None)
@given(
    ANYTHING,
    st.sampled_from(["GUIDE", "ORCHESTRATE", "NARRATE", "ASK", "WATCH", "FIND"]),
    st.sampled_from([None, GLUE, RED]),
)
def test_any_words_give_a_legal_answer(said: str, family: str, held: str | None) -> None:
    now = view(said, family=family, held=held)
    answer = read_human(RulesHuman().answer(now))
    assert not answer.malformed
    assert not set("<>[]_@") & set(answer.speak)
    handles = {e.handle for e in now.legend}
    for command in parse_block(answer.action) if answer.action else ():
        named = [f"<{ref.name}> ({ref.index})" for ref in command.args]
        assert handles.issuperset(named)
        assert command.primitive not in ("pick", "place", "place_inside", "flip") or named[0] in MOVABLE
        assert command.primitive not in ("open", "close") or named[0] not in ROOMS | TABLES
