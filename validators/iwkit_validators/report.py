"""What was found in a file, and what of it other files are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from iwkit.compile import CompiledTask
from iwkit.problems import Problem
from iwkit.source.document import Document


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in one file, sorted by place. `task` is None when it is no pack or could not be compiled."""

    path: Path
    problems: tuple[Problem, ...]
    task: CompiledTask | None


class Checked(NamedTuple):
    """A report with the document of a pack that could be read."""

    report: Report
    doc: Document | None
