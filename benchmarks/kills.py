"""Runs that are killed at random points of time and continued: does each end like the run that was left alone?

python benchmarks/kills.py [--kills N] [--out FOLDER] [--seed N] [--only MODE]

Each mode is a way to run tasks: a world, how many processes, and an assistant that is a script or a model, the latter
on a server of this script's that takes its time. A run is started as the command itself, killed with SIGKILL (alone or
with its worker processes) at a random time after it first wrote, and started again, until it ends by itself or was
killed ten times; then it is let end. After every kill, what is on disk must be the beginning of what the undisturbed
run wrote, record by record; the finished run must be the undisturbed one, but for wall times, marks of resuming and
what calls cost, with all its files. A model must not be asked again for an answer that is on disk. With `--out` a later
call goes on where an earlier one stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from iwkit import __version__
from iwkit.compile import load_task
from iwkit.ledger import comparable, read_records
from iwkit.library import Library
from iwkit.report.summary import summarise, to_json
from iwkit.resources import root
from iwkit_runtime.identity import runtime_digest

Line = dict[str, Any]
MODEL = "openai:slow"


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to run tasks. `share`: how many of a hundred kills it gets."""

    name: str
    share: int
    world: str
    jobs: int
    tasks: tuple[str, ...]
    model: bool = False


SYMBOLIC = ("A1", "D5", "F10", "G10", "P8", "W7")
PHYSICAL = ("A1", "W7")
MODES = {
    mode.name: mode
    for mode in (
        Mode("symbolic, one process", 25, "symbolic", 1, SYMBOLIC),
        Mode("symbolic, two workers", 25, "symbolic", 2, SYMBOLIC),
        Mode("symbolic, one process, a slow model", 20, "symbolic", 1, SYMBOLIC, model=True),
        Mode("symbolic, two workers, a slow model", 20, "symbolic", 2, SYMBOLIC, model=True),
        Mode("physical, one process", 5, "physical", 1, PHYSICAL),
        Mode("physical, two workers", 5, "physical", 2, PHYSICAL),
    )
}
CHAIN = 10
"""A run is killed so often at most."""


class Server:
    """A model that knows each task's lines, and answers the same request always the same, after a while."""

    def __init__(self) -> None:
        library = Library()
        tasks = [load_task(path, library) for path in sorted(root("taskpacks").glob("*/*.yaml"))]
        self._lines = {
            task.pack.interaction.handoff: [line.say for line in task.scripts["oracle"].lines if line.say is not None]
            for task in tasks
        }
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = self.rfile.read(size)
                if len(body) < size:  # who asked is gone
                    self.close_connection = True
                    return
                server.asked.append(body.decode())
                time.sleep(0.1)
                message = {"role": "assistant", "content": server.answer(json.loads(body)["messages"])}
                usage = {"prompt_tokens": 100, "completion_tokens": 10}
                answer = json.dumps(
                    {"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}
                ).encode()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """A client that was killed."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, talk: Sequence[Mapping[str, Any]]) -> str:
        """The next line of the task's script when the wearer has said something, else silence."""
        lines = next(lines for handoff, lines in self._lines.items() if any(handoff in str(m) for m in talk))
        said = sum("$interrupt$" in str(m["content"]) for m in talk if m["role"] == "assistant")
        if "The wearer says:" not in str(talk[-1]["content"]):
            return "$silent$"
        return f"$interrupt$ {lines[said]}" if said < len(lines) else "$done$"


# --- a run ------------------------------------------------------------------------------------------------------------


class Bench:
    """Where runs are: a folder, and a server that is asked by those with a model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = Server()
        self._last: subprocess.Popen[bytes] | None = None
        self._models = folder / "models.yaml"
        self._models.write_text(f'models: "1.0"\nagents: {{{MODEL}: {{base_url: {self.server.address}}}}}\n', "utf-8")

    def start(self, mode: Mode, out: Path) -> subprocess.Popen[bytes]:
        given = ["run", *mode.tasks, "--draft", "--world", mode.world, "--jobs", str(mode.jobs), "--out", str(out)]
        given += ["--human", "rules", "--assistant", MODEL if mode.model else "oracle"]
        given += ["--models", str(self._models)] if mode.model else []
        call = [sys.executable, "-c", "from iwkit.cli.main import main; main()", *given]
        environment = {**os.environ, "OPENAI_API_KEY": "k" * 20}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": (self.folder / "errors.txt").open("wb")}
        self._last = subprocess.Popen(call, env=environment, start_new_session=True, **quiet)  # type: ignore[call-overload]
        return self._last

    def stop(self) -> None:
        """Let nothing run on when this script ends before its time."""
        if self._last is not None and self._last.poll() is None:
            os.killpg(self._last.pid, signal.SIGKILL)

    def finish(self, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        if code != 0:
            raise SystemExit(f"a run ended with {code}:\n{(self.folder / 'errors.txt').read_text('utf-8')}")


@dataclass(frozen=True, slots=True)
class Whole:
    """An undisturbed run: what it wrote, how long it took from its first writing on, how often a model was asked."""

    cells: dict[str, list[Line]]
    plan: bytes
    report: Any
    files: set[str]
    seconds: float
    asked: int


def episodes(out: Path) -> dict[str, list[Line]]:
    """Journal -> its records, without wall times, marks of resuming, and what a call took."""
    found = {}
    for path in sorted(out.glob("cells/*/attempt-*.jsonl")):
        records = [r for r in read_records(path)[0] if r["kind"] != "resumed"]
        kept = ({k: v for k, v in comparable(r).items() if k not in ("n", "call")} for r in records)
        found[path.relative_to(out).as_posix()] = list(kept)
    return found


def files(out: Path) -> set[str]:
    """Pictures and trajectories by name, which is the digest of what is in them."""
    return {path.name for name in ("frames", "trajectories") for path in out.glob(f"{name}/[!.]*")}


def undisturbed(bench: Bench, mode: Mode) -> Whole:
    out = bench.folder / "whole"
    shutil.rmtree(out, ignore_errors=True)
    bench.server.asked.clear()
    process = bench.start(mode, out)
    writes(process, out)
    start = time.monotonic()
    bench.finish(process)
    seconds = time.monotonic() - start
    plan = (out / "plan.json").read_bytes()
    return Whole(episodes(out), plan, report(out), files(out), seconds, len(bench.server.asked))


def report(out: Path) -> Any:
    """All figures of a run, but for what its calls took: a call that was under way was paid for in vain."""
    return {key: value for key, value in to_json(summarise(out)).items() if key not in ("calls", "models")}


# --- kills ------------------------------------------------------------------------------------------------------------


def chain(bench: Bench, mode: Mode, whole: Whole, chance: random.Random, most: int) -> Iterator[Line]:
    """Kill one run again and again, then let it end: a line for each kill, with what was wrong after it."""
    out = bench.folder / "killed"
    shutil.rmtree(out, ignore_errors=True)
    bench.server.asked.clear()
    lines: list[Line] = []
    for _ in range(most):
        process = bench.start(mode, out)
        wait, alone = chance.uniform(0, 0.3 * whole.seconds), mode.jobs == 1 or chance.random() < 0.5
        writes(process, out)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait)
        if process.poll() is not None:
            break
        if alone:
            process.send_signal(signal.SIGKILL)
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        lines.append({"mode": mode.name, "after": round(wait, 2), "alone": alone, **state(out, whole)})
    else:
        process = bench.start(mode, out)
    bench.finish(process)
    wrong = differences(bench, out, whole, len(lines))
    for line in lines:
        yield {**line, "wrong": [*line["wrong"], *wrong], "code": code()}


def writes(process: subprocess.Popen[bytes], out: Path) -> None:
    """Wait until a run writes, its plan or a mark of resuming, or ends."""

    def size() -> int:
        return sum(path.stat().st_size for path in [*out.glob("plan.json"), *out.glob("cells/*/*.jsonl")])

    before = size()
    while process.poll() is None and size() == before:
        time.sleep(0.002)


def code() -> str:
    """What identifies the code that is killed, short."""
    return runtime_digest().removeprefix("sha256:")[:8]


def state(out: Path, whole: Whole) -> Line:
    """What a killed run left: how much of it, and what of it is not as it should be."""
    left = episodes(out)
    torn = sum(bool(read_records(path)[1]) for path in out.glob("cells/*/attempt-*.jsonl"))
    wrong = [
        f"{name} is no beginning" for name, records in left.items() if records != whole.cells[name][: len(records)]
    ]
    closed = sum(bool(records) and records[-1]["kind"] == "end" for records in left.values())
    return {
        "records": sum(map(len, left.values())),
        "open": len(left) - closed,
        "closed": closed,
        "torn": torn,
        "wrong": wrong,
    }


def differences(bench: Bench, out: Path, whole: Whole, kills: int) -> list[str]:
    """In what a run that was killed and finished differs from the undisturbed one."""
    asked, flying = bench.server.asked, 4
    checks = {
        "records differ": episodes(out) == whole.cells,
        "the plan differs": (out / "plan.json").read_bytes() == whole.plan,
        "the report differs": report(out) == whole.report,
        "files are missing": files(out) >= whole.files,
        "files are too many": files(out) <= whole.files,
        "something partial is left": not list(out.rglob(".*.partial")),
        "a model was asked too often": whole.asked <= len(asked) <= whole.asked + flying * kills,
        "a model was asked another thing": len(set(asked)) <= whole.asked,
    }
    return [what for what, holds in checks.items() if not holds]


# --- the table --------------------------------------------------------------------------------------------------------


def table(lines: Sequence[Line]) -> str:
    """What became of the kills, as markdown."""
    head = ("run", "kills", "of them with an episode open", "in the middle of a line", "records on disk", "wrong")
    rows = [head, ("---",) * len(head)]
    for name in [*MODES, "all"]:
        of = [line for line in lines if name in (line["mode"], "all")]
        if of:
            least, most = min(line["records"] for line in of), max(line["records"] for line in of)
            some, torn, wrong = (sum(bool(line[key]) for line in of) for key in ("open", "torn", "wrong"))
            rows.append((name, str(len(of)), str(some), str(torn), f"{least} to {most}", str(wrong)))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def read(path: Path) -> list[Line]:
    """The lines of an earlier call; one that was torn off is left out."""
    found = []
    for text in path.read_text("utf-8").splitlines() if path.exists() else ():
        with contextlib.suppress(json.JSONDecodeError):
            found.append(json.loads(text))
    return found


def run(bench: Bench, kills: int, seed: int, only: str | None) -> list[Line]:
    """Kill so often in all, what an earlier call did counted, and return every line."""
    kept = bench.folder / "kills.jsonl"
    lines = read(kept)
    for mode in MODES.values():
        if only not in (None, mode.name):
            continue
        wanted = kills if only else -(-kills * mode.share // 100)
        done = sum(line["mode"] == mode.name for line in lines)
        if done >= wanted:
            continue
        whole = undisturbed(bench, mode)
        while done < wanted:
            chance = random.Random(f"{seed} {mode.name} {done}")
            with kept.open("a", encoding="utf-8") as file:
                for line in chain(bench, mode, whole, chance, min(CHAIN, wanted - done)):
                    file.write(json.dumps(line) + "\n")
                    lines.append(line)
                    done += 1
            print(f"{mode.name}: {done} of {wanted}", file=sys.stderr, flush=True)
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="in all (default 200)")
    parser.add_argument("--out", type=Path, help="folder that keeps what was done, to go on later")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=MODES, help="all kills in this mode")
    given = parser.parse_args()
    if given.kills < 1:
        parser.error("--kills must be at least 1")
    load = os.getloadavg()[0]
    with contextlib.ExitStack() as stack:
        folder = given.out or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(folder)
        stack.callback(bench.stop)
        lines = run(bench, given.kills, given.seed, given.only)
    codes = " and ".join(sorted({line["code"] for line in lines}))
    print(
        f"iwkit {__version__} (code {codes}), {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"load average {load:.1f} before it began\n\n{table(lines)}"
    )
    wrong = [line for line in lines if line["wrong"]]
    for line in wrong:
        print(json.dumps(line), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
