"""The audit of one control in eight layers, from its records: what went wrong where (BENCH-5).

A control that comes out right for the wrong reason is not right. Each layer asks for one part of the reason: the
set-up, what the opening shows, what the assistant said, how the wearer understood it, what happened, how things stand
at the end, how the attempt is closed, and whether the pictures show what the records say was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from iwkit.compile import CompiledTask, ScriptLine
from iwkit.goals.terms import Handoff
from iwkit.goals.wording import pattern_text
from iwkit.grammar import parse, render
from iwkit.ledger import Record
from iwkit.report.consistency import broken, rescored
from iwkit.verbs import BY_NAME
from iwkit_authoring.rehearsal import PASSING

Verdict = Literal["ok", "wrong", "unavailable"]
LAYERS: Final = (
    "infrastructure",
    "evidence",
    "assistant decision",
    "human grounding",
    "process",
    "world state",
    "completion",
    "visual quality",
)
"""The layers, in the order in which they are told."""
BLAMED: Final = ("completion", "process", *LAYERS)
"""The order in which a wrong layer is looked for, to say in one sentence why a control is wrong."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What a layer found. `why` is one sentence; it may be empty for `ok`."""

    verdict: Verdict
    why: str = ""

    def __str__(self) -> str:
        return f"{self.verdict}: {self.why}" if self.why else self.verdict


@dataclass(frozen=True, slots=True)
class Played:
    """One control as it was played. `records` is its whole journal, `end` the last of them."""

    task: CompiledTask
    assistant: str
    records: list[Record]
    end: Record

    @property
    def talk(self) -> list[Record]:
        """The records from the handoff on; none if the opening failed."""
        start = next((i for i, r in enumerate(self.records) if r["kind"] == "handoff"), len(self.records))
        return self.records[start:]

    @property
    def lines(self) -> tuple[ScriptLine, ...]:
        """The script of the assistant; the silent one has none."""
        return self.task.scripts[self.assistant].lines if self.assistant in self.task.scripts else ()  # type: ignore[index]

    @property
    def false(self) -> dict[str, str]:
        """Conditions of the goal that are false at the end, with their block (`achieve`, `keep`, `gates`)."""
        return {
            c["id"]: c["block"] for c in self.end["score"]["conditions"] if not c["ok"] and c["block"] != "evidence"
        }


def layers(played: Played, visual: Layer) -> dict[str, Layer]:
    """The eight layers of a control. `visual` is what was found in the pictures of its opening."""
    found = {name: _judged(name, played) for name in LAYERS[:-1]}
    return found | {LAYERS[-1]: visual}


def _judged(name: str, played: Played) -> Layer:
    if played.end["status"] == "void" and name in _AFTER_OPENING:
        return Layer("unavailable", "the cell is void")
    why = next(_WRONG[name](played), None)
    if why is not None:
        return Layer("wrong", why)
    return Layer("ok", _seen(played) if name == "process" else "")


# The layers: each yields what is wrong, the worst first


def _infrastructure(played: Played) -> Iterator[str]:
    if played.end["stop_reason"] in ("opening failed", "agent failed"):
        yield str(played.end["void"])
    yield from broken(played.records)
    for record in played.records:
        if record["kind"] == "step" and record["receipt"]["code"] == "POSTCONDITION_FAILED":
            yield f"{record['command']} was done and came out otherwise: {record['receipt']['text']}"


def _evidence(played: Played) -> Iterator[str]:
    done = {e["roles"]["step"] for e in _events(played.records) if e["kind"] == "after"}
    yield from (f"step {c.id} of the opening was not done" for c in played.task.opening if c.id not in done)
    for condition in played.end["score"]["conditions"]:
        if condition["block"] == "evidence" and not condition["ok"]:
            yield f"{condition['id']} does not hold: {condition['why']}"


def _assistant(played: Played) -> Iterator[str]:
    for record in played.talk:
        if record["kind"] == "reading" and record["role"] == "assistant" and record["control"] == "malformed":
            yield f"an answer is malformed: {record['why']}"
    said = [r["text"] for r in played.talk if r["kind"] == "speech" and r["by"] == "assistant"]
    wanted = [line.say for line in played.lines if line.say is not None]
    if said != wanted[: len(said)]:
        other = next(text for text, line in zip(said, [*wanted, None], strict=False) if text != line)
        yield f'it says "{other}", which its script does not say there'
    if len(said) < len(wanted):
        yield f'it never comes to say "{wanted[len(said)]}"'
    if any(line.say is None for line in played.lines) and played.end["stop_reason"] != "done":
        yield f"it never declares that it is done: {played.end['stop_reason']}"


def _human(played: Played) -> Iterator[str]:
    if played.end["stop_reason"] == "human leak":
        yield str(played.end["void"])
    for record in played.talk:
        if record["kind"] == "reading" and record["role"] == "human" and record["problem"]:
            yield f"its action is refused: {record['problem']}"
    spoken = (line for line in played.lines if line.say is not None)
    for line, answer in zip(spoken, _answers(played.talk), strict=False):
        yield from _grounded(line, answer)


def _grounded(line: ScriptLine, answer: list[Record]) -> Iterator[str]:
    """What is wrong with how one line was understood: its commands must be the script's, but for ways and looks."""
    steps = [r for r in answer if r["kind"] == "step"]
    done = [r["command"] for r in steps if not _on_the_way(r["command"])]
    wanted = [text for text in map(render, line.do) if not _on_the_way(text)]
    told = f'"{line.say}"'
    if line.reply == "asks":
        if done:
            yield f"{told} is to be asked about, and is done: {done[0]}"
        elif not any(r["kind"] == "speech" for r in answer):
            yield f"{told} is to be asked about, and the wearer says nothing"
    elif done != wanted:
        yield f"{told} becomes {', '.join(done) or 'nothing'}, not {', '.join(wanted) or 'nothing'}"
    elif (line.reply == "refused") == all(r["receipt"]["ok"] for r in steps):
        yield f"{told} is {'not refused' if line.reply == 'refused' else 'refused by the world'}"


def _answers(talk: list[Record]) -> list[list[Record]]:
    """For each thing the assistant said, what the wearer then said and did for it, up to the next."""
    found: list[list[Record]] = []
    for record in talk:
        if record["kind"] == "speech" and record["by"] == "assistant":
            found.append([])
        elif found and (record["kind"] == "speech" or (record["kind"] == "step" and record["by"] != "plan")):
            found[-1].append(record)
    return found


def _process(played: Played) -> Iterator[str]:
    score = played.end["score"]
    if played.assistant == "oracle":
        unclean = [a["id"] for a in score["atoms"] if a["label"] != "clean_pass"]
        if unclean:
            yield f"passes, but not every capability shows: {', '.join(unclean)}"
        yield from (f"{c['id']}: {c['why']}" for c in score["conditions"] if c["block"] == "gates" and not c["ok"])
    elif played.assistant == "silent":
        done = {e["roles"]["step"] for e in _events(played.records) if e["kind"] == "after"}
        yield from (f"fails, but the wearer's plan stopped before {c.id}" for c in played.task.plan if c.id not in done)
    elif played.assistant == "wrong" and not _changed(played):
        yield "fails as it should, but no command that the oracle does not give changed anything"
    elif played.assistant == "early" and not _replies(played):
        yield "fails as it should, but the wearer never replied"


def _seen(played: Played) -> str:
    """What a sound process showed, in words."""
    if played.assistant == "oracle":
        return "passes, and every capability shows"
    if played.assistant == "silent":
        return "fails" + (", after the wearer's plan ran to its end" if played.task.plan else "")
    if played.assistant == "wrong":
        return f"fails as it should after {_changed(played)[0]}"
    return f'fails as it should; the wearer replied: "{_replies(played)[0]}"'


def _changed(played: Played) -> list[str]:
    """Commands that the oracle does not give and that changed the world."""
    oracle = {render(c) for line in played.task.scripts["oracle"].lines for c in line.do}
    steps = [r for r in played.records if r["kind"] == "step" and r["by"] == "assistant" and r["receipt"]["ok"]]
    return [r["command"] for r in steps if r["command"] not in oracle and _changes(r)]


def _replies(played: Played) -> list[str]:
    """What the wearer said of its own accord."""
    task = played.task
    authored = {s for c in task.plan for s in (*c.before, *c.after)} | {task.pack.interaction.handoff}
    spoken = (r["text"] for r in played.talk if r["kind"] == "speech" and r["by"] == "wearer")
    return [text for text in spoken if text not in authored]


def _world(played: Played) -> Iterator[str]:
    score = played.end["score"]
    if played.assistant == "oracle":
        for condition in score["conditions"]:
            if condition["block"] in ("achieve", "keep") and not condition["ok"]:
                yield f"{condition['id']}: {condition['why']}"
        return
    named = set(played.task.scripts[played.assistant].fails) if played.assistant in played.task.scripts else set()  # type: ignore[index]
    gates = {gate.id for gate in played.task.pack.physical.goal.gates}
    if not set(played.false.values()) & {"achieve", "keep"} and not named & gates:
        yield "every condition on how things end holds, as if it had helped"


def _completion(played: Played) -> Iterator[str]:
    must = "pass" if played.assistant == "oracle" else "fail"
    if played.end["status"] != must:
        yield _outcome(played, f"must {must}")
    if played.assistant in ("wrong", "early"):
        held = [name for name in played.task.scripts[played.assistant].fails if name not in played.false]  # type: ignore[index]
        if held:
            yield f"fails, but not for the reason it names: {', '.join(held)} holds"
    yield from rescored(played.task, played.records, played.end)


def _outcome(played: Played, must: str) -> str:
    end = played.end
    if end["status"] == "void":
        return f"{must}, but the cell is void: {end['void']}"
    bad = [f"{c['id']}: {c['why']}" for c in end["score"]["conditions"] if not c["ok"]]
    return "; ".join([f"{must}, but it is a {end['status']} ({end['stop_reason']})", *_stuck(played), *bad])


def _stuck(played: Played) -> Iterator[str]:
    """Which line of the script was waited for when the budget ended it, and how much of the budget was used."""
    budget = played.task.pack.interaction.budget
    spent = {"tick budget": ("ticks", budget.ticks), "action budget": ("actions", budget.actions)}
    if played.end["stop_reason"] not in spent:
        return
    said = sum(r["kind"] == "speech" and r["by"] == "assistant" for r in played.talk)
    for number, line in enumerate(played.lines[said : said + 1], said + 1):
        waits = "the commands of the line before it to be done"
        if line.when is not None:
            waits = "the handoff" if isinstance(line.when, Handoff) else pattern_text(line.when)
        yield f"line {number} was never said: it waits for {waits}"
    what, most = spent[played.end["stop_reason"]]
    yield f"{what}: {played.end[what]} of {most} used"


_WRONG: Final[dict[str, Callable[[Played], Iterator[str]]]] = dict(
    zip(LAYERS, (_infrastructure, _evidence, _assistant, _human, _process, _world, _completion), strict=False)
)
_AFTER_OPENING: Final = frozenset({"assistant decision", "human grounding", "process", "world state"})
"""Layers that say nothing of a void cell."""


def _events(records: list[Record]) -> Iterator[Mapping[str, Any]]:
    return (event for r in records for event in r.get("events", ()))


def _changes(record: Record) -> bool:
    """Whether a step changed the world, and not just what is in view or where the wearer is."""
    return any(relation[0] not in PASSING for relation in (*record["added"], *record["removed"]))


def _on_the_way(command: str) -> bool:
    """Whether a command does nothing but bring the wearer, or its gaze, to where something is to be done."""
    return BY_NAME[parse(command).primitive].group in ("locomotion", "perception")
