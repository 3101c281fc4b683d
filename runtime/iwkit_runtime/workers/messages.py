"""What workers and the calling process tell one another. All of it can be pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from iwkit.ledger import Record

if TYPE_CHECKING:
    from iwkit_runtime.models.wire import Prompt

# --- from a worker ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker can be given jobs."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A model is to be asked for an episode in a worker."""

    number: int
    model: str
    cell: str
    role: str
    prompt: Prompt
    tick: int


@dataclass(frozen=True, slots=True)
class Write:
    """Records of a job are to be written, and files of the run folder before them: path in it -> bytes."""

    number: int
    job: int
    records: tuple[Record, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Done:
    """A job was played to its end."""

    job: int
    end: Record


@dataclass(frozen=True, slots=True)
class Failed:
    """A job was not, or without a number none can be played. `stopped`: for a reason that no retry mends; `bug`: by an
    exception that iwkit does not raise on purpose."""

    job: int | None
    kind: Literal["error", "stopped", "bug"]
    text: str


@dataclass(frozen=True, slots=True)
class Gone:
    """The worker is no more. It does not say so itself: its place does."""

    why: str = ""


# --- to a worker ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Job:
    """Something to play."""

    number: int
    what: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an `Ask`: the text, or an error in words (`stopped`: of a kind that no retry mends), and what it
    took."""

    number: int
    text: str | None
    account: dict[str, Any] | None
    error: str = ""
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a `Write`: all of it is on disk, or an error in words."""

    number: int
    error: str = ""
