"""The pages on the checks: every example is run, and the message that stands there is the real one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from iwkit.codes import CODES
from iwkit.library import Library
from iwkit.source.excerpt import shown
from iwkit_validators.suite import validate, validate_many

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "validators"
PAGES = {path.stem: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.md"))}
INDEX = PAGES.pop("README")
PACKS = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "taskpacks").glob("*/*.yaml"))}
EXAMPLE = re.compile(r"```diff\n(\w+)\n(.*?)\n```\n\nis told as\n\n```text\n(.*?)\n```", re.DOTALL)
EXAMPLES = [(name, *found) for name, text in PAGES.items() for found in EXAMPLE.findall(text)]
LIBRARY = Library()

BELOW_THE_SUITE = {"names": "iwkit/compile", "playing": "opening.py"}
"""Pages on checks that are no module of their own, and what the index calls their code."""


def changed(pack: str, diff: str) -> str:
    """The pack with each group of `-` lines taken out, and the `+` lines after it in its place."""
    text = PACKS[pack]
    for hunk in re.findall(r"((?:^-.*\n?)+)((?:^\+.*\n?)+)", diff, re.MULTILINE):
        old, new = ("\n".join(line[1:] for line in part.splitlines()) for part in hunk)
        assert old in text, f"{pack} no longer holds {old!r}"
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize(
    ("page", "pack", "diff", "told"), EXAMPLES, ids=[f"{e[0]}-{i}" for i, e in enumerate(EXAMPLES)]
)
def test_an_example_is_told_as_the_page_says(page: str, pack: str, diff: str, told: str, tmp_path: Path) -> None:
    text = changed(pack, diff)
    assert text != PACKS[pack]
    found = re.search(r"^id: (\S+)$", text, re.MULTILINE)
    assert found
    path = tmp_path / f"{found[1]}.yaml"
    path.write_text(text, "utf-8")
    report = validate(path, LIBRARY) if found[1] == pack else validate_many([path], LIBRARY)[0]
    assert "\n".join(map(shown, report.problems)).replace(str(path), path.name) == told
    assert {problem.code for problem in report.problems} <= set(codes(PAGES[page]))


def codes(text: str) -> dict[str, str]:
    """The table of a page: code -> meaning."""
    return dict(re.findall(r"^\| ([A-Z]\d{3}) \| (.*) \|$", text, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_codes_an_example_and_the_mend(page: str) -> None:
    meanings = codes(PAGES[page])
    assert meanings
    assert {code: CODES[code] for code in meanings} == meanings
    examples = [example for example in EXAMPLES if example[0] == page]
    assert len(examples) == PAGES[page].count("```diff") >= 1
    assert PAGES[page].count("\nMend: ") == len(examples)


def test_every_code_of_a_pack_has_one_page() -> None:
    told = [code for text in PAGES.values() for code in codes(text)]
    assert len(told) == len(set(told))
    elsewhere = {"N218", "N219", "A420"}
    of_packs = {code for code in CODES if code[0] in "NAI" or "G550" <= code <= "G599"}
    assert set(told) | elsewhere == of_packs


def test_the_index_names_every_page_and_every_module_that_checks() -> None:
    assert re.findall(r"^\| \[(\w+)\]\((\w+)\.md\)", INDEX, re.MULTILINE) == [
        (name, name) for name in re.findall(r"^\| \[(\w+)\]", INDEX, re.MULTILINE)
    ]
    assert set(re.findall(r"\]\((\w+)\.md\)", INDEX)) == set(PAGES)
    modules = {path.stem for path in (ROOT / "validators" / "iwkit_validators").glob("*.py")}
    helpers = {"__init__", "suite", "report", "places", "policy", "happenings"}
    assert set(re.findall(r"`(\w+)\.py`", INDEX)) == modules - helpers
    for page, code in BELOW_THE_SUITE.items():
        assert f"`{code}" in next(line for line in INDEX.splitlines() if line.startswith(f"| [{page}]"))


def test_the_index_is_reached_from_the_readme_and_the_codes() -> None:
    assert "](docs/validators/README.md)" in (ROOT / "README.md").read_text("utf-8")
    assert "](validators/README.md)" in (ROOT / "docs" / "problem-codes.md").read_text("utf-8")
