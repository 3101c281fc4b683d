"""A workshop full of things as a wearer sees it, and a rules human that is told something there."""

from __future__ import annotations

from dataclasses import replace

from iwkit_runtime.agents.rules import RulesHuman
from iwkit_runtime.loop.answers import read_human
from iwkit_runtime.loop.views import Done, HumanView, Instruction, LegendEntry


def thing(handle: str, nouns: str, description: str = "", **more: object) -> LegendEntry:
    names = tuple(nouns.split("|"))
    fields: dict[str, object] = {"place": False, "visible": True, **more}
    return LegendEntry(handle, names, description or f"the {names[0]}", **fields)  # type: ignore[arg-type]


LEGEND = (
    thing("<workshop> (1)", "workshop", place=True, room=True, visible=False),
    thing("<store_room> (1)", "store room", place=True, room=True, visible=False),
    thing("<door> (1)", "workshop door|door", "the workshop door", place=True, visible=False),
    thing("<workbench> (1)", "workbench|bench", place=True, top=True),
    thing(
        "<chest> (2)",
        "tool chest|chest",
        "the tool chest on the left as you face the workbench",
        place=True,
        top=True,
        inside=True,
    ),
    thing(
        "<chest> (1)",
        "tool chest|chest",
        "the tool chest on the right as you face the workbench",
        place=True,
        top=True,
        inside=True,
    ),
    thing("<rack> (1)", "rack|shelf", "the rack by the door", place=True, top=True, visible=False),
    thing("<rack> (2)", "rack|shelf", "the rack in the store room", place=True, top=True, visible=False),
    thing("<vice> (1)", "vice", "the vice", place=True, top=True),
    thing("<stool> (1)", "stool|seat", place=True, top=True),
    thing("<lamp> (1)", "lamp|work light", place=False),
    thing("<hammer> (1)", "hammer", "the red hammer", colour="red", support="on the workbench"),
    thing("<hammer> (2)", "hammer", "the blue hammer", colour="blue", support="on the stool"),
    thing("<glue_bottle> (1)", "glue bottle|bottle of glue|glue", label="WOOD GLUE", support="on the workbench"),
    thing(
        "<oil_can> (1)",
        "oil can|can of oil|can",
        label="OIL",
        support="in the tool chest on the left as you face the workbench",
    ),
    thing("<receipt> (1)", "receipt|bill", "the receipt for $18", label="TOTAL $18", support="on the workbench"),
    thing("<receipt> (2)", "receipt|bill", "the receipt for $27", label="TOTAL $27", support="on the workbench"),
    thing("<rag> (1)", "rag|cloth", support="on the stool"),
)


def view(
    *texts: str,
    family: str = "FIND",
    held: str | None = None,
    legend: tuple[LegendEntry, ...] = LEGEND,
    plan: str | None = None,
    last: Done | None = None,
) -> HumanView:
    shown = tuple(replace(e, held=e.handle == held) for e in legend)
    instructions = tuple(Instruction(t, new=i == len(texts) - 1) for i, t in enumerate(texts))
    return HumanView(0, family, "", "", "", "", shown, held, last, instructions, plan, "", ())


def play(start: HumanView) -> tuple[list[str], str]:
    """Answer until nothing more is done; the commands, and the last thing said. Every command succeeds."""
    now = start
    commands: list[str] = []
    for _ in range(12):
        answer = read_human(RulesHuman().answer(now))
        assert not answer.malformed
        if not answer.action:
            return commands, answer.speak
        for text in answer.action.splitlines():
            assert text == answer.action or now.source_family not in ("ASK", "NARRATE")
            commands.append(text)
            now = carried_out(now, text)
    raise AssertionError(f"never comes to rest: {commands}")


def carried_out(now: HumanView, text: str, *, ok: bool = True, says: str = "Done.") -> HumanView:
    done = Done(text.replace(" (1)", ""), ok, says)
    held = now.held
    if ok and text.startswith("[Grab]"):
        held = text.removeprefix("[Grab] ")
    elif ok and text.startswith(("[Put", "[Drop")):
        held = None
    *older, newest = now.instructions
    legend = tuple(replace(e, held=e.handle == held) for e in now.legend)
    return replace(
        now,
        held=held,
        last=done,
        legend=legend,
        instructions=(*older, replace(newest, new=False, done=(*newest.done, done))),
    )


RED, BLUE, GLUE, OIL, RAG = "<hammer> (1)", "<hammer> (2)", "<glue_bottle> (1)", "<oil_can> (1)", "<rag> (1)"
LEFT, RIGHT, BENCH, LAMP = "<chest> (2)", "<chest> (1)", "<workbench> (1)", "<lamp> (1)"
