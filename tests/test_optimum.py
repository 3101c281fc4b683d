"""The shortest way to a pass, against an exhaustive search that shares nothing with it (MET-3, NEXT-5)."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from iwkit import resources
from iwkit.compile import CompiledTask, ScriptLine, load_task
from iwkit.errors import UsageError
from iwkit.goals.terms import Handoff
from iwkit.grammar import Command, parse, render
from iwkit.world.symbolic import SymbolicWorld
from iwkit_authoring.optimum import optimum
from iwkit_authoring.rehearsal import rehearse

PACKS = {path.stem: path for path in sorted(resources.root("taskpacks").glob("*/*.yaml"))}
PAGE = Path(__file__).resolve().parents[1] / "docs" / "optimum.md"
Made = Callable[..., CompiledTask]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """F10 with some of its text replaced, compiled."""

    def of(*edits: tuple[str, str]) -> CompiledTask:
        text = PACKS["F10"].read_text("utf-8")
        for old, new in edits:
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / "F10.yaml"
        path.write_text(text, "utf-8")
        return load_task(path)

    return of


def passes(task: CompiledTask, plan: tuple[Command, ...]) -> bool:
    told = [ScriptLine(Handoff() if i == 0 else None, "Do it.", (c,), "does") for i, c in enumerate(plan)]
    return not rehearse(task, [*told, ScriptLine(None, None, (), "does")], SymbolicWorld()).failed


@pytest.mark.parametrize(("when", "status"), [("{after: o1}", "optimal"), ("handoff", "bounds")])
def test_what_is_still_to_happen_by_itself_leaves_a_doubt(made: Made, when: str, status: str) -> None:
    events = f"  events:\n    - {{id: late, when: {when}, spills: desk}}\n  evidence:\n"
    assert optimum(made(("  evidence:\n", events))).status == status


@pytest.mark.parametrize("pack", PACKS)
def test_the_page_tells_what_is_found(pack: str) -> None:
    row = re.search(rf"^\| {pack} \| (\d+) \| (\S+) \| (\S+) \| (\w+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert row
    if row[4] == "bounds":  # how far the search gets is a matter of time
        found = optimum(load_task(PACKS[pack]), seconds=0.5)
        assert (found.oracle, found.high, found.status) == (int(row[1]), int(row[3]), "bounds")
        assert found.low is not None and found.low <= int(row[2]) < int(row[3])
        return
    found = optimum(load_task(PACKS[pack]))
    low, high = ("unknown" if bound is None else str(bound) for bound in (found.low, found.high))
    assert (str(found.oracle), low, high, found.status) == row.groups()
    if found.status == "optimal":
        assert len(found.plan) == found.high
        assert passes(load_task(PACKS[pack]), found.plan)


def test_no_shorter_way_exists_among_all_programs_of_a_small_vocabulary(made: Made) -> None:
    """Every program of up to two commands over the things of the task fails where three are said to be needed."""
    task = made()
    commands = [
        parse(text)
        for text in (
            "[Open] <left_cabinet>",
            "[Grab] <thermometer>",
            "[Grab] <soda>",
            "[Put] <thermometer> <desk>",
            "[Walk] <left_cabinet>",
            "[LookAt] <left_cabinet>",
            "[PutInside] <thermometer> <right_cabinet>",
        )
    ]
    assert optimum(task).low == 3
    assert not any(passes(task, plan) for length in (1, 2) for plan in product(commands, repeat=length))


def test_a_shorter_way_than_the_oracle_is_found(made: Made) -> None:
    """The oracle goes round by the trolley, and the cabinet need not have been opened on purpose."""
    step = 'do: ["[Put] <thermometer> <desk>"]'
    task = made((step, 'do: ["[Put] <thermometer> <trolley>", "[Grab] <thermometer>", "[Put] <thermometer> <desk>"]'))
    found = optimum(task)
    assert (found.oracle, found.status, found.high) == (5, "optimal", 3)
    assert [render(c) for c in found.plan] == [
        "[Open] <left_cabinet>",
        "[Grab] <thermometer>",
        "[Put] <thermometer> <desk>",
    ]


def test_what_must_be_closed_again_counts(made: Made) -> None:
    keep = "      - {id: soda_stays,"
    shut = "      - {id: shut, that: {closed: left_cabinet}}\n"
    step = 'do: ["[Put] <thermometer> <desk>"]'
    task = made((keep, shut + keep), (step, 'do: ["[Put] <thermometer> <desk>", "[Close] <left_cabinet>"]'))
    found = optimum(task)
    assert (found.status, found.low, found.high) == ("optimal", 4, 4)


def test_without_time_there_are_only_bounds() -> None:
    found = optimum(load_task(PACKS["D5"]), seconds=1e-9)
    assert (found.status, found.high, found.why) == ("bounds", 5, "the time was up")
    assert found.low is not None and found.low <= 5


def test_an_oracle_that_fails_is_told(made: Made) -> None:
    with pytest.raises(UsageError, match="the oracle does not pass"):
        optimum(made(('do: ["[Put] <thermometer> <desk>"]', 'do: ["[Put] <thermometer> <trolley>"]')))
