"""How others' models fare in `iwkit assets import`: those of Debian's package sweethome3d-furniture, none of them ours.

python benchmarks/importing.py [--package FOLDER] [--models FILE] [--every N] [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
import io
import re
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from iwkit.errors import IwkitError
from iwkit.recipes import load_recipes
from iwkit.spec.catalogue import Category
from iwkit_authoring.importing.asset import Report, import_asset
from iwkit_authoring.importing.wishes import Wishes
from iwkit_runtime.assets import build_asset

PACKAGE = Path("/usr/share/sweethome3d/furniture")
_LINE = re.compile(r"(\w+)#(\d+)=(.*)")
_AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-x": (-1, 0, 0), "-y": (0, -1, 0), "-z": (0, 0, -1)}
TILE = 150


@dataclass(frozen=True)
class Offer:
    """A model of the package: its library, what its catalogue says of it (centimetres), and the turn it asks for."""

    library: str
    name: str
    file: str
    icon: str
    size: tuple[float, float, float]
    turn: tuple[float, ...] | None

    @property
    def axes(self) -> tuple[str, str] | None:
        """The file's axes that point up and to the front; None if the catalogue turns it by less than a quarter."""
        if self.turn is None:
            return "y", "z"
        found = []
        for row in (self.turn[3:6], self.turn[6:9]):
            near = [name for name, axis in _AXES.items() if np.abs(np.subtract(row, axis)).max() < 0.05]
            found += near[:1]
        return (found[0], found[1]) if len(found) == 2 else None


@dataclass(frozen=True)
class Result:
    """What became of it: a report, or why there is none; seconds; how far width and depth are off, as a share."""

    offer: Offer
    report: Report | None
    why: str
    seconds: float

    @property
    def off(self) -> float:
        if self.report is None:
            return 0.0
        ours = np.array(self.report.category.size[:2])
        asked = np.array(self.offer.size[:2]) / 100
        return float(np.abs(ours / asked - 1).max())


def offers(package: Path) -> Iterator[tuple[Path, Offer]]:
    """Every model of the package, library by library."""
    for library in sorted(package.glob("*.sh3f")):
        with zipfile.ZipFile(library) as packed:
            lines = packed.read("PluginFurnitureCatalog.properties").decode("latin-1").splitlines()
        said: dict[int, dict[str, str]] = {}
        for line in lines:
            if found := _LINE.match(line.strip()):
                said.setdefault(int(found[2]), {})[found[1]] = found[3]
        for entry in said.values():
            size = (float(entry["width"]), float(entry["depth"]), float(entry["height"]))
            turn = tuple(map(float, entry["modelRotation"].split())) if "modelRotation" in entry else None
            file, icon = entry["model"].lstrip("/"), entry["icon"].lstrip("/")
            yield library, Offer(library.stem, Path(file).stem, file, icon, size, turn)


def tried(library: Path, offer: Offer, work: Path) -> tuple[Result, Image.Image | None]:
    """Import a model into a project of its own below `work`."""
    folder = work / offer.library / offer.name
    with zipfile.ZipFile(library) as packed:
        below = Path(offer.file).parent.as_posix() + "/"
        packed.extractall(folder, [name for name in packed.namelist() if name.startswith(below)])
        icon = (
            Image.open(io.BytesIO(packed.read(offer.icon))).convert("RGBA") if offer.icon in packed.namelist() else None
        )
    axes = offer.axes
    if axes is None:
        return Result(offer, None, "the catalogue turns it by less than a quarter", 0.0), icon
    wishes = Wishes(name="thing", height=offer.size[2] / 100, up=axes[0], front=axes[1])
    start = time.perf_counter()
    try:
        report = import_asset(folder / offer.file, folder, wishes)
        why = ""
    except IwkitError as error:
        report, why = None, re.sub(r"^\S+/(?=[^/\s]+: )", "", str(error))
    return Result(offer, report, why, time.perf_counter() - start), icon


def picture(result: Result, icon: Image.Image | None) -> Image.Image:
    """The package's own picture beside ours."""
    from iwkit_runtime.render.contact_sheet import render_asset

    tile = Image.new("RGB", (2 * TILE, TILE + 14), "white")
    if icon is not None:
        icon.thumbnail((TILE, TILE))
        tile.paste(icon, (0, 0), icon)
    if result.report is not None:
        recipe = load_recipes(result.report.written[1])["thing"]
        category: Category = result.report.category
        tile.paste(render_asset(build_asset("thing", category, recipe), tile=TILE), (TILE, 0))
    ImageDraw.Draw(tile).text(
        (2, TILE + 1), f"{result.offer.name}: {result.why or result.offer.library}"[:48], fill="black"
    )
    return tile


def sheet(tiles: Sequence[Image.Image], columns: int = 5) -> Image.Image:
    """The tiles in rows."""
    wide, high = tiles[0].size
    made = Image.new("RGB", (columns * wide, -(-len(tiles) // columns) * high), "white")
    for number, tile in enumerate(tiles):
        made.paste(tile, (number % columns * wide, number // columns * high))
    return made


def table(results: Sequence[Result]) -> str:
    """Markdown: one row a library, then why some weren't imported."""
    lines = [
        "| library | models | imported | seconds, median and most | triangles kept, median | pieces, median and most |"
    ]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for library in sorted({result.offer.library for result in results}):
        here = [result for result in results if result.offer.library == library]
        done = [result.report for result in here if result.report is not None]
        seconds = [result.seconds for result in here if result.report is not None] or [0.0]
        kept = [report.triangles[1] for report in done] or [0]
        pieces = [report.pieces for report in done] or [0]
        lines.append(
            f"| {library} | {len(here)} | {len(done)} | {statistics.median(seconds):.1f}, {max(seconds):.1f} "
            f"| {statistics.median(kept):.0f} | {statistics.median(pieces):.0f}, {max(pieces)} |"
        )
    lines += ["", *(f"- {r.offer.library}/{r.offer.name}: {r.why}" for r in results if r.report is None)]
    stretched = [r for r in results if r.off > 0.02]
    lines += [
        "",
        f"width or depth more than 2 % from the package's catalogue (which stretches models): {len(stretched)}",
    ]
    lines += [f"- {r.offer.library}/{r.offer.name}: {r.off:.0%}" for r in stretched]
    return "\n".join(lines)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Import the models of sweethome3d-furniture and say how they fare.")
    parser.add_argument("--package", type=Path, default=PACKAGE, help="folder of its .sh3f files")
    parser.add_argument("--models", type=Path, help="only those named in this file, LIBRARY/MODEL a line")
    parser.add_argument("--every", type=int, default=1, help="only every Nth model")
    parser.add_argument("--pictures", type=Path, help="write sheets of the package's pictures beside ours here")
    given = parser.parse_args()
    if not any(given.package.glob("*.sh3f")):
        print(f"unavailable: no .sh3f file in {given.package}; apt-get install sweethome3d-furniture")
        return
    wanted = set(given.models.read_text("utf-8").split()) if given.models else None
    found = [(lib, o) for lib, o in offers(given.package) if wanted is None or f"{o.library}/{o.name}" in wanted]
    results, tiles = [], []
    for library, offer in found[:: given.every]:
        with tempfile.TemporaryDirectory() as work:
            result, icon = tried(library, offer, Path(work))
            if given.pictures:
                tiles.append(picture(result, icon))
        results.append(result)
        print(f"{offer.library}/{offer.name} {result.seconds:.1f} s {result.why}", file=sys.stderr)
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
        for number in range(0, len(tiles), 30):
            sheet(tiles[number : number + 30]).save(given.pictures / f"sheet{number // 30}.png")
    print(table(results))


if __name__ == "__main__":
    main()
