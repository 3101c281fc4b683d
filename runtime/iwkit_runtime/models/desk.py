"""Where models are asked: one per run. Owns the event loop, the connections, the book, the budget and the cache."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import threading
from collections.abc import Coroutine
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from iwkit.errors import AgentError, UsageError
from iwkit.runfolder import cell_seed
from iwkit_runtime.models.agents import ModelAssistant, ModelHuman
from iwkit_runtime.models.book import Asker, Book
from iwkit_runtime.models.cache import Cache
from iwkit_runtime.models.calls import Account, Caller
from iwkit_runtime.models.costs import Budget
from iwkit_runtime.models.keys import Scrubber, find_key
from iwkit_runtime.models.prompts import prompts_digest
from iwkit_runtime.models.settings import ModelsFile, ModelSpec, is_model, load_models, providers, settle
from iwkit_runtime.models.wire import Connection, Prompt

T = TypeVar("T")

_WIRES: Final = {"openai": "openai_wire", "openai-responses": "openai_wire", "google": "google_wire"}
_INSTALL: Final = "pip install 'iwkit[models]'"


def connect(spec: ModelSpec, key: str) -> Connection:
    """A connection to a model; its provider's library is imported now.

    Raises:
        AgentError: the library is not installed.
    """
    package = providers()[spec.provider].package
    try:
        module = importlib.import_module(f"iwkit_runtime.models.{_WIRES[spec.provider]}")
    except ImportError as error:
        raise AgentError(f"{spec.name} needs the package {package}, which is not installed: {_INSTALL}") from error
    make = module.INTERFACES[spec.provider] if spec.provider != "google" else module.Gemini
    connection: Connection = make(spec, key)
    return connection


class ModelSeat:
    """See `Seat`."""

    def __init__(self, desk: Desk, spec: ModelSpec, cell: str, role: str) -> None:
        self._desk, self._spec, self._cell, self._role = desk, spec, cell, role
        self._account: Account | None = None

    @property
    def spec(self) -> ModelSpec:
        return self._spec

    def ask(self, prompt: Prompt, tick: int) -> str:
        return self._desk.wait_for(self.asked(prompt, tick))

    async def asked(self, prompt: Prompt, tick: int) -> str:
        """The same within the desk's event loop, for callers with many episodes in flight."""
        prompt = replace(prompt, seed=self._spec.seed(cell_seed(self._cell)))
        self._account = Account(self._spec.name, prompt.digest)
        reply = await self._desk.caller(self._spec).ask(prompt, Asker(self._cell, self._role, tick), self._account)
        return reply.text

    def account(self) -> dict[str, Any] | None:
        return asdict(self._account) if self._account else None


class Desk:
    """Makes agents that are models, and asks for them. Use it as a context manager around a run.

    Args:
        folder: the run folder, where the book of calls and the prompts are kept; None keeps nothing.
        models: the models file, or what it holds.
        budget: US dollars that the run may cost, earlier calls in the folder's book included.
        cache: a folder of answers that are not to be paid for twice.
    """

    def __init__(
        self,
        folder: Path | None = None,
        models: ModelsFile | Path | None = None,
        *,
        budget: float | None = None,
        cache: Path | None = None,
    ) -> None:
        self._file = models if isinstance(models, ModelsFile) else load_models(models)
        if budget is not None and not budget > 0:
            raise UsageError("the budget must be more than nothing: leave --budget out to set no limit")
        self._limited = budget is not None
        self._book = Book(folder)
        self._budget = Budget(budget, self._book.spent)
        self._cache = Cache(cache)
        self._callers: dict[str, Caller] = {}
        self._specs: dict[str, ModelSpec] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        self.close(wait=kind is None)

    def spec(self, name: str) -> ModelSpec:
        """What is settled about a model.

        Raises:
            AgentError: no such model, or with a budget, no price is known for it.
        """
        if name not in self._specs:
            spec = settle(name, self._file)
            if self._limited and spec.price is None:
                raise AgentError(
                    f"{name}: no price is known, so no budget can be kept: give its price in a models file"
                )
            self._specs[name] = spec
        return self._specs[name]

    @staticmethod
    def models(*agents: str) -> list[str]:
        """Those names of agents that are models, each once."""
        return sorted({name for name in agents if is_model(name)})

    def identity(self, name: str) -> dict[str, Any]:
        """What decides the answers of a model, prompts included, for the record of a run."""
        return {**self.spec(name).identity(), "prompts": prompts_digest()}

    def assistant(self, name: str, family: str, cell: str) -> ModelAssistant:
        """A model as assistant. `family` is the folder of its prompts, `cell` goes into the book and nowhere else.

        Raises:
            AgentError: no such model, no key, or its library is missing.
        """
        return ModelAssistant(self.seat(name, cell, "assistant"), family)

    def human(self, name: str, family: str, cell: str) -> ModelHuman:
        """A model as human."""
        return ModelHuman(self.seat(name, cell, "human"), family)

    def seat(self, name: str, cell: str, role: str) -> ModelSeat:
        """A place at a model.

        Raises:
            AgentError: see `assistant`.
        """
        spec = self.spec(name)
        self.caller(spec)
        return ModelSeat(self, spec, cell, role)

    # --- asking ---------------------------------------------------------------------------------------------------

    def caller(self, spec: ModelSpec) -> Caller:
        """The one that asks this model, for everybody: rates and budget hold for all of them together."""
        with self._lock:
            if spec.name not in self._callers:
                key = find_key(spec)
                connection = connect(spec, key)
                scrub = Scrubber(key)
                self._callers[spec.name] = Caller(spec, connection, self._book, self._budget, self._cache, scrub)
            return self._callers[spec.name]

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that all calls run in, in a thread of its own."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="models", daemon=True)
                self._thread.start()
            return self._loop

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of something that runs in the loop. Interrupted, it is cancelled there too."""
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            concurrent.futures.wait([future], timeout=5)
            raise

    def close(self, *, wait: bool = True) -> None:
        """Let go of everything; calls under way are cancelled. With `wait`, late answers are waited for, so that the
        book knows what they cost."""
        loop, self._loop = self._loop, None
        if loop is not None:
            closing = [caller.close(wait=wait) for caller in self._callers.values()]
            asyncio.run_coroutine_threadsafe(_all(closing), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
            loop.close()
        self._callers.clear()
        self._book.close()


async def _all(work: list[Coroutine[Any, Any, None]]) -> None:
    await asyncio.gather(*work, return_exceptions=True)
