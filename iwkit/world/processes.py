"""What goes on by itself: cycles of machines, water from a tap (Tables 7 to 12). Both worlds run it after a command.

A machine's cycle begins when it is switched on. What is in it then is frozen as its contents. The start is valid when
it is closed and not empty. The cycle is over when the machine is switched off, or stops by itself after its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from iwkit.spec.catalogue import Made
from iwkit.world.act import Act
from iwkit.world.base import FRAMES_PER_SECOND
from iwkit.world.situation import Situation
from iwkit.world.state import Cycle

MAKES: dict[Made, tuple[str, bool]] = {
    "clean": ("dirty", False),
    "dry": ("wet", False),
    "wet": ("wet", True),
    "cooked": ("cooked", True),
}
"""What a process makes -> the flag that it sets or clears."""


def go_on(act: Act, frames: int) -> None:
    """Let so many frames pass, at the end of which the happenings of `act` have come about. Adds what comes of it."""
    switched = [(h.kind, str(h.roles["device"])) for h in act.happenings if h.kind in ("started", "stopped")]
    touched = {name for _, name in switched}
    for name, cycle in sorted(act.at.state.cycles.items()):
        if cycle.on and name not in touched:
            _count_down(act, name, cycle, frames)
    for kind, name in switched:
        if act.at.has(name, "machine"):
            _begin(act, name) if kind == "started" else _end(act, name)
    for name, process in act.at.layout.processes.items():
        if process.seconds is None and act.at.is_(name, "running"):
            _work(act, name, process.makes, _within(act.at, name, reached=True))


def begun(at: Situation, machine: str) -> Cycle:
    """The cycle that a machine begins as things are now."""
    contents = tuple(sorted(_within(at, machine)))
    shut = at.hides(machine) or not at.has(machine, "openable")
    process = at.layout.processes.get(machine)
    left = None if process is None or process.seconds is None else round(process.seconds * FRAMES_PER_SECOND)
    return Cycle(contents, shut and bool(contents), left, on=True)


def _begin(act: Act, name: str) -> None:
    cycle = begun(act.at, name)
    act.at.run(name, cycle)
    _tell(act, "cycle_started", name, cycle)


def _end(act: Act, name: str) -> None:
    cycle = act.at.state.cycles.get(name)
    if cycle is not None and cycle.on:
        act.at.run(name, cycle._replace(on=False, left=None))
        _tell(act, "cycle_ended", name, cycle)


def _count_down(act: Act, name: str, cycle: Cycle, frames: int) -> None:
    if cycle.left is None:
        return
    if cycle.left > frames:
        act.at.run(name, cycle._replace(left=cycle.left - frames))
        return
    process = act.at.layout.processes[name]
    if cycle.valid:
        there = frozenset(_within(act.at, name, reached=True))
        _work(act, name, process.makes, [thing for thing in cycle.contents if thing in there])
    act.at.mark(name, "running", on=False)
    act.emit("stopped", device=name)
    _end(act, name)


def _tell(act: Act, kind: str, name: str, cycle: Cycle) -> None:
    act.emit(kind, device=name, contents=cycle.contents, valid="true" if cycle.valid else "false")


def _work(act: Act, device: str, makes: Iterable[Made], names: Iterable[str]) -> None:
    for name in names:
        for made in makes:
            flag, on = MAKES[made]
            if act.at.is_(name, flag) == on or (made == "cooked" and not act.at.has(name, "cookable")):
                continue
            act.at.mark(name, flag, on)
            if made == "cooked":
                act.emit("cooked", object=name, in_=device)


def _within(at: Situation, name: str, *, reached: bool = False) -> Iterator[str]:
    """What is in a thing, and in turn on and in that. `reached`: but for what is shut in."""
    inside = [n for n in at.children.get(name, ()) if at.state.places[n].how == "inside"]
    while inside:
        thing = inside.pop()
        yield thing
        shut = reached and at.hides(thing)
        inside += [n for n in at.children.get(thing, ()) if not shut or at.state.places[n].how != "inside"]
