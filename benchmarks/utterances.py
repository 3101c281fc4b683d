"""How the rules human takes what people say: right, asked about, or wrong, by kind of utterance, as a markdown table.

python benchmarks/utterances.py                      both files
python benchmarks/utterances.py --misses tuned       the single utterances of the tuned file that went wrong

The utterances and what they mean are in `tests/data/utterances`. Each is said in a made-up situation. What the human
answers is carried out as if the world had no objection, and the human is asked again until it gives no command.
Only the tuned file's misses can be shown: the held-out file is for totals.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import yaml

from iwkit.grammar import Command, Ref, parse, split
from iwkit_runtime.agents.rules import RulesHuman
from iwkit_runtime.loop.answers import read_human
from iwkit_runtime.loop.views import Done, HumanView, Instruction, LegendEntry

FOLDER: Final = Path(__file__).parents[1] / "tests" / "data" / "utterances"
FILES: Final = ("tuned", "held_out")
TURNS: Final = 8
"""The human is asked again at most so often."""
_SINGLE: Final = frozenset({"ASK", "NARRATE"})
_STEPWISE: Final = frozenset({"ASK", "NARRATE", "GUIDE", "ORCHESTRATE"})
"""Source families that do the first thing of several and then report (docs/families.md)."""
OUTCOMES: Final = ("right", "first part", "asked", "wrong")


@dataclass(frozen=True, slots=True)
class Utterance:
    """One entry of a file. `readings` are the command lists that are right, () stands for doing nothing."""

    where: str
    kind: str
    say: str
    readings: tuple[tuple[Command, ...], ...]

    @property
    def asks_for_action(self) -> bool:
        """Whether there is no reading in which nothing is done."""
        return all(self.readings)


@dataclass(frozen=True, slots=True)
class Took:
    """What the human did with an utterance: its commands in order, what it said, and which outcome that is."""

    utterance: Utterance
    commands: tuple[Command, ...]
    speech: str
    outcome: str


def load_situations(folder: Path = FOLDER) -> dict[str, HumanView]:
    """`place` and `place/moment` -> what the human sees there, before the utterance."""
    views: dict[str, HumanView] = {}
    for name, place in _yaml(folder / "situations.yaml").items():
        views[name] = HumanView(
            tick=1,
            source_family=place["source_family"],
            role="",
            context=place["context"],
            public="",
            request=place["request"],
            legend=tuple(LegendEntry(**{**entry, "nouns": tuple(entry["nouns"])}) for entry in place["legend"]),
            held=None,
            last=None,
            instructions=(),
            plan=place.get("plan"),
            grammar="",
            frames=(),
        )
        for moment, then in place.get("moments", {}).items():
            views[f"{name}/{moment}"] = _later(views[name], then)
    return views


def load_utterances(name: str, folder: Path = FOLDER) -> list[Utterance]:
    """The entries of `tuned` or `held_out`."""
    return [Utterance(e["in"], e["kind"], e["say"], _readings(e["means"])) for e in _yaml(folder / f"{name}.yaml")]


def take(utterance: Utterance, view: HumanView) -> Took:
    """Say it to the rules human in that situation, and judge what it does."""
    said = replace(view, instructions=(*view.instructions, Instruction(utterance.say, new=True)))
    commands, speech = _play(said)
    outcome = judge(utterance, commands, view)
    if outcome == "wrong" and view.plan is not None and [*map(_meant, commands)] == [_meant(parse(view.plan))]:
        commands, outcome = [], judge(utterance, [], view)  # it went on with what it had in mind
    return Took(utterance, tuple(commands), speech, outcome)


def judge(utterance: Utterance, commands: Sequence[Command], view: HumanView) -> str:
    """One of OUTCOMES. Wrong is every command that no reading has at that point; to ask in place of acting, or to
    stop before the end, is `asked`. What the family puts off, because it does one thing at a time, is `first part`."""
    if not commands:
        return "asked" if utterance.asks_for_action else "right"
    fits = [fit for reading in utterance.readings if (fit := _fit(reading, commands, view))]
    if not fits:
        return "wrong"
    if "whole" in fits:
        return "right"
    return "first part" if view.source_family in _STEPWISE else "asked"


def measure(name: str, folder: Path = FOLDER) -> list[Took]:
    """Every utterance of a file, judged."""
    views = load_situations(folder)
    return [take(utterance, views[utterance.where]) for utterance in load_utterances(name, folder)]


def wrong_share(taken: Sequence[Took]) -> float:
    """The share of all utterances with a wrong action."""
    return sum(t.outcome == "wrong" for t in taken) / len(taken)


def understood_share(taken: Sequence[Took]) -> float:
    """The share of those that ask for an action that were done, wholly or as far as the family does it at a time."""
    acting = [t for t in taken if t.utterance.asks_for_action]
    return sum(t.outcome in ("right", "first part") for t in acting) / len(acting)


def table(taken: Iterable[Took]) -> str:
    """Outcomes by kind of utterance."""
    counts: dict[str, Counter[str]] = {}
    for t in taken:
        counts.setdefault(t.utterance.kind, Counter())[t.outcome] += 1
    counts["all"] = sum((Counter(c) for c in counts.values()), Counter())
    lines = [f"| kind | utterances | {' | '.join(OUTCOMES)} |", "| --- |" + " --- |" * (len(OUTCOMES) + 1)]
    for kind in sorted(counts, key=lambda k: (k == "all", k)):
        row = counts[kind]
        lines.append(f"| {kind} | {row.total()} | {' | '.join(str(row[o]) for o in OUTCOMES)} |")
    return "\n".join(lines)


def _yaml(path: Path) -> Any:
    return yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _readings(means: Any) -> tuple[tuple[Command, ...], ...]:
    alternatives = means["or"] if isinstance(means, Mapping) else [means]
    return tuple(() if isinstance(m, str) else tuple(parse(text) for text in m) for m in alternatives)


def _later(view: HumanView, moment: Mapping[str, Any]) -> HumanView:
    """The situation after an earlier instruction."""
    done = tuple(Done(text, True, "") for text in moment["earlier"]["done"])
    held = moment.get("held")
    return replace(
        view,
        tick=2,
        held=held,
        legend=tuple(replace(e, held=True, support="", bearing="") if e.handle == held else e for e in view.legend),
        last=done[-1] if done else None,
        instructions=(Instruction(moment["earlier"]["text"], new=False, done=done),),
    )


def _play(view: HumanView) -> tuple[list[Command], str]:
    commands: list[Command] = []
    answer = read_human(RulesHuman().answer(view))
    speech = answer.speak
    for _ in range(TURNS):
        assert not answer.malformed, answer.malformed
        lines = [text for _, text in split(answer.action)] if answer.action else []
        if not lines or (view.plan is not None and commands and lines == [view.plan]):
            break
        text = lines[0]  # one is carried out a tick, and the human is asked again
        commands.append(parse(text))
        view = _after(view, commands[-1], text)
        if view.source_family in _SINGLE and commands[-1].primitive not in (
            "navigate_to",
            "turn",
            "forward",
            "look_at",
        ):
            break
        answer = read_human(RulesHuman().answer(view))
        speech = answer.speak
    return commands, speech


def _after(view: HumanView, command: Command, text: str) -> HumanView:
    """The view once a command was carried out: it is done, and what it moved is held or stands elsewhere."""
    done = Done(text, True, "")
    latest = replace(view.instructions[-1], new=False, done=(*view.instructions[-1].done, done))
    view = replace(view, tick=view.tick + 1, last=done, instructions=(*view.instructions[:-1], latest))
    thing = _handle(command.args[0]) if command.args else None
    if command.primitive == "pick":
        return replace(view, held=thing, legend=tuple(_moved(e, thing, held=True) for e in view.legend))
    if command.primitive in ("place", "place_inside"):
        where = next(e.description for e in view.legend if e.handle == _handle(command.args[1]))
        support = f"{'on' if command.primitive == 'place' else 'in'} {where}"
        return replace(view, held=None, legend=tuple(_moved(e, thing, support=support) for e in view.legend))
    if command.primitive in ("release", "place_on_floor"):
        return replace(view, held=None, legend=tuple(replace(e, held=False) for e in view.legend))
    return view


def _moved(entry: LegendEntry, thing: str | None, *, held: bool = False, support: str = "") -> LegendEntry:
    return replace(entry, held=held, support=support) if entry.handle == thing else entry


def _handle(ref: Ref) -> str:
    return f"<{ref.name}> ({ref.index})"


def _meant(command: Command) -> tuple[Any, ...]:
    """What counts of a command: `[PutIn]` and `[Insert]` are the same, left and right turns are not."""
    side = command.verb if command.primitive == "turn" else ""
    args = command.args if command.primitive != "release" else ()
    return (command.primitive, side, args, command.scalar)


def _fit(reading: Sequence[Command], commands: Sequence[Command], view: HumanView) -> str:
    """`whole`, `part` or "": ways may be left out of a reading, and ways to what it is about may be added."""
    wanted = list(reading)
    for command in commands:
        ahead = next((i for i, w in enumerate(wanted) if _meant(w) == _meant(command)), None)
        if ahead is not None and all(w.primitive == "navigate_to" for w in wanted[:ahead]):
            del wanted[: ahead + 1]
        elif not (command.primitive == "navigate_to" and _on_the_way(command, reading, view)):
            return ""
    return "part" if wanted else "whole"


def _on_the_way(command: Command, reading: Sequence[Command], view: HumanView) -> bool:
    named = {_handle(ref) for c in reading for ref in c.args}
    supports = {e.support.partition(" ")[2] for e in view.legend if e.handle in named}
    supports |= {e.support.partition(" ")[2] for e in view.legend if e.description in supports}
    goal = _handle(command.args[0])
    return goal in named or any(e.handle == goal and e.description in supports for e in view.legend)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", choices=["tuned"], help="list what was not right in this file")
    args = parser.parse_args()
    if args.misses:
        for t in measure(args.misses):
            if t.outcome in ("asked", "wrong"):
                did = ", ".join(f"[{c.verb}] " + " ".join(map(_handle, c.args)) for c in t.commands)
                said = f"{t.utterance.kind:11} {t.utterance.say}"
                print(f"{t.outcome:6} {t.utterance.where:20} {said} -> {did} {t.speech!r}")
        return
    for name in FILES:
        taken = measure(name)
        print(f"\n{name}: wrong action {wrong_share(taken):.1%}, understood {understood_share(taken):.1%}\n")
        print(table(taken))


if __name__ == "__main__":
    main()
