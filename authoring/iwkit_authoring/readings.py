"""Readings of packs: who read which revision and what came of it, and writing one into a pack's file (BENCH-2)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import yaml

from iwkit.compile import CompiledTask, compile_pack
from iwkit.errors import FreezeError, Problems, UsageError
from iwkit.ledger import write_atomic
from iwkit.library import Library
from iwkit.source.check import check
from iwkit.source.reader import read, read_text
from iwkit.spec.pack import Pack
from iwkit.spec.review import Reading

CALLED: Final = {"person": "a person's reading", "model": "a model's reading", "author": "its author's own reading"}
"""Kind of reader -> what its reading is called: a model's reading is called that."""


def today() -> str:
    """The day that a reading is given now, in UTC."""
    return datetime.now(UTC).date().isoformat()


def told(reading: Reading) -> str:
    """A reading in words."""
    note = f": {reading.note}" if reading.note else ""
    return f"{CALLED[reading.kind]} by {reading.by} on {reading.date} says {reading.verdict}{note}"


def standing(task: CompiledTask) -> list[Reading]:
    """The readings of exactly this digest, of each reader (a name and a kind) the last one."""
    current = (r for r in task.pack.review.readings if r.pack == task.digest)
    return list({(r.by, r.kind): r for r in current}.values())


def missing(task: CompiledTask, path: Path) -> list[str]:
    """What a pack's readings lack for it to be frozen: one must stand that says keep, and none that says retry."""
    found = standing(task)
    refused = [r for r in found if r.verdict == "retry"]
    if refused:
        return [f"{path}: {told(r)}: change the pack, or have it read again by {r.by}" for r in refused]
    if found:
        return []
    how = f'run iwkit review {path} --by "NAME" --kind author|person|model --verdict keep'
    if task.pack.review.readings:
        last = task.pack.review.readings[-1]
        return [f"{path}: no reading of this revision: {told(last)}, but the pack was changed since: {how}"]
    return [f"{path}: nobody's reading of it is recorded: {how}"]


def add_reading(path: Path, reading: Reading, library: Library | None = None) -> None:
    """Append a reading to the part `review` of a pack's file. Every other character of the file stays as it is.

    Raises:
        Problems: the file is no sound pack.
        UsageError: the reading is of another digest.
        FreezeError: it can't be written there without changing anything else; the message says what to write by hand.
    """
    doc = read(path)
    before = compile_pack(doc, check(doc, Pack), library or Library.for_file(path))
    if reading.pack != before.digest:
        raise UsageError(f"{path}: the reading is of {reading.pack}, and the pack is {before.digest}")
    entry = _written(reading.model_dump(mode="json", exclude_none=True))
    new = _spliced(path.read_bytes().decode(), entry)
    wanted = {**doc.data, "review": {**doc.data.get("review", {})}}
    wanted["review"]["readings"] = [*wanted["review"].get("readings", []), reading.model_dump(exclude_none=True)]
    try:
        same = read_text(new, str(path)).data == wanted
    except Problems:
        same = False
    if not same:
        raise FreezeError(f"{path}: the part review can't be added to as it is written: add under readings: - {entry}")
    write_atomic(path, new.encode())


def _written(reading: dict[str, Any]) -> str:
    """A reading as one line of YAML: JSON's strings are YAML's."""
    plain = {"kind", "date", "pack", "verdict"}
    parts = (f"{k}: {v if k in plain else json.dumps(v, ensure_ascii=False)}" for k, v in reading.items())
    return f"{{{', '.join(parts)}}}"


def _spliced(text: str, entry: str) -> str:
    """The text of a pack with one more reading."""
    top = yaml.compose(text, Loader=yaml.SafeLoader)
    review = _value(top, "review")
    if review is None:
        begin = "" if text.endswith("\n") else "\n"
        return _at(text, len(text), f"{begin}review:\n  readings:\n    - {entry}\n")
    readings = _value(review, "readings")
    if readings is None:
        return _first(text, review, entry)
    if readings.flow_style:
        inner = ", " if readings.value else ""
        return _at(text, readings.end_mark.index - 1, f"{inner}{entry}")
    return _after(text, _end(readings), f"{' ' * readings.start_mark.column}- {entry}")


def _first(text: str, review: Any, entry: str) -> str:
    """The text with the first reading in a part `review` that has none yet."""
    start, end = review.start_mark, review.end_mark
    if not review.flow_style:
        indent = " " * start.column
        return _at(text, start.index, f"readings:\n{indent}  - {entry}\n{indent}")
    if review.value:
        return _at(text, end.index - 1, f", readings: [{entry}]")
    head = text[: start.index].rstrip(" ")
    return _at(head + text[end.index :], len(head), f"\n  readings:\n    - {entry}")


def _value(mapping: Any, key: str) -> Any:
    return next((value for name, value in mapping.value if name.value == key), None)


def _end(node: Any) -> int:
    """Where a node ends in the text. A block's own mark is where the next one begins: its last part tells."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


def _at(text: str, index: int, new: str) -> str:
    """The text with something inserted, its lines ended as the others are."""
    return text[:index] + (new.replace("\n", "\r\n") if "\r\n" in text else new) + text[index:]


def _after(text: str, index: int, line: str) -> str:
    """The text with a line of its own after the one that `index` is in; a comment at its end stays with it."""
    if index and text[index - 1] == "\n":
        return _at(text, index, f"{line}\n")
    end = text.find("\n", index)
    return _at(text, len(text), f"\n{line}\n") if end < 0 else _at(text, end + 1, f"{line}\n")
