"""Readings of packs: what freezing asks of them, and that writing one changes nothing else of the file (BENCH-2)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from iwkit import resources
from iwkit.cli import main as cli
from iwkit.compile import load_task
from iwkit.errors import FreezeError, Problems, UsageError
from iwkit.library import Library
from iwkit.spec.review import Reading
from iwkit_authoring.readings import add_reading, missing, standing, told

LIBRARY = Library()
F10 = (resources.root("taskpacks") / "finding" / "F10.yaml").read_text("utf-8")
BODY = F10[: F10.index("\nreview:") + 1]
OTHER = "sha256:" + "0" * 64


def pack(folder: Path, review: str) -> Path:
    path = folder / "F10.yaml"
    path.write_bytes((BODY + review).encode())
    return path


def reading(path: Path, **fields: str) -> Reading:
    given = {
        "by": "Ada",
        "kind": "person",
        "date": "2026-11-30",
        "pack": load_task(path, LIBRARY).digest,
        "verdict": "keep",
    }
    return Reading.model_validate(given | fields)


ENTRY = "date: 2026-11-30"
REVIEWS = {
    "none": ("", "review:\n  readings:\n    - {"),
    "empty": ("review: {}\n", "review:\n  readings:\n    - {"),
    "empty, with a comment": ("review: {}  # nothing yet\n", "review:\n  readings:\n    - {"),
    "no line end": ("review: {}", "review:\n  readings:\n    - {"),
    "flow": ("review: {notes: [a]}  # so far\n", "review: {notes: [a], readings: [{"),
    "flow list": ("review:\n  readings: []\n", "review:\n  readings: [{"),
    "block": (
        "review:\n  # what was said\n  notes:\n    - a # of it\n",
        "review:\n  # what was said\n  readings:\n    - {",
    ),
    "wide": ("review:\n    notes:\n    - a\n", "review:\n    readings:\n      - {"),
    "last": ("review:\n  readings:\n    - {READING}  # first\n", "{READING}  # first\n    - {"),
    "not last": ("review:\n  readings:\n  - {READING}\n  # then\n  notes: [b]\n", "{READING}\n  - {"),
    "blocks": (
        "review:\n  readings:\n    - by: B\n      kind: model\n      date: 2026-01-01\n      verdict: keep\n"
        f"      pack: {OTHER}\n      note: |\n        two\n        lines\n  notes: [b]\n",
        "        lines\n    - {by:",
    ),
}
OLD = f"by: B, kind: model, date: 2026-01-01, pack: {OTHER}, verdict: keep"


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("name", REVIEWS)
def test_a_reading_is_added_and_nothing_else_changes(tmp_path: Path, name: str, end: str) -> None:
    before, after = (text.replace("READING", OLD).replace("\n", end) for text in REVIEWS[name])
    path = tmp_path / "F10.yaml"
    path.write_bytes((BODY.replace("\n", end) + before).encode())
    old = load_task(path, LIBRARY)
    new = reading(path, note='a "note": with # signs')
    add_reading(path, new, LIBRARY)
    text = path.read_bytes().decode()
    assert after in text[len(BODY.replace("\n", end)) :]
    assert text.startswith(BODY.replace("\n", end))
    assert text.count("\n") == text.count(end)
    task = load_task(path, LIBRARY)
    assert task.digest == old.digest
    assert task.pack.review.readings == (*old.pack.review.readings, new)
    assert task.pack.review.notes == old.pack.review.notes
    for comment in ("# so far", "# of it", "# what was said", "# first", "# then", "# nothing yet"):
        assert (comment in text) == (comment in before)


def visible(also: str) -> st.SearchStrategy[str]:
    """Characters that a pack may hold: selectors of plane E are among the invisible ones, which are refused (Y005)."""
    return st.characters(max_codepoint=0xDFFFF, exclude_categories=["C", "Z"], include_characters=also)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text(visible(" "), min_size=1), max_size=3),
    st.text(visible(" \n"), min_size=1, max_size=60),
)
def test_any_note_survives_beside_any_notes(tmp_path: Path, notes: list[str], note: str) -> None:
    path = pack(tmp_path, f"review: {json.dumps({'notes': notes}, ensure_ascii=False)}\n")
    new = reading(path, note=note)
    add_reading(path, new, LIBRARY)
    review = load_task(path, LIBRARY).pack.review
    assert (review.notes, review.readings) == (tuple(notes), (new,))


def test_a_reading_of_another_revision_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path, "review: {}\n")
    with pytest.raises(UsageError, match=f"the reading is of {OTHER}"):
        add_reading(path, reading(path, pack=OTHER), LIBRARY)
    assert path.read_text() == BODY + "review: {}\n"


def test_what_cannot_be_spliced_is_refused_with_what_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pack(tmp_path, "review: {}\n")
    new = reading(path)
    monkeypatch.setattr(
        "iwkit_authoring.readings._spliced", lambda text, _: text.replace("score: state", "score: binary")
    )
    with pytest.raises(FreezeError, match=r"add under readings: - \{by: \"Ada\", kind: person"):
        add_reading(path, new, LIBRARY)
    assert path.read_text() == BODY + "review: {}\n"


def test_what_freezing_lacks(tmp_path: Path) -> None:
    def lacks(*said: dict[str, str]) -> list[str]:
        path = pack(tmp_path, "review: {}\n")
        for fields in said:
            new = reading(path, **fields).model_copy(update={"pack": fields.get("pack", reading(path).pack)})
            text = json.dumps({"readings": [*previous(path), new.model_dump(exclude_none=True)]})
            path = pack(tmp_path, f"review: {text}\n")
        return missing(load_task(path, LIBRARY), path)

    def previous(path: Path) -> list[object]:
        return list(yaml.safe_load(path.read_text())["review"].get("readings", []))

    assert "nobody's reading of it is recorded: run iwkit review" in lacks()[0]
    assert lacks({}) == []
    assert lacks({"verdict": "keep_debt", "kind": "model", "note": "dull"}) == []
    assert (
        "a model's reading by Ada on 2026-11-30 says keep, but the pack was changed since"
        in lacks({"pack": OTHER, "kind": "model"})[0]
    )
    assert "says retry: too easy" in lacks({}, {"by": "Bo", "verdict": "retry", "note": "too easy"})[0]
    assert lacks({"verdict": "retry", "note": "?"}, {"verdict": "keep"}) == []
    assert lacks({"verdict": "retry", "note": "?", "pack": OTHER}, {"verdict": "keep"}) == []
    # A model of the same name does not take back what the person said.
    assert lacks({"verdict": "retry", "note": "?"}, {"verdict": "keep", "kind": "model"})


@pytest.mark.parametrize(
    ("field", "value", "told_as"),
    [
        ("kind", "robot", "S104"),
        ("verdict", "maybe", "S104"),
        ("date", "2026-02-30", "S105"),
        ("date", "2026-1-1", "S105"),
        ("date", "today", "S105"),
        ("pack", "sha256:12", "S105"),
        ("by", "", "S105"),
        ("by", None, "S102"),
    ],
)
def test_a_bad_reading_is_told_at_its_place(tmp_path: Path, field: str, value: str | None, told_as: str) -> None:
    good = {"by": "Ada", "kind": "person", "date": "2026-11-30", "pack": OTHER, "verdict": "keep"}
    bad = {k: v for k, v in (good | {field: value}).items() if v is not None}
    path = pack(tmp_path, f"review: {json.dumps({'readings': [bad]})}\n")
    with pytest.raises(Problems, match=rf"F10\.yaml:\d+:\d+: {told_as} .*{value or field}"):
        load_task(path, LIBRARY)


def test_the_command_reads_as_it_says(tmp_path: Path) -> None:
    if not cli.app.registered_commands:
        cli._register()
    path = pack(tmp_path, "review: {}\n")
    asked = ["review", str(path), "--by", "some model", "--kind", "model", "--verdict"]
    done = CliRunner().invoke(cli.app, [*asked, "keep"])
    assert done.exit_code == 0, done.output
    assert "F10: a model's reading by some model on " in done.output
    (found,) = standing(load_task(path))
    assert told(found) in done.output
    for wrong, why in (("keep_debt", "--note"), ("retry", "--note"), ("kept", "--verdict 'kept'")):
        result = CliRunner().invoke(cli.app, [*asked, wrong])
        assert isinstance(result.exception, UsageError)
        assert why in str(result.exception)
    assert len(load_task(path).pack.review.readings) == 1
