"""Calls over real HTTP, through the providers' own libraries, to a server that does everything a server can do."""

from __future__ import annotations

import asyncio
import email.utils
import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iwkit.errors import RunStopped
from iwkit.report.calls import read_book, totals
from iwkit_runtime.loop.views import AssistantView
from iwkit_runtime.models.calls import ModelFailed
from iwkit_runtime.models.failures import failures, wait_asked
from iwkit_runtime.models.settings import Price

NAMES = ("openai:m", "openai-responses:m", "google:m")
VIEW = AssistantView(tick=1, public="You wear smart glasses.", dialogue=(), speech=("Where is my key?",), frames=())
PRICE = Price(input=1.0, output=10.0, as_of="2026-11")


def ask(desk: Any, name: str = "openai:m") -> str:
    return desk.assistant(name, "finding", "F10-s0").answer(VIEW)


def outcomes(kit: Any) -> list[str | None]:
    return [call["outcome"] for call in read_book(kit.folder)]


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_comes_back_with_what_it_took(kit: Any, name: str) -> None:
    kit.provider.always = kit.provider.says("$interrupt$ Look left.")
    agent = kit.desk(price=PRICE).assistant(name, "finding", "F10-s0")
    assert agent.answer(VIEW) == "$interrupt$ Look left."
    account = agent.account()
    assert account is not None
    assert (account["tokens"]["input"], account["tokens"]["output"]) == (100, 10)
    assert account["cost"] == pytest.approx(100e-6 + 100e-6)
    assert (account["answered_by"], account["request_id"], account["requests"]) == ("m-1", "id-1", 1)
    (call,) = read_book(kit.folder)
    assert (call["outcome"], call["cell"], call["role"], call["tick"]) == ("answered", "F10-s0", "assistant", 1)
    assert (kit.folder / "prompts" / f"{account['prompt'].partition(':')[2]}.json").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_parameters_reach_the_provider(kit: Any, name: str) -> None:
    extra = {"google:m": {"stop_sequences": ["zq"]}}.get(name, {"verbosity": "zq"})
    desk = kit.desk(temperature=0.25, top_p=0.5, max_output_tokens=321, extra=extra)
    ask(desk, name)
    sent = kit.provider.requests[0].body.decode()
    for value in ("0.25", "0.5", "321", "zq"):
        assert value in sent


def seeds_sent(kit: Any) -> list[int | None]:
    """The seed of each request so far: chat completions have it at the top, Google in its configuration."""
    bodies = [request.json for request in kit.provider.requests]
    return [body.get("seed", body.get("generationConfig", {}).get("seed")) for body in bodies]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("settings", "sent"), [({}, [0, 3, 3]), ({"seed": 40}, [40, 43, 43]), ({"seed": None}, [None] * 3)]
)
def test_the_seed_of_a_cell_reaches_a_model_that_takes_one(
    kit: Any, name: str, settings: dict[str, Any], sent: list[int | None]
) -> None:
    desk = kit.desk(**settings)
    for make, cell in ((desk.assistant, "F10-s0"), (desk.assistant, "F10-s3"), (desk.assistant, "A1-s3")):
        make(name, "finding", cell).answer(VIEW)
    assert seeds_sent(kit) == ([None] * 3 if name.startswith("openai-responses") else sent)


def test_an_answer_for_one_seed_is_none_for_another(kit: Any, tmp_path: Path) -> None:
    """Repeats are asked apart although all else is the same, and what is on record says with which seed."""
    desk = kit.desk(cache=tmp_path / "cache")
    agents = [desk.assistant("openai:m", "finding", cell) for cell in ("F10-s0", "F10-s1", "F10-s1")]
    for agent in agents:
        agent.answer(VIEW)
    assert seeds_sent(kit) == [0, 1]
    first, second, again = (agent.account() for agent in agents)
    assert first["prompt"] != second["prompt"] == again["prompt"]
    kept = json.loads((kit.folder / "prompts" / f"{second['prompt'].partition(':')[2]}.json").read_text("utf-8"))
    assert kept["seed"] == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("kind", "trouble"),
    [
        ("dropped", lambda p: p.drops),
        ("dropped", lambda p: p.half),
        ("bad_body", lambda p: p.raw(b"<html>Bad gateway</html>", kind="text/html")),
        ("bad_body", lambda p: p.raw(b'{"choices": [{"mess')),
        ("bad_body", lambda p: p.json(["no", "object"])),
        ("bad_body", lambda p: p.raw(gzip.compress(b"{}"), Content_Encoding="gzip")),
        ("bad_body", lambda p: p.raw(b"", status=302, Location="http://127.0.0.1:9/elsewhere")),
        ("server_error", lambda p: p.refuses(500)),
        ("server_error", lambda p: p.raw(b"<h1>502</h1>", status=502, kind="text/html")),
        ("server_error", lambda p: p.raw(b"[1, 2]", status=500)),
        ("server_error", lambda p: p.raw(b'"text"', status=500)),
        ("overloaded", lambda p: p.refuses(503)),
        ("rate_limited", lambda p: p.refuses(429)),
    ],
)
def test_what_passes_is_tried_again(kit: Any, name: str, kind: str, trouble: Any) -> None:
    kit.provider.script.append(trouble(kit.provider))
    agent = kit.desk().assistant(name, "finding", "F10-s0")
    assert agent.answer(VIEW) == "$silent$"
    assert agent.account()["failed"] == [kind]
    assert outcomes(kit) == [kind, "answered"]
    assert len(kit.provider.requests) == 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("key_refused", 401, "invalid_api_key"),
        ("key_refused", 403, None),
        ("unknown_model", 404, None),
        ("no_quota", 429, "insufficient_quota"),
    ],
)
def test_what_does_not_pass_by_itself_stops_the_run(kit: Any, name: str, kind: str, status: int, code: Any) -> None:
    kit.provider.always = kit.provider.refuses(status, "that is why", code)
    with pytest.raises(RunStopped, match="that is why"):
        ask(kit.desk(), name)
    assert outcomes(kit) == [kind]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("kind", "attempts", "trouble"),
    [
        ("bad_request", 1, lambda p: p.refuses(400)),
        ("too_long", 1, lambda p: p.refuses(413)),
        ("too_large", 1, lambda p: p.floods),
        ("server_error", 3, lambda p: p.refuses(500)),
    ],
)
def test_what_never_passes_makes_the_cell_void(kit: Any, name: str, kind: str, attempts: int, trouble: Any) -> None:
    kit.provider.always = trouble(kit.provider)
    with pytest.raises(ModelFailed, match=f"in {attempts} attempt"):
        ask(kit.desk(attempts=3), name)
    assert outcomes(kit) == [kind] * attempts


@pytest.mark.parametrize("name", NAMES)
def test_nobody_there(kit: Any, name: str) -> None:
    desk = kit.desk(attempts=2)
    kit.provider.close()
    with pytest.raises(RunStopped, match="no connection"):
        ask(desk, name)
    assert outcomes(kit) == ["unreachable"] * 2
    assert all(call["cost"] == 0 for call in read_book(kit.folder)), "nobody was there to be paid"


@pytest.mark.parametrize("name", NAMES)
def test_a_late_answer_is_written_down_and_not_used(kit: Any, name: str) -> None:
    provider = kit.provider
    provider.script.append(provider.stalls(0.6, provider.says("$interrupt$ Too late.", tokens=(70, 7))))
    desk = kit.desk(timeout=0.3, late=3.0, price=PRICE)
    agent = desk.assistant(name, "finding", "F10-s0")
    assert agent.answer(VIEW) == "$silent$"
    assert agent.account()["failed"] == ["timeout"]
    desk.close(wait=True)
    late, answered = read_book(kit.folder)
    assert (late["outcome"], late["input"], late["text"]) == ("superseded", 70, "$interrupt$ Too late.")
    assert late["cost"] == pytest.approx(140e-6), "it was paid for all the same"
    assert answered["outcome"] == "answered"


def test_an_answer_that_never_comes_costs_nobody_knows_what(kit: Any) -> None:
    kit.provider.always = kit.provider.stalls(1.0, kit.provider.says("$silent$"))
    desk = kit.desk(timeout=0.2, attempts=2, price=PRICE)
    begun = time.monotonic()
    with pytest.raises(ModelFailed, match=r"no answer within 0\.2 s"):
        ask(desk)
    assert time.monotonic() - begun < 0.9
    desk.close(wait=False)
    (total,) = totals(kit.folder)
    assert (total.calls, total.answered, total.cost, total.unknown) == (2, 0, None, 2)
    assert total.at_most is not None and total.at_most > 0


def test_closing_cancels_what_is_under_way(kit: Any) -> None:
    kit.provider.always = kit.provider.stalls(1.0, kit.provider.says("$silent$"))
    desk = kit.desk(price=PRICE)
    agent = desk.assistant("openai:m", "finding", "F10-s0")
    seats = [desk.seat(name, f"F10-s{n}", "assistant") for n, name in enumerate(NAMES)]
    calls = [asyncio.run_coroutine_threadsafe(seat.asked(agent.prompt(VIEW), 1), desk.loop) for seat in seats]
    while len(kit.provider.requests) < len(calls):
        time.sleep(0.01)
    begun = time.monotonic()
    desk.close(wait=False)
    assert time.monotonic() - begun < 0.9
    assert all(call.cancelled() for call in calls)
    assert outcomes(kit) == ["abandoned"] * 3
    assert sum(total.at_most or 0 for total in totals(kit.folder)) > 0, "it may have to be paid for"


def test_a_server_is_left_alone_as_long_as_it_asks(kit: Any) -> None:
    kit.provider.script.append(kit.provider.refuses(429, Retry_After="0.3"))
    begun = time.monotonic()
    assert ask(kit.desk()) == "$silent$"
    assert time.monotonic() - begun >= 0.3
    kit.provider.script.append(kit.provider.refuses(429, Retry_After="86400"))
    with pytest.raises(RunStopped, match="asks to wait for 86400 s"):
        ask(kit.desk())


def test_google_says_in_the_body_how_long_to_wait(kit: Any) -> None:
    detail = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "40s"}
    kit.provider.always = kit.provider.json(
        {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [detail]}}, status=429
    )
    with pytest.raises(RunStopped, match="asks to wait for 40 s"):
        ask(kit.desk(), "google:m")


@pytest.mark.parametrize(
    ("name", "body", "text"),
    [
        ("openai:m", {"choices": [{"message": {"content": [{"type": "text", "text": "$done$"}]}}]}, "$done$"),
        ("openai:m", {"choices": [{"message": {"content": None, "refusal": "I cannot."}}]}, "I cannot."),
        ("openai:m", {"choices": [{"message": {"content": None}}]}, ""),
        ("openai:m", {"choices": [{"message": {"tool_calls": [{"id": "a"}]}}]}, '[{"id": "a"}]'),
        ("openai-responses:m", {"output": [{"type": "reasoning"}]}, ""),
        ("openai-responses:m", {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]},
         "No."),
        ("openai-responses:m", {"output": [{"type": "function_call", "name": "f"}]},
         '[{"type": "function_call", "name": "f"}]'),
        ("google:m", {"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}, {"text": "$done$"}]}}]},
         "$done$"),
        ("google:m", {"promptFeedback": {"blockReason": "SAFETY"}}, ""),
        ("google:m", {"candidates": [{"finishReason": "SAFETY"}]}, ""),
        ("google:m", {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}}]}, '[{"name": "f"}]'),
    ],
)  # fmt: skip
def test_refusals_calls_and_nothing_are_the_models_answer(kit: Any, name: str, body: Any, text: str) -> None:
    kit.provider.always = kit.provider.json(body)
    assert ask(kit.desk(), name) == text


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_counted_is_unknown(kit: Any, name: str) -> None:
    kit.provider.always = kit.provider.says("$silent$", tokens=None)
    agent = kit.desk(price=PRICE).assistant(name, "finding", "F10-s0")
    agent.answer(VIEW)
    assert agent.account()["cost"] is None
    assert set(agent.account()["tokens"].values()) == {None}
    (total,) = totals(kit.folder)
    assert (total.cost, total.unknown, total.uncounted) == (None, 1, 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                (
                    "choices",
                    "message",
                    "content",
                    "output",
                    "type",
                    "text",
                    "candidates",
                    "parts",
                    "usage",
                    "error",
                    "status",
                )
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=JSON, status=st.sampled_from((200, 200, 400, 500)))
def test_any_body_is_an_answer_or_a_clear_failure(kit: Any, name: str, body: Any, status: int) -> None:
    kit.provider.always = kit.provider.raw(json.dumps(body).encode(), status=status)
    if not kit.desks:
        kit.desk(attempts=1)
    try:
        assert isinstance(ask(kit.desks[0], name), str)
        assert status == 200
    except ModelFailed as error:
        assert name in str(error)
    assert outcomes(kit)[-1] in {*failures().kinds, "answered"}


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({}, None, None),
        ({"retry-after": "7"}, None, 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, None, 0.25),
        ({"retry-after": "soon"}, None, None),
        ({"retry-after": "-3"}, None, None),
        ({"retry-after": "inf"}, None, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, None, 0.0),
        ({}, {"error": {"details": [{"reason": "x"}, {"retryDelay": "1.5s"}]}}, 1.5),
        ({}, {"error": {"details": "none"}}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], body: Any, seconds: float | None) -> None:
    assert wait_asked(headers, body) == seconds


def test_a_date_to_wait_for_is_that_far_off() -> None:
    date = email.utils.formatdate(time.time() + 90, usegmt=True)
    assert wait_asked({"retry-after": date}, None) == pytest.approx(90, abs=3)


def test_google_refuses_a_key_with_another_status(kit: Any) -> None:
    detail = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    error = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": [detail]}
    kit.provider.always = kit.provider.json({"error": error}, status=400)
    with pytest.raises(RunStopped, match="API key not valid"):
        ask(kit.desk(), "google:m")
    assert outcomes(kit) == ["key_refused"]


def test_the_table_of_failures_is_whole() -> None:
    table = failures()
    assert {*table.statuses.values(), *table.codes.values()} <= set(table.kinds)
    assert {"bad_request", "server_error", "bad_body", "timeout", "dropped", "unreachable", "too_large"} <= set(
        table.kinds
    )
