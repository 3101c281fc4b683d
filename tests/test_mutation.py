"""Mutation testing of packs: what the goal of each notices of small changes of its oracle (NEXT-5)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from iwkit import resources
from iwkit.cli.main import main
from iwkit.compile import CompiledTask, load_task
from iwkit.errors import UsageError
from iwkit_authoring.mutation import OPERATORS, VERDICTS, Mutation, mutants, mutate

PACKS = {path.stem: path for path in sorted(resources.root("taskpacks").glob("*/*.yaml"))}
PAGE = Path(__file__).resolve().parents[1] / "docs" / "mutation.md"
F10 = PACKS["F10"].read_text("utf-8").partition("\nreview:")[0] + "\nreview: {}\n"
Made = Callable[..., CompiledTask]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """F10 with some of its text replaced, compiled."""

    def of(*edits: tuple[str, str]) -> CompiledTask:
        text = F10
        for old, new in edits:
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / "finding" / "F10.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return load_task(path)

    return of


def line(found: Mutation) -> str:
    """The row of the page."""
    count = {verdict: sum(r.verdict == verdict for r in found.results) for verdict in VERDICTS}
    real = len(found.results) - count["equivalent"]
    share = f"{100 * count['killed'] / real:.0f} %"
    cells = (found.pack, len(found.results), count["killed"], count["equivalent"], count["marked"], share)
    return f"| {' | '.join(map(str, cells))} |"


@pytest.mark.parametrize("pack", PACKS)
def test_no_change_of_an_oracle_passes_unmarked_and_the_page_tells_the_rates(pack: str) -> None:
    found = mutate(load_task(PACKS[pack]))
    assert found.clean, [r.mutant for r in found.survivors] + list(found.stale)
    assert line(found) in PAGE.read_text("utf-8")


@pytest.mark.parametrize("pack", PACKS)
def test_every_mutant_has_a_name_and_a_program_of_its_own(pack: str) -> None:
    task = load_task(PACKS[pack])
    found = list(mutants(task))
    assert len({m.id for m in found}) == len(found)
    programs = [tuple((n.when, n.do, n.reply, n.say is None) for n in m.lines) for m in found]
    oracle = tuple((n.when, n.do, n.reply, n.say is None) for n in task.scripts["oracle"].lines)
    assert len(set(programs)) == len(programs)
    assert oracle not in programs


def test_each_kind_of_change_is_made() -> None:
    made = {m.operator for path in PACKS.values() for m in mutants(load_task(path))}
    assert made == set(OPERATORS) - {"leave open"}, "no oracle of the six closes anything"


def test_a_goal_that_takes_another_place_too_lets_a_retargeted_step_survive(made: Made) -> None:
    exact = "{on: [thermometer, desk]}"
    task = made((exact, "{any: [{on: [thermometer, desk]}, {on: [thermometer, trolley]}]}"))
    survivors = [(r.mutant, r.why) for r in mutate(task).survivors]
    assert survivors == [
        ("retarget 3 [Put] <thermometer> <desk> to [Put] <thermometer> <trolley>", OPERATORS["retarget"])
    ]


def test_leaving_things_open_survives_until_the_goal_asks_to_close_them(made: Made) -> None:
    step = 'do: ["[Put] <thermometer> <desk>"]'
    closes = (step, 'do: ["[Put] <thermometer> <desk>", "[Close] <left_cabinet>"]')
    found = mutate(made(closes))
    assert {r.operator for r in found.survivors} >= {"drop"}
    assert "drop 4 [Close] <left_cabinet>" in {r.mutant for r in found.survivors}
    shut = "      - {id: soda_stays,"
    asked = mutate(made(closes, (shut, "      - {id: shut, that: {closed: left_cabinet}}\n" + shut)))
    assert "drop 4 [Close] <left_cabinet>" not in {r.mutant for r in asked.survivors}
    assert next(r.why for r in asked.results if r.mutant == "drop 4 [Close] <left_cabinet>") == "shut"


def test_a_mark_excuses_a_survivor_and_one_that_names_none_is_stale(made: Made) -> None:
    closes = ('do: ["[Put] <thermometer> <desk>"]', 'do: ["[Put] <thermometer> <desk>", "[Close] <left_cabinet>"]')
    marks = "review:\n  survivors:\n" + "".join(
        f'    - {{mutant: "{name}", reason: not_scored}}\n'
        for name in ("drop 4 [Close] <left_cabinet>", "drop 9 [Wait]")
    )
    found = mutate(made(closes, ("review: {}\n", marks)))
    assert {r.verdict for r in found.results if r.mutant == "drop 4 [Close] <left_cabinet>"} == {"marked"}
    assert found.stale == ("drop 9 [Wait]",)
    assert not found.clean


def test_an_oracle_that_fails_has_no_mutants(made: Made) -> None:
    task = made(('do: ["[Put] <thermometer> <desk>"]', 'do: ["[Put] <thermometer> <trolley>"]'))
    with pytest.raises(UsageError, match=r"F10: the oracle does not pass \(retrieved\): mend it first"):
        mutate(task)


def test_the_command_line_lists_survivors_and_counts(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made(('do: ["[Put] <thermometer> <desk>"]', 'do: ["[Put] <thermometer> <desk>", "[Close] <left_cabinet>"]'))

    def called(*arguments: str) -> tuple[int, str]:
        monkeypatch.setenv("COLUMNS", "160")
        monkeypatch.setattr(sys, "argv", ["iwkit", "mutate", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        code = exit_.value.code or 0
        assert isinstance(code, int)
        return code, capsys.readouterr().out

    code, out = called(str(tmp_path / "finding"))
    assert code == 1
    assert "F10  survived: drop 4 [Close] <left_cabinet>  (nothing asks for this step)\n" in out
    code, out = called(str(PACKS["W7"]), "--all")
    assert code == 0
    assert "W7  killed: " in out
    assert called(str(tmp_path / "none.yaml"))[0] == 1
