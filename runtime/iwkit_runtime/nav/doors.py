"""Ways through closed doors, and what blocks a way (B.2.1, ACT-4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iwkit.errors import UsageError
from iwkit_runtime.nav.astar import PAPER, CostMap, Costs, Found
from iwkit_runtime.nav.geometry import Floats, Ints, Point, point
from iwkit_runtime.nav.grid import LADDER, Grid, Layer, Obstacle, Space
from iwkit_runtime.nav.route import Failure, Path, plan_path, pull
from iwkit_runtime.nav.stance import Stance, stances


@dataclass(frozen=True, eq=False)
class Leaf:
    """A closed door leaf that the wearer may open.

    `name` owns pieces of layer `door` in the grid. `poses` are its pieces' vertices (n, 3) in the world frame as it
    opens, closed first and open last, close enough together that their union is the sweep. `handle` is the middle of
    the handle when closed, on the plan.
    """

    name: str
    poses: tuple[tuple[Floats, ...], ...]
    handle: Point


def swing(pieces: Sequence[Floats], hinge: Point, angle: float, steps: int = 9) -> tuple[tuple[Floats, ...], ...]:
    """The poses of a leaf that turns about a vertical hinge: `steps` + 1 of them, from 0 to `angle` radians."""
    poses = []
    for turn in np.linspace(0, angle, steps + 1):
        cos, sin = np.cos(turn), np.sin(turn)
        rotation, offset = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]), np.array([*hinge, 0])
        poses.append(tuple((piece - offset) @ rotation.T + offset for piece in pieces))
    return tuple(poses)


@dataclass(frozen=True, eq=False)
class WalkLeg:
    """Walk along `path`; `grid` is the occupancy then, with the doors opened before it open."""

    path: Path
    grid: Grid


@dataclass(frozen=True)
class OpenLeg:
    """Open a door from a stance at its handle, where the leg before it ends."""

    door: str
    stance: Stance


@dataclass(frozen=True)
class Route:
    """Legs in order. The last is a `WalkLeg`; an `OpenLeg` stands between two."""

    legs: tuple[WalkLeg | OpenLeg, ...]

    @property
    def doors(self) -> tuple[str, ...]:
        """The doors that are opened, in order."""
        return tuple(leg.door for leg in self.legs if isinstance(leg, OpenLeg))

    @property
    def length(self) -> float:
        """Metres to walk."""
        return sum(leg.path.length for leg in self.legs if isinstance(leg, WalkLeg))


AcceptHandle = Callable[[str, Stance], bool]
"""What the caller asks of the stance at a door's handle: reach, and room for the wearer while the leaf swings."""


def plan_route(
    grid: Grid,
    leaves: Sequence[Leaf],
    start: Point,
    goal: Point,
    *,
    accept: AcceptHandle | None = None,
    costs: Costs = PAPER,
) -> Route | Failure:
    """The way between two places, opening closed doors where it leads through them.

    A closed leaf is taken to be open, at the price of `costs.door`, and the first one that the way crosses is opened
    from a handle stance; then the way is planned again. A door without such a stance, or behind which nothing leads on,
    is not tried twice.

    Args:
        leaves: the closed leaves that may be opened. All else in the grid stays as it is.

    Raises:
        UsageError: a place lies outside of the grid, or a leaf has no pieces in it.
    """
    start, goal = point(start, "the start"), point(goal, "the goal")
    for leaf in leaves:
        if not any(f.owner == leaf.name and f.layer == "door" for f in grid.footprints):
            raise UsageError(f"the leaf {leaf.name} has no piece of layer door in the grid: add it closed")
    usable = list(leaves)
    while True:
        tried = _Attempt(grid, tuple(usable), start, costs, accept).run(goal)
        if isinstance(tried, Route):
            return tried
        if tried is None:
            openable = grid
            for leaf in usable:
                openable = _opened(openable, leaf)
            return find_blocker(openable, start, goal)
        usable.remove(tried)


@dataclass(frozen=True, eq=False)
class _Attempt:
    """One try with a set of doors: where the wearer has come to, and the doors still closed."""

    grid: Grid
    closed: tuple[Leaf, ...]
    here: Point
    costs: Costs
    accept: AcceptHandle | None
    legs: tuple[WalkLeg | OpenLeg, ...] = ()
    last: Leaf | None = None

    def run(self, goal: Point) -> Route | Leaf | None:
        """The route, or the leaf that could not be opened or led nowhere, or None when no door helps."""
        attempt = self
        while True:
            step = attempt.step(goal)
            if isinstance(step, Path):
                return Route((*attempt.legs, WalkLeg(step, attempt.grid)))
            if step is None:
                return attempt.last
            onwards = attempt.through(step)
            if onwards is None:
                return step
            attempt = onwards

    def step(self, goal: Point) -> Path | Leaf | None:
        """The way with the doors as they are, or the leaf that a cheaper one crosses first."""
        relaxed, toll = self.grid, np.zeros_like(self.grid.supported)
        for leaf in self.closed:
            relaxed, toll = _opened(relaxed, leaf), toll | self.grid.owned(leaf.name)
        for radius in LADDER:
            as_is = CostMap(Space(self.grid, radius, self.here, goal), self.costs)
            opening = CostMap(Space(relaxed, radius, self.here, goal), self.costs, toll)
            found, through = as_is.find(goal), opening.find(goal)
            if through is not None and (found is None or through.cost < found.cost):
                crossed = self._first_crossed(through)
                if crossed is not None:
                    return crossed
            if found is not None:
                return pull(as_is, found, goal)
        return None

    def through(self, leaf: Leaf) -> _Attempt | None:
        """Walk to the leaf's handle and open it; None when there is nowhere to do it from."""
        others = self.grid.without(leaf.name)
        swept = others.with_pieces(Obstacle(leaf.name, "door", piece) for pose in leaf.poses for piece in pose)

        def accept(stance: Stance) -> bool:
            return self.accept is None or self.accept(leaf.name, stance)

        stance = next(stances(self.grid, leaf.handle, self.here, accept, costs=self.costs, standing=swept), None)
        path = None if stance is None else plan_path(self.grid, self.here, (stance.x, stance.y), self.costs)
        if stance is None or path is None:
            return None
        return replace(
            self,
            grid=_opened(self.grid, leaf),
            closed=tuple(other for other in self.closed if other is not leaf),
            here=(stance.x, stance.y),
            legs=(*self.legs, WalkLeg(path, self.grid), OpenLeg(leaf.name, stance)),
            last=leaf,
        )

    def _first_crossed(self, found: Found) -> Leaf | None:
        # A closed leaf fills its opening, so a way through it enters one of its own cells.
        owned = [(leaf, self.grid.owned(leaf.name).reshape(-1)) for leaf in self.closed]
        return next((leaf for cell in found.cells for leaf, cells in owned if cells[cell]), None)


def _opened(grid: Grid, leaf: Leaf) -> Grid:
    return grid.without(leaf.name).with_pieces(Obstacle(leaf.name, "door", piece) for piece in leaf.poses[-1])


def find_blocker(grid: Grid, start: Point, goal: Point) -> Failure:
    """Why no way leads from start to goal: PATH_BLOCKED, with what is in the way and where.

    It is the thing or door whose removal alone opens a way, the cheapest such way if there are several. If none does,
    it is the first thing met on the way that leads through as few blocked cells as possible: through things and doors,
    or else through walls. No blocker is named where there is no floor.
    """
    single = _single_blocker(grid, start, goal)
    if single is not None:
        return single
    for layers in (("furniture", "door"), ("furniture", "door", "wall")):
        gone = _owners(grid, layers)
        failure = _first_met(grid, gone, start, goal, layers)
        if failure is not None:
            return failure
    return Failure("PATH_BLOCKED", None, goal)


def _single_blocker(grid: Grid, start: Point, goal: Point) -> Failure | None:
    best: tuple[float, Failure] | None = None
    for owner in _owners(grid, ("furniture", "door")):
        without = grid.without(owner)
        space = Space(without, LADDER[-1], start, goal)
        found = CostMap(space).find(goal)
        if found is not None and (best is None or found.cost < best[0]):
            best = found.cost, Failure("PATH_BLOCKED", owner, _entry(grid, found, start, goal))
    return None if best is None else best[1]


def _first_met(grid: Grid, gone: Sequence[str], start: Point, goal: Point, layers: Sequence[Layer]) -> Failure | None:
    space = Space(grid.without(*gone), LADDER[-1], start, goal)
    shut = ~Space(grid, LADDER[-1], start, goal).passable
    # A cell that is blocked now costs more than any way around it could.
    found = CostMap(space, replace(PAPER, door=1e4), shut).find(goal)
    if found is None:
        return None
    place = _entry(grid, found, start, goal)
    return Failure("PATH_BLOCKED", grid.nearest_owner(place, layers), place)


def _entry(grid: Grid, found: Found, start: Point, goal: Point) -> Point:
    """Where a way that leads through something first comes too close to it."""
    passable = Space(grid, LADDER[-1], start, goal).passable.reshape(-1)
    cells: Ints = np.array(found.cells)
    first = cells[~passable[cells]][:1]
    if not len(first):  # the search took a stricter look at the start than this does
        return goal
    x, y = grid.centres(first)[0].tolist()
    return x, y


def _owners(grid: Grid, layers: Sequence[Layer]) -> list[str]:
    return sorted({f.owner for f in grid.footprints if f.layer in layers})
