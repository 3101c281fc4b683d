"""One model, asked: the cache, the rates, the budget, the retries, and a line in the book for each attempt."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from iwkit.errors import AgentError, LedgerError, RunStopped
from iwkit_runtime.models.book import Asker, Book
from iwkit_runtime.models.cache import Cache
from iwkit_runtime.models.costs import Budget, cost, most, most_tokens
from iwkit_runtime.models.failures import failures
from iwkit_runtime.models.keys import Scrubber
from iwkit_runtime.models.rates import Clock, Rates
from iwkit_runtime.models.settings import ModelSpec
from iwkit_runtime.models.wire import CallFailed, Connection, Prompt, Reply, Tokens


@dataclass(slots=True)
class Account:
    """What one answer took: goes into the record beside it. `cost` is None where it is unknown; `failed` names the row
    of the failure table for each attempt that failed."""

    model: str
    prompt: str
    requests: int = 0
    cached: bool = False
    tokens: Tokens = field(default_factory=Tokens)
    cost: float | None = None
    answered_by: str | None = None
    finish: str | None = None
    request_id: str | None = None
    failed: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class ModelFailed(AgentError):  # noqa: N818  it failed, and nobody says whose mistake it is
    """A model that did not answer, for a reason that lies neither in it nor in what it was asked: the cell is void."""


class Caller:
    """Asks one model. All of it runs in one event loop; calls may overlap.

    Args:
        jitter: a number from 0 to 1, drawn for each wait between attempts.
    """

    def __init__(  # noqa: PLR0917  one for each of its duties
        self,
        spec: ModelSpec,
        connection: Connection,
        book: Book,
        budget: Budget,
        cache: Cache,
        scrub: Scrubber,
        *,
        clock: Clock = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.spec = spec
        self._connection, self._book, self._budget, self._cache = connection, book, budget, cache
        self._scrub, self._clock, self._jitter = scrub, clock, jitter
        self._rates = Rates(spec.settings.requests_per_minute, spec.settings.tokens_per_minute, clock)
        self._late: set[asyncio.Task[None]] = set()
        self._active: set[asyncio.Task[Any]] = set()

    async def ask(self, prompt: Prompt, asker: Asker, account: Account) -> Reply:
        """The model's answer to a prompt. `account` is filled in as far as it gets. Closing the caller cancels it.

        Raises:
            RunStopped: the budget does not reach, or what is wrong will not pass by itself; the run can be continued.
            ModelFailed: there was no answer, and there will be none.
        """
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  coroutines run in tasks
        self._active.add(task)
        try:
            return await self._asked(prompt, asker, account)
        finally:
            self._active.discard(task)

    async def _asked(self, prompt: Prompt, asker: Asker, account: Account) -> Reply:
        self._book.keep_prompt(account.prompt, prompt.to_json())
        key = self._cache.key(self.spec, prompt, asker)
        if (kept := self._cache.get(key)) is not None:
            account.cached, account.cost = True, 0.0
            return self._note(account, kept)
        attempt = 0
        while True:
            attempt += 1
            try:
                reply = await self._attempt(prompt, asker, account, attempt)
            except CallFailed as failure:
                account.failed.append(failure.kind)
                await asyncio.sleep(self._pause(failure, attempt))
                continue
            with contextlib.suppress(LedgerError):  # an answer that was paid for counts for more than its copy
                self._cache.put(key, reply)
            return self._note(account, reply)

    def _note(self, account: Account, reply: Reply) -> Reply:
        account.tokens, account.answered_by = reply.tokens, reply.model
        account.finish, account.request_id = reply.finish, reply.request_id
        return reply

    async def close(self, *, wait: bool) -> None:
        """Let go of the connection, and of calls under way. With `wait`, late answers are waited for as long as the
        settings say."""
        under_way = list(self._active)
        for asked in under_way:
            asked.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        if self._late and wait:
            await asyncio.wait(self._late, timeout=self.spec.settings.late)
        for task in list(self._late):
            task.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)
        async with asyncio.timeout(10):
            await self._connection.close()

    # --- one attempt ----------------------------------------------------------------------------------------------

    async def _attempt(self, prompt: Prompt, asker: Asker, account: Account, attempt: int) -> Reply:
        """Send once, within what is left of the budget and of the minute.

        Raises:
            CallFailed: no reply in time, or none that can be read.
        """
        tokens = most_tokens(prompt, self.spec) + self.spec.settings.max_output_tokens
        waited = await self._rates.turn(tokens)
        bound = most(prompt, self.spec)
        self._budget.set_aside(self.spec.name, bound)
        call = self._book.sent(asker, self.spec.name, account.prompt, attempt, bound)
        account.requests += 1
        begun = self._clock()
        try:
            reply = await self._in_time(prompt, call, bound)
        except CallFailed as failure:
            free = failures().kinds[failure.kind].charged == "no"
            paid = 0.0 if free else None
            self._budget.settle(bound, paid)
            self._rates.used(tokens, 0 if free else None)
            more = {"why": failure.why, "status": failure.status, "t_wall_latency": round(self._clock() - begun, 4)}
            self._book.outcome(call, failure.kind, tokens=Tokens(), cost=paid, waited=round(waited, 3), **more)
            raise
        except asyncio.CancelledError:
            self._book.outcome(call, "abandoned", tokens=Tokens(), cost=None)
            raise
        paid = cost(reply.tokens, self.spec.price)
        account.cost = paid
        self._budget.settle(bound, paid)
        if None not in (reply.tokens.input, reply.tokens.output):
            self._rates.used(tokens, (reply.tokens.input or 0) + (reply.tokens.output or 0))
        self._book.outcome(
            call, "answered", tokens=reply.tokens, cost=paid, waited=round(waited, 3), answered_by=reply.model,
            finish=reply.finish, request_id=reply.request_id, t_wall_latency=round(self._clock() - begun, 4),
        )  # fmt: skip
        return reply

    async def _in_time(self, prompt: Prompt, call: int, bound: float | None) -> Reply:
        """The reply, if it comes before the timeout. One that comes later is only written down: the call was repeated
        meanwhile, and what was answered first counts."""
        settings = self.spec.settings
        task = asyncio.create_task(self._send(prompt, settings.timeout + settings.late))
        try:
            done, _ = await asyncio.wait({task}, timeout=settings.timeout)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise
        if done:
            return task.result()
        late = asyncio.create_task(self._superseded(task, call, bound))
        self._late.add(late)
        late.add_done_callback(self._late.discard)
        raise CallFailed("timeout", f"no answer within {settings.timeout:g} s")

    async def _send(self, prompt: Prompt, seconds: float) -> Reply:
        try:
            async with asyncio.timeout(seconds):
                reply = await self._connection.send(prompt)
        except TimeoutError:
            raise CallFailed("timeout", f"no answer within {seconds:g} s") from None
        except CallFailed as failure:
            raise CallFailed(failure.kind, self._scrub(failure.why), status=failure.status, wait=failure.wait) from None
        return replace(
            reply,
            text=self._scrub(reply.text),
            model=reply.model and self._scrub(reply.model),
            finish=reply.finish and self._scrub(reply.finish),
            request_id=reply.request_id and self._scrub(reply.request_id),
        )

    async def _superseded(self, task: asyncio.Task[Reply], call: int, bound: float | None) -> None:
        """Write down an answer that came too late: it was paid for."""
        try:
            reply = await task
        except CallFailed:
            return  # the book has it as a timeout already, its cost unknown
        except asyncio.CancelledError:
            task.cancel()
            raise
        paid = cost(reply.tokens, self.spec.price)
        self._budget.settle(bound, paid)
        self._book.outcome(call, "superseded", tokens=reply.tokens, cost=paid, text=reply.text)

    # --- between attempts -----------------------------------------------------------------------------------------

    def _pause(self, failure: CallFailed, attempt: int) -> float:
        """Seconds to wait before the next attempt.

        Raises:
            RunStopped, ModelFailed: there will be none, by the failure table.
        """
        row, settings = failures().kinds[failure.kind], self.spec.settings
        what = f"{self.spec.name}: {row.means} ({failure.why})"
        if attempt >= min(row.attempts, settings.attempts):
            tried = f"{attempt} attempt{'s' * (attempt > 1)}"
            if row.then == "stop":
                raise RunStopped(f"{what}, in {tried}; mend that, and the same command goes on")
            raise ModelFailed(f"{what}, in {tried}")
        if failure.wait is not None and failure.wait > settings.longest_wait:
            raise RunStopped(f"{what}; it asks to wait for {failure.wait:g} s: run the same command then")
        pause = min(settings.longest_wait, settings.backoff * 2.0 ** (attempt - 1)) * (0.5 + self._jitter() / 2)
        # Whoever was told the same time to wait does not come back at the same moment.
        return pause if failure.wait is None else failure.wait + pause * self._jitter() / 2
