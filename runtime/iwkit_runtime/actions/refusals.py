"""Why geometry refuses a command that makes sense: codes beside `iwkit.world.refusals` (ACT-4, ACT-7, SEM-5)."""

from __future__ import annotations

from typing import Final

from iwkit.world.refusals import Reason

PHYSICAL_REFUSALS: Final[dict[str, Reason]] = {
    "PATH_BLOCKED": Reason("world", "The way {0} is blocked by {1}."),
    "OUT_OF_REACH": Reason("world", "You cannot reach {0} from anywhere."),
    "TRAJECTORY_COLLISION": Reason("world", "You cannot get to {0}: {1} is in the way."),
    "NO_ROOM": Reason("world", "There is no free place for {0} on or in {1}."),
    "POSTCONDITION_FAILED": Reason("world", "It was done, but {0} is not where or as it should be."),
    "NOT_BUILT": Reason("engine", "{0} is not possible in the physical world yet."),
}
"""Code -> reason. docs/physical-world.md explains each. Where a code is also symbolic, this text is the one given."""


class RefusedError(Exception):
    """Raised within an action, caught by the world, which puts everything back.

    `about` holds names of things, or words that stand for themselves.
    """

    def __init__(self, code: str, *about: str) -> None:
        super().__init__(code)
        self.code, self.about = code, about


class NoWayError(RefusedError):
    """The wearer can't get to where it would have to stand: another place to put or take a thing won't help."""


def sentence(code: str, words: tuple[str, ...]) -> str:
    """What the wearer is told, with public names."""
    text = PHYSICAL_REFUSALS[code].template.format(*words)
    return text[0].upper() + text[1:]
