"""`iwkit`: commands are found by name and imported only when they are run, so that help answers at once."""

from __future__ import annotations

import sys
from importlib import import_module

import typer

from iwkit import __version__
from iwkit.errors import IwkitError

EXIT_PROBLEM = 1
"""Something is wrong with what was given, or a check failed; usage errors exit with 2 (typer)."""
EXIT_USAGE = 2
"""The command line asks for what there is not."""
EXIT_VOID = 3
"""The run ended, and some of its cells are void."""
EXIT_INTERRUPTED = 130
"""Ctrl-C; a run can be continued."""

app = typer.Typer(
    name="iwkit",
    help="Author, check, freeze and run tasks that tell whether an AI assistant really helped a person.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _root(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    if version:
        typer.echo(f"iwkit {__version__}")
        raise typer.Exit


def _register() -> None:
    modules = "projects packs proving freezing running reporting replay inspect audit scenes catalogue assets"
    for name in modules.split():
        import_module(f"iwkit.cli.{name}").register(app)


def main() -> None:
    """Entry point: every error of iwkit's own is one clear message and a non-zero exit code, never a traceback."""
    _register()
    try:
        app()
    except IwkitError as error:
        typer.echo(str(error), err=True)
        sys.exit(EXIT_PROBLEM)


if __name__ == "__main__":
    main()
