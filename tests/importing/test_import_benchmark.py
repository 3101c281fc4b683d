"""The trial of others' models: on a package of our own, and where there is none."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

SCRIPT = Path(__file__).parent.parent.parent / "benchmarks" / "importing.py"
CATALOGUE = """\
id#1=one
model#1=/ours/my_table/my_table.obj
icon#1=/ours/none.png
width#1=120
depth#1=80
height#1=75
id#2=two
model#2=/ours/bad/bad.obj
icon#2=/ours/none.png
width#2=1
depth#2=1
height#2=1
"""


def run(package: Path) -> str:
    command = [sys.executable, SCRIPT, "--package", package]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_without_the_package_it_says_so(tmp_path: Path) -> None:
    assert run(tmp_path).startswith("unavailable: no .sh3f file in")


def test_what_could_be_imported_is_counted_and_the_rest_told(tmp_path: Path, models: SimpleNamespace) -> None:
    table = models.write(tmp_path, "table", "obj", 0.01)
    with zipfile.ZipFile(tmp_path / "Ours.sh3f", "w") as packed:
        packed.writestr("PluginFurnitureCatalog.properties", CATALOGUE)
        packed.writestr("ours/bad/bad.obj", "v 0 0 0\n")
        for file in [table, *tmp_path.glob("*.mtl")]:
            packed.write(file, f"ours/my_table/{file.name}")
    out = run(tmp_path)
    row = next(line for line in out.splitlines() if line.startswith("| Ours"))
    assert [cell.strip() for cell in row.split("|")[2:4]] == ["2", "1"]
    assert "- Ours/bad: bad.obj: there is no mesh in it" in out
    assert "(which stretches models): 0" in out
