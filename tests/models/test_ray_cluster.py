"""Runs on a Ray cluster of two nodes on this machine: the same records and files as one process writes, also when a
worker is killed; errors where there is no cluster (design: scale)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from iwkit.errors import AgentError, LedgerError, UsageError
from iwkit.ledger import RESUMED, comparable
from iwkit.report.calls import totals
from iwkit.runfolder import load_plan, selected_attempt
from iwkit_runtime.runs import Config, no_pictures, run
from iwkit_runtime.selection import select

pytestmark = pytest.mark.slow
TASKS = ["A1", "F10", "G10", "W7"]

AGENT = """
import os, signal
from pathlib import Path
import ray

HERE = Path(__file__).parent

class Fatal:
    # Kills the process it is asked in, but only the first one, and notes on which node it was asked.
    def answer(self, view):
        if ray.is_initialized():
            (HERE / "nodes" / ray.get_runtime_context().get_node_id()).touch()
        if view.tick == 2 and not (HERE / "killed").exists():
            (HERE / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "$silent$" if view.tick < 4 else "$done$"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a user's own agent, and two nodes with one core each whose workers can import it."""
    import ray
    from ray.cluster_utils import Cluster

    folder = tmp_path_factory.mktemp("project")
    (folder / "fatal.py").write_text(AGENT, "utf-8")
    (folder / "nodes").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(p for p in (str(folder), os.environ.get("PYTHONPATH")) if p))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.syspath_prepend(folder)
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        cluster.add_node(num_cpus=1)
        patch.setenv("RAY_ADDRESS", cluster.address)
        yield folder
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]


def records(folder: Path, *left_out: str) -> dict[str, list[dict[str, Any]]]:
    """Cell -> the records of the attempt that counts, without wall times and marks of resuming."""
    found = {name: selected_attempt(folder, name) for name in load_plan(folder)["cells"]}
    return {
        name: [{k: v for k, v in comparable(r).items() if k not in left_out} for r in chosen[1] if r["kind"] != RESUMED]
        for name, chosen in found.items()
        if chosen
    }


def files(folder: Path) -> dict[str, bytes]:
    """Pictures and trajectories."""
    return {p.name: p.read_bytes() for kind in ("frames", "trajectories") for p in folder.glob(f"{kind}/*")}


def test_a_worker_is_killed_and_the_records_are_those_of_one_process(project: Path, tmp_path: Path) -> None:
    sources, config = select(TASKS, draft=True), Config("fatal:Fatal", "rules", "symbolic", draft=True)
    ended: list[str] = []
    run(sources, config, tmp_path / "cluster", lambda task, _: ended.append(task), (0, 1), jobs=2, where="ray")
    assert (project / "killed").exists()
    assert len(list((project / "nodes").iterdir())) == 2
    run(sources, config, tmp_path / "alone", lambda *_: None, (0, 1))
    assert sorted(ended) == sorted(TASKS * 2)
    assert records(tmp_path / "cluster") == records(tmp_path / "alone")
    assert len(records(tmp_path / "cluster")) == 8
    assert (tmp_path / "cluster" / "plan.json").read_bytes() == (tmp_path / "alone" / "plan.json").read_bytes()
    chosen = [selected_attempt(tmp_path / "cluster", name) or (None, []) for name in records(tmp_path / "cluster")]
    marks = [[r["after"] for r in found if r["kind"] == RESUMED] for _, found in chosen]
    (after,) = [mark for mark in marks if mark]
    assert after[0] > 3, "what the killed worker had recorded was on disk, and was kept"


@pytest.mark.usefixtures("project")
def test_pictures_and_trajectories_come_back_to_the_run_folder(tmp_path: Path) -> None:
    sources = select(["A1"], draft=True)
    config = Config("silent", "rules", "physical", draft=True, pictures=no_pictures("silent", "physical") is None)
    run(sources, config, tmp_path / "cluster", lambda *_: None, where="ray")
    run(sources, config, tmp_path / "alone", lambda *_: None)
    assert records(tmp_path / "cluster") == records(tmp_path / "alone")
    assert files(tmp_path / "cluster") == files(tmp_path / "alone")
    assert any(name.endswith(".json.gz") for name in files(tmp_path / "cluster"))
    assert not config.pictures or any(name.endswith(".png") for name in files(tmp_path / "cluster"))


@pytest.mark.usefixtures("project")
def test_models_are_asked_by_the_calling_process_alone(kit: Any, tmp_path: Path) -> None:
    """What is sent to a worker holds no key; the calls are in the one book."""
    kit.provider.always = kit.provider.stalls(0.05, kit.provider.says("$done$"))
    found = {}
    ways: dict[str, dict[str, Any]] = {"cluster": {"jobs": 2, "in_flight": 4, "where": "ray"}, "alone": {}}
    for name, how in ways.items():
        kit.folder = tmp_path / name
        desk = kit.desk(max_output_tokens=50)
        config = Config("openai:m", "rules", "symbolic", draft=True, models={"openai:m": desk.identity("openai:m")})
        run(select(TASKS, draft=True), config, kit.folder, lambda *_: None, desk=desk, **how)
        desk.close()
        found[name] = records(kit.folder, "call")
    assert found["cluster"] == found["alone"]
    (total,) = totals(tmp_path / "cluster")
    assert total.calls == len(TASKS)


@pytest.mark.parametrize(
    ("address", "fails", "words"),
    [
        ("127.0.0.1:9", None, "no Ray cluster answers at 127.0.0.1:9"),
        ("", None, "on this machine can be used"),
        ("", RuntimeError("Version mismatch: The cluster was started with Ray 1.0"), "Version mismatch"),
    ],
)
def test_no_cluster_to_be_used_is_told_before_anything_is_written(
    address: str, fails: Exception | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    from iwkit_runtime.workers import executor

    def init(**given: Any) -> None:
        raise fails or ConnectionError(f"nothing is running: {given['address']}")

    ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", address)
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(UsageError, match=words):
        executor("ray").cores()
    with pytest.raises(UsageError, match=words):
        config = Config("oracle", "rules", "symbolic", draft=True)
        run(select(["F10"], draft=True), config, tmp_path / "run", lambda *_: None, where="ray")


@pytest.mark.usefixtures("project")
def test_an_agent_that_a_node_does_not_have_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here_only.py").write_text("class A:\n    def answer(self, view):\n        return '$done$'\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    config = Config("here_only:A", "rules", "symbolic", draft=True)
    with pytest.raises((LedgerError, AgentError), match="here_only"):
        run(select(["F10"], draft=True), config, tmp_path / "run", lambda *_: None, where="ray")
