"""One episode as a readable text: speech, commands, receipts, events, and why each condition holds or not."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iwkit.errors import LedgerError
from iwkit.events import EVENT_KINDS
from iwkit.ledger import Record
from iwkit.runfolder import closing_record, load_plan, selected_attempt
from iwkit.world.base import FRAMES_PER_SECOND

_HIDDEN_EVENTS = frozenset({"commanded", "said", "asked", "after", "refused", "declared", "left_view"})
"""Events that the lines around them already tell."""
_BLOCKS = (
    ("evidence", "What the opening must have shown:"),
    ("achieve", "To achieve:"),
    ("keep", "To keep as it was:"),
    ("gates", "To respect on the way:"),
)
_ON_WHOSE_ACCOUNT = {
    "opening": "",
    "assistant": ", as the assistant asked",
    "plan": ", as the wearer had planned",
    "human": ", unasked",
}
_STOPS = {
    "done": "the assistant declared the task done",
    "tick budget": "the ticks were used up",
    "action budget": "the actions were used up",
}
"""Stop reason -> how it reads; the others read well as they are."""


def episode_records(folder: Path, episode: str) -> tuple[Path, list[Record]]:
    """The journal of an episode: `F10`, or `F10-s3` for a seed.

    Raises:
        LedgerError: the run has no such episode, or it was not begun.
    """
    cells = load_plan(folder)["cells"]
    names = [n for n, c in cells.items() if episode in (n, c["task"])]
    if not names:
        raise LedgerError(f"{folder} has no episode {episode!r}: it has {', '.join(sorted(cells))}")
    chosen = selected_attempt(folder, names[0])
    if chosen is None:
        raise LedgerError(f"{folder}: episode {names[0]} has not been begun")
    return chosen


def transcript(folder: Path, episode: str) -> str:
    """The transcript of an episode as plain text.

    Raises:
        LedgerError: the run has no such episode, it was not begun, or its journal is damaged.
    """
    path, records = episode_records(folder, episode)
    return "\n".join(_lines(path, records)) + "\n"


@dataclass(frozen=True, slots=True)
class _Line:
    """`who` says or does `text`; `events` are the numbers of the events that go with it."""

    who: str
    text: str
    events: str = ""

    def __str__(self) -> str:
        return f"{self.events:>9}  {self.who:<9}  {self.text}".rstrip()


def _lines(path: Path, records: list[Record]) -> Iterator[str]:
    yield from _heading(path, records)
    yield "Opening"
    told = tick = 0
    answer = ""
    for record in records:
        tick = record.get("tick", tick)
        if record["kind"] == "answer":
            answer = record["text"]
        if record["kind"] == "handoff":
            yield ""
            yield "Handoff"
        for line in _record(record, answer):
            if tick != told:
                told = tick
                yield f"Tick {tick}"
            yield str(line)
    end = closing_record(records)
    yield ""
    if end is None:
        yield "Not finished: the same run command continues it."
    else:
        yield from _score(end)


def _heading(path: Path, records: list[Record]) -> Iterator[str]:
    header = next((r for r in records if r["kind"] == "header"), None)
    if header:
        yield f"{header['task']}, seed {header['seed']}, {header['world']} world"
        yield f"assistant {header['assistant']}, human {header['human']}"
        yield f"pack {header['digest']}"
    yield f"record {path}"
    yield ""
    yield "On the left are the numbers of the events, to which the reasons at the end refer."
    yield ""


def _record(record: Record, answer: str) -> Iterator[_Line]:
    """What a record tells; `answer` is the last one that an agent gave."""
    match record["kind"]:
        case "speech":
            asks = any(e["kind"] == "asked" for e in record["events"])
            yield _Line(record["by"], ("(asks) " if asks else "") + _plain(record["text"]), _numbers(record))
        case "step":
            yield from _step(record)
        case "reading" if record["role"] == "assistant" and record["control"] == "malformed":
            yield _Line("assistant", f"gives no valid answer ({record['why']}): {_shortened(answer)}")
        case "reading" if record["role"] == "human" and record["problem"]:
            yield _Line("wearer", f"gives no valid answer ({_plain(record['problem'])}): {_shortened(answer)}")
        case "declared":
            yield _Line("assistant", "declares the task done", _numbers(record))
        case "agent_failed":
            yield _Line("", _plain(record["reason"]))
        case "resumed":
            yield _Line("", "(continued after an interruption)")


def _step(record: Record) -> Iterator[_Line]:
    receipt = record["receipt"]
    seconds = receipt["frames"] / FRAMES_PER_SECOND
    outcome = f"done in {seconds:.1f} s" if seconds else "done"
    if not receipt["ok"]:
        outcome = f"REFUSED, {receipt['code']}: {receipt['text']}"
    who = f"step {record['cursor']}" if record["cursor"] else "action"
    account = _ON_WHOSE_ACCOUNT[record["by"]]
    yield _Line(who, f"{record['command']}{account}: {outcome}", _numbers(record))
    happened = "; ".join(_happenings(record["events"]))
    if happened:
        yield _Line("", f"  {happened}")


def _happenings(events: list[dict[str, Any]]) -> Iterator[str]:
    """The events of a step in words; what came into view is one list, and what the hand moves goes without saying."""
    handled = {e["roles"]["object"] for e in events if e["kind"] in ("grabbed", "released")}
    seen = [e["roles"]["object"] for e in events if e["kind"] == "became_visible"]
    for event in events:
        hidden = event["kind"] in _HIDDEN_EVENTS or event["kind"] == "became_visible"
        if not hidden and not (event["kind"] == "moved" and event["roles"]["object"] in handled):
            yield _event(event)
    if seen:
        yield f"now in view: {', '.join(seen)}"


def _event(event: dict[str, Any]) -> str:
    """`grabbed thermometer from trolley`: the roles in the order of the event's kind, all but the first by name."""
    kind = event["kind"]
    words = [kind.replace("_", " ")]
    for number, (role, _) in enumerate(EVENT_KINDS[kind].roles):
        if role in event["roles"]:
            value = event["roles"][role]
            words += [role] if number or role == "by" else []
            words.append(value if isinstance(value, str) else " + ".join(value) or "nothing")
    return " ".join(words)


def _score(end: Record) -> Iterator[str]:
    score = end["score"]
    yield f"Result: {end['status'].upper()}" + (f" ({_plain(end['void'])})" if end["void"] else "")
    reason = _STOPS.get(end["stop_reason"], end["stop_reason"])
    yield f"  after {_count(end['ticks'], 'tick')} and {_count(end['actions'], 'action')}; ended because: {reason}"
    if score["completion"] is not None:
        yield f"  completion {score['completion']:.2f}"
    if score["cfss"] is not None:
        yield f"  CFSS {score['cfss']:.2f}, STG-CFSS {score['stg_cfss']:.2f}"
    for block, title in _BLOCKS:
        rows = [c for c in score["conditions"] if c["block"] == block]
        if rows:
            yield title
        for row in rows:
            uncredited = block == "achieve" and row["ok"] and not row["credited"]
            credit = " (not credited: what it needs does not hold)" if uncredited else ""
            yield f"  [{'x' if row['ok'] else ' '}] {row['id']}{credit}: {row['why']}"
    if score["atoms"] and not end["void"]:
        yield "Capabilities:"
        for atom in score["atoms"]:
            yield f"  {atom['capability']} {atom['id']}: {atom['label'].replace('_', ' ')} ({_plain(atom['why'])})"


def _numbers(record: Record) -> str:
    numbers = [e["seq"] for e in record["events"]]
    if not numbers:
        return ""
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _plain(text: str) -> str:
    """Text on one line, without what a terminal would obey."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _shortened(text: str) -> str:
    return textwrap.shorten(_plain(text), 200, placeholder=" …") or "(nothing)"
