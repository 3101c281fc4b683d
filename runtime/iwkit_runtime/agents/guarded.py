"""Agents of a user's own, held to a time: whoever never answers must not hold up a run."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, Final

from iwkit.errors import AgentError

TIMEOUT: Final = 600.0
"""Seconds that an agent may take for a turn, where nothing else is said."""

Work = tuple[Callable[[], Any], Future[Any]]


class Guarded:
    """An object of a user's own whose methods are called in a thread of its own, each for so many seconds at most. It
    is made there too, so that it meets no other thread. One that took too long is not waited for any more: its thread
    is left behind.

    Args:
        make: makes the object.
        seconds: how long it may take.

    Raises:
        AgentError: it took longer, to be made or to answer.
    """

    def __init__(self, make: Callable[[], Any], seconds: float = TIMEOUT) -> None:
        self._seconds = seconds
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(self._work,), name="agent", daemon=True).start()
        weakref.finalize(self, self._work.put, None)
        self.own = self._done(make)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.own, name)
        return partial(self._call, found) if callable(found) else found

    def _call(self, method: Callable[..., Any], *given: Any) -> Any:
        return self._done(partial(method, *given))

    def _done(self, work: Callable[[], Any]) -> Any:
        future: Future[Any] = Future()
        self._work.put((work, future))
        wait([future], self._seconds)
        if not future.done():
            raise AgentError(f"no answer within {self._seconds:g} s (--timeout)")
        return future.result()


def _serve(work: queue.SimpleQueue[Work | None]) -> None:
    """Do one thing after another, until nobody can ask any more."""
    while (task := work.get()) is not None:
        do, future = task
        try:
            future.set_result(do())
        except BaseException as error:  # whoever asked has it to deal with
            future.set_exception(error)
        del task, do, future
