"""Workers on a Ray cluster, each an actor with one core. They share no disk with the calling process: what they record
and the files that belong to it come back as messages, and bytes travel through Ray's object store."""

from __future__ import annotations

import logging
import os
import queue
import socket
import time
from typing import Any, Final

from iwkit.errors import RunStopped, UsageError
from iwkit_runtime.workers.inside import Inside, Specs, Stage
from iwkit_runtime.workers.messages import Gone

try:
    import ray
    from ray.exceptions import RayActorError
except ImportError as error:
    raise UsageError(
        f"--executor ray needs Ray, which cannot be imported ({error}): pip install 'iwkit[cluster]'"
    ) from error

ADDRESS: Final = "RAY_ADDRESS"
"""The environment variable that names the cluster; Ray's own tools read it too."""
_REACHED: Final = 10.0
"""Seconds in which the head of the cluster must answer."""
_STARTED: Final = 300.0
"""Seconds in which a first worker must be there: a cluster may be busy, or may first have to start machines."""


def connect() -> int:
    """Connect to the cluster, if that is not done yet, and count its cores.

    Raises:
        UsageError: there is no cluster, it cannot be reached, or its versions of Ray and Python are others.
    """
    if not ray.is_initialized():
        address = os.environ.get(ADDRESS) or "auto"
        _knock(address)
        try:
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        except (ConnectionError, RuntimeError, ValueError, ImportError) as error:
            where = "on this machine" if address == "auto" else f"at {address}"
            raise UsageError(
                f"no Ray cluster {where} can be used: {error}; start one (ray start --head), or name one by {ADDRESS}"
            ) from error
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return max(1, int(resources.get("CPU", 0)))


def _knock(address: str) -> None:
    """Whether anybody is at a `host:port`: Ray itself takes minutes to give up."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        try:
            socket.create_connection((host, int(port)), _REACHED).close()
        except OSError as error:
            raise UsageError(
                f"no Ray cluster answers at {address} ({error}): is it running (ray status), and is {ADDRESS} right?"
            ) from error


class FarWorker:
    """The actor. `receive` and `messages` are called at the same time."""

    def __init__(self, stage: Stage, specs: Specs | None, threads: int) -> None:
        self._said: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._inside = Inside(self._said.put, stage, specs, threads)

    def receive(self, message: Any) -> None:
        """Take a message from the calling process."""
        self._inside.receive(message)

    def messages(self) -> list[object]:
        """What was said since the last call, at least one thing: it is waited for."""
        found = [self._said.get()]
        while not self._said.empty():
            found.append(self._said.get())
        return found


class _Actor:
    """See `Worker`."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def send(self, message: object) -> None:
        self.handle.receive.remote(message)


class Cluster:
    """See `Place`."""

    def __init__(self) -> None:
        self._waiting: dict[Any, _Actor] = {}
        self._said = False

    def __enter__(self) -> Cluster:
        connect()
        self._end = time.monotonic() + _STARTED
        return self

    def __exit__(self, *_: object) -> None:
        for actor in self._waiting.values():  # the connection may be its caller's own, and stays
            ray.kill(actor.handle)
        self._waiting.clear()

    def start(self, stage: Stage, specs: Specs | None, threads: int) -> _Actor:
        options = {"num_cpus": 1, "max_restarts": 0, "max_concurrency": 2, "scheduling_strategy": "SPREAD"}
        actor = _Actor(ray.remote(FarWorker).options(**options).remote(stage, specs, threads))
        self._listen(actor)
        return actor

    def _listen(self, actor: _Actor) -> None:
        self._waiting[actor.handle.messages.remote()] = actor

    def heard(self) -> list[tuple[_Actor, object]]:
        while True:
            ready, _ = ray.wait(list(self._waiting), num_returns=1, timeout=5)
            found = [(actor, message) for ref in ready for actor, message in self._messages(ref)]
            if found:
                self._said = True
                return found
            if not self._said and time.monotonic() > self._end:
                raise RunStopped(
                    f"no worker could be started on the cluster in {_STARTED:.0f} s: its cores are taken (ray status)"
                )

    def _messages(self, ref: Any) -> list[tuple[_Actor, object]]:
        actor = self._waiting.pop(ref)
        try:
            said = ray.get(ref)
        except RayActorError as error:
            ray.kill(actor.handle)  # it may live on where nobody hears it
            return [(actor, Gone(str(error).strip().splitlines()[0]))]
        self._listen(actor)
        return [(actor, message) for message in said]
