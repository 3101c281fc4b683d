"""What the checks let pass and what they do not, where one bad pack a code does not say it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from iwkit_validators.suite import Report

Check = Callable[..., Report]


def codes(report: Report) -> list[str]:
    return [problem.code for problem in report.problems]


# --- affordance -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "says", "hint"),
    [
        (
            "[Open] <desk>",
            "The infirmary desk cannot be opened",
            "a desk is fixture, surface, wipeable; it could be done",
        ),
        ("[PutInside] <pen> <desk>", "Nothing can be put into", "did you mean [Put] <pen> <desk>?"),
        ("[Put] <pen> <pen>", "Nothing can be put on", "it could be done with bed, left_cabinet, right_cabinet"),
        ("[Grab] <bed>", "cannot be picked up", "it could be done with"),
        ("[TurnOn] <left_cabinet>", "cannot be switched on", "did you mean [Open] <left_cabinet>?"),
        ("[Sit] <desk>", "is not for sitting on", "it could be done with bed"),
        ("[Cut] <pen> <thermometer>", "cannot be cut", "a pen is movable"),
        ("[Stir] <soda> <pen>", "There is nothing to stir", "a soda_can is"),
        ("[Pour] <pen> <soda>", "Nothing can be poured into the pen", "movable"),
        ("[Wipe] <pen> <desk>", "is no good for wiping", "it could be done with towel"),
        ("[AnswerPhone] <pen>", "is not a phone", "a pen is movable"),
        ("[OpenDoor] <left_cabinet>", "is not a door", "did you mean [Open] <left_cabinet>?"),
    ],
)
def test_affordance_says_what_the_thing_is_good_for(report: Check, command: str, says: str, hint: str) -> None:
    found = report("F10", ('do: "[Walk] <desk>"', f'do: "{command}"')).problems
    assert [p.code for p in found] == ["A402"]
    assert says in found[0].message
    assert command in found[0].message
    assert hint in found[0].hint


def test_every_command_that_does_not_fit_is_told_at_once(report: Check) -> None:
    found = report(
        "F10",
        ('do: "[Open] <left_cabinet>"', 'do: "[Open] <desk>"'),
        ('do: "[Grab] <soda>"', 'do: "[Grab] <bed>"'),
        ('["[Put] <thermometer> <desk>"]', '["[PutInside] <thermometer> <desk>"]'),
    )
    assert codes(found) == ["A402", "A402", "A402"]


def test_a_tool_in_the_legacy_order_of_wipe_fits(report: Check) -> None:
    assert "A402" not in codes(report("F10", ('do: "[LookAt] <clipboard>"', 'do: "[Wipe] <desk> <towel>"')))


# --- opening, plan and scripts --------------------------------------------------------------------------------------


def test_one_hand(report: Check) -> None:
    found = report("F10", ('do: "[Open] <left_cabinet>"', 'do: "[Grab] <soda>"'))
    assert codes(found) == ["A403"]
    assert (
        found.problems[0].message
        == "step 'o3' of the opening is refused: Your hand is full: you are holding the red can of soda."
    )


def test_what_is_not_held_cannot_be_put(report: Check) -> None:
    found = report("F10", ('do: ["[Grab] <soda>"]', 'do: ["[Walk] <desk>"]'))
    assert codes(found) == ["A405"]
    assert "You are not holding" in found.problems[0].message


def test_only_the_first_refusal_of_a_script_is_told(report: Check) -> None:
    found = report("F10", ('do: ["[Open] <left_cabinet>"]', 'do: ["[LookAround]"]'))
    assert [(p.code, p.message) for p in found.problems if p.code[0] == "A"] == [
        ("A405", "this is refused here: The bedside cabinet on the left as you face the bed is closed.")
    ]


def test_what_is_too_big_is_found_by_playing(report: Check) -> None:
    found = report(
        "F10",
        ("pen: {category: pen", "tray: {category: serving_tray, on: bed}\n    pen: {category: pen"),
        ('do: "[Grab] <soda>"', 'do: "[Grab] <tray>"'),
        ('do: "[PutInside] <soda> <right_cabinet>"', 'do: "[PutInside] <tray> <right_cabinet>"'),
    )
    assert codes(found) == ["A403"]
    assert "is too big for" in found.problems[0].message


def test_a_refused_line_goes_on_from_where_it_stopped(report: Check) -> None:
    line = '- {say: Pick it up., do: ["[Grab] <pen>", "[Grab] <clipboard>", "[Walk] <bed>"], reply: refused}\n      '
    drop = '- {say: Put the pen down., do: ["[Put] <pen> <desk>"]}\n      '
    found = report("F10", ("- {say: Pick up the can., do", f"{line}{drop}- {{say: Pick up the can., do"))
    assert codes(found) == []


def test_watch_plays_the_plan_beside_a_script(report: Check) -> None:
    early = report("W7", ("reply: refused}", "reply: does}"))
    assert codes(early) == ["A405"]
    assert "already closed" in early.problems[0].message
    later = report(
        "W7",
        (
            'say: Stop. The fridge is still open. Please go back and close it., do: ["[Close] <fridge>"]',
            'say: Put the milk on the counter., do: ["[Put] <milk> <counter>"]',
        ),
    )
    assert [p.code for p in later.problems if p.code == "A405"] == ["A405"]


def test_watch_leaves_lines_at_events_to_the_controls(report: Check) -> None:
    found = report(
        "W7",
        (
            "- {when: handoff, say: The fridge is still open.",
            "- {when: {grabbed: phone}, say: The fridge is still open.",
        ),
    )
    assert "A405" not in codes(found)
    assert "A406" not in codes(found)


def test_watch_says_nothing_of_what_comes_after_a_line_at_an_event(report: Check) -> None:
    again = '- {when: {after: p9}, say: Again., do: ["[Put] <bowl> <counter>"]}\n      '
    lines = ("- {when: {after: p9}, done: true}\n  budget", f"{again}- {{when: {{after: p9}}, done: true}}\n  budget")
    at_event = ("- {when: handoff, say: The fridge", "- {when: {grabbed: phone}, say: The fridge")
    assert codes(report("W7", lines)) == ["A405"]
    assert codes(report("W7", lines, at_event)) == []


def test_playing_waits_until_the_commands_fit(report: Check) -> None:
    found = report("F10", ('do: "[Open] <left_cabinet>"', 'do: "[Open] <desk>"'), ("actions: 15", "actions: 2"))
    assert codes(found) == ["A402", "I610"]


# --- the goal at the handoff ----------------------------------------------------------------------------------------


def test_a_reason_stands_in_the_problem(report: Check) -> None:
    found = report("F10", ("{on: [thermometer, desk]}", "{on: [pen, desk]}"))
    assert found.problems[0].message.startswith("'retrieved' is true at the handoff already: ")
    assert "pen" in found.problems[0].message.split(": ")[1]


def test_a_gate_that_is_still_open_is_fine(report: Check) -> None:
    until = "{until: [{closed: left_cabinet}, {looked_at: pen}]}"
    found = report("F10", ("{before: [{became_visible: thermometer}, {grabbed: thermometer}]}", until))
    assert codes(found) == ["G560"], "the oracle opens the cabinet, but nothing says that it never could hold"


@pytest.mark.parametrize(
    ("gate", "hopeless"),
    [
        ("{until: [{open: left_cabinet}, {grabbed: pen}]}", True),
        ("{any: [{until: [{open: left_cabinet}, {grabbed: pen}]}, {happened: {grabbed: pen}}]}", False),
        ("{any: [{until: [{open: left_cabinet}, {grabbed: pen}]}, {until: [{held: pen}, {grabbed: pen}]}]}", True),
        ("{not: {until: [{open: left_cabinet}, {grabbed: pen}]}}", False),
        ("{happened: {grabbed: thermometer}}", False),
    ],
)
def test_gates_that_can_never_come_true(report: Check, gate: str, hopeless: bool) -> None:
    found = report("F10", ("{before: [{became_visible: thermometer}, {grabbed: thermometer}]}", gate))
    assert ("G552" in codes(found)) is hopeless


def test_evidence_sees_what_the_loop_reports_of_the_opening(report: Check) -> None:
    """Steps, commands and the wearer's cues are in the trace, in their order."""
    commanded = "{commanded: {do: '[Open] <left_cabinet>', by: opening}}"
    order = f"{{sequence: [{{said: {{by: wearer}}}}, {commanded}, {{after: o2}}, {{after: o15}}, {{said: any}}]}}"
    assert codes(report("F10", ("{not: {visible: thermometer}}", order))) == []
    assert codes(report("F10", ("{not: {visible: thermometer}}", "{sequence: [{after: o15}, {after: o2}]}"))) == [
        "G553"
    ]


# --- interaction ----------------------------------------------------------------------------------------------------


def test_walking_and_looking_do_not_count_as_commands_of_a_line(report: Check) -> None:
    line = 'do: ["[Walk] <copy_table>", "[LookAround]", "[Grab] <invoice_41>"]}'
    assert codes(report("D5", ('do: ["[Grab] <invoice_41>"]}', line))) == []


EARLY = "- {when: handoff, say: The thermometer is inside. Pick it up., reply: asks}\n      - {done: true}"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("- {say: Please look round., reply: asks}\n      - {done: true}", []),
        ('- {say: "the thermometer  is inside. pick it up.", reply: asks}\n      - {done: true}', []),
        (
            '- {say: Open it., do: ["[Open] <left_cabinet>"]}\n      - {say: Get it., do: ["[Grab] <thermometer>"]}\n'
            '      - {say: Put it there., do: ["[Put] <thermometer> <desk>"]}\n      - {done: true}',
            ["I608"],
        ),
        (
            "- {say: Open the bedside cabinet on the left as you face the bed., reply: asks}\n"
            "      - {say: The thermometer is inside. Pick it up., reply: asks}\n"
            "      - {say: Take it to the infirmary desk and put it down there., reply: asks}\n      - {done: true}",
            [],
        ),
    ],
)
def test_early_gives_something_before_its_time(report: Check, lines: str, found: list[str]) -> None:
    assert codes(report("F10", (EARLY, lines))) == found


def test_early_by_the_time_of_a_line(report: Check) -> None:
    early = "- {when: handoff, say: The fridge is still open. Please close it., do"
    late = "- {when: {after: p6}, say: The fridge is still open. Please close it., do"
    same = report("W7", (early, late), (", reply: refused}", "}"))
    assert codes(same) == ["I608"]
    sooner = report("W7", (early, late.replace("p6", "p5")), (", reply: refused}", "}"))
    assert codes(sooner) == []


def test_nothing_comes_after_done(report: Check) -> None:
    late = "- {done: true}\n      - {say: Wait., reply: asks}\n  budget"
    assert codes(report("F10", ("- {done: true}\n  budget", late))) == ["I606"]


def test_wrong_must_change_something(report: Check) -> None:
    found = report(
        "F10",
        ('do: ["[Open] <right_cabinet>"]', 'do: ["[LookAt] <pen>"]'),
        ('do: ["[Grab] <soda>"]', 'do: ["[Grab] <soda>"], reply: refused'),
        ('do: ["[Put] <soda> <desk>"]', 'do: ["[Walk] <bed>"]'),
    )
    assert codes(found) == ["I609"]


def test_budget_counts_the_plan(report: Check) -> None:
    assert codes(report("W7", ("actions: 20", "actions: 10"), ("ticks: 30", "ticks: 11"))) == []
    assert codes(report("W7", ("actions: 20", "actions: 9"), ("ticks: 30", "ticks: 10"))) == ["I611", "I610"]


# --- leaks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Use the nightstand_left.", ["I620"]),
        ("Take <pen> (2).", ["I620"]),
        ("[Grab] the pen.", ["I620"]),
        ("The pen lies at @place_spot=0:0.", ["I620"]),
        ("Pick it up.", []),
        ("The thermometer is inside.", ["I621"]),
        ("the THERMOMETER -- is inside", ["I621"]),
        ("Is the thermometer inside?", []),
        ("There are visits today.", []),
    ],
)
def test_texts_told_before_any_help(report: Check, text: str, found: list[str]) -> None:
    told = (
        "You wear smart glasses in a school infirmary.",
        "You tidied the trolley a while ago and have forgotten where the thermometer went.",
        "Two visits this afternoon.",
        "I can't remember where I put the thermometer. Could you help me get it onto the infirmary desk?",
    )
    for old in told:
        assert codes(report("F10", (old, f'"{text}"'))) == found


def test_cues_of_the_plan_are_told_without_help(report: Check) -> None:
    found = report("W7", ("say: Breakfast is ready.", 'say: "Oh dear, the fridge is still open."'))
    assert codes(found) == ["I621"]


def test_scripts_and_descriptions_are_spoken_too(report: Check) -> None:
    assert codes(report("F10", ("say: Pick up the can.", "say: Pick up the soda_can."))) == ["I620"]
    assert codes(report("F10", ("colour: red, label: COLA", "public: the red_can"))) == ["I620"]


def test_a_name_with_a_digit_is_no_word(report: Check) -> None:
    edits = (("pen: {category: pen", "pen2: {category: pen"), ("And the drink over here.", "The Pen2 is here."))
    assert codes(report("F10", *edits)) == ["I620"]


# --- identity -------------------------------------------------------------------------------------------------------

TWIN = (
    "colour: red, label: COLA}",
    "colour: red, label: COLA}\n    soda_2: {category: soda_can, on: trolley, colour: red, label: COLA}",
)


@pytest.mark.parametrize(
    ("keep", "pass_", "wrong", "told"),
    [
        ("{at_baseline: soda}", "{grabbed: thermometer}", "{grabbed: any}", True),
        (
            "{count: {that: {inside: [{category: soda_can}, right_cabinet]}, is: 1}}",
            "{grabbed: thermometer}",
            "{grabbed: any}",
            False,
        ),
        ("{not: {held: {any_of: [soda_2, soda]}}}", "{grabbed: thermometer}", "{grabbed: any}", False),
        ("{not: {held: {any_of: [soda_2, soda]}}}", "{grabbed: soda}", "{grabbed: soda_2}", True),
        ("{not: {sequence: [{grabbed: soda}, {grabbed: soda_2}]}}", "{grabbed: thermometer}", "{grabbed: any}", True),
        ("{not: {multiset: [{grabbed: soda}, {grabbed: soda_2}]}}", "{grabbed: thermometer}", "{grabbed: any}", False),
        ("{never: {commanded: {do: '[Grab] <soda>'}}}", "{grabbed: thermometer}", "{grabbed: any}", True),
    ],
)
def test_like_things_must_be_told_apart_unless_the_goal_takes_either(
    report: Check, keep: str, pass_: str, wrong: str, told: bool
) -> None:
    found = report(
        "F10",
        TWIN,
        ("{at_baseline: soda}", keep),
        ("pass: {grabbed: thermometer}, wrong: {grabbed: any}", f"pass: {pass_}, wrong: {wrong}"),
    )
    assert codes(found) == (["I630"] if told else [])


@pytest.mark.parametrize(
    "mark", ["colour: blue, label: COLA", "colour: red, label: DIET", "colour: red, label: COLA, public: the small can"]
)
def test_colour_label_or_description_tell_like_things_apart(report: Check, mark: str) -> None:
    assert (
        codes(report("F10", (TWIN[0], TWIN[1].replace("trolley, colour: red, label: COLA", f"trolley, {mark}")))) == []
    )


def test_like_things_that_no_script_names_are_fine(report: Check) -> None:
    assert codes(report("D5", ("say: And the last shelf.", "say: That was all."))) == []


EITHER = "{any_of: [pen, towel, tissues, magazine]}"


@pytest.mark.parametrize(
    ("first", "second", "of", "told"),
    [
        (EITHER, EITHER, "pen, towel", False),
        (f"pen, {EITHER}", f"{EITHER}, pen", "pen, towel, tissues, magazine", False),
        (EITHER, "pen", "pen, towel", True),
    ],
)
def test_like_places_of_a_partition(report: Check, first: str, second: str, of: str, told: bool) -> None:
    into = f"{{bowl: [{first}], bowl_2: [{second}]}}"
    found = report(
        "F10",
        (TWIN[0], f"{TWIN[0]}\n    bowl: {{category: bowl, on: desk}}\n    bowl_2: {{category: bowl, on: desk}}"),
        ("{at_baseline: soda}", f"{{not: {{partition: {{by: inside, into: {into}, of: [{of}]}}}}}}"),
        ("say: Pick up the can.", "say: Pick that up."),
        ('"[Grab] <soda>"]', '"[Grab] <bowl>"]'),
        ('"[Put] <soda> <desk>"]', '"[Put] <bowl> <desk>"]'),
    )
    assert codes(found) == (["I630"] if told else [])
