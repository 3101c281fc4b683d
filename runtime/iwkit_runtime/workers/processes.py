"""Workers as processes of this machine. One whose calling process is gone ends at once: its journals can be
continued."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from iwkit_runtime.workers.inside import Inside, Specs, Stage
from iwkit_runtime.workers.messages import Gone


class _Line:
    """A connection that many threads send on."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, message: object) -> None:
        with self._lock, contextlib.suppress(OSError):  # at the other end nobody is left who could be told
            self._connection.send(message)


def _work(connection: Connection[Any, Any], stage: Stage, specs: Specs | None, threads: int) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the calling process decides
    inside = Inside(_Line(connection).send, stage, specs, threads)
    while True:
        try:
            inside.receive(connection.recv())
        except (EOFError, OSError):
            os._exit(0)  # nobody waits for what is still played here; every journal is on disk


class Processes:
    """See `Place`."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")  # OpenGL and threads do not survive a fork
        self._lines: dict[Connection[Any, Any], _Line] = {}
        self._processes: list[SpawnProcess] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._lines:
            connection.close()
        for process in self._processes:
            process.join(5)
            if process.is_alive():
                process.kill()

    def start(self, stage: Stage, specs: Specs | None, threads: int) -> _Line:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(there, stage, specs, threads), daemon=True)
        process.start()
        there.close()
        self._processes.append(process)
        line = self._lines[here] = _Line(here)
        return line

    def heard(self) -> list[tuple[_Line, object]]:
        ready = [line for line in wait(list(self._lines)) if isinstance(line, Connection)]
        return [(self._lines[line], self._message(line)) for line in ready]

    def _message(self, line: Connection[Any, Any]) -> object:
        try:
            return line.recv()
        except (EOFError, OSError):
            del self._lines[line]
            line.close()
            return Gone()
