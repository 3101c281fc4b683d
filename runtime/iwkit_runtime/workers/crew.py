"""The calling process's side: who plays what, whose model is asked, and what becomes of jobs whose worker is gone."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from iwkit.errors import IwkitError, LedgerError, RunStopped
from iwkit.ledger import Record
from iwkit_runtime.workers.inside import Specs, Stage
from iwkit_runtime.workers.messages import Answer, Ask, Done, Failed, Gone, Job, Ready, Write, Written

if TYPE_CHECKING:
    from iwkit_runtime.models.desk import Desk

LIVES: Final = 2
"""A job is handed out so often at most: one that takes its worker with it again is not tried a third time."""


class Worker(Protocol):
    """A worker as the calling process has it."""

    def send(self, message: object) -> None:
        """Tell it something, from any thread. One that is gone hears nothing."""


class Place(Protocol):
    """Where workers are. A context manager; leaving it ends them."""

    def __enter__(self) -> Place: ...

    def __exit__(self, *_: object) -> None: ...

    def start(self, stage: Stage, specs: Specs | None, threads: int) -> Worker:
        """Start a worker, which says `Ready` when it is."""

    def heard(self) -> Sequence[tuple[Worker, object]]:
        """Wait until workers say something: what each says in its order, `Gone` if it ended, which is its last word.

        Raises:
            RunStopped: no worker can be started.
        """


class Keeper(Protocol):
    """Writes the records of jobs whose workers cannot."""

    def opened(self, number: int, job: Any) -> Any:
        """What the worker is sent to play a job."""

    def write(self, message: Write) -> None:
        """Write records and files.

        Raises:
            LedgerError: they cannot be written.
        """

    def closed(self, number: int) -> None:
        """A job is done, or its worker is gone."""


class Crew:
    """Workers that play jobs. Use it as a context manager; leaving it ends them.

    Args:
        stage: a picklable `Stage`.
        place: where the workers are.
        workers: how many.
        in_flight: jobs at a time, in all of them together; at least one in each.
        keeper: who writes what they record; without one they do it themselves.
        desk: where models are asked.
        models: the models that the desk will be asked for.
    """

    def __init__(
        self,
        stage: Stage,
        place: Place,
        workers: int,
        in_flight: int,
        *,
        keeper: Keeper | None = None,
        desk: Desk | None = None,
        models: Sequence[str] = (),
    ) -> None:
        self._place, self._keeper, self._desk = place, keeper, desk
        self._workers, self._each = workers, -(-in_flight // workers)
        specs = {name: desk.spec(name) for name in models} if desk else None
        self._start = partial(place.start, stage, specs, self._each)
        self._left: deque[Job] = deque()
        self._busy: dict[Worker, dict[int, Job]] = {}
        self._coming = self._stillborn = 0
        self._lost: Counter[int] = Counter()
        self._trouble: list[IwkitError | RuntimeError] = []

    def __enter__(self) -> Crew:
        self._place.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._place.__exit__(*error)

    def play(self, jobs: Sequence[Any]) -> Iterator[tuple[int, Record]]:
        """Have jobs played; the number of each and its closing record as they end, in whatever order. A job whose
        worker is gone is handed out once more.

        Raises:
            RunStopped: an agent could not be asked; the jobs then in flight were played as far as they went.
            LedgerError: a job could not be played, or its worker ended again.
        """
        self._left.extend(Job(number, job) for number, job in enumerate(jobs))
        for _ in range(min(self._workers, len(jobs))):
            self._recruit()
        while any(self._busy.values()) or (self._left and not self._trouble):
            for worker, message in self._place.heard():
                if isinstance(message, Done):
                    self._settle(worker, message.job)
                    yield message.job, message.end
                    self._hand(worker, 1)
                else:
                    self._take(worker, message)
        if self._trouble:
            raise self._trouble[0]

    def _recruit(self) -> None:
        self._start()
        self._coming += 1

    def _take(self, worker: Worker, message: object) -> None:
        match message:
            case Ready():
                self._busy[worker] = {}
                self._hand(worker, min(self._each, -(-len(self._left) // self._coming)))
                self._coming -= 1
            case Ask():
                self._ask(worker, message)
            case Write():
                worker.send(Written(message.number, self._written(message)))
            case Failed(None):
                raise _error(message)
            case Failed(int(number)):
                self._settle(worker, number)
                self._trouble.append(_error(message))
            case Gone(why):
                self._bury(worker, why)

    def _hand(self, worker: Worker, many: int) -> None:
        """Give a worker as many jobs, while there are any and all goes well."""
        for _ in range(many):
            if self._left and not self._trouble:
                job = self._left.popleft()
                self._busy[worker][job.number] = job
                what = self._keeper.opened(job.number, job.what) if self._keeper else job.what
                worker.send(Job(job.number, what))

    def _settle(self, worker: Worker, number: int) -> Job:
        if self._keeper:
            self._keeper.closed(number)
        return self._busy[worker].pop(number)

    def _bury(self, worker: Worker, why: str) -> None:
        """A worker is gone: what it played is handed out again, and another one is started for it."""
        told = f"a worker ended{why and f': {why}'}"
        if worker not in self._busy:
            self._coming, self._stillborn = self._coming - 1, self._stillborn + 1
            if self._stillborn == LIVES:
                raise LedgerError(f"{told}; it could not even be started")
        for number in tuple(self._busy.get(worker, ())):
            self._left.appendleft(self._settle(worker, number))
            self._lost[number] += 1
            if self._lost[number] == LIVES:
                raise LedgerError(
                    f"{told}, and the one before it in the same episode too, perhaps for want of memory "
                    "(try fewer --jobs); the same command goes on"
                )
        self._busy.pop(worker, None)
        if self._left and not self._trouble:
            self._recruit()

    def _written(self, message: Write) -> str:
        """Have records written: an error in words, if they could not be."""
        assert self._keeper is not None  # noqa: S101  without one they write themselves
        try:
            self._keeper.write(message)
        except LedgerError as error:
            return str(error)
        return ""

    def _ask(self, worker: Worker, ask: Ask) -> None:
        """Have a model asked, and send the answer whenever it comes."""
        import asyncio  # noqa: PLC0415  slow to import, and only wanted with models

        assert self._desk is not None  # noqa: S101  without it there is no model
        seat = self._desk.seat(ask.model, ask.cell, ask.role)
        future = asyncio.run_coroutine_threadsafe(seat.asked(ask.prompt, ask.tick), self._desk.loop)
        future.add_done_callback(lambda done: worker.send(_answer(ask.number, done, seat.account())))


def _answer(number: int, done: Future[str], account: dict[str, Any] | None) -> Answer:
    if done.cancelled():
        return Answer(number, None, account, "the run was interrupted", stopped=True)
    error = done.exception()
    if error is None:
        return Answer(number, done.result(), account)
    words = str(error) if isinstance(error, IwkitError) else f"{type(error).__name__}: {error}"
    return Answer(number, None, account, words, stopped=isinstance(error, RunStopped | LedgerError))


def _error(failed: Failed) -> IwkitError | RuntimeError:
    if failed.kind == "bug":
        return RuntimeError(f"in a worker process:\n{failed.text}")
    return RunStopped(failed.text) if failed.kind == "stopped" else LedgerError(failed.text)
