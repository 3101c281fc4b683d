"""What goes on in a worker: threads that play jobs, and the calling process as they have it."""

from __future__ import annotations

import contextlib
import queue
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import count
from typing import TYPE_CHECKING, Any

from iwkit.errors import IwkitError, LedgerError, RunStopped
from iwkit.ledger import BARRIERS, Record, Records
from iwkit_runtime.workers.messages import Answer, Ask, Done, Failed, Job, Ready, Write, Written

if TYPE_CHECKING:
    from iwkit_runtime.models.agents import ModelAssistant, ModelHuman
    from iwkit_runtime.models.settings import ModelSpec
    from iwkit_runtime.models.wire import Prompt

Send = Callable[[object], None]
Specs = Mapping[str, "ModelSpec"]
"""Model by name -> what is settled about it."""


class Caller:
    """The calling process: asks models, and where the worker has no run folder, writes its records."""

    def __init__(self, send: Send, specs: Specs | None) -> None:
        self._send = send
        self._numbers = count()
        self._waiting: dict[int, Future[Any]] = {}
        self.desk = None if specs is None else RemoteDesk(self, specs)

    def ask(self, model: str, cell: str, role: str, prompt: Prompt, tick: int) -> Answer:
        """Have a model asked, and wait for what comes of it."""
        answer: Answer = self._asked(lambda number: Ask(number, model, cell, role, prompt, tick))
        return answer

    def write(self, job: int, records: Sequence[Record], files: Mapping[str, bytes]) -> None:
        """Have records and files written, and wait until they are on disk.

        Raises:
            LedgerError: they cannot be written.
        """
        written: Written = self._asked(lambda number: Write(number, job, tuple(records), files))
        if written.error:
            raise LedgerError(written.error)

    def _asked(self, question: Callable[[int], object]) -> Any:
        number = next(self._numbers)
        future = self._waiting[number] = Future()
        self._send(question(number))
        return future.result()

    def answered(self, answer: Answer | Written) -> None:
        """The calling process has an answer."""
        self._waiting.pop(answer.number).set_result(answer)


Stage = Callable[[Caller], contextlib.AbstractContextManager[Callable[[Any], Record]]]
"""Makes, in a worker's thread, what plays jobs one after another: a function from a job to its closing record."""


class _RemoteSeat:
    """A seat at a model whose calls are made in the calling process."""

    def __init__(self, caller: Caller, spec: ModelSpec, cell: str, role: str) -> None:
        self._caller, self._spec, self._cell, self._role = caller, spec, cell, role
        self._account: dict[str, Any] | None = None

    @property
    def spec(self) -> ModelSpec:
        return self._spec

    def ask(self, prompt: Prompt, tick: int) -> str:
        reply = self._caller.ask(self._spec.name, self._cell, self._role, prompt, tick)
        self._account = reply.account
        if reply.text is None:
            raise RunStopped(reply.error) if reply.stopped else IwkitError(reply.error)
        return reply.text

    def account(self) -> dict[str, Any] | None:
        return self._account


class RemoteDesk:
    """The desk as the episodes of a worker have it."""

    def __init__(self, caller: Caller, specs: Specs) -> None:
        self._caller, self._specs = caller, specs

    def assistant(self, name: str, family: str, cell: str) -> ModelAssistant:
        """A model as assistant; see `Desk.assistant`."""
        from iwkit_runtime.models.agents import ModelAssistant  # noqa: PLC0415  only where a model plays

        return ModelAssistant(_RemoteSeat(self._caller, self._specs[name], cell, "assistant"), family)

    def human(self, name: str, family: str, cell: str) -> ModelHuman:
        """A model as human."""
        from iwkit_runtime.models.agents import ModelHuman  # noqa: PLC0415  only where a model plays

        return ModelHuman(_RemoteSeat(self._caller, self._specs[name], cell, "human"), family)


class RemoteJournal(Records):
    """The record of an attempt that the calling process writes, where the worker has no run folder.

    Args:
        job: the number of the job that is played.
        name: what the attempt is called in errors.
        known: the records on disk.
        fresh: files that the run folder must have before the next records, by their path in it, each once.
    """

    def __init__(
        self, caller: Caller, job: int, name: str, known: Sequence[Record], fresh: Callable[[], Mapping[str, bytes]]
    ) -> None:
        super().__init__(name, known)
        self._caller, self._job, self._fresh = caller, job, fresh
        self._unsent: list[Record] = []

    def _write(self, record: Record) -> None:
        """Records travel together, up to one whose effect leaves the worker: that one is waited for."""
        self._unsent.append(record)
        if record["kind"] in BARRIERS:
            self._caller.write(self._job, self._unsent, self._fresh())
            self._unsent.clear()


class Inside:
    """Threads that play jobs at the same time, each in worlds of its own.

    Args:
        send: how the calling process is told something; from any thread.
        threads: how many episodes there are at a time.
    """

    def __init__(self, send: Send, stage: Stage, specs: Specs | None, threads: int) -> None:
        self._send, self._stage = send, stage
        self._caller = Caller(send, specs)
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for _ in range(threads):
            threading.Thread(target=self._play, daemon=True).start()
        send(Ready())

    def receive(self, message: Job | Answer | Written) -> None:
        """The calling process says something."""
        if isinstance(message, Job):
            self._jobs.put(message)
        else:
            self._caller.answered(message)

    def _play(self) -> None:
        number = None
        try:
            with self._stage(self._caller) as play:
                while True:
                    job = self._jobs.get()
                    number = job.number
                    self._send(Done(number, play(job.what)))
        except IwkitError as error:
            self._send(Failed(number, "stopped" if isinstance(error, RunStopped) else "error", str(error)))
        except BaseException:
            self._send(Failed(number, "bug", traceback.format_exc()))
