"""Variants of a pack: which seed plays which, how each reads, and that runs and reports know which was played."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwkit import resources
from iwkit.compile import load_task
from iwkit.compile.variants import _order, as_played, check_vary, chosen, written_out
from iwkit.errors import Problems
from iwkit.ledger import read_records
from iwkit.library import Library
from iwkit.report.bundle import bundle
from iwkit.report.consistency import contradictions
from iwkit.report.html import write_html
from iwkit.report.manifest import manifest
from iwkit.report.summary import summarise, to_json
from iwkit.report.tables import tables
from iwkit.report.transcript import transcript
from iwkit.runfolder import load_plan
from iwkit.source.check import check
from iwkit.source.document import Document
from iwkit.source.reader import read_text
from iwkit.spec.pack import Pack
from iwkit_runtime.recording import recording
from iwkit_runtime.runs import Config, run
from iwkit_runtime.selection import select

A1 = next(resources.root("taskpacks").glob("*/A1.yaml"))
TEXT = A1.read_text("utf-8")
LIBRARY = Library()
SYMBOLIC = Config("oracle", "scripted", "symbolic", draft=True)
WITHOUT = TEXT[: TEXT.index("vary:\n")] + TEXT[TEXT.index("review:\n") :]


def changed(*vary: str) -> tuple[Document, Pack]:
    """A1 with one entry of `vary`, whose one alternative is these lines."""
    entry = "".join(f"        {line}\n" for line in vary)
    doc = read_text(WITHOUT + f"vary:\n  - id: it\n    among:\n      - id: other\n{entry}", "A1.yaml")
    return doc, check(doc, Pack)


def played(*vary: str) -> Any:
    """The data of A1 in the one variant that these lines make."""
    return written_out(*changed(*vary), 1).data


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """That records are synced is tested in test_ledger.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(os, "fdatasync", lambda _: None)
        yield


# Which seed plays which


@given(st.lists(st.integers(2, 4), max_size=4))
def test_every_combination_comes_once_and_the_first_differ_in_all(sizes: list[int]) -> None:
    order = _order(tuple(sizes))
    assert len(order) == prod(sizes)
    assert set(order) == set(product(*map(range, sizes)))
    assert order[0] == (0,) * len(sizes)
    assert not sizes or order[1] == (1,) * len(sizes)


def test_the_first_seeds_see_every_alternative() -> None:
    pack = load_task(A1, LIBRARY).pack
    assert pack.variants == 8
    most = max(len(axis.among) for axis in pack.vary)
    seen = {pick for seed in range(most + 1) for pick in chosen(pack, seed).items()}
    assert seen == {(axis.id, alternative.id) for axis in pack.vary for alternative in axis.among}


def test_seeds_beyond_the_last_variant_come_round() -> None:
    pack = load_task(A1, LIBRARY).pack
    assert chosen(pack, 0) == {} == chosen(pack, 8)
    assert chosen(pack, 1) == chosen(pack, 9) == {"task": "juice_left", "can": "lemon"}
    assert load_task(A1, LIBRARY, 11).digest == load_task(A1, LIBRARY, 3).digest


def test_a_pack_without_variants_is_the_same_for_every_seed(tmp_path: Path) -> None:
    path = tmp_path / "A1.yaml"
    path.write_text(WITHOUT, "utf-8")
    plain = load_task(path, LIBRARY)
    assert plain.pack.variants == 1
    assert load_task(path, LIBRARY, 5).digest == plain.digest
    varied = load_task(A1, LIBRARY)
    assert varied.physical_digest == plain.physical_digest  # what varies is no part of the world of seed 0
    assert varied.handles == plain.handles
    assert varied.digest != plain.digest  # but of what is frozen


def test_every_variant_is_another_task() -> None:
    tasks = [load_task(A1, LIBRARY, seed) for seed in range(8)]
    assert len({task.digest for task in tasks}) == 8
    assert len({task.physical_digest for task in tasks}) == 8
    assert [bool(task.variant) for task in tasks] == [False] + [True] * 7


def test_a_variant_is_what_an_author_would_have_written(tmp_path: Path) -> None:
    """Seed 4, the yellow can, by hand."""
    edits = [
        ("the can COLA", "the can LEMON"),
        ("colour: red, label: COLA", "colour: yellow, label: LEMON"),
    ]
    text = WITHOUT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "A1.yaml"
    path.write_text(text, "utf-8")
    by_hand, varied = load_task(path, LIBRARY), load_task(A1, LIBRARY, 4)
    assert varied.variant == {"can": "lemon"}
    assert by_hand.digest == varied.digest
    assert by_hand.handles == varied.handles


# How a variant reads


def test_a_value_is_set_added_and_left_out() -> None:
    data = played(
        "set:",
        "  physical.entities.mug.label: TEA",
        "  physical.entities.cup: {category: cup, on: counter}",
        "  physical.entities.banana: null",
        "  physical.goal.keep.soda_stays: null",
        "  physical.goal.keep.cup_stays: {that: {at_baseline: cup}}",
        "  physical.opening.o2: {do: '[LookAround]'}",
        "  interaction.oracle.2.say: Put it on the table.",
    )
    physical, interaction = data["physical"], data["interaction"]
    assert physical["entities"]["mug"]["label"] == "TEA"
    assert "banana" not in physical["entities"]
    assert "cup" in physical["entities"]
    assert [keep["id"] for keep in physical["goal"]["keep"]] == ["water_stays", "cup_stays"]
    assert physical["opening"][1] == {"id": "o2", "do": "[LookAround]"}
    assert interaction["oracle"][1]["say"] == "Put it on the table."
    assert "vary" not in data


def test_the_pack_as_it_is_written_is_left_alone() -> None:
    doc, pack = changed("swap: [[juice, water]]", "set: {physical.goal.keep.soda_stays: null}")
    before = json.dumps(doc.data)
    written_out(doc, pack, 1)
    assert json.dumps(doc.data) == before


def test_what_is_left_out_moves_no_place() -> None:
    """Whatever is still there is where it was, and what was set is where it is set."""
    doc, pack = changed("set:", "  interaction.oracle.1: null", "  interaction.oracle.2.say: Put it down.")
    out = written_out(doc, pack, 1)
    assert out.data["interaction"]["oracle"][0]["say"] == "Put it down."
    assert out.where(("interaction", "oracle", 0, "do")) == doc.where(("interaction", "oracle", 1, "do"))
    source = ("vary", 0, "among", 0, "set", "interaction.oracle.2.say")
    assert out.where(("interaction", "oracle", 0, "say")) == doc.where(source)
    assert out.where(("interaction", "oracle", 0, "say"), key=True) == doc.where(source, key=True)
    assert out.where(("interaction", "oracle", 1)) == doc.where(("interaction", "oracle", 2))


def test_swapped_entities_stand_for_each_other_but_begin_where_they_were() -> None:
    data = played("swap: [[juice, water]]")
    physical, plain = data["physical"], read_text(WITHOUT, "A1.yaml").data["physical"]
    assert physical["entities"] == plain["entities"]
    assert physical["goal"]["achieve"] == [{"id": "juice_on_table", "that": {"on": ["water", "breakfast_table"]}}]
    assert physical["goal"]["keep"][1] == {"id": "water_stays", "that": {"at_baseline": "juice"}}
    assert data["interaction"]["oracle"][0]["do"] == ["[Grab] <water>"]
    assert data["interaction"]["oracle"][0]["say"].startswith("The orange juice")
    assert data["interaction"]["wrong"]["fails"] == ["juice_on_table", "soda_stays", "soda_never_moves"]


def test_a_word_that_is_no_entity_is_not_swapped() -> None:
    """An entity may be called like a category, a step, a substance or a condition."""
    data = played(
        "set:",
        "  physical.goal.gates: [{id: mug, that: {never: {opened: {category: plate}}}}]",
        "  physical.goal.keep.soda_stays.that: {contains: [mug, plate]}",
        "  physical.evidence.table_seen.that: {within: {that: {looked_at: mug}, after: {after: plate}}}",
        "  physical.evidence.drinks_seen.that: {partition: {by: inside, into: {mug: [plate]}, of: [plate]}}",
        "swap: [[mug, plate]]",
    )
    goal, evidence = data["physical"]["goal"], data["physical"]["evidence"]
    assert goal["gates"] == [{"id": "mug", "that": {"never": {"opened": {"category": "plate"}}}}]
    assert goal["keep"][0]["that"] == {"contains": ["plate", "plate"]}
    assert evidence[1]["that"] == {"within": {"that": {"looked_at": "plate"}, "after": {"after": "plate"}}}
    assert evidence[0]["that"] == {"partition": {"by": "inside", "into": {"plate": ["mug"]}, "of": ["mug"]}}


def paths(data: Any, above: str = "") -> Iterator[str]:
    """Every path below a part of a pack, as `set` has it."""
    ids = isinstance(data, list) and all(isinstance(e, dict) and "id" in e for e in data)
    below = data.items() if isinstance(data, dict) else enumerate(data, 1) if isinstance(data, list) else ()
    for key, value in below:
        path = f"{above}.{value['id'] if ids else key}"
        yield path
        yield from paths(value, path)


PLAIN = read_text(WITHOUT, "A1.yaml").data
REAL = st.sampled_from([f"{part}{path}" for part in ("physical", "interaction") for path in paths(PLAIN[part])])
PATHS = st.one_of(REAL, REAL.map(lambda path: f"{path}.new"), REAL.map(lambda path: path[:-1]), st.text(max_size=9))
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(0, 9), st.sampled_from(["juice", "[Grab] <juice>"]),
    st.lists(st.just("juice"), max_size=2),
    st.dictionaries(st.sampled_from(["id", "say", "do"]), st.just("x"), max_size=2),
)  # fmt: skip


@given(
    st.dictionaries(PATHS, VALUES, min_size=1, max_size=4),
    st.lists(st.tuples(*[st.sampled_from(["juice", "water", "soda", "o1", "no"])] * 2), max_size=2),
)
def test_whatever_is_set_and_swapped_is_taken_or_told(given: dict[str, Any], pairs: list[tuple[str, str]]) -> None:
    doc, _ = changed("set: {title: x}")
    doc.data["vary"][0]["among"][0] |= {"set": given, "swap": [list(pair) for pair in pairs]}
    before = json.dumps(doc.data)
    try:
        pack = check(doc, Pack)
        problems = check_vary(doc, pack)
        out = None if problems else written_out(doc, pack, 1)
        assert out is None or check(out, Pack).id == "A1"
    except Problems:
        pass
    assert json.dumps(doc.data) == before


def test_data_as_played_is_there_without_the_task() -> None:
    assert as_played(A1, 0)["physical"] == as_played(A1, 8)["physical"]
    assert as_played(A1, 3)["title"] == "Water among a can, a carton and a bottle"
    f10 = next(resources.root("taskpacks").glob("*/F10.yaml"))
    assert as_played(f10, 3)["id"] == "F10"


def test_a_broken_variant_says_which_one_it_is(tmp_path: Path) -> None:
    path = tmp_path / "A1.yaml"
    path.write_text(TEXT.replace("label: LEMON", "label: 7"), "utf-8")
    assert load_task(path, LIBRARY).id == "A1"
    with pytest.raises(Problems, match=r"S103 seed 1 \(can: lemon, task: juice_left\): .*expected text"):
        load_task(path, LIBRARY, 1)


# Played


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine seeds of A1, of which the last comes round, and of F10, which has no variants."""
    out = tmp_path_factory.mktemp("vary") / "run"
    run(select(["A1", "F10"], LIBRARY, draft=True), SYMBOLIC, out, lambda *_: None, range(9))
    return out


def header(folder: Path, cell: str) -> dict[str, Any]:
    return read_records(folder / "cells" / cell / "attempt-001.jsonl")[0][0]


def test_plan_and_records_name_the_variant(folder: Path) -> None:
    cells = load_plan(folder)["cells"]
    assert len(cells) == 18
    assert cells["A1-s3"]["variant"] == header(folder, "A1-s3")["variant"] == {"task": "water", "can": "lemon"}
    assert cells["A1-s3"]["digest"] == header(folder, "A1-s3")["digest"] == load_task(A1, LIBRARY, 3).digest
    assert cells["A1-s0"]["digest"] == cells["A1-s8"]["digest"]
    assert cells["A1-s0"]["key"] != cells["A1-s8"]["key"]
    assert len({cells[f"F10-s{seed}"]["digest"] for seed in range(9)}) == 1
    assert cells["F10-s5"]["variant"] == {}


def test_every_variant_passes_and_no_record_contradicts_itself(folder: Path) -> None:
    assert {r.status for r in summarise(folder).results} == {"pass"}
    assert list(contradictions(folder)) == []


def test_a_record_of_one_variant_is_none_of_another(folder: Path, tmp_path: Path) -> None:
    """What was scored is told by the variant that was played, and not by the pack as it is written."""
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    path = copy / "cells" / "A1-s3" / "attempt-001.jsonl"
    path.write_text(path.read_text("utf-8").replace('"status":"pass"', '"status":"fail"'), "utf-8")
    (line,) = contradictions(copy)
    assert "A1-s3" in line


def test_the_figures_name_seeds_and_variants(folder: Path) -> None:
    summary = summarise(folder)
    cells, seeds = tables(summary, ("cells", "seeds"))
    assert [row[0] for row in cells.rows][:3] == ["A1-s0", "F10-s0", "A1-s1"]
    assert ("A1", "as written", "0, 8", "2 of 2") in seeds.rows
    assert ("A1", "can: lemon, task: water", "3", "1 of 1") in seeds.rows
    assert ("F10", "as written", "0, 1, 2, 3, 4, 5, 6, 7, 8", "9 of 9") in seeds.rows
    told = to_json(summary)["tasks"]
    assert (told["A1-s0"]["variant"], told["A1-s4"]["variant"]) == (None, "can: lemon")
    assert {entry["variant"] for entry in manifest(folder)} >= {"as written", "task: water"}
    assert "A1, seed 3 (can: lemon, task: water), symbolic world" in transcript(folder, "A1-s3")


def test_the_page_tells_the_variant_that_was_played(folder: Path, tmp_path: Path) -> None:
    write_html(folder, tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text("utf-8")
    assert "A1, seed 3 (can: lemon, task: water)" in page
    assert "Which of three drinks on the counter is the water" in page
    assert "Water among a can, a carton and a bottle" in page


def test_the_bundle_has_the_pack_as_it_was_played(folder: Path, tmp_path: Path) -> None:
    bundle(folder, tmp_path / "out")
    data = json.loads((tmp_path / "out" / "A1-s3" / "taskpack_as_played.json").read_text("utf-8"))
    assert data["physical"]["goal"]["achieve"][0]["that"] == {"on": ["water", "breakfast_table"]}
    for cell in ("A1-s0", "A1-s8", "F10-s3"):
        assert not (tmp_path / "out" / cell / "taskpack_as_played.json").exists()


def test_a_stopped_run_goes_on_with_the_same_variants(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    whole = (copy / "cells" / "A1-s3" / "attempt-001.jsonl").read_text("utf-8").splitlines(keepends=True)
    (copy / "cells" / "A1-s3" / "attempt-001.jsonl").write_text("".join(whole[: len(whole) // 2]), "utf-8")
    shutil.rmtree(copy / "cells" / "A1-s5")
    run(select(["A1", "F10"], LIBRARY, draft=True), SYMBOLIC, copy, lambda *_: None, range(9))
    for cell in ("A1-s3", "A1-s5"):
        ends = [read_records(where / "cells" / cell / "attempt-001.jsonl")[0][-1] for where in (folder, copy)]
        assert [end["score"] for end in ends] == [ends[0]["score"]] * 2
        assert header(copy, cell)["digest"] == header(folder, cell)["digest"]


@pytest.mark.slow
def test_variants_in_the_physical_world_are_read_back(tmp_path: Path) -> None:
    config, source = Config("oracle", "rules", "physical", draft=True), select(["A1"], LIBRARY, draft=True)
    run(source, config, tmp_path / "run", lambda *_: None, (1, 3))
    assert {r.status for r in summarise(tmp_path / "run").results} == {"pass"}
    tasks = [recording(tmp_path / "run", cell).task for cell in ("A1-s1", "A1-s3")]
    assert [task.variant["task"] for task in tasks] == ["juice_left", "water"]
    assert [task.things["juice"].spot for task in tasks] == [(-0.5, 0.3), (0, 0.3)]
    assert {task.things["soda"].label for task in tasks} == {"LEMON"}


# The command line


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    from iwkit.cli.main import main

    def called(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["iwkit", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return called


def project(tmp_path: Path, text: str = TEXT) -> Path:
    path = tmp_path / "accessibility" / "A1.yaml"
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    return path


def test_controls_of_one_seed_are_shown_and_not_filed(tmp_path: Path, cli: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = cli("controls", str(project(tmp_path)), "--world", "symbolic", "--seed", "2")
    assert code == 0
    assert "A1-s2: task: juice_right" in out
    assert not (tmp_path / "controls").exists()


def test_every_variant_is_proved_and_the_first_is_filed(
    tmp_path: Path, cli: Callable[..., tuple[int, str, str]]
) -> None:
    code, out, _ = cli("controls", str(project(tmp_path)), "--world", "symbolic", "--all-seeds")
    assert code == 0
    assert sum(out.count(f"A1-s{seed} ") for seed in range(1, 8)) == 5 * 7
    filed = json.loads((tmp_path / "controls" / "A1.json").read_text("utf-8"))
    assert filed["digest"] == load_task(A1, LIBRARY).digest


def test_controls_find_a_variant_whose_script_is_wrong(
    tmp_path: Path, cli: Callable[..., tuple[int, str, str]]
) -> None:
    text = TEXT.replace("and pick up the bottle of water.", "and pick up the carton of orange juice.")
    assert cli("controls", str(project(tmp_path, text)), "--world", "symbolic", "--seed", "7")[0] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("A1", "--seed", "8"), "A1 has 8 variants, the seeds 0 to 7"),
        (("F10", "--seed", "1"), "F10 has no variants, the seed 0 alone"),
        (("A1", "--seed", "1", "--all-seeds"), "--all-seeds is every seed: leave out --seed"),
    ],
)
def test_seeds_that_there_are_not(words: tuple[str, ...], said: str, cli: Callable[..., tuple[int, str, str]]) -> None:
    code, _, err = cli("controls", *words, "--world", "symbolic")
    assert code != 0
    assert said in " ".join(err.split())


def test_a_run_says_when_variants_come_round(tmp_path: Path, cli: Callable[..., tuple[int, str, str]]) -> None:
    out = str(tmp_path / "run")
    code, _, err = cli("run", "A1", "--draft", "--world", "symbolic", "--seeds", "9", "--out", out)
    assert code == 0
    assert "A1 has 8 variants: from seed 8 on they are played again" in " ".join(err.split())
