"""How fast others do what iwkit does without a body, as a markdown table, to compare with benchmarks/many_packs.py.

PYTHON benchmarks/peers.py

PYTHON is an interpreter in whose environment the packages are that are to be measured. They pin other versions than
iwkit, and iwkit is not needed here, so make them one of their own:

python -m venv peers && peers/bin/pip install bddl pandas networkx && peers/bin/pip install --no-deps virtualhome-eval
peers/bin/python benchmarks/peers.py

What is not installed is left out, and said so. Nothing is downloaded here. Times are of the processor.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

# The packages ship no types, and are only here where somebody measures them.
# mypy: disable-error-code="import-not-found,import-untyped,no-any-unimported,misc"

Row = tuple[str, float, int, str]
"""Work, seconds of the processor, of how many, and what these are."""


def bddl_rows() -> Iterator[Row]:
    """Parsing, compiling and checking every activity of BEHAVIOR-1K, as the package's own checks do it."""
    from bddl import bddl_verification as checks
    from bddl.activity import (
        Conditions,
        get_all_activities,
        get_goal_conditions,
        get_initial_conditions,
        get_object_scope,
    )
    from bddl.trivial_backend import TrivialBackend

    names = list(get_all_activities())
    start = time.process_time()
    parsed = [Conditions(name, 0, "omnigibson") for name in names]
    yield "bddl: parse", time.process_time() - start, len(names), "activities"
    backend, compiled = TrivialBackend(), 0
    start = time.process_time()
    for conditions in parsed:
        scope = get_object_scope(conditions)
        get_initial_conditions(conditions, backend, scope, generate_ground_options=False)
        get_goal_conditions(conditions, backend, scope, generate_ground_options=False)
        compiled += 1
    yield "bddl: compile initial and goal conditions", time.process_time() - start, compiled, "activities"
    properties = json.loads(Path(checks.SYNS_TO_PROPS_JSON).read_text("utf-8"))
    texts = {name: (Path(checks.PROBLEM_FILE_DIR) / name / "problem0.bddl").read_text("utf-8") for name in names}
    start = time.process_time()
    complaints = 0
    for name, text in texts.items():
        _, objects, initial, goal = checks._get_defn_elements_from_file(name)
        for check in bddl_checks(checks, name, text, objects, initial, goal, properties):
            try:
                check()
            except (AssertionError, ValueError, KeyError):
                complaints += 1
    work = f"bddl: read again and make 13 checks of its own ({complaints} complaints)"
    yield work, time.process_time() - start, len(texts), "activities"


def bddl_checks(
    checks: Any, name: str, text: str, objects: Any, initial: Any, goal: Any, properties: Any
) -> list[Callable[[], object]]:
    predicates = checks.domain_predicates
    return [
        lambda: checks.object_list_correctly_formatted(text),
        lambda: checks.all_objects_appropriate(objects, initial, goal),
        lambda: checks.all_objects_placed(initial),
        lambda: checks.no_invalid_synsets(objects, initial, goal, properties),
        lambda: checks.no_invalid_predicates(initial, goal, predicates),
        lambda: checks.future_and_real_present(objects, initial, goal),
        lambda: checks.no_repeat_object_lines(text),
        lambda: checks.no_qmarks_in_init(text),
        lambda: checks.no_contradictory_init_atoms(initial),
        lambda: checks.agent_present(initial),
        lambda: checks.no_uncontrolled_category(name, text),
        lambda: checks.no_misaligned_synsets_predicates(initial, goal, properties),
        lambda: checks.no_substances_with_multiple_instances(objects, properties),
    ]


def virtualhome_rows() -> Iterator[Row]:
    """The actions of every program that is shipped, each carried out in the graph of its own flat."""
    from virtualhome_eval.simulation.evolving_graph.environment import EnvironmentGraph
    from virtualhome_eval.simulation.evolving_graph.motion_planner import MotionPlanner

    spec = importlib.util.find_spec("virtualhome_eval")
    assert spec and spec.submodule_search_locations
    data = Path(spec.submodule_search_locations[0]) / "dataset" / "programs_processed_precond_nograb_morepreconds"
    loading = acting = 0.0
    programs = actions = refused = 0
    for path in sorted((data / "executable_programs").rglob("*.txt")):
        graph = data / "init_and_final_graphs" / path.relative_to(data / "executable_programs").with_suffix(".json")
        # The executor takes the node alone, without the instance before it.
        text = re.sub(r"\(\d+\.(\d+)\)", r"(\1)", path.read_text("utf-8"))
        lines = [line for line in text.splitlines() if line.startswith("[")]
        start = time.process_time()
        graphs = json.loads(graph.read_text("utf-8"))
        planner = MotionPlanner(EnvironmentGraph(graphs["init_graph"]), graphs["final_graph"])
        loading += time.process_time() - start
        start = time.process_time()
        for number, line in enumerate(lines, 1):
            done, _ = planner.my_execute_primitive_action_eval(line, number)
            refused += not done
        acting += time.process_time() - start
        programs += 1
        actions += len(lines)
    yield "virtualhome-eval: load a program's flat", loading, programs, "programs"
    yield f"virtualhome-eval: its actions in the evolving graph ({refused} refused)", acting, actions, "actions"


PEERS: dict[str, Callable[[], Iterator[Row]]] = {"bddl": bddl_rows, "virtualhome_eval": virtualhome_rows}


def main() -> None:
    here = [name for name in PEERS if importlib.util.find_spec(name)]
    for name in sorted(PEERS.keys() - set(here)):
        print(f"{name} is not installed here, and left out: see {Path(__file__).name}", file=sys.stderr)
    if not here:
        sys.exit(1)
    load = os.getloadavg()[0]
    with contextlib.redirect_stdout(io.StringIO()):  # they print while they work
        rows = [row for name in here for row in PEERS[name]()]
    print(
        f"{', '.join(f'{name} {version(name)}' for name in here)}, {datetime.now(UTC).date().isoformat()}, Python "
        f"{platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, load average "
        f"{load:.1f} before it began, time of the processor, measured once\n"
    )
    print("| work | time | of | each | a second |\n| --- | --- | --- | --- | --- |")
    for work, seconds, count, what in rows:
        each = f"{1000 * seconds / count:.2f} ms"
        print(f"| {work} | {seconds:.2f} s | {count:,} {what} | {each} | {count / seconds:,.0f} |")


if __name__ == "__main__":
    main()
