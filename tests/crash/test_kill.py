"""`kill -9` anywhere in `iwkit run`, then the same command: nothing is lost, nothing is asked twice (EVAL-7).

The killed process is `driver.py` below: the command line itself, with a trap set in the functions through which the
ledger reaches the disk. The agents are a user's own. They keep a log of their own of every answer they give. Each run
is a process of its own, forked from one that has imported and read everything, or there would be time for few.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from iwkit import resources
from iwkit.compile import load_task
from iwkit.library import Library

PACKS = [next(resources.root("taskpacks").glob(f"*/{name}.yaml")) for name in ("A1", "D5", "F10", "G10", "P8", "W7")]
"""One a family: what is on disk when a process ends does not depend on what the episodes are about, and each kill costs
a run."""

AGENTS = '''
    """A user's own agents: stateless, and they log every answer before they give it."""
    import json, os
    from pathlib import Path
    from iwkit_runtime.agents.rules import RulesHuman

    HERE = Path(__file__).parent
    LINES = json.loads((HERE / "lines.json").read_text("utf-8"))

    def log(task, tick, role):
        with (HERE / "answers.jsonl").open("a") as file:
            file.write(json.dumps([task, tick, role]) + "\\n")

    class Assistant:
        def answer(self, view):
            heard = [*(s.text for s in view.dialogue), *view.speech]
            task, lines = next(LINES[text] for text in heard if text in LINES)
            spoken = sum(s.by == "assistant" for s in view.dialogue)
            text = "$silent$"
            if view.speech or view.tick % 4 == 0:
                text = f"$interrupt$ {lines[spoken]}" if spoken < len(lines) else "$done$"
            log(task, view.tick, "assistant")
            return text

    class Human:
        def answer(self, view):
            text = RulesHuman().answer(view)
            log(LINES[view.request][0], view.tick, "human")
            return text
'''

DRIVER = '''
    """The command line with a trap: `WHERE:COUNT` strikes the COUNTth time that place is passed.

    With arguments it runs them as they are. Without any it reads the packs of all runs, and then jobs, one a line, as
    JSON: the arguments, the trap, and the file that takes the output. It forks a process for each, and says its number
    and, later, how it ended.
    """
    import json, os, signal, sys
    from pathlib import Path
    import agents
    import iwkit.report.consistency, iwkit.report.table, iwkit.report.tables, iwkit_runtime.runs
    from iwkit.cli.main import _register, main
    from iwkit_runtime import selection

    where, left, strike = "never", 0, signal.SIGKILL

    def serve():
        # Nothing is written before the packs are read, so that they are read once and not in every process.
        _register()
        chosen = selection.select(json.loads(sys.stdin.readline()), draft=True)
        selection.select = lambda *_, **__: chosen
        for line in sys.stdin:
            arguments, trap, output = json.loads(line)
            child = os.fork()
            if not child:
                run(arguments, trap, output)
            print("started", child, flush=True)
            print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)

    def run(arguments, trap, output):
        global where, left, strike
        where, _, count = trap.partition(":")
        left, strike = int(count), signal.SIGINT if where == "interrupt" else signal.SIGKILL
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{output}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = ["iwkit", *arguments]
        main()
        raise SystemExit

    def passing(*places):
        global left
        if where in places:
            left -= 1
            return left == 0
        return False

    def die():
        os.kill(os.getpid(), strike)

    # The disk is not waited for: what a killed process has written is there for the next one without a sync.
    write, replace, log = os.write, Path.replace, agents.log
    line = b""

    def trapped_write(file, data):
        global line
        if bytes(data[:1]) == b"{":
            line = bytes(data)
            if passing("before", "half", "newline"):
                write(file, line[: {"before": 0, "half": len(line) // 2, "newline": len(line) - 1}[where]])
                die()
        size = write(file, data)
        if passing("after"):
            die()
        return size

    def trapped_fdatasync(file):
        if passing("synced", "interrupt") or (b'"kind":"answer"' in line and passing("answer")):
            die()

    def trapped_fsync(file):
        if passing("fsync"):
            die()

    def trapped_replace(self, target):
        if passing("replace"):
            die()
        found = replace(self, target)
        if passing("replaced"):
            die()
        return found

    def trapped_log(*entry):
        log(*entry)
        if passing("given"):
            die()

    os.write, os.fdatasync, os.fsync = trapped_write, trapped_fdatasync, trapped_fsync
    Path.replace, agents.log = trapped_replace, trapped_log
    main() if sys.argv[1:] else serve()
'''

PLACES = ("before", "half", "newline", "after", "synced", "answer", "given")
"""Places that are passed once a record or once an answer, with about how often the trap lets them pass."""
RARE = ("fsync", "replace", "replaced")
"""Places that are passed a few times at the start and once a cell."""


def said(driver: subprocess.Popen[str], word: str) -> int:
    """The number that the driver says with this word next; a test that failed may have left others unread."""
    assert driver.stdout is not None
    return next(int(line.split()[1]) for line in driver.stdout if line.startswith(word))


@dataclass
class Job:
    """A process that was forked from the driver."""

    driver: subprocess.Popen[str]
    number: int
    output: Path

    def communicate(self) -> tuple[int, str, str]:
        """Wait for its end: the exit code, negative for a signal, and what it wrote."""
        code = said(self.driver, "ended")
        out, errors = (self.output.with_suffix(end).read_text("utf-8") for end in (".out", ".err"))
        assert "Traceback" not in errors, errors
        return code, out, errors


@dataclass
class Kit:
    """A user's project: agents, their log, and run folders."""

    folder: Path
    driver: subprocess.Popen[str]

    def arguments(self, out: str) -> list[str]:
        options = ["--assistant", "agents:Assistant", "--human", "agents:Human", "--draft", "--world", "symbolic"]
        return ["run", *map(str, PACKS), *options, "--out", out]

    def start(self, arguments: list[str], crash: str = "never:0") -> Job:
        assert self.driver.stdin is not None
        output = self.folder / "printed"
        self.driver.stdin.write(json.dumps([arguments, crash, str(output)]) + "\n")
        self.driver.stdin.flush()
        return Job(self.driver, said(self.driver, "started"), output)

    def run(self, out: str, crash: str = "never:0") -> tuple[int, str, str]:
        return self.start(self.arguments(out), crash).communicate()

    def report(self, out: str) -> Any:
        code, text, _ = self.start(["report", out, "--format", "json"]).communicate()
        assert code == 0
        return json.loads(text)

    def answers(self) -> list[tuple[str, int, str]]:
        """Everything that the agents were asked so far."""
        path = self.folder / "answers.jsonl"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        return [tuple(json.loads(line)) for line in lines]


def raw_records(path: Path) -> list[dict[str, Any]]:
    """The whole records of a journal, read without iwkit."""
    records = []
    for line in path.read_bytes().split(b"\n"):
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def episode(path: Path) -> list[dict[str, Any]]:
    """What must not depend on interruptions."""
    kept = (r for r in raw_records(path) if r["kind"] != "resumed")
    return [{k: v for k, v in r.items() if not k.startswith("t_wall")} for r in kept]


def journals(out: Path) -> dict[str, Path]:
    return {p.relative_to(out).as_posix(): p for p in sorted(out.glob("cells/*/attempt-*.jsonl"))}


def recorded(out: Path) -> set[tuple[str, int, str]]:
    """Every (task, tick, role) whose answer is on disk."""
    found = set()
    for path in journals(out).values():
        task, tick = path.parent.name.removesuffix("-s0"), 0
        for record in raw_records(path):
            if record["kind"] == "ask":
                tick = record["tick"]
            elif record["kind"] == "answer":
                found.add((task, tick, record["role"]))
    return found


def torn(out: Path) -> dict[Path, bytes]:
    """Journal -> what a killed write left of a record at its end."""
    tails = {path: path.read_bytes().rpartition(b"\n")[2] for path in journals(out).values()}
    return {path: tail for path, tail in tails.items() if tail and not tail.endswith(b"}")}


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Where the driver finds the agents, and what its terminal is: none."""
    paths = os.pathsep.join(p for p in (str(folder), os.environ.get("PYTHONPATH")) if p)
    return {**os.environ, "PYTHONPATH": paths, **more}


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kit]:
    folder = tmp_path_factory.mktemp("project")
    library = Library()
    tasks = [load_task(path, library) for path in PACKS]
    lines = {
        t.pack.interaction.handoff: (t.id, [line.say for line in t.scripts["oracle"].lines if line.say is not None])
        for t in tasks
    }
    assert len(lines) == len(tasks), "the handoff tells the tasks apart"
    (folder / "lines.json").write_text(json.dumps(lines), "utf-8")
    (folder / "agents.py").write_text(textwrap.dedent(AGENTS), "utf-8")
    (folder / "driver.py").write_text(textwrap.dedent(DRIVER), "utf-8")
    pipe = subprocess.PIPE
    call = [sys.executable, "driver.py"]
    with subprocess.Popen(call, cwd=folder, env=environment(folder), stdin=pipe, stdout=pipe, text=True) as driver:
        assert driver.stdin is not None
        driver.stdin.write(json.dumps([*map(str, PACKS)]) + "\n")
        yield Kit(folder, driver)


@dataclass(frozen=True)
class Undisturbed:
    code: int
    table: str
    report: Any
    episodes: dict[str, list[dict[str, Any]]]
    plan: bytes
    asked: int
    seconds: float


@pytest.fixture(scope="module")
def undisturbed(kit: Kit) -> Undisturbed:
    before = len(kit.answers())
    start = time.monotonic()
    code, table, _ = kit.run("whole")
    seconds = time.monotonic() - start
    out = kit.folder / "whole"
    asked = kit.answers()[before:]
    assert len(set(asked)) == len(asked) == len(recorded(out))
    episodes = {name: episode(path) for name, path in journals(out).items()}
    assert len(episodes) == len(PACKS)
    assert sum(map(len, episodes.values())) > 200
    return Undisturbed(
        code=code,
        table=table.replace("whole", "OUT"),
        report=kit.report("whole"),
        episodes=episodes,
        plan=(out / "plan.json").read_bytes(),
        asked=len(asked),
        seconds=seconds,
    )


def assert_as_undisturbed(kit: Kit, out: str, code: int, table: str, undisturbed: Undisturbed) -> None:
    folder = kit.folder / out
    assert {name: episode(path) for name, path in journals(folder).items()} == undisturbed.episodes
    assert (folder / "plan.json").read_bytes() == undisturbed.plan
    assert code == undisturbed.code
    assert kit.report(out) == undisturbed.report
    assert table.replace(out, "OUT") == undisturbed.table


def continued(kit: Kit, out: str, crash: str, seconds: float = 0) -> tuple[int, str, bool]:
    """Run the command on what an earlier one left, and check that it keeps all that and asks nothing again. Returns
    the exit code, the output, and whether the process was killed. `seconds` is what a whole run takes."""
    folder = kit.folder / out
    known, tails, before = recorded(folder), torn(folder), len(kit.answers())
    lengths = {path: episode(path) for path in journals(folder).values()}
    if crash.startswith("time:"):
        job = kit.start(kit.arguments(out))
        time.sleep(float(crash.removeprefix("time:")) * seconds)
        with contextlib.suppress(ProcessLookupError):  # it was quicker
            os.kill(job.number, signal.SIGKILL)
        code, table, _ = job.communicate()
    else:
        code, table, _ = kit.run(out, crash)
    asked = kit.answers()[before:]
    assert len(set(asked)) == len(asked)
    assert not known & set(asked), "an answer on disk is not asked for again"
    assert known <= recorded(folder)
    for path, records in lengths.items():
        assert episode(path)[: len(records)] == records, "what was on disk is still there"
    killed = code == -signal.SIGKILL
    if not killed:
        for path, tail in tails.items():
            kept = [p.read_bytes() for p in path.parent.glob(f"{path.name}.torn-*")]
            assert tail in kept
    return code, table, killed


def crash_point(chance: random.Random) -> str:
    """A place and a count, or a time from the start of the process as a share of that of an undisturbed run."""
    kind = chance.random()
    if kind < 0.2:
        return f"time:{chance.uniform(0.3, 0.9):.3f}"
    if kind < 0.3:
        return f"{chance.choice(RARE)}:{chance.randint(1, 2 * len(PACKS))}"
    place = chance.choice(PLACES)
    return f"{place}:{chance.randint(1, 30 if place in ('answer', 'given') else 120)}"


def chain(kit: Kit, name: str, points: list[str], undisturbed: Undisturbed) -> int:
    """Kill at each point in turn, then run to the end. Returns how many of the points were reached."""
    kills = 0
    for point in points:
        code, table, killed = continued(kit, name, point, undisturbed.seconds)
        kills += killed
        if not killed:
            assert code == undisturbed.code
            break
    else:
        code, table, killed = continued(kit, name, "never:0")
        assert not killed
    assert_as_undisturbed(kit, name, code, table, undisturbed)
    return kills


NAMED = ["replace:1", "replaced:2", "half:1", "newline:9", "answer:1", "given:2", "synced:40", "before:70", "after:90"]
"""The plan not there yet; the plan there and no journal; a first record torn; a record whole but for its newline; an
answer on disk and not used; an answer given and not on disk; and so on."""


def test_killed_at_named_points(kit: Kit, undisturbed: Undisturbed) -> None:
    assert chain(kit, "named", NAMED, undisturbed) == len(NAMED)


def test_killed_while_continuing(kit: Kit, undisturbed: Undisturbed) -> None:
    """In the middle of the resume mark, again and again, and in the closing record of the first cell."""
    closing = len(next(iter(undisturbed.episodes.values())))
    points = ["synced:20", "half:1", "before:1", "newline:1", "after:1", f"half:{closing - 18}"]
    assert chain(kit, "again", points, undisturbed) == len(points)


def test_killed_at_random_times(kit: Kit, undisturbed: Undisturbed) -> None:
    points = [f"time:{share}" for share in (0.55, 0.75, 0.65, 0.85)]
    chain(kit, "times", points, undisturbed)


@pytest.mark.slow
def test_killed_at_a_hundred_points(kit: Kit, undisturbed: Undisturbed) -> None:
    chance = random.Random(2026)
    kills = number = 0
    while kills < 100:
        number += 1
        assert number < 60, "the points are hardly ever reached"
        kills += chain(kit, f"many-{number}", [crash_point(chance) for _ in range(7)], undisturbed)


def test_interrupted(kit: Kit, undisturbed: Undisturbed) -> None:
    """Ctrl-C leaves a run that the same command continues, also when that is interrupted in turn."""
    for count in (1, 40, 60):
        code, _, killed = continued(kit, "interrupted", f"interrupt:{count}")
        assert (code, killed) == (130, False)
    code, table, _ = continued(kit, "interrupted", "never:0")
    assert_as_undisturbed(kit, "interrupted", code, table, undisturbed)


def test_every_run_is_the_same_run(kit: Kit, undisturbed: Undisturbed) -> None:
    """Two runs are equal byte for byte, apart from wall times, whatever the order of sets; this one isn't forked."""
    before = len(kit.answers())
    call = [sys.executable, "driver.py", *kit.arguments("seeded")]
    setting = environment(kit.folder, PYTHONHASHSEED="4711")
    done = subprocess.run(call, cwd=kit.folder, env=setting, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    code, table = done.returncode, done.stdout
    assert len(kit.answers()) - before == undisturbed.asked
    assert_as_undisturbed(kit, "seeded", code, table, undisturbed)
    for name, path in journals(kit.folder / "seeded").items():
        other = kit.folder / "whole" / name
        assert without_wall_times(path) == without_wall_times(other)


def without_wall_times(path: Path) -> list[bytes]:
    """The bytes of each line up to its wall times: keys are sorted, so that they stand where they stand."""
    lines = []
    for line in path.read_bytes().splitlines():
        times = [k for k in json.loads(line) if k.startswith("t_wall")]
        for key in times:
            start = line.index(f'"{key}":'.encode())
            end = min(i for i in (line.find(b",", start), line.find(b"}", start)) if i >= 0)
            line = line[:start] + line[end:]
        lines.append(line)
    return lines
