"""Episodes in worker processes, several in flight in each, while the calling process alone asks models.

A worker has its own worlds and writes the journals of the cells it is given; where an agent is a model, it hands the
prompt to the calling process and waits, and its other episodes go on. So rates, budget and cache hold for all episodes
together, and the number in flight does not depend on the cores. A worker whose calling process is gone ends at once:
its journals can be continued.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import TYPE_CHECKING, Any, Final

from iwkit.errors import IwkitError, LedgerError, RunStopped
from iwkit.ledger import Record

if TYPE_CHECKING:
    from iwkit_runtime.models.agents import ModelAssistant, ModelHuman
    from iwkit_runtime.models.desk import Desk
    from iwkit_runtime.models.settings import ModelSpec
    from iwkit_runtime.models.wire import Prompt

Stage = Callable[["RemoteDesk | None"], contextlib.AbstractContextManager[Callable[[Any], Record]]]
"""Makes, in a worker's thread, what plays cells one after another: a function from a job to its closing record."""

_ENDED: Final = ("done", "failed")


@dataclass(frozen=True, slots=True)
class Ask:
    """A model is to be asked for an episode in a worker."""

    number: int
    model: str
    cell: str
    role: str
    prompt: Prompt
    tick: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it: the text, or an error in words (`stopped`: of a kind that no retry mends), and what it took."""

    number: int
    text: str | None
    account: dict[str, Any] | None
    error: str = ""
    stopped: bool = False


# --- in a worker ------------------------------------------------------------------------------------------------------


class _RemoteSeat:
    """A seat at a model whose calls are made in the calling process."""

    def __init__(self, desk: RemoteDesk, spec: ModelSpec, cell: str, role: str) -> None:
        self._desk, self._spec, self._cell, self._role = desk, spec, cell, role
        self._account: dict[str, Any] | None = None

    @property
    def spec(self) -> ModelSpec:
        return self._spec

    def ask(self, prompt: Prompt, tick: int) -> str:
        reply = self._desk.ask(self._spec.name, self._cell, self._role, prompt, tick)
        self._account = reply.account
        if reply.text is None:
            raise RunStopped(reply.error) if reply.stopped else IwkitError(reply.error)
        return reply.text

    def account(self) -> dict[str, Any] | None:
        return self._account


class RemoteDesk:
    """The desk as the episodes of a worker have it."""

    def __init__(self, line: _Line, specs: dict[str, ModelSpec]) -> None:
        self._line, self._specs = line, specs
        self._numbers = count()
        self._waiting: dict[int, Future[Answer]] = {}

    def assistant(self, name: str, family: str, cell: str) -> ModelAssistant:
        """A model as assistant; see `Desk.assistant`."""
        from iwkit_runtime.models.agents import ModelAssistant  # noqa: PLC0415  only where a model plays

        return ModelAssistant(_RemoteSeat(self, self._specs[name], cell, "assistant"), family)

    def human(self, name: str, family: str, cell: str) -> ModelHuman:
        """A model as human."""
        from iwkit_runtime.models.agents import ModelHuman  # noqa: PLC0415  only where a model plays

        return ModelHuman(_RemoteSeat(self, self._specs[name], cell, "human"), family)

    def ask(self, model: str, cell: str, role: str, prompt: Prompt, tick: int) -> Answer:
        number = next(self._numbers)
        future = self._waiting[number] = Future()
        self._line.send(Ask(number, model, cell, role, prompt, tick))
        return future.result()

    def answered(self, answer: Answer) -> None:
        """The calling process has an answer."""
        self._waiting.pop(answer.number).set_result(answer)


class _Line:
    """A connection that many threads send on."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, message: object) -> None:
        with self._lock:
            self._connection.send(message)


def _work(connection: Connection[Any, Any], stage: Stage, specs: dict[str, ModelSpec] | None, in_flight: int) -> None:
    """The life of a worker: cells come in, closing records go out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the calling process decides
    line, jobs = _Line(connection), queue.SimpleQueue[Any]()
    desk = None if specs is None else RemoteDesk(line, specs)
    for _ in range(in_flight):
        threading.Thread(target=_play, args=(line, stage, desk, jobs), daemon=True).start()
    while True:
        try:
            message = connection.recv()
        except EOFError:
            os._exit(1)  # nobody waits for what is still played here
        if message is None:
            os._exit(0)  # worlds need not be taken down; every journal is on disk
        if isinstance(message, Answer):
            assert desk is not None  # noqa: S101  only its calls are answered
            desk.answered(message)
        else:
            jobs.put(message)


def _play(line: _Line, stage: Stage, desk: RemoteDesk | None, jobs: queue.SimpleQueue[Any]) -> None:
    """Play cells one after another, in worlds of this thread's own."""
    number = None
    try:
        with stage(desk) as play:
            while True:
                number, job = jobs.get()
                line.send(("done", number, play(job)))
    except IwkitError as error:
        line.send(("failed", number, ("stopped" if isinstance(error, RunStopped) else "error", str(error))))
    except BaseException:
        line.send(("failed", number, ("bug", traceback.format_exc())))


# --- in the calling process -------------------------------------------------------------------------------------------


class Crew:
    """Workers that play cells. Use it as a context manager; leaving it ends them.

    Args:
        stage: a picklable `Stage`.
        workers: how many processes.
        in_flight: episodes at a time, in all of them together; at least one in each.
        desk: where models are asked.
        models: the models that the desk will be asked for.
    """

    def __init__(
        self, stage: Stage, workers: int, in_flight: int, desk: Desk | None = None, models: Sequence[str] = ()
    ) -> None:
        self._stage, self._workers, self._desk = stage, workers, desk
        self._each = -(-in_flight // workers)
        self._specs = {name: desk.spec(name) for name in models} if desk else None
        self._lines: dict[Connection[Any, Any], _Line] = {}
        self._processes: list[SpawnProcess] = []

    def __enter__(self) -> Crew:
        context = multiprocessing.get_context("spawn")  # OpenGL and threads do not survive a fork
        for _ in range(self._workers):
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there, self._stage, self._specs, self._each), daemon=True)
            process.start()
            there.close()
            self._lines[here] = _Line(here)
            self._processes.append(process)
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._lines:
            with contextlib.suppress(OSError):
                connection.close()
        for process in self._processes:
            process.join(5)
            if process.is_alive():
                process.kill()

    def play(self, jobs: Sequence[Any]) -> Iterator[tuple[int, Record]]:
        """Have jobs played; the number of each and its closing record as they end, in whatever order.

        Raises:
            RunStopped: an agent could not be asked; the episodes then in flight were played as far as they went.
            LedgerError: a cell could not be played, or a worker ended.
        """
        left = iter(enumerate(jobs))
        busy: dict[Connection[Any, Any], set[int]] = {line: set() for line in self._lines}
        trouble: list[IwkitError | RuntimeError] = []
        for _ in range(self._each):  # one for each worker before any gets a second
            for line in busy:
                self._hand(line, left, busy)
        while any(busy.values()):
            ready = wait([line for line, cells in busy.items() if cells])
            for line in (line for line in busy if line in ready):
                message = self._received(line)
                if isinstance(message, Ask):
                    self._ask(self._lines[line], message)
                    continue
                what, number, result = message
                busy[line].discard(number)
                if what == "failed":
                    trouble.append(_error(*result))
                    continue
                yield number, result
                if not trouble:
                    self._hand(line, left, busy)
        if trouble:
            raise trouble[0]

    def _hand(self, line: Connection[Any, Any], left: Iterator[tuple[int, Any]], busy: dict[Any, set[int]]) -> None:
        """Give a worker the next job, if there is one."""
        following = next(left, None)
        if following is not None:
            busy[line].add(following[0])
            self._lines[line].send(following)

    def _received(self, line: Connection[Any, Any]) -> Any:
        try:
            return line.recv()
        except (EOFError, OSError):
            raise LedgerError(
                "a worker process ended, perhaps for want of memory (try fewer --jobs); the same command goes on"
            ) from None

    def _ask(self, line: _Line, ask: Ask) -> None:
        """Have a model asked, and send the answer whenever it comes."""
        import asyncio  # noqa: PLC0415  slow to import, and only wanted with models

        assert self._desk is not None  # noqa: S101  without it there is no model
        seat = self._desk.seat(ask.model, ask.cell, ask.role)
        future = asyncio.run_coroutine_threadsafe(seat.asked(ask.prompt, ask.tick), self._desk.loop)

        def answer(done: Future[str]) -> None:
            with contextlib.suppress(OSError):  # the worker is gone, and with it the question
                line.send(_answer(ask.number, done, seat.account()))

        future.add_done_callback(answer)


def _answer(number: int, done: Future[str], account: dict[str, Any] | None) -> Answer:
    if done.cancelled():
        return Answer(number, None, account, "the run was interrupted", stopped=True)
    error = done.exception()
    if error is None:
        return Answer(number, done.result(), account)
    words = str(error) if isinstance(error, IwkitError) else f"{type(error).__name__}: {error}"
    return Answer(number, None, account, words, stopped=isinstance(error, RunStopped | LedgerError))


def _error(kind: str, text: str) -> IwkitError | RuntimeError:
    if kind == "bug":
        return RuntimeError(f"in a worker process:\n{text}")
    return RunStopped(text) if kind == "stopped" else LedgerError(text)
