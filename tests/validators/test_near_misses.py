"""What is close to a bad pack and is none: no false alarm, on near misses, on drafts, and on packs said otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from iwkit.families import families
from iwkit.library import Library
from iwkit_authoring.scaffold import new
from iwkit_validators.suite import validate

ROOT = Path(__file__).parents[2]
PACKS = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "taskpacks").glob("*/*.yaml"))}
CASES: list[dict[str, Any]] = yaml.safe_load((ROOT / "tests/data/near_misses/cases.yaml").read_text("utf-8"))
VARIANTS: list[dict[str, Any]] = yaml.safe_load((ROOT / "tests/data/near_misses/variants.yaml").read_text("utf-8"))
BAD: list[dict[str, Any]] = yaml.safe_load((ROOT / "tests/data/bad_packs/cases.yaml").read_text("utf-8"))
PARAPHRASES = yaml.safe_load((ROOT / "tests/data/paraphrases.yaml").read_text("utf-8"))["paraphrases"]
LIBRARY = Library()


def changed(pack: str, edits: list[Any], folder: Path) -> Path:
    text = PACKS[pack]
    for old, new_ in edits:
        assert old in text, f"{pack} no longer holds {old!r}"
        text = text.replace(old, new_, 1)
    path = folder / f"{pack}.yaml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("case", CASES, ids=[f"{case['code']}-{case['why']}" for case in CASES])
def test_a_near_miss_is_clean(case: dict[str, Any], tmp_path: Path) -> None:
    path = changed(case["pack"], [(case["old"], case["new"]), *case.get("edits", [])], tmp_path)
    assert path.read_text("utf-8") != PACKS[case["pack"]]
    assert [str(problem) for problem in validate(path, LIBRARY).problems] == []


def test_every_code_that_has_a_near_miss_is_shown_by_a_bad_pack() -> None:
    assert {case["code"] for case in CASES} <= {case["code"] for case in BAD}


SAID = [(pack, entry["line"], text) for pack, lines in PARAPHRASES.items() for entry in lines for text in entry["say"]]


@pytest.mark.parametrize("pack", PARAPHRASES)
def test_other_words_for_the_oracles_lines_raise_no_alarm(pack: str, tmp_path: Path) -> None:
    """Written by someone who saw neither the checks nor any parser of English."""
    says = [line for line in PACKS[pack].split("  oracle:\n")[1].split("  wrong:\n")[0].splitlines() if "say: " in line]
    for _, number, text in (said for said in SAID if said[0] == pack):
        line = says[number - 1]
        start, end = line.index("say: "), line.index(", do: ")
        path = changed(pack, [(line, f"{line[:start]}say: {yaml_text(text)}{line[end:]}")], tmp_path)
        assert [str(problem) for problem in validate(path, LIBRARY).problems] == [], text


def yaml_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.mark.slow
@pytest.mark.parametrize("scene", Library().scene_ids())
def test_drafts_are_clean_in_every_scene(scene: str, tmp_path: Path) -> None:
    for family in sorted(spec.id for spec in families().values()):
        assert [str(p) for p in validate(new(family, "an idea", tmp_path, scene), LIBRARY).problems] == []


@pytest.mark.parametrize("case", VARIANTS, ids=[f"{i}-{case['pack']}" for i, case in enumerate(VARIANTS)])
def test_another_task_that_is_as_sound_is_clean(case: dict[str, Any], tmp_path: Path) -> None:
    path = changed(case["pack"], case["edits"], tmp_path)
    assert [str(problem) for problem in validate(path, LIBRARY).problems] == []
