"""A scene with things in it as a compiled task, with the least of a pack around it: for benchmarks and tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from iwkit.compile import CompiledTask, compile_pack
from iwkit.library import Library
from iwkit.source.check import check
from iwkit.source.reader import read_text
from iwkit.spec.pack import Pack

TEXT = "Only to be looked at."
WORDS = ("question", "evidence", "help_needed", "information_gap", "success", "without_help")
GOAL = {"score": "state", "achieve": [{"id": "gone", "that": {"happened": {"entered": "any"}}}]}


def pack_around(physical: Mapping[str, Any], name: str = "TEST", **header: Any) -> dict[str, Any]:
    """A pack as data. `physical` needs a scene, a wearer and entities; opening and goal are made up unless it has them,
    and so is the header unless it is given."""
    lines = [{"when": "handoff", "say": TEXT, "do": ["[Wait]"]}, {"done": True}]
    control = {"fails": ["gone"], "lines": lines}
    return {
        "taskpack": "1.0",
        "id": name,
        "family": "finding",
        "source_family": "FIND",
        "title": TEXT,
        "guid": "3f0c2b8e-5a55-4b8f-9a53-0d7c0f10aa36",
        "capabilities": ["C1"],
        "contract": dict.fromkeys(WORDS, TEXT),
        **header,
        "physical": {"opening": [{"id": "o1", "do": "[Wait]"}], "goal": GOAL, **physical},
        "interaction": {
            "public": TEXT,
            "human": {"context": TEXT},
            "handoff": TEXT,
            "oracle": lines,
            "wrong": control,
            "early": control,
            "budget": {"ticks": 5, "actions": 5},
        },
    }


def staged(
    physical: Mapping[str, Any], name: str = "TEST", library: Library | None = None, **header: Any
) -> CompiledTask:
    """The same, compiled with a library, else with what ships.

    Raises:
        Problems: the scene, or what is in it, is not right.
    """
    document = read_text(json.dumps(pack_around(physical, name, **header), indent=1), f"{name}.yaml")
    return compile_pack(document, check(document, Pack), _shipped() if library is None else library)


@cache
def _shipped() -> Library:
    return Library()
