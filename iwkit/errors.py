"""Every exception iwkit raises on purpose. Each message says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iwkit.problems import Problem


class IwkitError(Exception):
    """Root of the tree. The command line prints it without a traceback and exits non-zero."""


class Problems(IwkitError):  # noqa: N818  it is a list of them
    """One or more located problems in a file; `problems` holds them sorted by place."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(problems)
        super().__init__("\n".join(map(str, self.problems)))


class GrammarError(IwkitError):
    """A command that the grammar of B.3.1 does not admit. `at` is the 0-based offset in the text."""

    def __init__(self, code: str, message: str, at: int = 0, hint: str = "") -> None:
        self.code, self.message, self.at, self.hint = code, message, at, hint
        super().__init__(f"{code} {message}" + (f" ({hint})" if hint else ""))


class CompileError(IwkitError):
    """A pack that passed its checks could not be compiled."""


class LedgerError(IwkitError):
    """A run folder that cannot be opened, continued or trusted."""


class FreezeError(IwkitError):
    """A pack or benchmark that must not be frozen, or does not match its lock."""


class AgentError(IwkitError):
    """An assistant or human that cannot be made, or that failed to answer."""


class RunStopped(IwkitError):  # noqa: N818  it is no error of the run's
    """A run that ends before its time and can be continued: the budget does not reach, a provider refuses the key, or a
    person at the terminal left. No cell is void for it."""


class UsageError(IwkitError):
    """A request that cannot be carried out as asked."""
