"""`iwkit scene list`, `iwkit scene show`, `iwkit scene import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Look at scenes, and bring in one.", no_args_is_help=True)
    group.command("list")(list_)
    group.command()(show)
    group.command("import")(import_)
    app.add_typer(group, name="scene")


def list_() -> None:
    """List the scenes there are, those of the project around the current folder first where names are the same."""
    from iwkit.library import Library

    library = Library.for_file(Path("x"))
    for scene_id in library.scene_ids():
        typer.echo(f"{scene_id:<14} {library.scene(scene_id).title}")


def show(
    scene_id: Annotated[str, typer.Argument(metavar="ID", help="A scene id, or a scene file.")],
    out: Annotated[Path | None, typer.Option(help="Picture to write (.png or .svg); default: ID.png here.")] = None,
    tour: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write pictures of its rooms into this folder, too.")
    ] = None,
) -> None:
    """Draw the plan of a scene and describe it; show its rooms."""
    from iwkit.errors import UsageError
    from iwkit.library import Library
    from iwkit.sceneplan import describe, draw
    from iwkit.scenes import load_scene
    from iwkit.suggest import did_you_mean, listed

    path = Path(scene_id)
    library = Library.for_file(path)
    if path.suffix == ".yaml":
        scene = load_scene(path, library.catalogue, library.recipes)
    elif library.scene_path(scene_id):
        scene = library.scene(scene_id)
    else:
        known = library.scene_ids()
        raise UsageError(f"no scene {scene_id!r}: {did_you_mean(scene_id, known) or f'there are {listed(known)}'}")
    picture = out or Path(f"{scene.id}.png")
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw(scene, library.catalogue, picture)
    typer.echo(describe(scene, library.catalogue))
    typer.echo(f"plan drawn to {picture}", err=True)
    if tour is not None:
        from iwkit_runtime.render.tour import write_tour

        files = write_tour(scene, library.catalogue, library.recipes, tour)
        typer.echo(f"{len(files)} pictures written to {tour}", err=True)


def import_(
    scene: Annotated[Path, typer.Argument(metavar="JSON", help="A scene file that you exported from BEHAVIOR-1K.")],
    name: Annotated[str | None, typer.Option(help="Id of the new scene; default: the file's name.")] = None,
    out: Annotated[Path | None, typer.Option(help="The project's folder; default: the one around this folder.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Write over the scene of this name.")] = False,
) -> None:
    """Make a scene of BEHAVIOR-1K a scene of this project: rooms, doors and fixtures that the catalogue knows."""
    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit.library import home_of
    from iwkit_authoring.importing.behavior_scene import import_scene

    made = import_scene(scene, out or home_of(Path("x")), name, overwrite=replace)
    counts = {"room": made.rooms, "door": made.doors, "fixture": made.fixtures}
    told = ", ".join(f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts.items())
    typer.echo(f"{made.path.stem}: {told}")
    for line in made.left_out:
        typer.echo(f"left out: {line}")
    for line in made.notes:
        typer.echo(f"note: {line}", err=True)
    typer.echo(f"written: {made.path}", err=True)
    for problem in made.problems:
        typer.echo(str(problem), err=True)
    if made.problems:
        typer.echo("mend these in the file: an imported scene is a draft", err=True)
        raise typer.Exit(EXIT_PROBLEM)
