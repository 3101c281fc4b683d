"""Rates, prices, budgets, the book of calls and the cache."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwkit.errors import AgentError, Problems, RunStopped, UsageError
from iwkit.report.calls import NAME, read_book, totals
from iwkit_runtime.loop.views import AssistantView
from iwkit_runtime.models import rates
from iwkit_runtime.models.book import Asker, Book
from iwkit_runtime.models.costs import Budget, cost, most, most_tokens
from iwkit_runtime.models.desk import Desk
from iwkit_runtime.models.rates import Bucket, Rates
from iwkit_runtime.models.settings import ModelSettings, ModelsFile, Price, load_models, prices, settle
from iwkit_runtime.models.wire import Message, Prompt, Tokens

PRICE = Price(input=2.0, cached=0.5, output=10.0, up_to=1000, as_of="2026-11")
PROMPT = Prompt("héllo", (Message("user", "ab"),))


def view(tick: int) -> AssistantView:
    return AssistantView(tick=tick, public="p", dialogue=(), speech=(), frames=())


# --- prices -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "price", "dollars"),
    [
        (Tokens(1000, 100), PRICE, 0.003),
        (Tokens(1000, 100, cached=400), PRICE, 0.0012 + 0.0002 + 0.001),
        (Tokens(0, 0), PRICE, 0.0),
        (Tokens(1000, 100), None, None),
        (Tokens(None, 100), PRICE, None),
        (Tokens(1000, None), PRICE, None),
        (Tokens(1001, 1), PRICE, None),
        (Tokens(10, 1, cached=1), Price(input=1, output=1, as_of="2026-11"), None),
    ],
)
def test_what_is_unknown_is_unknown(tokens: Tokens, price: Price | None, dollars: float | None) -> None:
    found = cost(tokens, price)
    assert found is None if dollars is None else found == pytest.approx(dollars)


@given(st.text(max_size=60), st.text(max_size=60), st.integers(0, 3))
def test_no_call_costs_more_than_was_thought(system: str, text: str, reply: int) -> None:
    file = ModelsFile(models="1.0", default=ModelSettings(max_output_tokens=16, price=PRICE))
    spec = settle("openai:m", file, {})
    prompt = Prompt(system, (Message("user", text),))
    bound = most(prompt, spec)
    assert bound is not None
    worst = Tokens(len(system.encode()) + len(text.encode()), 16 - reply)
    assert (cost(worst, PRICE) or 0.0) <= bound
    assert most_tokens(prompt, spec) >= (worst.input or 0)


def test_the_prices_that_ship_are_dated_and_of_known_models() -> None:
    assert prices()
    for name, price in prices().items():
        assert settle(name, load_models(None), {}).price == price
        assert price.output >= price.input > 0
        assert price.cached is None or price.cached < price.input


def test_another_address_has_prices_of_its_own() -> None:
    elsewhere = ModelsFile(models="1.0", default=ModelSettings(base_url="https://gateway.example/v1"))
    assert settle("openai:gpt-5.5", elsewhere, {}).price is None
    assert settle("openai:gpt-5.5", load_models(None), {"OPENAI_BASE_URL": "http://localhost:1/v1"}).price is None


# --- budgets ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(0, 1), st.none() | st.floats(0, 1)), max_size=20), st.floats(0.01, 3))
def test_a_budget_is_never_passed(calls: list[tuple[float, float | None]], dollars: float) -> None:
    budget = Budget(dollars)
    spent = 0.0
    for bound, share in calls:
        try:
            budget.set_aside("m", bound)
        except RunStopped:
            continue
        actual = None if share is None else bound * share
        budget.settle(bound, actual)
        spent += bound if actual is None else actual
        assert spent <= dollars * (1 + 1e-9)
        assert budget.spent == pytest.approx(spent)


def test_a_budget_stops_before_the_call_that_could_pass_it(kit: Any) -> None:
    limits = {"price": Price(input=1.0, output=100.0, as_of="2026-11"), "max_output_tokens": 100}
    with kit.desk(budget=0.05, **limits) as desk:
        agent = desk.assistant("openai:m", "finding", "F10-s0")
        with pytest.raises(RunStopped, match=r"before the budget of \$0.05"):
            for tick in range(1, 99):
                agent.answer(view(tick))
    asked = len(kit.provider.requests)
    assert asked > 5
    (total,) = totals(kit.folder)
    assert total.cost == pytest.approx(asked * (100e-6 + 10 * 100e-6))
    assert total.cost < 0.05
    with kit.desk(budget=total.cost + 0.001, **limits) as again, pytest.raises(RunStopped, match="at most"):
        again.assistant("openai:m", "finding", "F10-s0").answer(view(1))
    assert len(kit.provider.requests) == asked, "what was spent before counts"
    with kit.desk(budget=0.5, **limits) as more:
        assert more.assistant("openai:m", "finding", "F10-s0").answer(view(1)) == "$silent$"


def test_a_budget_needs_a_price() -> None:
    with pytest.raises(AgentError, match="no price is known"):
        Desk(budget=1.0).spec("openai:nobody-knows-it")
    with pytest.raises(UsageError, match="more than nothing"):
        Desk(budget=0.0)
    with pytest.raises(RunStopped, match="unknown what this call"):
        Budget(1.0).set_aside("m", None)
    Budget(None).set_aside("m", None)


# --- the book -------------------------------------------------------------------------------------------------------


def test_a_request_without_an_outcome_counts_with_its_most(tmp_path: Path) -> None:
    book = Book(tmp_path)
    first = book.sent(Asker("F10-s0", "assistant", 1), "openai:m", "sha256:0", 1, 0.25)
    book.outcome(first, "answered", tokens=Tokens(10, 1), cost=0.05)
    book.sent(Asker("F10-s0", "assistant", 2), "openai:m", "sha256:0", 1, 0.5)
    book.close()
    with (tmp_path / NAME).open("ab") as file:
        file.write(b'{"kind": "sent", "call": 3, "at_mo')
    again = Book(tmp_path)
    assert again.spent == pytest.approx(0.55)
    third = again.sent(Asker("F10-s0", "human", 2), "openai:m", "sha256:0", 1, None)
    again.close()
    assert third == 3, "half a line is no call"
    assert [call["call"] for call in read_book(tmp_path)] == [1, 2, 3]
    (total,) = totals(tmp_path)
    assert (total.calls, total.cost, total.unknown, total.at_most) == (3, pytest.approx(0.05), 2, None)


def test_a_desk_without_a_folder_keeps_nothing(kit: Any) -> None:
    with Desk(None, kit.file()) as desk:
        assert desk.assistant("openai:m", "finding", "F10-s0").answer(view(1)) == "$silent$"
    assert not kit.folder.exists()


# --- the cache ------------------------------------------------------------------------------------------------------


def test_what_was_paid_for_is_not_paid_for_again(kit: Any, tmp_path: Path) -> None:
    def ask(tick: int = 1, cell: str = "F10-s0", name: str = "openai:m", **settings: Any) -> tuple[str, bool]:
        with kit.desk(cache=tmp_path / "cache", **settings) as desk:
            agent = desk.assistant(name, "finding", cell)
            text = agent.answer(view(tick))
            return text, agent.account()["cached"]

    kit.provider.always = kit.provider.says("$done$")
    assert ask() == ("$done$", False)
    assert ask() == ("$done$", True)
    assert ask(timeout=3.0) == ("$done$", True), "how it is reached does not matter"
    for other in (
        {"tick": 2},
        {"cell": "F10-s1"},
        {"name": "openai:n"},
        {"name": "openai-responses:m"},
        {"temperature": 0.5},
        {"max_output_tokens": 99},
        {"extra": {"verbosity": "low"}},
    ):
        assert ask(**other) == ("$done$", False), other
    (kept,) = [p for p in (tmp_path / "cache").rglob("*.json") if b"zq" not in p.read_bytes()][:1]
    for path in (tmp_path / "cache").rglob("*.json"):
        data = json.loads(path.read_bytes())
        path.write_text(json.dumps({**data, "reply": {**data["reply"], "text": "forged"}}), "utf-8")
    assert ask() == ("$done$", False), "a damaged file is none"
    kept.write_bytes(b"\x00")
    assert ask()[0] == "$done$"
    (tmp_path / "no folder").write_text("")
    with kit.desk(cache=tmp_path / "no folder") as desk:
        assert desk.assistant("openai:m", "finding", "F10-s0").answer(view(1)) == "$done$", "a copy is no condition"


# --- rates ----------------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(1, 50)), min_size=1, max_size=40))
def test_no_minute_has_more_than_its_share(calls: list[tuple[float, int]]) -> None:
    clock = Clock()
    bucket = Bucket(60, clock)
    uses: list[tuple[float, int]] = []
    for pause, units in calls:
        clock.now += pause
        wait = bucket.take(units)
        clock.now += wait  # whoever waits, waits
        uses.append((clock.now, units))
    for start, _ in uses:
        window = sum(units for at, units in uses if start <= at < start + 60 - 1e-6)
        assert window <= 60 + 60 + 1e-6, "a full bucket and a minute's refill"
    assert sum(units for _, units in uses) <= 60 + clock.now + 1e-6


def test_rates_wait_and_give_back(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, slept = Clock(), []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.now += seconds

    monkeypatch.setattr(rates.asyncio, "sleep", sleep)
    limit = Rates(None, 600, clock)
    assert asyncio.run(limit.turn(600)) == 0
    assert asyncio.run(limit.turn(100)) == pytest.approx(10)
    limit.used(100, 40)
    assert asyncio.run(limit.turn(60)) == pytest.approx(0)
    limit.used(60, None)
    assert asyncio.run(limit.turn(5000)) == pytest.approx(60), "one request is never more than a minute's worth"
    each = Rates(2, None, clock)
    assert [asyncio.run(each.turn(1)) for _ in range(3)] == [0, 0, pytest.approx(30)]


def test_calls_keep_to_the_rate(kit: Any) -> None:
    with kit.desk(requests_per_minute=600) as desk:
        agent = desk.assistant("openai:m", "finding", "F10-s0")
        bucket = desk.caller(desk.spec("openai:m"))._rates._requests
        bucket._level = 0.0
        agent.answer(view(1))
    (call,) = read_book(kit.folder)
    assert call["waited"] >= 0.05


# --- the models file ------------------------------------------------------------------------------------------------


def load(path: Path, text: str) -> ModelsFile:
    path.write_text(text, "utf-8")
    return load_models(path)


def test_a_models_file(tmp_path: Path) -> None:
    file = load(
        tmp_path / "models.yaml",
        """
models: "1.0"
default: {timeout: 60, images: {format: jpeg, quality: 80}}
agents:
  openai:gpt-5.4-mini:
    temperature: 0
    extra: {reasoning_effort: low}
  openai:meta/llama:70b:
    base_url: http://localhost:8000/v1
    key: MY_GATEWAY_KEY
    price: {input: 0.1, output: 0.2, as_of: 2026-11-30}
""",
    )
    mini = settle("openai:gpt-5.4-mini", file, {})
    assert (mini.settings.timeout, mini.settings.temperature, mini.model) == (60, 0, "gpt-5.4-mini")
    assert mini.identity()["images"]["format"] == "jpeg"
    assert mini.identity()["extra"] == {"reasoning_effort": "low"}
    own = settle("openai:meta/llama:70b", file, {})
    assert (own.model, own.base_url) == ("meta/llama:70b", "http://localhost:8000/v1")
    assert own.price is not None
    assert settle("google:x", file, {"GOOGLE_GEMINI_BASE_URL": "http://localhost:1/"}).base_url == "http://localhost:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('models: "1.0"\nagents: {opnai:gpt: {}}', "did you mean `openai`"),
        ('models: "1.0"\nagents: {gpt-5: {}}', "no name of a model"),
        ('models: "1.0"\ndefault: {tiemout: 3}', "did you mean `timeout`"),
        ('models: "1.0"\ndefault: {base_url: "https://me:secret@host/v1"}', "more than an address"),
        ('models: "1.0"\ndefault: {base_url: "https://host/v1?key=secret"}', "more than an address"),
        ('models: "1.0"\ndefault: {base_url: "ftp://host"}', "no address of HTTP"),
        ('models: "1.0"\ndefault: {key: sk-proj-0123456789}', "name of an environment variable"),
        ('models: "1.0"\ndefault: {temperature: hot}', "a number"),
        ('models: "1.0"\ndefault: {images: {format: gif}}', "format"),
        ('models: "2.0"', "1.0"),
    ],
)
def test_a_bad_models_file_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Problems, match=message) as caught:
        load(tmp_path / "models.yaml", text)
    assert "models.yaml:" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_no_key_and_no_library_are_said_plainly(kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in ("openai", "google.genai"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("openai_wire", "google_wire"):
        monkeypatch.delitem(sys.modules, f"iwkit_runtime.models.{name}", raising=False)
    for model in ("openai:m", "openai-responses:m", "google:m"):
        with pytest.raises(AgentError, match=r"pip install 'iwkit\[models\]'"):
            kit.desk().assistant(model, "finding", "F10-s0")
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("GOOGLE_API_KEY")
    with pytest.raises(AgentError, match="environment variable OPENAI_API_KEY"):
        kit.desk().assistant("openai:m", "finding", "F10-s0")
    with pytest.raises(AgentError, match="GOOGLE_API_KEY or GEMINI_API_KEY"):
        kit.desk().assistant("google:m", "finding", "F10-s0")
    with pytest.raises(AgentError, match="no model 'openai:'"):
        settle("openai:", load_models(None), {})
    with pytest.raises(AgentError, match="extra"):
        monkeypatch.undo()
        monkeypatch.setenv("GOOGLE_API_KEY", "k" * 20)
        kit.desk(extra={"no_such_field": 1}).assistant("google:m", "finding", "F10-s0")


def test_a_models_limits_fit_its_prompt(kit: Any) -> None:
    assert most_tokens(PROMPT, kit.desk().spec("openai:m")) == 6 + 2 + 32
