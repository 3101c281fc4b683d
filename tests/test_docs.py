"""The documentation says what is there: commands, options, exit codes, fields, records, links, requirement ids."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from iwkit.cli import main as cli
from iwkit.compile import load_task
from iwkit.families import families
from iwkit.metrics.cells import CellResult
from iwkit.report.summary import Summary, to_json
from iwkit.spec import goal as goal_models
from iwkit.spec import pack as pack_models
from iwkit.spec.base import Model
from iwkit_authoring.controls import run_controls
from iwkit_validators.suite import validate

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *DOCS.glob("**/*.md"),
        ROOT / "benchmarks" / "README.md",
        ROOT / "runtime" / "assets" / "README.md",
    ]
)


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def section(text: str, heading: str) -> str:
    """What stands under a heading, its subsections included."""
    start = re.search(rf"^(#+) {re.escape(heading)}\n", text, re.MULTILINE)
    assert start, f"no heading {heading!r}"
    rest = text[start.end() :]
    end = re.search(rf"^#{{1,{len(start.group(1))}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def rows(text: str) -> list[list[str]]:
    """The rows of the tables in a text without their heads, each a list of cells."""
    found: list[list[str]] = []
    in_body = False
    for line in text.splitlines():
        if not line.startswith("|"):
            in_body = False
        elif re.fullmatch(r"[|\s:-]+", line):
            in_body = True
        elif in_body:
            found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


# --- the command line --------------------------------------------------------------------------------------------


MODULES = (
    "projects",
    "packs",
    "proving",
    "freezing",
    "running",
    "reporting",
    "replay",
    "inspect",
    "audit",
    "scenes",
    "catalogue",
    "assets",
)
"""Modules of `iwkit.cli` that register commands."""


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with the words that call it."""

    def walk(words: str, command: Any) -> Iterator[tuple[str, Any]]:
        below = getattr(command, "commands", {})
        if not below:
            yield words, command
        for name, sub in below.items():
            yield from walk(f"{words} {name}", sub)

    app = typer.Typer()
    for module in MODULES:
        importlib.import_module(f"iwkit.cli.{module}").register(app)
    yield from walk("iwkit", typer.main.get_command(app))


def documented_commands() -> dict[str, str]:
    """Command -> its section in docs/cli.md."""
    found = {}
    for title in re.findall(r"^### `(.+)`$", page("cli.md"), re.MULTILINE):
        words = " ".join(w for w in title.split() if re.fullmatch(r"[a-z]+", w))
        found[words] = section(page("cli.md"), f"`{title}`")
    return found


def test_every_command_module_is_walked() -> None:
    modules = {p.stem for p in (ROOT / "iwkit" / "cli").glob("*.py")} - {"__init__", "main", "common"}
    assert modules == set(MODULES)


def test_every_command_is_documented() -> None:
    assert set(documented_commands()) == {name for name, _ in commands()}


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=lambda v: v if isinstance(v, str) else "")
def test_every_option_is_documented(name: str, command: Any) -> None:
    described = {re.findall(r"--[a-z-]+", row[0])[0]: row[1] for row in rows(documented_commands()[name])}
    options = {p.opts[-1]: p for p in command.params if p.param_type_name == "option"}
    assert set(described) == set(options)
    for option, param in options.items():
        assert ("needed" in described[option]) == param.required, option
        if isinstance(param.default, str):
            assert f"`{param.default}` (default)" in described[option], option


def test_every_exit_code_is_documented() -> None:
    codes = {value for name, value in vars(cli).items() if name.startswith("EXIT_")}
    for path in (ROOT / "iwkit" / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("sys.exit", "typer.Exit"):
                codes |= {a.value for a in node.args if isinstance(a, ast.Constant)}
    described = {int(row[0]) for row in rows(section(page("cli.md"), "Exit codes"))}
    assert described == codes | {0, 2}


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["scene", "--help"]], ids=" ".join)
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    heavy = ["yaml", "matplotlib", "numpy", "iwkit.compile", "iwkit.spec", "iwkit_runtime", "iwkit_validators"]
    if len(words) == 1:
        heavy.append("pydantic")  # below the top, newer releases of typer import it themselves
    script = (
        "import sys; sys.argv[0] = 'iwkit'\n"
        "from iwkit.cli.main import main\n"
        "try: main()\n"
        f"finally: print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=True)
    assert "Usage: iwkit" in done.stdout
    assert done.stderr.strip() == "[]"


# --- pages in general --------------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    found = set()
    for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        found.add(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-"))
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target, _, anchor = link.partition("#")
        there = (path.parent / target).resolve() if target else path
        assert there.exists(), f"{path.name} links to {link}"
        assert not anchor or anchor in anchors(there.read_text("utf-8")), f"{path.name} links to {link}"


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_pages_name_no_host_and_no_place_on_a_machine(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not re.findall(r"\w+://|\blocalhost\b|\b\d+\.\d+\.\d+\.\d+\b", text)
    assert not re.findall(r"(?<![\w.>~-])/(?:home|root|tmp|var|opt|usr|mnt|work|Users)/\S*", text)


def test_docs_are_reachable_from_the_readme() -> None:
    links = set(re.findall(r"\]\(docs/([^)#]+)", (ROOT / "README.md").read_text("utf-8")))
    assert links >= {p.name for p in DOCS.glob("*.md")}


@pytest.mark.parametrize("marker", ["run", "test"])
def test_readme_set_up_is_one_line_each(marker: str) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    block = re.search(rf"<!-- setup:{marker} -->\s*```\w*\n(.*?)```", text, re.DOTALL)
    assert block
    lines = block.group(1).strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("bash dev ")
    assert f"\n  {lines[0].split()[2]})" in (ROOT / "dev").read_text("utf-8")


def test_the_architecture_names_every_room_of_the_language_and_none_that_is_not() -> None:
    named = set(re.findall(r"`(iwkit(?:_\w+)?\.\w+)`", (ROOT / "ARCHITECTURE.md").read_text("utf-8")))
    found = set()
    for package in (ROOT / "iwkit", ROOT / "runtime" / "iwkit_runtime"):
        modules = (p for p in package.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists())
        found |= {f"{package.name}.{p.stem}" for p in modules if p.stem != "__init__"}
    assert named <= found
    assert {room for room in found if room.startswith("iwkit.")} <= named


# --- docs/packs.md -----------------------------------------------------------------------------------------------

HEADINGS: dict[type[Model], str] = {
    pack_models.Pack: "The file",
    pack_models.Contract: "`contract`",
    pack_models.Physical: "`physical`",
    pack_models.Wearer: "`physical.wearer`",
    pack_models.Entity: "`physical.entities`",
    pack_models.CommandStep: "`physical.opening` and `physical.plan`",
    pack_models.PackEvent: "`physical.events`",
    goal_models.Window: "`physical.windows`",
    goal_models.Named: "`physical.evidence`, `goal.keep` and `goal.gates`",
    goal_models.Goal: "`physical.goal`",
    goal_models.Achieve: "`physical.goal.achieve`",
    goal_models.Atom: "`physical.atoms`",
    pack_models.Interaction: "`interaction`",
    pack_models.Frames: "`interaction.frames`",
    pack_models.HumanContext: "`interaction.human`",
    pack_models.Cue: "`interaction.opening` and `interaction.plan`",
    pack_models.Line: "`interaction.oracle`",
    pack_models.Control: "`interaction.wrong` and `interaction.early`",
    pack_models.Budget: "`interaction.budget`",
    pack_models.Axis: "`vary`",
    pack_models.Alternative: "`vary.among`",
}
"""Model -> the heading that documents it in docs/packs.md."""


def test_every_model_of_a_pack_has_its_section() -> None:
    there = {
        m
        for module in (pack_models, goal_models)
        for m in vars(module).values()
        if isinstance(m, type) and issubclass(m, Model) and m.__module__ == module.__name__
    }
    assert set(HEADINGS) == there


@pytest.mark.parametrize("model", HEADINGS, ids=lambda m: m.__name__)
def test_every_field_of_a_pack_is_documented(model: type[Model]) -> None:
    described = {row[0].strip("`"): row[1] for row in rows(section(page("packs.md"), HEADINGS[model]))}
    fields = {f.alias or name: "yes" if f.is_required() else "no" for name, f in model.model_fields.items()}
    assert described == fields


def example_pack(folder: Path) -> Path:
    """The whole example of docs/packs.md, as a file."""
    text = re.search(r"```yaml\n(taskpack: .*?)```", page("packs.md"), re.DOTALL)
    assert text
    path = folder / f"{re.findall(r'^id: (.+)$', text.group(1), re.MULTILINE)[0]}.yaml"
    path.write_text(text.group(1), "utf-8")
    return path


@pytest.mark.parametrize("world", ["symbolic", pytest.param("physical", marks=pytest.mark.slow)])
def test_the_example_pack_is_clean_and_its_controls_are_right(tmp_path: Path, world: str) -> None:
    path = example_pack(tmp_path)
    assert [str(p) for p in validate(path).problems] == []
    report = run_controls(load_task(path), [world])
    assert [(r.assistant, r.human, r.why) for r in report.results if not r.right] == []


# --- docs/running.md ---------------------------------------------------------------------------------------------


def written_kinds() -> set[str]:
    """The kinds of record that the sources write."""
    found = set()
    runtime = ROOT / "runtime" / "iwkit_runtime"
    sources = [ROOT / "iwkit" / "ledger.py", ROOT / "iwkit" / "recorder.py", runtime / "play.py"]
    sources += (runtime / "loop").glob("*.py")
    for path in sources:
        text = path.read_text("utf-8")
        found |= set(re.findall(r"(?:journal\.append|_sink|recorder\.step)\(\s*\"(\w+)\"", text))
        found |= set(re.findall(r"^(?:RESUMED|END| +kind) = \"(\w+)\"", text, re.MULTILINE))
    return found


def test_every_kind_of_record_is_documented() -> None:
    table = section(page("running.md"), "Records").split("An episode ends")[0]
    assert {row[0].strip("`") for row in rows(table)} == written_kinds()


def test_every_stop_reason_is_documented() -> None:
    texts = [p.read_text("utf-8") for p in (ROOT / "runtime" / "iwkit_runtime").rglob("*.py")]
    reasons = {r for text in texts for r in re.findall(r"(?:_finish|give_up)\(\"([a-z ]+)\"", text)}
    table = section(page("running.md"), "Records").split("`stop_reason`):")[1]
    assert {row[0].strip("`") for row in rows(table)} == reasons


# --- docs/speed.md -----------------------------------------------------------------------------------------------


def test_the_benchmark_runs_and_its_page_has_its_rows() -> None:
    script = ROOT / "benchmarks" / "speed.py"
    done = subprocess.run([sys.executable, script, "--repeats", "1"], capture_output=True, text=True, check=True)
    measured = {row[0]: row for row in rows(done.stdout)}
    assert measured
    assert all(re.search(r"\d", row[1]) for row in measured.values())
    assert set(measured) == {row[0] for row in rows(page("speed.md").split("\n## ")[0])}


# --- docs/paper-map.md -------------------------------------------------------------------------------------------

REQUIREMENTS = {"PHY": 12, "ACT": 10, "SEM": 10, "EVAL": 10, "BENCH": 8, "MET": 9, "EGO": 8, "NEXT": 6}
"""Group of requirements -> how many there are; they are numbered from 1."""
WORDS = {"done", "part", "missing"}


def mapped() -> list[list[str]]:
    return [row for row in rows(page("paper-map.md")) if re.fullmatch(r"[A-Z]+-\d+", row[0])]


def test_every_requirement_is_mapped_once_and_in_order() -> None:
    wanted = [f"{group}-{i}" for group, count in REQUIREMENTS.items() for i in range(1, count + 1)]
    assert [row[0] for row in mapped()] == wanted


@pytest.mark.parametrize("row", mapped(), ids=lambda r: r[0])
def test_the_map_names_what_exists(row: list[str]) -> None:
    _, status, there, tested, missing = row
    assert status in WORDS
    assert bool(missing) == (status != "done"), "what is missing is said exactly where something is"
    if status == "missing":
        return
    paths = re.findall(r"`([\w./*{},-]+/[\w./*-]+)`", f"{there} {tested}")
    assert paths, "no module or test is named"
    for path in paths:
        assert list(ROOT.glob(path)), path
    assert re.search(r"`tests/", tested) or tested == "no test"


def test_report_json_has_what_the_page_promises() -> None:
    cell = CellResult("F10", 0, "finding", "frozen", "pass", 1.0, 3, 4)
    data = json.loads(json.dumps(to_json(Summary(Path("x"), {}, (cell,)))))
    whole, task = section(page("cli.md"), "The JSON of a report").split("Of each task it holds")
    for table, there in ((whole, data), (task, data["tasks"]["F10"])):
        promised = [name for row in rows(table) for name in re.findall(r"`(\w+)`", row[0])]
        assert sorted(promised) == sorted(there)


# --- docs/families.md --------------------------------------------------------------------------------------------


def test_the_page_of_families_says_what_their_files_say() -> None:
    text, specs = page("families.md"), families()
    by_name = {row[0].strip("`"): row[1:] for row in rows(section(text, "The six families"))}
    assert {name: (row[0], row[1].strip("`")) for name, row in by_name.items()} == {
        spec.id: (spec.letter, source) for source, spec in specs.items()
    }
    what = section(text, "What the human sees and may do")
    sees = {row[0].strip("`"): row[1:] for row in rows(what) if len(row) == 5}
    assert sees == {
        source: [
            spec.human.movables,
            "yes" if spec.human.frames else "no",
            str(spec.human.commands),
            "yes" if spec.human.plan else "no",
        ]
        for source, spec in specs.items()
    }
    assert {row[0].strip("`") for row in rows(what) if len(row) == 3} == set(specs)


def test_every_capability_is_explained() -> None:
    table = rows(section(page("families.md"), "The nine capabilities"))
    assert [row[0].strip("`") for row in table] == list(get_args(pack_models.Capability))
