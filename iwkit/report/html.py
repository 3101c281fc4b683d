"""A run as one HTML page that needs nothing else: figures, tasks, and every episode with the reasons for its score.

What agents said and what packs call things is text, never markup: every value is escaped on its way into the page,
characters that steer a terminal or the direction of writing are spelled out, and the page's own policy admits no script
but its own and no address at all.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from iwkit.compile.variants import as_played
from iwkit.errors import Problems
from iwkit.ledger import Record, write_atomic
from iwkit.metrics.cells import CellResult
from iwkit.metrics.rates import by_family
from iwkit.report.episode import (
    NOT_BEGUN,
    NOT_FINISHED,
    Entry,
    Turn,
    atoms,
    blocks,
    ending,
    episode_cell,
    measures,
    turns,
)
from iwkit.report.pictures import Album, Picture
from iwkit.report.summary import Summary, caution, summarise, title
from iwkit.report.tables import CAPABILITIES, STATUS_SIGNS, ended, number, percent, rate_text
from iwkit.runfolder import attempt_paths, closing_record, load_plan, selected_attempt

LABEL_SIGNS = {"clean_pass": "✓", "wrong": "✗", "assisted": "✓", "abstain": "–", "unobserved": "–", "void": "–"}
RAW_LIMIT = 20_000
"""Characters of a malformed answer that are shown; the record has all of it."""

_ABOUT = (
    ("question", "Question"),
    ("help_needed", "Help is needed"),
    ("success", "Success"),
    ("without_help", "Without help"),
)
"""Parts of a pack's contract that tell a reader what the episode is about."""
_EVENT = re.compile(r"\bevent (\d+)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a reason; `anchor` is the place on the page that it refers to, or empty."""

    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Row:
    """A condition or a capability of the score."""

    sign: str
    word: str
    id: str
    note: str
    why: list[Piece]


@dataclass(frozen=True, slots=True)
class Shown:
    """An entry of an episode with its place on the page and its pictures."""

    entry: Entry
    anchor: str
    pictures: list[Picture]
    raw: str


Story = list[tuple[Turn, list[Shown]]]


@dataclass(frozen=True, slots=True)
class EpisodePart:
    """One episode as the page shows it. `score` and `atoms` are empty while it is not finished."""

    result: CellResult
    name: str
    title: str
    about: list[tuple[str, str]]
    record: str
    unfinished: str
    turns: Story
    void: str = ""
    ending: list[str] = field(default_factory=list)
    score: list[tuple[str, list[Row]]] = field(default_factory=list)
    atoms: list[Row] = field(default_factory=list)


def write_html(folder: Path, out: Path, episode: str | None = None) -> None:
    """Write the page of a run folder, finished or not; with `episode`, only that episode is told on it.

    Raises:
        LedgerError: the folder holds no run or a damaged one, or no such episode, or the page cannot be written.
    """
    write_atomic(out, page(folder, episode).encode())


def page(folder: Path, episode: str | None = None) -> str:
    """The page of a run folder as text. The same records give the same page.

    Raises:
        LedgerError: the folder holds no run or a damaged one, or no such episode.
    """
    summary = summarise(folder)
    cells = dict(zip(load_plan(folder)["cells"], summary.results, strict=True))
    told = [episode_cell(folder, episode)] if episode else list(cells)
    album = Album(folder)
    packs = {name: _pack(folder, result) for name, result in cells.items()}
    parts = [_episode(folder, name, cells[name], packs[name], album) for name in told]
    script = _environment().get_template("report.js").render()
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            folder=folder.resolve().name,
            title=title(summary),
            caution=caution(summary),
            config=summary.config,
            total=summary.total,
            families=by_family(summary.results),
            cells=cells,
            titles={name: _title(pack) for name, pack in packs.items()},
            episodes=parts,
            told=told,
            pictures=_on_pictures(summary, album),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("iwkit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters |= {"percent": percent, "rate": rate_text, "number": number, "ended": ended}
    environment.filters |= {"heading": heading, "word": word}
    environment.globals |= {"status_signs": STATUS_SIGNS}
    return environment


def heading(result: CellResult) -> str:
    """The task, with its seed where that is not the benchmark's, and what varies in it."""
    name = f"{result.task}, seed {result.seed}" if result.seed else result.task
    return f"{name} ({result.variant})" if result.variant else name


def word(value: object) -> str:
    """A value of the configuration as people write it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _finalize(value: object) -> object:
    """Every text that goes into the page passes here, and is escaped afterwards."""
    ready = hasattr(value, "__html__")  # what a macro gave: its parts have passed here already
    return spelled_out(value) if isinstance(value, str) and not ready else value


def spelled_out(text: str) -> str:
    """Text in which characters that are not seen but obeyed (escapes, changes of writing direction, halves of
    surrogate pairs) stand as their numbers; line breaks stay."""
    return "".join(c if c.isprintable() or c == "\n" else f"⟨U+{ord(c):04X}⟩" for c in text)


def _on_pictures(summary: Summary, album: Album) -> str:
    """What the page says once about pictures."""
    if album.asked:
        return ""
    if summary.config["world"] == "symbolic":
        return "The symbolic world gives no pictures: what the wearer saw is told in words."
    return "The records of this run refer to no pictures."


def _pack(folder: Path, result: CellResult) -> Mapping[str, Any]:
    """The pack as it was run; nothing where it is missing or cannot be read, since the record is enough."""
    try:
        data = as_played(folder / "packs" / f"{result.task}.yaml", result.seed)
    except Problems:
        return {}
    return data if isinstance(data, dict) else {}


def _title(pack: Mapping[str, Any]) -> str:
    return str(pack.get("title", ""))


def _about(pack: Mapping[str, Any]) -> list[tuple[str, str]]:
    contract = pack.get("contract")
    return (
        [(label, str(contract[key])) for key, label in _ABOUT if key in contract] if isinstance(contract, dict) else []
    )


def _episode(folder: Path, name: str, result: CellResult, pack: Mapping[str, Any], album: Album) -> EpisodePart:
    chosen = selected_attempt(folder, name)
    path, records = chosen or (None, [])
    end = closing_record(records)
    story = [
        (turn, [_shown(entry, name, album) for entry in turn.entries])
        for turn in _with_quiet(turns(records), end["ticks"] if end else 0)
    ]
    anchors = _anchors(story)
    part = EpisodePart(
        result=result,
        name=name,
        title=_title(pack),
        about=_about(pack),
        record=_record_line(folder, name, path) if path else "",
        unfinished=NOT_FINISHED if chosen else NOT_BEGUN,
        turns=story if chosen else [],
    )
    if end is None:
        return part
    return replace(
        part,
        unfinished="",
        void=end["void"] or "",
        ending=[ending(end), *measures(end)],
        score=list(_score(end, anchors)),
        atoms=list(_atoms(end, anchors)),
    )


def _anchors(story: Story) -> dict[int, str]:
    """Number of an event -> the place on the page where it is told."""
    found: dict[int, str] = {}
    for _, entries in story:
        for shown in entries:
            first, last = shown.entry.events or (0, -1)
            found |= dict.fromkeys(range(first, last + 1), shown.anchor)
    return found


def _record_line(folder: Path, cell: str, path: Path) -> str:
    """Which attempt is told, out of how many."""
    paths = attempt_paths(folder, cell)
    return f"{path.relative_to(folder).as_posix()} (attempt {paths.index(path) + 1} of {len(paths)})"


def _with_quiet(story: Iterable[Turn], ticks: int) -> Iterator[Turn]:
    """The turns, and one empty turn for each run of ticks in which nobody said or did anything."""
    last = 0
    for turn in [*story, None]:
        tick = turn.tick if turn else ticks + 1
        if tick > last + 1:
            first, final = last + 1, tick - 1
            yield Turn(f"Tick {first}" if first == final else f"Ticks {first} to {final}", final, [])
        if turn:
            yield turn
            last = turn.tick


def _shown(entry: Entry, cell: str, album: Album) -> Shown:
    raw = entry.raw[:RAW_LIMIT] or "(nothing)"
    if len(entry.raw) > RAW_LIMIT:
        raw += f"\n… and {len(entry.raw) - RAW_LIMIT} more characters, in the record"
    anchor = f"{cell}-{entry.events[0]}" if entry.events else ""
    return Shown(entry, anchor, [album.picture(digest) for digest in entry.frames], raw)


def _score(end: Record, anchors: Mapping[int, str]) -> Iterator[tuple[str, list[Row]]]:
    for block, verdicts in blocks(end):
        rows = [
            Row("✓" if v.ok else "✗", "holds" if v.ok else "does not hold", v.id, v.note, _linked(v.why, anchors))
            for v in verdicts
        ]
        yield block, rows


def _atoms(end: Record, anchors: Mapping[int, str]) -> Iterator[Row]:
    for atom in atoms(end):
        label = atom["label"]
        skill = f"{atom['capability']} {CAPABILITIES[atom['capability']]}"
        yield Row(LABEL_SIGNS[label], label.replace("_", " "), atom["id"], skill, _linked(atom["why"], anchors))


def _linked(why: str, anchors: Mapping[int, str]) -> list[Piece]:
    """A reason in pieces, each `event 12` with the place on the page where that event is told."""
    pieces, at = [], 0
    for match in _EVENT.finditer(why):
        anchor = anchors.get(int(match.group(1)), "")
        pieces += [Piece(why[at : match.start()], ""), Piece(match.group(), anchor)]
        at = match.end()
    return [p for p in (*pieces, Piece(why[at:], "")) if p.text]
