"""`iwkit init`, `iwkit new`, `iwkit watch`, `iwkit doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from iwkit.cli.common import family_ids, scene_ids


def register(app: typer.Typer) -> None:
    for command in (init, new, watch, doctor):
        app.command()(command)


def init(folder: Annotated[Path, typer.Argument(help="A folder that is not there yet, or empty.")]) -> None:
    """Make a project of your own: a pack, a scene, a lock, schemas for editors, an example for CI."""
    from iwkit_authoring.scaffold import init

    for path in init(folder):
        typer.echo(str(path))
    typer.echo(f"next: cd {folder}, read README.md, and run iwkit validate .", err=True)


def new(
    family: Annotated[
        str,
        typer.Argument(
            help="guidance, planning, accessibility, decision, prevention or finding.", autocompletion=family_ids
        ),
    ],
    idea: Annotated[str, typer.Argument(help="The task in a few words; it becomes the title.")],
    scene: Annotated[
        str, typer.Option(help="Where it plays. `iwkit scene list` names all.", autocompletion=scene_ids)
    ] = "flat",
    pack_id: Annotated[str, typer.Option("--id", help="Its id; default: the family's letter and a free number.")] = "",
) -> None:
    """Write a draft of a pack, complete and clean, from the template of its family."""
    from iwkit.library import near
    from iwkit_authoring.scaffold import new

    home = _project_here()
    path = near(new(family, idea, home, scene, pack_id))
    typer.echo(str(path))
    typer.echo(
        f"""next:
  1. make it yours: contract, entities, opening and evidence, goal, then what is said and the scripts
  2. iwkit validate {path}     problems at file:line:col; iwkit watch {path} checks on every save
  3. iwkit controls {path}     the oracle passes; no help, wrong help and early help fail, each for its reason
  4. iwkit mutate {path}       what the goal does not notice
  5. iwkit review {path}       who read it, and what came of it
  6. iwkit freeze {path}""",
        err=True,
    )
    if not (home / "schemas").is_dir():
        typer.echo(f"for editors that check YAML: iwkit schema --out {near(home / 'schemas')}", err=True)


def _project_here() -> Path:
    """The project around the current folder; in iwkit's own checkout that of the packs that ship."""
    from iwkit import resources
    from iwkit.errors import UsageError
    from iwkit.library import LOCK_NAME, home_of

    home, shipped = home_of(Path("x")), resources.root("taskpacks")
    if (home / LOCK_NAME).is_file():
        return home
    if Path.cwd().is_relative_to(shipped.parent):
        return shipped
    raise UsageError("no project here: iwkit init DIR makes one")


def watch(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Packs, scenes, catalogues and recipes, or folders of them; default: this folder."),
    ] = None,
    every: Annotated[float, typer.Option(help="Seconds between two looks at the files.")] = 0.5,
    times: Annotated[int, typer.Option(help="Stop after so many checks; 0: go on until ctrl-C.")] = 0,
) -> None:
    """Check files now, and again whenever one of them, or a scene or catalogue of their project, is saved."""
    import time

    from iwkit.cli.packs import yaml_files
    from iwkit.errors import UsageError
    from iwkit.library import files_in, home_of
    from iwkit.source.excerpt import shown
    from iwkit_validators.suite import validate_many

    if not every > 0:
        raise UsageError("--every must be more than 0")
    watched = paths or [Path()]

    def saved() -> dict[Path, int]:
        homes = {home_of(path) for path in yaml_files(watched)}
        stamps = {}
        for path in (file for home in sorted(homes) for file in files_in(home)):
            try:
                stamps[path] = path.stat().st_mtime_ns
            except FileNotFoundError:  # an editor is just replacing it
                stamps[path] = 0
        return stamps

    seen: dict[Path, int] = {}
    checks = 0
    try:
        while True:
            now = saved()
            if now == seen:
                time.sleep(every)
                continue
            seen = now
            reports = validate_many(yaml_files(watched))
            for problem in sorted(p for report in reports for p in report.problems):
                typer.echo(shown(problem))
            clean = sum(1 for report in reports if not report.problems)
            typer.echo(f"{time.strftime('%H:%M:%S')}  {len(reports)} checked, {clean} clean")
            checks += 1
            if checks == times:
                return
    except KeyboardInterrupt:
        typer.echo("")


def doctor() -> None:
    """Say what works on this machine, what does not, and what to install. Exits with 1 if iwkit itself can't work."""
    from rich.console import Console
    from rich.table import Table

    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit_runtime.doctor import examine

    table = Table("what", "here", "what to do")
    broken = False
    for finding in examine():
        broken = broken or finding.broken
        mark = "[red]" if finding.broken else "[green]" if finding.fine else "[yellow]"
        table.add_row(finding.what, f"{mark}{finding.here}[/]", finding.remedy)
    Console().print(table)
    if broken:
        raise typer.Exit(EXIT_PROBLEM)
