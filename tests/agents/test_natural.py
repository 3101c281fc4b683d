"""Conversations about rooms and things that no pack of the benchmark has: the rules human does what was meant, or asks.

Every turn is spoken in the state that the turns before it should have led to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from iwkit.compile import CompiledTask, load_task
from iwkit.grammar import Command, Ref, parse, render
from iwkit.library import Library
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.agents.rules import RulesHuman
from iwkit_runtime.loop.episode import Episode

HERE = Path(__file__).parent / "natural"
DATA = yaml.safe_load((HERE / "conversations.yaml").read_text("utf-8"))
TALKS = [*DATA["conversations"], *DATA["later"]]
TURNS = [(k, i) for k, talk in enumerate(TALKS) for i in range(len(talk["turns"]))]
LIBRARY = Library()
STRANGER = (
    ("Your wallet is in the sideboard. Please get it and put it on the console table in the hall.",),
    (
        "Go to the dining room.",
        "Open the sideboard and take out the wallet.",
        "Now bring it to the hall and place it on the console table.",
    ),
    (
        "You left it in the sideboard in the dining room!",
        "Yes, open it, grab the wallet, and walk back to the hall.",
        "Put it down on the console.",
    ),
    (
        "I think it's in the dining room cupboard.",
        "The one along the wall.",
        "Look inside the sideboard.",
        "Open it and have another look.",
        "There it is. Bring it to the console table.",
    ),
    ("Your wallet is in the sideboard. Open it.", "Take it out.", "Put it on the console table."),
    (
        "It's in the sideboard in the dining room, the wallet. Go there and open it, please.",
        "Great, there it is. Grab it.",
        "Now carry it back to the console table and leave it there.",
    ),
    (
        "The wallet is in the sideboard.",
        "Please open the sideboard, take the wallet and put it on the console table in the hall.",
    ),
    (
        "You put your wallet in the sideboard, so walk over to the sideboard and open its door.",
        "Pick up your wallet.",
        "Set it on the hall table.",
    ),
)
"""How somebody who does not know the rules helps the wearer of F99; the fourth stopped after its third line."""


@cache
def task(pack: str) -> CompiledTask:
    return load_task(HERE / f"{pack}.yaml", LIBRARY)


class Heard:
    """What came of one turn: commands, whether one was refused, and what the wearer said."""

    def __init__(self, talk: Mapping[str, Any], turn: int) -> None:
        self.commands: list[Command] = []
        self.refused = False
        self.speech: list[str] = []
        self._counts = False
        self._episode = Episode(task(talk["pack"]), SymbolicWorld(), self._note)
        for before in talk["turns"][:turn]:
            self._speak(before["say"], before.get("settled", before["do"]))
        self._counts = True
        self._speak(talk["turns"][turn]["say"], None)

    def _speak(self, say: str, do: list[str] | None) -> None:
        """Say it and play on until it is dealt with: by the commands given (`do`) with the ways to what is taken, or by
        the rules."""
        episode, rules = self._episode, RulesHuman()
        assert episode.pending == "assistant", episode.stop_reason
        episode.answer("assistant", f"$interrupt$ {say}")
        given = None if do is None else [t for c in map(parse, do) for t in (*self._way(c), self._handled(c))]
        while not episode.drained:
            if episode.pending == "assistant":
                episode.answer("assistant", "$silent$")
            elif given is None:
                episode.answer("human", rules.answer(episode.observe("human")))  # type: ignore[arg-type]
            else:  # one at a time: what is taken can be named only when it is seen
                answer = f"<action>{given.pop(0)}</action>" if given else "<speak>Done. What now?</speak>"
                episode.answer("human", answer)

    def _way(self, command: Command) -> list[str]:
        place = self._episode.task.things[command.args[0].name].at
        there = Command("navigate_to", "Walk", (Ref(place, 1),)) if place and command.primitive == "pick" else None
        return [self._handled(there)] if there else []

    def _handled(self, command: Command) -> str:
        handles = (self._episode.task.handles[ref.name] for ref in command.args)
        return render(replace(command, args=tuple(Ref(h.noun, h.index) for h in handles)))

    def _note(self, kind: str, fields: Mapping[str, Any]) -> None:
        if self._counts and kind == "step" and fields["by"] == "assistant":
            self.commands.append(parse(fields["command"]))
            self.refused = self.refused or not fields["receipt"]["ok"]
        elif self._counts and kind == "speech" and fields["by"] == "wearer":
            self.speech.append(fields["text"])


def bare(commands: list[Command]) -> list[tuple[str, tuple[str, ...]]]:
    """Without ways, unless there is nothing but ways."""
    acts = [c for c in commands if c.primitive != "navigate_to"] or commands
    return [(c.primitive, tuple(ref.name for ref in c.args)) for c in acts]


UNSEEN = frozenset(
    {"Pick up the laundry basket next to the washing machine.", "Bring it to the bedroom.", "Set it on the bed."}
)
"""It asks, since the symbolic world does not show what stands on the floor beside the thing one looks at."""


@pytest.mark.parametrize(("talk", "turn"), TURNS, ids=[TALKS[k]["turns"][i]["say"][:60] for k, i in TURNS])
def test_it_does_what_was_meant_or_asks(talk: int, turn: int) -> None:
    heard = Heard(TALKS[talk], turn)
    wanted = TALKS[talk]["turns"][turn]["do"]
    if TALKS[talk]["turns"][turn]["say"] in UNSEEN:
        assert bare(heard.commands) != bare([parse(text) for text in wanted]) and heard.speech[-1].endswith("?")
        return
    assert bare(heard.commands) == bare([parse(text) for text in wanted]), heard.speech
    assert not heard.refused
    assert wanted or "?" in heard.speech[-1]


@pytest.mark.parametrize("lines", STRANGER, ids=[lines[0][:60] for lines in STRANGER])
def test_a_strangers_help_leads_to_the_goal(lines: tuple[str, ...]) -> None:
    refused: list[str] = []

    def note(kind: str, fields: Mapping[str, Any]) -> None:
        if kind == "step" and not fields["receipt"]["ok"]:
            refused.append(fields["command"])

    episode, rules, left = Episode(task("F99"), SymbolicWorld(), note), RulesHuman(), list(lines)
    while episode.pending is not None:
        if episode.pending == "human":
            episode.answer("human", rules.answer(episode.observe("human")))  # type: ignore[arg-type]
        elif not episode.drained:
            episode.answer("assistant", "$silent$")
        else:
            episode.answer("assistant", f"$interrupt$ {left.pop(0)}" if left else "$done$")
    assert not refused
    assert episode.score().passed
