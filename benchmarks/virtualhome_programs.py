"""How much of VirtualHome's programs, which use the same brackets, the command grammar reads, as markdown tables.

python benchmarks/virtualhome_programs.py FOLDER

FOLDER holds program files at any depth, such as the unpacked wheel of `virtualhome-eval` (MIT), which is not ours, not
in this repository, and not downloaded here:

pip download --no-deps virtualhome-eval && unzip virtualhome_eval-*.whl -d FOLDER

A program is a title, a description, and lines such as `[PUTIN] <mug> (1.42) <sink> (2.7)`. Before the point stands
which mug of the program it is, after it the node of the scene graph. The grammar has one whole number, the instance,
so the mapping keeps the first and drops the second. Nothing gets lost, which is checked for each program: within one
of them name and instance stand for one node, and a node has one name and instance.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from iwkit.errors import GrammarError
from iwkit.grammar import GRAMMAR_CODES, parse
from iwkit.verbs import SURFACE

_INDEX = re.compile(r"\(\s*(\d+)\.(\d+)\s*\)")
_ENTITY = re.compile(r"<\s*([^>]*?)\s*>\s*\(\s*(\d+)\.(\d+)\s*\)")
_VERB = re.compile(r"\[\s*(\w+)\s*\]")


@dataclass(slots=True)
class Tally:
    """What became of the lines, by verb as spelt there; those refused by code too."""

    programs: int = 0
    whole: int = 0
    lost: list[str] = field(default_factory=list)
    read: Counter[str] = field(default_factory=Counter)
    refused: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def lines(self) -> int:
        return self.read.total() + sum(verbs.total() for verbs in self.refused.values())

    @property
    def known(self) -> int:
        """Lines whose verb is one of the grammar's."""
        counts = sum((verbs for verbs in self.refused.values()), self.read)
        return sum(count for verb, count in counts.items() if verb.lower() in SURFACE)


def mapped(line: str) -> str:
    """A line of VirtualHome in the grammar's numbering: `(1.417)` becomes `(1)`."""
    return _INDEX.sub(r"(\1)", line)


def commands(text: str) -> list[str]:
    """The lines of a program file that are commands; title and description are none."""
    return [line.strip() for line in text.splitlines() if line.lstrip().startswith("[")]


def told_apart(lines: Iterable[str]) -> bool:
    """Whether the numbers that are kept tell apart what the numbers that are dropped tell apart, and no more."""
    found = {entity for line in lines for entity in _ENTITY.findall(line)}
    return len({entity[:2] for entity in found}) == len({node for *_, node in found}) == len(found)


def programs(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The name and the commands of each program file in a folder, in order."""
    for path in sorted(folder.rglob("*.txt")):
        lines = commands(path.read_text("utf-8"))
        if any(_VERB.match(line) and _INDEX.search(line) for line in lines):
            yield path.name, lines


def count(found: Iterable[tuple[str, list[str]]]) -> Tally:
    tally = Tally()
    for name, lines in found:
        tally.programs += 1
        tally.lost += [] if told_apart(lines) else [name]
        # Not all(): every line is to be counted.
        tally.whole += sum(_counted(tally, line) for line in lines) == len(lines)
    return tally


def _counted(tally: Tally, line: str) -> bool:
    verb = _VERB.match(line)
    word = verb[1].upper() if verb else line
    try:
        parse(mapped(line))
    except GrammarError as error:
        tally.refused.setdefault(error.code, Counter())[word] += 1
        return False
    tally.read[word] += 1
    return True


def table(tally: Tally) -> str:
    """Two markdown tables: what was read by verb of ours, and what was refused by code and verb."""
    by_verb: Counter[str] = Counter()
    for word, number in tally.read.items():
        by_verb[f"`[{SURFACE[word.lower()][1]}]`"] += number
    rows = [f"| {verb} | {number} |" for verb, number in by_verb.most_common()]
    refusals = [
        f"| {code} {GRAMMAR_CODES[code]} | {verbs.total()} | {_listed(verbs)} |"
        for code, verbs in sorted(tally.refused.items())
    ]
    return "\n".join(
        [
            f"{tally.programs} programs, {tally.lines:,} lines: {tally.known:,} have a verb of the grammar, "
            f"{tally.read.total():,} are read. {tally.whole} programs are read whole. Programs in which the mapping "
            f"takes two things for one: {len(tally.lost)}.",
            "\n| verb | lines read |\n| --- | --- |",
            *rows,
            "\n| refused as | lines | verbs there |\n| --- | --- | --- |",
            *refusals,
        ]
    )


def _listed(verbs: Counter[str]) -> str:
    return ", ".join(f"`{word}` {number}" for word, number in verbs.most_common())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the program files are, at any depth")
    folder = parser.parse_args().folder
    tally = count(programs(folder)) if folder.is_dir() else Tally()
    if not tally.programs:
        parser.error(f"{folder}: no program file in VirtualHome's form here: see --help")
    print(f"iwkit {version('iwkit')}, {datetime.now(UTC).date().isoformat()}\n\n{table(tally)}")


if __name__ == "__main__":
    main()
