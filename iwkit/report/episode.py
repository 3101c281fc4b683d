"""What happened in one episode, turn by turn and in words: the one telling behind transcript and page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from iwkit.errors import LedgerError
from iwkit.events import EVENT_KINDS
from iwkit.ledger import Record
from iwkit.runfolder import load_plan, selected_attempt
from iwkit.world.base import FRAMES_PER_SECOND

EntryKind = Literal["speech", "command", "malformed", "declared", "failed", "resumed", "pictures"]

NOT_FINISHED = "Not finished: the same run command continues it."
NOT_BEGUN = "Not begun: the same run command plays it."

_HIDDEN_EVENTS = frozenset({"commanded", "said", "asked", "after", "refused", "declared", "left_view"})
"""Events that the lines around them already tell."""
_BLOCKS = (
    ("evidence", "What the opening must have shown"),
    ("achieve", "To achieve"),
    ("keep", "To keep as it was"),
    ("gates", "To respect on the way"),
)
_ON_WHOSE_ACCOUNT = {
    "opening": "",
    "assistant": "as the assistant asked",
    "plan": "as the wearer had planned",
    "human": "unasked",
}
_STOPS = {
    "done": "the assistant declared the task done",
    "tick budget": "the ticks were used up",
    "action budget": "the actions were used up",
}
"""Stop reason -> how it reads; the others read well as they are."""
_AGENTS = {"assistant": "assistant", "human": "wearer"}
"""Role in a record -> who that is in the story."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was said or done. Texts of agents are as recorded: whoever shows them makes them harmless.

    `by` is `wearer`, `assistant` or empty; `text` what is said, commanded or told. `events` are the numbers of the
    first and the last event that go with it; `frames` the digests of the pictures that the record refers to. A command
    also has its `cursor` in the opening or plan, on whose `account` it was given, whether it was done (`ok`), its
    `outcome` in words and what then `happened`. A malformed answer also has its `raw` text.
    """

    kind: EntryKind
    by: str
    text: str
    events: tuple[int, int] | None = None
    frames: tuple[str, ...] = ()
    asks: bool = False
    cursor: str = ""
    account: str = ""
    ok: bool = True
    outcome: str = ""
    happened: tuple[str, ...] = ()
    raw: str = ""

    @property
    def numbers(self) -> str:
        """`7`, `7-9`, or nothing."""
        if self.events is None:
            return ""
        first, last = self.events
        return str(first) if first == last else f"{first}-{last}"


@dataclass(frozen=True, slots=True)
class Turn:
    """The opening, the handoff (both tick 0) or one tick, with what happened in it."""

    title: str
    tick: int
    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One condition of the score; `note` is empty or says why it earns nothing though it holds."""

    id: str
    ok: bool
    note: str
    why: str


def episode_cell(folder: Path, episode: str) -> str:
    """The cell of an episode: `F10-s0` for `F10` or `F10-s0`.

    Raises:
        LedgerError: the run has no such episode.
    """
    cells = load_plan(folder)["cells"]
    names = [n for n, c in cells.items() if episode in (n, c["task"])]
    if not names:
        raise LedgerError(f"{folder} has no episode {episode!r}: it has {', '.join(sorted(cells))}")
    return str(names[0])


def episode_records(folder: Path, episode: str) -> tuple[Path, list[Record]]:
    """The journal of an episode: `F10`, or `F10-s3` for a seed.

    Raises:
        LedgerError: the run has no such episode, or it was not begun.
    """
    cell = episode_cell(folder, episode)
    chosen = selected_attempt(folder, cell)
    if chosen is None:
        raise LedgerError(f"{folder}: episode {cell} has not been begun")
    return chosen


def turns(records: list[Record]) -> list[Turn]:
    """The records of an attempt as a story; ticks in which nobody said or did anything are left out."""
    found = [Turn("Opening", 0, [])]
    tick = 0
    answer = ""
    for record in records:
        tick = record.get("tick", tick)
        if record["kind"] == "answer":
            answer = record["text"]
        if record["kind"] == "handoff":
            found.append(Turn("Handoff", 0, []))
        for entry in _entries(record, answer):
            if tick != found[-1].tick:
                found.append(Turn(f"Tick {tick}", tick, []))
            found[-1].entries.append(entry)
    return found


def blocks(end: Record) -> Iterator[tuple[str, list[Verdict]]]:
    """The conditions of a closed attempt under the titles of their blocks; empty blocks are left out."""
    for block, title in _BLOCKS:
        rows = [_verdict(c) for c in end["score"]["conditions"] if c["block"] == block]
        if rows:
            yield title, rows


def atoms(end: Record) -> list[dict[str, Any]]:
    """The atoms of a closed attempt as recorded; none for a void cell, where they tell nothing."""
    return [] if end["void"] else list(end["score"]["atoms"])


def ending(end: Record) -> str:
    """How long a closed attempt took, and why it ended."""
    reason = _STOPS.get(end["stop_reason"], end["stop_reason"])
    return f"after {count(end['ticks'], 'tick')} and {count(end['actions'], 'action')}; ended because: {reason}"


def measures(end: Record) -> Iterator[str]:
    """Completion, and CFSS where the family has it; nothing for a void cell."""
    score = end["score"]
    if score["completion"] is not None:
        yield f"completion {score['completion']:.2f}"
    if score["cfss"] is not None:
        yield f"CFSS {score['cfss']:.2f}, STG-CFSS {score['stg_cfss']:.2f}"


def count(number: int, noun: str) -> str:
    """`1 picture`, `2 pictures`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def plain(text: str) -> str:
    """Text on one line, without what a terminal would obey."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _entries(record: Record, answer: str) -> Iterator[Entry]:
    """What a record tells; `answer` is the last one that an agent gave."""
    frames = tuple(record.get("frames", ()))
    match record["kind"]:
        case "speech":
            asks = any(e["kind"] == "asked" for e in record["events"])
            yield Entry("speech", record["by"], record["text"], _events(record), frames, asks=asks)
        case "step":
            yield _command(record, frames)
        case "reading" if why := _fault(record):
            yield Entry("malformed", _AGENTS[record["role"]], why, frames=frames, raw=answer)
        case "declared":
            yield Entry("declared", "assistant", "declares the task done", _events(record), frames)
        case "agent_failed":
            yield Entry("failed", "", record["reason"], frames=frames)
        case "resumed":
            yield Entry("resumed", "", "continued after an interruption")
        case _ if frames:
            by = _AGENTS.get(record.get("role", ""), "")
            yield Entry("pictures", by, "is shown" if by else "in view", frames=frames)


def _fault(record: Record) -> str:
    """Why an answer was malformed or refused as a whole; nothing if it was not."""
    if record["role"] == "human":
        return str(record["problem"])
    return str(record["why"]) if record["control"] == "malformed" else ""


def _command(record: Record, frames: tuple[str, ...]) -> Entry:
    receipt = record["receipt"]
    seconds = receipt["frames"] / FRAMES_PER_SECOND
    outcome = f"done in {seconds:.1f} s" if seconds else "done"
    if not receipt["ok"]:
        outcome = f"REFUSED, {receipt['code']}: {receipt['text']}"
    return Entry(
        "command",
        "",
        record["command"],
        _events(record),
        frames,
        cursor=record["cursor"] or "",
        account=_ON_WHOSE_ACCOUNT[record["by"]],
        ok=receipt["ok"],
        outcome=outcome,
        happened=tuple(_happenings(record["events"])),
    )


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


def _verdict(condition: dict[str, Any]) -> Verdict:
    uncredited = condition["block"] == "achieve" and condition["ok"] and not condition["credited"]
    note = "not credited: what it needs does not hold" if uncredited else ""
    return Verdict(condition["id"], condition["ok"], note, condition["why"])


def _events(record: Record) -> tuple[int, int] | None:
    numbers = [e["seq"] for e in record["events"]]
    return (numbers[0], numbers[-1]) if numbers else None
