"""One episode as a readable text: speech, commands, receipts, events, and why each condition holds or not."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iwkit.ledger import Record
from iwkit.report.episode import (
    NOT_FINISHED,
    Entry,
    atoms,
    blocks,
    count,
    ending,
    episode_records,
    measures,
    plain,
    turns,
)
from iwkit.runfolder import closing_record, variant_name


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
    for turn in turns(records):
        if turn.title == "Handoff":
            yield ""
        yield turn.title
        for entry in turn.entries:
            yield from map(str, _entry(entry))
    end = closing_record(records)
    yield ""
    if end is None:
        yield NOT_FINISHED
    else:
        yield from _score(end)


def _heading(path: Path, records: list[Record]) -> Iterator[str]:
    header = next((r for r in records if r["kind"] == "header"), None)
    if header:
        varied = variant_name(header.get("variant", {}))
        seed = f"seed {header['seed']}" + (f" ({varied})" if varied else "")
        yield f"{header['task']}, {seed}, {header['world']} world"
        yield f"assistant {header['assistant']}, human {header['human']}"
        yield f"pack {header['digest']}"
    yield f"record {path}"
    yield ""
    yield "On the left are the numbers of the events, to which the reasons at the end refer."
    yield ""


def _entry(entry: Entry) -> Iterator[_Line]:
    match entry.kind:
        case "command":
            account = f", {entry.account}" if entry.account else ""
            who = f"step {entry.cursor}" if entry.cursor else "action"
            yield _Line(who, f"{entry.text}{account}: {entry.outcome}", entry.numbers)
            if entry.happened:
                yield _Line("", f"  {'; '.join(entry.happened)}")
        case "malformed":
            yield _Line(entry.by, f"gives no valid answer ({plain(entry.text)}): {_shortened(entry.raw)}")
        case "resumed":
            yield _Line("", f"({entry.text})")
        case _:
            yield _Line(entry.by, ("(asks) " if entry.asks else "") + plain(entry.text), entry.numbers)
    if entry.frames:
        yield _Line("", f"  ({count(len(entry.frames), 'picture')})")


def _score(end: Record) -> Iterator[str]:
    yield f"Result: {end['status'].upper()}" + (f" ({plain(end['void'])})" if end["void"] else "")
    yield f"  {ending(end)}"
    for measure in measures(end):
        yield f"  {measure}"
    for title, verdicts in blocks(end):
        yield f"{title}:"
        for verdict in verdicts:
            note = f" ({verdict.note})" if verdict.note else ""
            yield f"  [{'x' if verdict.ok else ' '}] {verdict.id}{note}: {verdict.why}"
    if atoms(end):
        yield "Capabilities:"
    for atom in atoms(end):
        yield f"  {atom['capability']} {atom['id']}: {atom['label'].replace('_', ' ')} ({plain(atom['why'])})"


def _shortened(text: str) -> str:
    return textwrap.shorten(plain(text), 200, placeholder=" …") or "(nothing)"
