"""Packs and recipes that name what lies elsewhere, or names that look like others: refused, and nothing is opened."""

from __future__ import annotations

import builtins
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from iwkit.library import Library
from iwkit_validators.suite import validate

ROOT = Path(__file__).parents[2]
F10 = (ROOT / "taskpacks" / "finding" / "F10.yaml").read_text("utf-8")
LIBRARY = Library()

ELSEWHERE = [
    "../secret",
    "../../etc/passwd",
    "/etc/passwd",
    "~/secret",
    "C:\\\\secret",
    "file:///etc/passwd",
    "a/../b",
    ".",
]
LOOKALIKES = {
    "cyrillic": "p\u0435n",
    "fullwidth": "\uff50en",
    "upper case": "Pen",
    "combining": "pe\u0301n",
    "ligature": "\ufb01le",
    "arabic": "\u0642\u0644\u0645",
    "hebrew": "\u05e2\u05d8",
    "space": "red pen",
    "empty": "",
    "dash": "red-pen",
    "leading digit": "1pen",
    "emoji": "\U0001f58a",
}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every file that is opened."""
    names: list[str] = []
    real = io.open

    def spy(file, *args, **kwargs):  # type: ignore[no-untyped-def]
        names.append(str(file))
        return real(file, *args, **kwargs)

    monkeypatch.setattr(io, "open", spy)
    monkeypatch.setattr(builtins, "open", spy)
    yield names


def pack(tmp_path: Path, old: str, new: str) -> Path:
    assert old in F10
    path = tmp_path / "F10.yaml"
    path.write_text(F10.replace(old, new, 1), "utf-8")
    return path


@pytest.mark.parametrize("place", ELSEWHERE)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("scene: infirmary", 'scene: "{}"'),
        ("id: F10", 'id: "{}"'),
        ("{fixture: desk_1}", '{{fixture: "{}"}}'),
        ("{category: pen,", '{{category: "{}",'),
        ("wearer: {at: trolley", 'wearer: {{at: "{}"'),
        ("    pen: {category", '    "{}": {{category'),
    ],
    ids=["scene", "id", "fixture", "category", "wearer", "entity"],
)
def test_a_reference_leads_nowhere_else(tmp_path: Path, opened: list[str], old: str, new: str, place: str) -> None:
    path = pack(tmp_path, old, new.format(place))
    problems = validate(path, LIBRARY).problems
    assert [p.code for p in problems] == ["S105"], problems
    line = path.read_text("utf-8").splitlines()[problems[0].pos.line - 1]
    assert line[problems[0].pos.col - 1 :].startswith(f'"{place}"')
    assert problems[0].hint
    assert {name for name in opened if not name.startswith(str(ROOT))} <= {str(path)}


@pytest.mark.parametrize("name", LOOKALIKES.values(), ids=LOOKALIKES)
def test_a_name_is_plain_letters(tmp_path: Path, name: str) -> None:
    problems = validate(pack(tmp_path, "    pen: {category", f'    "{name}": {{category'), LIBRARY).problems
    assert [p.code for p in problems] == ["Y031" if name == "" else "S105"], problems
    assert problems[0].pos.line == F10[: F10.index("    pen: {category")].count("\n") + 1


@pytest.mark.parametrize(
    "file", ["../mesh.npz", "/tmp/mesh.npz", "meshes/../../mesh.npz", "C:/mesh.npz", "m\\\\x.npz", "mesh.npy"]
)
def test_a_mesh_lies_below_its_recipe(tmp_path: Path, opened: list[str], file: str) -> None:
    path = tmp_path / "shapes.yaml"
    digest = "sha256:" + 64 * "0"
    path.write_text(f'recipes: "1.0"\nassets:\n  mug: {{kind: mesh, file: "{file}", digest: "{digest}"}}\n', "utf-8")
    problems = validate(path, LIBRARY).problems
    assert "S105" in {p.code for p in problems}
    assert not [name for name in opened if name.endswith((".npz", ".npy"))]
