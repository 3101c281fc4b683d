"""The rules human against hand-made views: what suits a verb, what a page is, and what a pronoun or a place means."""

from __future__ import annotations

from dataclasses import replace

import pytest
from workshop import GLUE, LEFT, LEGEND, OIL, play, thing, view

from iwkit_runtime.agents.rules import RulesHuman
from iwkit_runtime.loop.answers import read_human
from iwkit_runtime.loop.views import Done


@pytest.mark.parametrize(
    "said",
    [
        "Grab the workbench.",
        "Pick up the left chest.",
        "Take the workshop to the store room.",
        "Put the workshop door on the stool.",
        "Open the store room.",
        "Close the workshop.",
        "Open the workbench.",
        "Put the glue on the lamp.",
        "The glue is next to the hammers. Take them and the rack. Open the workshop.",
        "There is a red hammer and a blue hammer. Take it.",
        "Your thermos is next to the glue. Take it.",
        "The left chest is by the workshop door. Take it.",
        "Go to the workshop. Open it.",
        "The glue and the rag are yours. Take them.",
    ],
)
def test_what_does_not_suit_the_verb_is_asked_about(said: str) -> None:
    commands, speech = play(view(said))
    assert [c for c in commands if not c.startswith("[Walk]")] == []
    assert speech.endswith("?")


KITCHEN = (
    thing("<counter> (1)", "counter", place=True, top=True),
    thing("<stove> (1)", "stove", place=True, top=True),
    thing("<sheet> (1)", "recipe sheet|sheet|recipe", "the recipe sheet", label="FRIED TOMATO\n1 CUT TOMATO"),
    thing("<knife> (1)", "knife", support="on the counter"),
    thing("<plate> (1)", "plate", "the blue plate", place=True, top=True, colour="blue", support="on the counter"),
    thing("<glass> (1)", "broken glass|glass", support="on the stove"),
)
TOMATO = thing("<tomato> (1)", "tomato", support="on the counter")


def test_a_page_is_not_the_thing_that_is_written_on_it() -> None:
    commands, speech = play(view("Cut the tomato with the knife.", legend=KITCHEN))
    assert commands == []
    assert "tomato" in speech
    cut = ["[Grab] <knife> (1)", "[Cut] <tomato> (1) <knife> (1)"]
    for said in ("Cut the tomato with the knife.", "The sheet says to cut the tomato, so cut it with the knife."):
        assert play(view(said, legend=(*KITCHEN, TOMATO)))[0] == cut, said
    assert play(view("Pick up the recipe.", legend=KITCHEN))[0] == ["[Grab] <sheet> (1)"]
    assert play(view("Pick up the fried tomato recipe.", legend=KITCHEN))[0] == ["[Grab] <sheet> (1)"]


def test_a_page_is_not_cooked_either() -> None:
    commands, speech = play(view("Cook the recipe.", legend=KITCHEN))
    assert commands == []
    assert speech == "I cannot do that with the recipe sheet. What should I do?"


@pytest.mark.parametrize(
    ("said", "commands"),
    [
        ("Make sure the stove is on: switch it on.", ["[TurnOn] <stove> (1)"]),
        ("Take the blue plate in your hand.", ["[Grab] <plate> (1)"]),
        ("Pick up the pieces of the broken glass.", ["[Grab] <glass> (1)"]),
        (
            "Take the tomato and lay it on the blue plate on the counter.",
            ["[Grab] <tomato> (1)", "[Put] <tomato> (1) <plate> (1)"],
        ),
        ("Add the tomato to the blue plate.", ["[Grab] <tomato> (1)", "[Put] <tomato> (1) <plate> (1)"]),
    ],
)
def test_roundabout_words_of_a_kitchen(said: str, commands: list[str]) -> None:
    assert play(view(said, legend=(*KITCHEN, TOMATO)))[0] == commands


@pytest.mark.parametrize(
    ("said", "commands"),
    [
        ("Look over the floor.", ["[LookScan]"]),
        ("Look around on the floor there.", ["[LookScan]"]),
        ("Could you check the ground next to the workbench?", ["[Walk] <workbench> (1)", "[LookScan]"]),
        ("Look for the ruler on the floor by the vice.", ["[Walk] <vice> (1)", "[LookScan]"]),
        ("Look around.", ["[LookAround]"]),
    ],
)
def test_the_floor_is_looked_over(said: str, commands: list[str]) -> None:
    assert play(view(said))[0] == commands


def test_there_is_the_place_that_was_told() -> None:
    assert play(view("The ruler is still on the workbench. Please go there."))[0] == ["[Walk] <workbench> (1)"]
    commands, speech = play(view("Please go there."))
    assert (commands, speech) == ([], "Where should I go?")


def test_a_whole_name_of_two_words_goes_before_one_word_and_a_description() -> None:
    bar = (
        thing("<bar_counter> (1)", "bar counter|bar", "the bar counter", place=True, top=True),
        thing("<counter> (1)", "kitchen counter|counter", "the counter behind the bar", place=True, top=True),
        thing("<glass> (1)", "glass"),
    )
    for said, where in (("the bar counter", "<bar_counter> (1)"), ("the counter behind the bar", "<counter> (1)")):
        assert play(view(f"Put the glass on {said}.", legend=bar))[0] == [
            "[Grab] <glass> (1)",
            f"[Put] <glass> (1) {where}",
        ]


def test_a_pronoun_means_what_an_earlier_active_utterance_named() -> None:
    assert play(view("The glue is on the workbench.", "Good. Take it now."))[0] == [f"[Grab] {GLUE}"]
    assert play(view("The left chest holds the oil can.", "Open it."))[0] == [f"[Open] {LEFT}"]


def test_a_pronoun_means_what_an_opening_revealed_if_that_is_one_thing() -> None:
    opened = Done(f"[Open] {LEFT}", True, "Done.")
    assert play(view("Take it out.", last=opened))[0] == [f"[Grab] {OIL}"]
    more = (*LEGEND, thing("<brush> (1)", "brush", support="in the tool chest on the left as you face the workbench"))
    commands, speech = play(view("Take it out.", last=opened, legend=more))
    assert commands == [] and speech.endswith("?")


def test_a_pronoun_means_what_the_wearer_asked_for() -> None:
    asking = replace(view("There it is. Take it."), request="Where is the glue? Put it on the stool.")
    assert play(asking)[0] == [f"[Grab] {GLUE}"]


def test_who_asked_where_a_thing_is_goes_where_it_is_told() -> None:
    request = "Where is the oil can?"
    assert play(replace(view("It's on the rack in the store room."), request=request))[0] == ["[Walk] <rack> (2)"]
    for said in (
        "It isn't on the rack in the store room.",
        "The glue is on the rack in the store room.",
        "It is on the rack.",
    ):
        commands, speech = play(replace(view(said), request=request))
        assert commands == [] and speech.endswith("?"), said
    assert play(replace(view("It's on the rack by the door.", family="GUIDE"), request=request))[0] == []


def test_it_goes_to_what_it_is_to_look_at() -> None:
    assert play(view("Look inside the left chest."))[0] == [f"[LookAt] {LEFT}"]
    assert play(view("Look at the rack in the store room."))[0] == ["[Walk] <rack> (2)", "[LookAt] <rack> (2)"]
    assert read_human(RulesHuman().answer(view("Check the rack by the door.", family="ASK"))).action == (
        "[Walk] <rack> (1)\n[LookAt] <rack> (1)"
    )
