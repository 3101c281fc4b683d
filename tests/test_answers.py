"""How answers are read: every row of the tables in docs/answers.md, the limits, and any text at all."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwkit_runtime.loop.answers import MAX_ANSWER, MAX_SPEECH, read_assistant, read_human, without_memory, write_human
from iwkit_runtime.loop.views import AssistantView, Done, HumanView, Instruction, LegendEntry

PAGE = (Path(__file__).parent.parent / "docs" / "answers.md").read_text("utf-8")
ESCAPES = {"n": "\n", "t": "\t"}


def plain(cell: str) -> str:
    """The text that a code cell stands for."""
    if len(ticks := re.match(r"`*", cell).group()) > 2:  # type: ignore[union-attr]
        cell = cell.removeprefix(ticks).removesuffix(ticks)[1:-1]
    else:
        cell = cell[1:-1]
    return re.sub(r"\\(?:([nt])|u([0-9a-f]{4}))", lambda m: ESCAPES.get(m[1]) or chr(int(m[2], 16)), cell)


def table(heading: str, columns: int) -> list[list[str]]:
    text = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [[c.strip() for c in line[1:-1].split("|")] for line in text.splitlines() if line.startswith("|")]
    return [row for row in cells if len(row) == columns and row[0] != "answer" and set(row[0]) != {"-"}]


ASSISTANT = table("The assistant", 4)
MEMORY = table("The assistant", 5)
HUMAN = table("The human", 5)


def test_the_tables_are_there() -> None:
    assert {row[1] for row in ASSISTANT} == {"silent", "interrupt", "error", "done", "malformed"}
    assert {row[1] for row in HUMAN} == {"read", "malformed"}


@pytest.mark.parametrize("row", ASSISTANT, ids=lambda r: r[0])
def test_an_assistant_answer_is_read_as_the_page_says(row: list[str]) -> None:
    answer, control, text, logged = row
    reading = read_assistant(plain(answer))
    assert reading.control == control
    assert reading.text == (plain(text) if text else "")
    assert (reading.why or "; ".join(reading.repairs)) == logged


@pytest.mark.parametrize("row", MEMORY, ids=lambda r: r[0])
def test_a_memory_is_read_as_the_page_says(row: list[str]) -> None:
    answer, control, text, logged, kept = row
    reading = read_assistant(plain(answer), memory=True)
    assert reading.control == control
    assert reading.text == (plain(text) if text else "")
    assert reading.memory == (plain(kept) if kept else "")
    assert (reading.why or "; ".join(reading.repairs)) == logged
    assert kept == "" or plain(kept) not in without_memory(plain(answer))


@pytest.mark.parametrize("row", HUMAN, ids=lambda r: r[0])
def test_a_human_answer_is_read_as_the_page_says(row: list[str]) -> None:
    answer, outcome, action, speak, logged = row
    reading = read_human(plain(answer))
    assert bool(reading.malformed) == (outcome == "malformed")
    assert reading.action == (plain(action) if action else "")
    assert reading.speak == (plain(speak) if speak else "")
    assert (reading.malformed or "; ".join(reading.repairs)) == logged


def test_an_answer_may_be_just_so_long() -> None:
    speech = "a" * MAX_SPEECH
    assert read_assistant(f"$interrupt$ {speech}").text == speech
    assert read_assistant(f"$interrupt$ {speech}a").why == f"speech longer than {MAX_SPEECH} characters"
    assert read_human(f"<speak>{speech}</speak>").speak == speech
    assert read_human(f"<speak>{speech}a</speak>").malformed == f"speech longer than {MAX_SPEECH} characters"
    long = "a" * (MAX_ANSWER + 1)
    assert read_assistant(long).why == read_human(long).malformed == f"longer than {MAX_ANSWER} characters"
    for limit in (MAX_SPEECH, MAX_ANSWER):
        assert f"{limit:,}" in PAGE


def test_repairs_add_up() -> None:
    reading = read_assistant("```\n$Interrupt$ St\u200bop.\n```")
    assert reading.text == "Stop."
    assert reading.repairs == ("invisible characters removed", "code fence removed", "control token normalised")


TOKENS = ("$silent$", "$interrupt$", "$error$", "$done$", "<done/>", "$Memory$")
TAGS = ("<action>", "</action>", "<speak>", "</speak>", "```")
PIECES = st.sampled_from((*TOKENS, *TAGS, "\n", " ", "$"))
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=8).map("".join)


@given(TEXTS)
def test_any_text_has_one_reading_and_says_what_is_wrong(text: str) -> None:
    assistant = read_assistant(text)
    assert (assistant.control == "malformed") == bool(assistant.why)
    assert bool(assistant.text) == (assistant.control in ("interrupt", "error"))
    human = read_human(text)
    if human.malformed:
        assert human.action == human.speak == ""


@given(TEXTS)
def test_speech_holds_no_control_token(text: str) -> None:
    assert read_assistant(read_assistant(text).text).control == "malformed"


@given(TEXTS)
def test_a_memory_changes_nothing_of_the_answer_before_it(text: str) -> None:
    whole, before = read_assistant(text, memory=True), read_assistant(without_memory(text), memory=True)
    assert before.memory == ""
    if "after $memory$" not in whole.why.lower():
        assert (whole.control, whole.text) == (before.control, before.text)
    if "$memory$" not in text.lower() and whole.memory == "":
        assert whole == read_assistant(text)


CALM = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "Zs"), exclude_characters="<>`"), max_size=40)


@given(CALM, CALM, CALM)
def test_what_is_written_is_read_back(action: str, speak: str, reasoning: str) -> None:
    reading = read_human(write_human(action, speak, reasoning))
    assert (reading.action, reading.reasoning) == (action.strip(), reasoning.strip())
    assert reading.speak == " ".join(speak.split())
    assert reading.repairs == () and not reading.malformed


@pytest.mark.parametrize("model", [AssistantView, HumanView, LegendEntry, Instruction, Done], ids=lambda m: m.__name__)
def test_every_field_of_a_view_is_documented(model: type) -> None:
    section = PAGE[PAGE.index("## The views") : PAGE.index("## The assistant")]
    missing = [f.name for f in fields(model) if f"`{f.name}`" not in section]
    assert not missing


def test_the_example_assistant_answers_in_the_required_form() -> None:
    source = PAGE.split("```python\n", 1)[1].split("```", 1)[0]
    names: dict[str, type] = {}
    exec(source, names)
    agent = names["Polite"]()
    for tick in (1, 2, 6):
        view = AssistantView(tick=tick, public="", dialogue=(), speech=(), frames=())
        assert read_assistant(agent.answer(view)).control == {1: "interrupt", 2: "silent", 6: "done"}[tick]
