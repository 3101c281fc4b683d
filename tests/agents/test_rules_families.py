"""The rules human against hand-made views: the restrictions of each family."""

from __future__ import annotations

from dataclasses import replace

import pytest
from workshop import GLUE, LEFT, RED, RIGHT, carried_out, play, view

from iwkit_runtime.agents.rules import RulesHuman
from iwkit_runtime.loop.answers import read_human
from iwkit_runtime.loop.views import Done


def test_guide_does_one_object() -> None:
    both = "Put the glue in the left chest, then put the rag on the workbench."
    commands, speech = play(view(both, family="GUIDE"))
    assert commands == [f"[Grab] {GLUE}", f"[PutInside] {GLUE} {LEFT}"]
    assert speech == "Done. What is the next step?"
    held = view("Open the right chest and put the glue inside. Then close it.", family="GUIDE", held=GLUE)
    assert play(held)[0] == [f"[Open] {RIGHT}", f"[PutInside] {GLUE} {RIGHT}", f"[Close] {RIGHT}"]
    assert play(view("Close the left chest and open the right chest.", family="GUIDE"))[0] == [f"[Close] {LEFT}"]
    assert play(view("Close the left chest and go to the workbench to pick up the glue.", family="GUIDE"))[0] == [
        f"[Close] {LEFT}"
    ]


def test_orchestrate_does_one_errand_and_waits() -> None:
    both = "Take the glue to the stool. Afterwards take the rag to the workbench."
    commands, speech = play(view(both, family="ORCHESTRATE"))
    assert commands == [f"[Grab] {GLUE}", f"[Put] {GLUE} <stool> (1)"]
    assert "?" not in speech


@pytest.mark.parametrize("family", ["ASK", "NARRATE"])
def test_one_exact_action(family: str) -> None:
    assert play(view("Go to the workbench and pick up the glue.", family=family))[0] == [f"[Grab] {GLUE}"]
    now = view("Pick up the glue and put it on the stool.", family=family)
    answer = read_human(RulesHuman().answer(now))
    assert answer.action == f"[Grab] {GLUE}" and answer.speak and "?" not in answer.speak
    assert play(now)[0] == [f"[Grab] {GLUE}"]


def test_the_blind_wearer_does_not_claim_to_see() -> None:
    _, speech = play(view("Pick up the screwdriver.", family="NARRATE"))
    assert "see" not in speech.split()


PLAN = f"[Grab] {RED}"


@pytest.mark.parametrize(
    "said", ["Good.", "Looks fine.", "The glue is on the workbench.", "Wunderbar, weiter so.", "Is the chest open?"]
)
def test_watch_goes_on_with_its_plan(said: str) -> None:
    assert read_human(RulesHuman().answer(view(said, family="WATCH", plan=PLAN))).action == PLAN


def test_watch_does_an_instruction_first_and_then_resumes() -> None:
    start = view("Stop. The left chest is still open. Please go back and close it.", family="WATCH", plan=PLAN)
    answer = read_human(RulesHuman().answer(start))
    assert answer.action == f"[Close] {LEFT}"
    assert read_human(RulesHuman().answer(carried_out(start, answer.action))).action == PLAN
    assert read_human(RulesHuman().answer(view(family="WATCH", plan=PLAN))).action == PLAN
    assert read_human(RulesHuman().answer(view(family="WATCH"))).action == ""


@pytest.mark.parametrize("said", ["Fold the rag.", "Stop!", "Close the screwdriver."])
def test_watch_waits_a_turn_when_it_has_to_ask(said: str) -> None:
    answer = read_human(RulesHuman().answer(view(said, family="WATCH", plan=PLAN)))
    assert answer.action == "" and answer.speak.endswith("?")


def test_a_refused_step_of_the_plan_is_reported_and_tried_again() -> None:
    now = replace(view(family="WATCH", plan=PLAN), last=Done(PLAN, False, "The way is blocked."))
    answer = read_human(RulesHuman().answer(now))
    assert answer.action == PLAN and answer.speak == "The way is blocked."
