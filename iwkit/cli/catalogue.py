"""`iwkit catalogue`."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(catalogue)


def catalogue(
    word: Annotated[str | None, typer.Argument(help="Only those with this in name, kind, public name or use.")] = None,
) -> None:
    """List the categories of things: name, kind, what people call it, size in metres, and what it affords."""
    from pathlib import Path

    from iwkit.errors import UsageError
    from iwkit.library import Library
    from iwkit.suggest import did_you_mean, snake

    categories = Library.for_file(Path("x")).catalogue.categories
    wanted = snake(word or "")
    found = {
        name: category
        for name, category in sorted(categories.items())
        if any(wanted in snake(text) for text in (name, category.kind, *category.public, *category.affords))
    }
    if not found:
        called = (text for name, category in categories.items() for text in (name, *category.public))
        meant = did_you_mean(wanted.replace("_", " "), called)
        raise UsageError(f"no category has {word!r} in it: {meant or f'`iwkit catalogue` lists all {len(categories)}'}")
    width = max(map(len, found))
    for name, category in found.items():
        size = " x ".join(f"{metres:g}" for metres in category.size)
        uses = f"; {', '.join(category.affords)}" if category.affords else ""
        typer.echo(f"{name:<{width}}  {category.kind:<7}  {', '.join(category.public)}; {size} m{uses}")
