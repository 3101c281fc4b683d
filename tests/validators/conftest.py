"""Good packs with changes, checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iwkit.library import Library
from iwkit_validators.suite import Report, validate

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def library() -> Library:
    return Library()


@pytest.fixture
def report(tmp_path: Path, library: Library) -> Callable[..., Report]:
    """The report on a pack in which each pair of texts, one after the other, was put for the first of its kind."""

    def check(pack: str, *edits: tuple[str, str]) -> Report:
        text = next((ROOT / "taskpacks").glob(f"*/{pack}.yaml")).read_text("utf-8")
        for old, new in edits:
            assert old in text, f"{pack} no longer holds {old!r}"
            text = text.replace(old, new, 1)
        path = tmp_path / f"{pack}.yaml"
        path.write_text(text, "utf-8")
        return validate(path, library)

    return check
