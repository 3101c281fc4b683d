"""Paraphrases of the packs' oracle lines lead the rules human to the commands that the packs expect.

Each is spoken in the state before its line, which the preceding lines and the scripted human have brought about.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import pytest
import yaml

from iwkit import resources
from iwkit.compile import CompiledTask, load_task
from iwkit.grammar import Command, parse
from iwkit.library import Library
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.agents.rules import RulesHuman
from iwkit_runtime.agents.scripted import ScriptedAssistant, ScriptedHuman
from iwkit_runtime.loop.episode import Episode

PACKS = {path.stem: path for path in sorted(resources.root("taskpacks").glob("*/*.yaml"))}
DATA = yaml.safe_load((resources.root("taskpacks").parent / "tests" / "data" / "paraphrases.yaml").read_text("utf-8"))
PARAPHRASES = [
    (pack, item["line"] - 1, say) for pack, items in DATA["paraphrases"].items() for item in items for say in item["say"]
]
ScriptName = Literal["oracle", "wrong", "early"]
LIBRARY = Library()


@cache
def task(pack: str) -> CompiledTask:
    return load_task(PACKS[pack], LIBRARY)


class Spoken:
    """What came of one utterance: commands carried out because of it, whether one was refused, what the wearer said."""

    def __init__(self, pack: str, script: ScriptName, line: int, say: str) -> None:
        self.commands: list[Command] = []
        self.refused = False
        self.asked = False
        self.speech: list[str] = []
        self._listening = False
        episode = Episode(task(pack), SymbolicWorld(), self._hear)
        assistant = ScriptedAssistant(episode.task.scripts[script], episode)
        scripted, rules = ScriptedHuman(episode.task), RulesHuman()
        while episode.pending is not None:
            if episode.pending == "human":
                human = rules if self._listening else scripted
                episode.answer("human", human.answer(episode.observe("human")))  # type: ignore[arg-type]
                if self._listening and episode.drained:
                    return
                continue
            view = episode.observe("assistant")
            spoken = sum(1 for s in view.dialogue if s.by == "assistant")  # type: ignore[union-attr]
            answer = "$silent$" if self._listening else assistant.answer(view)  # type: ignore[arg-type]
            if spoken == line and answer != "$silent$":
                self._listening = True
                answer = f"$interrupt$ {say}"
            episode.answer("assistant", answer)
            if self._listening and episode.drained:
                return
        raise AssertionError(f"ended ({episode.stop_reason}) before the utterance was dealt with")

    def _hear(self, kind: str, fields: Mapping[str, Any]) -> None:
        if not self._listening:
            return
        if kind == "step" and fields["by"] == "assistant":
            self.commands.append(parse(fields["command"]))
            self.refused = self.refused or not fields["receipt"]["ok"]
        elif kind == "speech" and fields["by"] == "wearer":
            self.speech.append(fields["text"])
            self.asked = self.asked or "?" in fields["text"]


def expected(pack: str, script: ScriptName, line: int) -> list[Command]:
    return list(task(pack).scripts[script].lines[line].do)


def bare(commands: list[Command]) -> list[tuple[str, tuple[str, ...]]]:
    """Without ways, unless there is nothing but ways."""
    acts = [c for c in commands if c.primitive != "navigate_to"] or commands
    return [(c.primitive, tuple(ref.name for ref in c.args)) for c in acts]


def script_lines(script: ScriptName) -> list[tuple[str, int]]:
    return [(p, i) for p in PACKS for i, line in enumerate(task(p).scripts[script].lines) if line.say is not None]


def test_there_are_six_paraphrases_of_every_oracle_line() -> None:
    assert len(PARAPHRASES) == 114
    assert {(p, i) for p, i, _ in PARAPHRASES} == set(script_lines("oracle"))


@pytest.mark.parametrize(("pack", "line", "say"), PARAPHRASES, ids=[f"{p}-{i}-{s[:60]}" for p, i, s in PARAPHRASES])
def test_a_paraphrase_leads_to_the_same_commands(pack: str, line: int, say: str) -> None:
    spoken = Spoken(pack, "oracle", line, say)
    assert bare(spoken.commands) == bare(expected(pack, "oracle", line))
    assert not spoken.refused


@pytest.mark.parametrize("script", ["oracle", "wrong", "early"])
def test_the_lines_themselves_lead_to_what_the_packs_expect(script: ScriptName) -> None:
    for pack, line in script_lines(script):
        written = task(pack).scripts[script].lines[line]
        assert written.say is not None
        spoken = Spoken(pack, script, line, written.say)
        assert bare(spoken.commands) == bare(list(written.do)), (pack, line)
        assert spoken.refused == (written.reply == "refused"), (pack, line)
        assert written.reply != "asks" or (spoken.asked and not spoken.commands), (pack, line)
