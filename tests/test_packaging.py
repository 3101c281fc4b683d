"""What is built for others: the wheel holds four packages and the data, works away from the checkout, and can be made
from the source archive alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

from iwkit.resources import Kind, root
from iwkit_runtime.identity import runtime_digest

ROOT = Path(__file__).parent.parent
PACKAGES = {"iwkit", "iwkit_validators", "iwkit_runtime", "iwkit_authoring"}
KINDS: tuple[Kind, ...] = get_args(Kind)

# Nothing of this checkout may leak into the processes that are to work without it.
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
ENVIRONMENT |= {"COLUMNS": "80", "PYTHONUTF8": "1"}


def run(command: Sequence[str | Path], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build(target: str, source: Path, out: Path) -> Path:
    run([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", out], source)
    (built,) = out.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return built


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel and, by path, what it depends on.

    A path in a .pth file brings no editable installs with it, so the checkout is out of reach.
    """
    place = tmp_path_factory.mktemp("environment") / "venv"
    run([sys.executable, "-m", "venv", "--without-pip", place], ROOT)
    python = place / "bin" / "python"
    site = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], place).strip())
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    run([sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "-q", wheel], place)
    return python


def test_data_is_found_in_the_checkout() -> None:
    for kind in KINDS:
        assert root(kind).is_relative_to(ROOT)
        assert any(root(kind).iterdir()), kind


@pytest.mark.slow
def test_the_wheel_holds_four_packages_and_the_data(wheel: Path) -> None:
    files = names(wheel)
    tops = {name.split("/")[0] for name in files}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    for package in PACKAGES:
        assert f"{package}/py.typed" in files
    for kind in KINDS:
        data = {p.relative_to(root(kind)).as_posix() for p in root(kind).rglob("*") if p.is_file()}
        assert data <= {n.removeprefix(f"iwkit/_data/{kind}/") for n in files}, kind


@pytest.mark.slow
def test_data_is_found_in_the_wheel(installed: Path, tmp_path: Path) -> None:
    script = (
        "import json, sys, iwkit; from iwkit.resources import root; from iwkit_runtime.identity import runtime_digest\n"
        "print(json.dumps([iwkit.__file__, [str(root(kind)) for kind in sys.argv[1:]], runtime_digest()]))"
    )
    where, folders, digest = json.loads(run([installed, "-c", script, *KINDS], tmp_path))
    home = installed.parent.parent
    assert Path(where).is_relative_to(home)
    assert all(Path(folder).is_relative_to(home) and any(Path(folder).iterdir()) for folder in folders)
    assert digest == runtime_digest(), "the same code has the same digest wherever it lies"


@pytest.mark.slow
def test_the_wheel_runs_the_frozen_tasks_in_another_folder_and_prints_what_the_readme_shows(
    installed: Path, tmp_path: Path, run_of: Callable[[str], Path], kept: Callable[[Path, str], Any]
) -> None:
    iwkit = installed.parent / "iwkit"
    printed = run([iwkit, "run", "--out", "here"], tmp_path)
    told = run([iwkit, "report", "here", "--episode", "F10"], tmp_path)
    readme = (ROOT / "README.md").read_text("utf-8")
    for start, real in (("┏", printed), ("Handoff", told)):
        shown = re.search(rf"```\n({start}.*?)```", readme, re.DOTALL)
        assert shown
        assert set(shown.group(1).splitlines()) <= {line.rstrip() for line in real.splitlines()}
    report = json.loads(run([iwkit, "report", "here", "--format", "json"], tmp_path))
    assert report["pass_rate"] == 1
    assert sorted(report["tasks"]) == sorted(json.loads((root("taskpacks") / "lock.json").read_text("utf-8"))["packs"])
    assert [p.name for p in tmp_path.iterdir()] == ["here"]
    for task in ("D5", "F10", "G10", "P8", "W7"):  # one a family; of A1 another test says so
        assert kept(tmp_path / "here", task) == kept(run_of(task), task), "the same bytes in another process and place"


@pytest.mark.slow
def test_the_source_archive_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    archive = build("sdist", ROOT, tmp_path / "sdist")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    assert names(build("wheel", source, tmp_path / "again")) == names(wheel)
    for needed in ("README.md", "LICENSE", "dev", "docs/packs.md", "tests/test_packaging.py", "benchmarks/speed.py"):
        assert (source / needed).is_file(), needed
    assert not (source / "runs").exists() and not (source / ".venv").exists()
