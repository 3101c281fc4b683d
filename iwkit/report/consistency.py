"""Whether the record of an episode agrees with itself: the closing record must follow from the records before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from iwkit.compile import CompiledTask, load_task
from iwkit.errors import IwkitError
from iwkit.ledger import Record, trace_of
from iwkit.library import Library
from iwkit.runfolder import closing_record, load_plan, selected_attempt
from iwkit.score import score

_NONE: dict[str, Any] = {}


def contradictions(folder: Path) -> Iterator[str]:
    """One line for each finished episode of a run folder whose record contradicts itself, and how.

    The score is computed again from the events and states of the record and the pack that was run.

    Raises:
        LedgerError: it holds no run, or a damaged one.
    """
    tasks: dict[str, CompiledTask | None] = {}
    for cell in load_plan(folder)["cells"]:
        chosen = selected_attempt(folder, cell)
        end = None if chosen is None else closing_record(chosen[1])
        if chosen is None or end is None:
            continue
        path, records = chosen
        header = next((r for r in records if r["kind"] == "header"), _NONE)
        pack = folder / "packs" / f"{header.get('task')}.yaml"
        key = f"{header.get('task')} {header.get('digest')}"
        if key not in tasks:
            tasks[key] = _task(pack, header)
        task = tasks[key]
        found = [*broken(records), *([] if task is None else rescored(task, records, end))]
        if found:
            yield f"{path}: the record contradicts itself: {'; '.join(found)}. It was changed: run the task again"


def broken(records: list[Record]) -> Iterator[str]:
    """Events out of order, and relations that come though they hold, or go though they don't."""
    state: set[tuple[str, ...]] = set()
    last = 0
    for record in records:
        if record["kind"] == "reset":
            state = {tuple(r) for r in record["state"]}
        added, removed = ({tuple(r) for r in record.get(word, ())} for word in ("added", "removed"))
        wrong = sorted((added & state) | (removed - state))
        if wrong:
            yield f"record {record['n']} changes {wrong[0][0]}({', '.join(wrong[0][1:])}) to what it was"
        state = (state - removed) | added
        for event in record.get("events", ()):
            if event["seq"] != last + 1:
                yield f"record {record['n']} has event {event['seq']} after event {last}"
            last = event["seq"]


def rescored(task: CompiledTask, records: list[Record], end: Record) -> Iterator[str]:
    """What the closing record says otherwise than the score that follows from the trace."""
    pack, physical = task.pack, task.pack.physical
    result = score(
        physical.goal,
        physical.evidence,
        physical.atoms,
        physical.windows,
        trace_of(records),
        task.vocabulary,
        source_family=pack.source_family,
        void=end["void"],
    )
    status = "void" if result.void else "pass" if result.passed else "fail"
    if end["status"] != status:
        yield f"it ends with {end['status']}, and its trace gives {status}"
    mine, filed = _worth(result.to_json()), _worth(end["score"])
    differ = sorted(k for k in mine.keys() | filed.keys() if mine.get(k) != filed.get(k))
    if differ:
        yield f"its score differs from what its trace gives in {', '.join(differ)}"


def _worth(score: Mapping[str, Any]) -> dict[str, Any]:
    """What a score says, without the reasons in words, which may be put otherwise by another version."""
    whole = {k: v for k, v in score.items() if k not in ("conditions", "atoms")}
    parts = {k: [{f: v for f, v in part.items() if f != "why"} for part in score[k]] for k in ("conditions", "atoms")}
    return whole | parts


def _task(pack: Path, header: Mapping[str, Any]) -> CompiledTask | None:
    """The task as it was run; None where the pack is missing, is another, or needs a project that is not here."""
    for near in (pack, Path("x")):
        try:
            task = load_task(pack, Library.for_file(near), header.get("seed", 0))
        except (IwkitError, OSError):
            continue
        return task if task.digest == header.get("digest") else None
    return None
