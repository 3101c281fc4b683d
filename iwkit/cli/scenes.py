"""`iwkit scene list`, `iwkit scene show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Look at scenes.", no_args_is_help=True)
    group.command("list")(list_)
    group.command()(show)
    app.add_typer(group, name="scene")


def list_() -> None:
    """List the scenes there are."""
    from iwkit.library import Library

    library = Library()
    for scene_id in library.scene_ids():
        typer.echo(f"{scene_id:<14} {library.scene(scene_id).title}")


def show(
    scene_id: Annotated[str, typer.Argument(metavar="ID", help="A scene id, or a scene file.")],
    out: Annotated[Path | None, typer.Option(help="Picture to write (.png or .svg); default: ID.png here.")] = None,
) -> None:
    """Draw the plan of a scene and describe it."""
    from iwkit.errors import UsageError
    from iwkit.library import Library
    from iwkit.sceneplan import describe, draw
    from iwkit.scenes import load_scene

    library = Library()
    path = Path(scene_id)
    if path.suffix == ".yaml":
        scene = load_scene(path, library.catalogue)
    elif library.scene_path(scene_id):
        scene = library.scene(scene_id)
    else:
        raise UsageError(f"no scene {scene_id!r}: there are {', '.join(library.scene_ids())}")
    picture = out or Path(f"{scene.id}.png")
    draw(scene, library.catalogue, picture)
    typer.echo(describe(scene, library.catalogue))
    typer.echo(f"plan drawn to {picture}", err=True)
