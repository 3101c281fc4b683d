"""`iwkit assets import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Bring in things of your own.", no_args_is_help=True)
    group.command("import")(import_)
    app.add_typer(group, name="assets")


def import_(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A GLB, OBJ or USD file.")],
    name: Annotated[str | None, typer.Option(help="Name of the new category; default: the file's.")] = None,
    category: Annotated[
        str | None, typer.Option(help="A category of the catalogue whose kind, public names, uses and mass it takes.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="object or fixture; default: as --category, else object.")] = None,
    public: Annotated[list[str] | None, typer.Option(help="What people call it; may be repeated.")] = None,
    affords: Annotated[str | None, typer.Option(help="What it affords, with commas: surface,container ...")] = None,
    units: Annotated[str | None, typer.Option(help="The file's unit: m, cm, mm, in or ft.")] = None,
    up: Annotated[str | None, typer.Option(help="The file's axis that points up: y, z, -x ...")] = None,
    front: Annotated[str | None, typer.Option(help="The file's axis that points to the front.")] = None,
    height: Annotated[float | None, typer.Option(min=0.001, max=12, help="Scale it to this height in metres.")] = None,
    mass: Annotated[float | None, typer.Option(min=0.0001, max=2000, help="Its mass in kilograms.")] = None,
    density: Annotated[float | None, typer.Option(min=1, max=25000, help="Mass by its pieces, kg/m3.")] = None,
    moving: Annotated[
        str | None, typer.Option(metavar="PART=HOW", help="A part that opens: left, right, flap, lid or drawer.")
    ] = None,
    max_triangles: Annotated[int, typer.Option(min=64, help="Simplify what has more triangles.")] = 20_000,
    out: Annotated[Path | None, typer.Option(help="The project's folder; default: the one around this folder.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Write over an earlier import of this name.")] = False,
) -> None:
    """Make a model file a thing of this project: a category, a recipe and a mesh file in its folder `assets`."""
    from iwkit.errors import UsageError
    from iwkit.library import home_of
    from iwkit_authoring.importing.asset import import_asset
    from iwkit_authoring.importing.wishes import Wishes

    if kind not in (None, "object", "fixture"):
        raise UsageError(f"--kind {kind!r}: give object or fixture")
    wishes = Wishes(
        name=name,
        category=category,
        kind="object" if kind == "object" else "fixture" if kind else None,
        public=tuple(public or ()),
        affords=None if affords is None else [use.strip() for use in affords.split(",") if use.strip()],
        units=units,
        up=up,
        front=front,
        height=height,
        mass=mass,
        density=density,
        moving=moving,
        max_triangles=max_triangles,
        replace=replace,
    )
    made = import_asset(model, out or home_of(Path("x")), wishes)
    size = " x ".join(f"{metres:g}" for metres in made.category.size)
    weight = f", {made.category.mass:g} kg" if made.category.mass else ""
    before, after = made.triangles
    fewer = f" (of {before:,})" if before > after else ""
    typer.echo(
        f"{made.name}: a {made.category.kind} of {size} m{weight}; {', '.join(made.category.affords) or 'no uses'}"
    )
    typer.echo(f"{after:,} triangles{fewer}, {made.pieces} convex pieces")
    for kinds in (made.recipe.surfaces, made.recipe.interiors):
        for place, region in kinds.items():
            low, high = region.box[:3], region.box[3:]
            room = " x ".join(f"{end - start:.3g}" for start, end in zip(low, high, strict=True))
            typer.echo(f"{place}: {room} m, {low[2]:.3g} m above the floor")
    for path in made.written:
        typer.echo(f"written: {path}", err=True)
    for note in made.notes:
        typer.echo(f"note: {note}", err=True)
