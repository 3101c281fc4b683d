"""A picture of every category, to see whether it can be recognised: as eyes see it that are near it, by daylight.

`python -m iwkit_runtime.render.contact_sheet OUT.png [CATEGORY ...]`
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from iwkit.catalogue import load_catalogue
from iwkit.recipes import load_recipes
from iwkit.spec.catalogue import Category
from iwkit.spec.recipe import Recipe
from iwkit_runtime.assets import build_asset
from iwkit_runtime.assets.mesh import box
from iwkit_runtime.assets.typeset import font
from iwkit_runtime.physical.kinematics import frame, link_frames
from iwkit_runtime.physical.scene_spec import Placed, SceneSpec, Static
from iwkit_runtime.physical.spec import Asset, Floats, Material, Visual
from iwkit_runtime.render.renderer import Renderer, look_from

TILE = 256
"""Width and height of one picture in pixels."""
COLUMNS = 4
CAPTION = 24
"""Height of the line under a picture in pixels."""
SHEET = 16
"""Things on one sheet for readers."""
EYES = np.array([0.1, -0.5, 0.45])
"""From a thing on a table to the eyes of someone who stands before it and has bent a little, metres."""
NEARBY = 0.5
"""Things that are larger than this are seen from further away, metres."""
LARGE = 0.6
"""Decor that is larger than this stands on the floor, or hangs on a wall, metres."""
STANDING = 1.6
"""Height of a standing person's eyes."""
AWAY = 1.3
"""Distance to a fixture on the plan, in its diagonals, plus `STEP`."""
STEP = 0.7
MARGIN = 1.12
"""So much more than the thing is in the picture."""
TABLE, FLOOR = (0.80, 0.74, 0.64), (0.72, 0.72, 0.70)


def render_asset(
    asset: Asset, *, opened: bool = False, states: tuple[str, ...] = (), tile: int = TILE, standing: bool = False
) -> Image.Image:
    """The thing alone, as large as the picture, seen from in front, from above and a little from its right.

    `opened`: every joint at its end. `states` are those that show on it, as `running`. `standing`: on the floor, seen
    by someone who stands before it; else on a table.
    """
    joints = {link.name: link.joint.high if opened else link.joint.low for link in asset.links if link.joint}
    placed = Placed("thing", "fixture" if standing else "object", asset, (0.0, 0.0, 0.0), 0.0, joints)
    spec = SceneSpec((_ground(FLOOR if standing else TABLE),), (placed,))
    points = _seen(asset, joints)
    middle = (points.min(0) + points.max(0)) / 2
    camera = look_from(_eyes(points, middle, standing=standing), middle)
    seen = (points - camera[:3, 3]) @ camera[:3, :3]
    half = float(np.arctan(np.abs(seen[:, :2] / seen[:, 2:]).max() * MARGIN))
    values = {("thing", link): value for link, value in joints.items()}
    with Renderer(spec, size=(tile, tile), fov=2 * float(np.degrees(half))) as renderer:
        pose = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
        return Image.fromarray(renderer.frame(camera, {"thing": pose}, values, states={"thing": states}))


def _ground(colour: tuple[float, float, float]) -> Static:
    made = box((-20, -20, -0.1), (20, 20, -0.0005))
    return Static("floor", "floor", (Visual(made.vertices, made.faces, None, Material("ground", (*colour, 1.0))),), ())


def _seen(asset: Asset, joints: dict[str, float]) -> Floats:
    """Every vertex that is drawn (n, 3), with the joints where they are."""
    frames = link_frames(asset, frame(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))), joints)
    return np.concatenate([frames[link.name].point(v.vertices) for link in asset.links for v in link.visuals])


def _eyes(points: Floats, middle: Floats, *, standing: bool) -> Floats:
    across = float(np.linalg.norm(points.max(0) - points.min(0)))
    if not standing:
        return np.asarray(middle + EYES * max(1.0, across / NEARBY))
    reach = AWAY * across + STEP
    return np.array([0.42 * reach, -0.9 * reach, max(STANDING, 0.8 * float(points[:, 2].max()))])


def sheet(tiles: Sequence[tuple[str, Image.Image]], *, tile: int = TILE, columns: int = COLUMNS) -> Image.Image:
    """Pictures side by side with a caption under each."""
    rows = -(-len(tiles) // columns)
    out = Image.new("RGB", (columns * tile, rows * (tile + CAPTION)), "white")
    pen = ImageDraw.Draw(out)
    for number, (title, picture) in enumerate(tiles):
        x, y = number % columns * tile, number // columns * (tile + CAPTION)
        out.paste(picture, (x, y))
        size = next((n for n in range(CAPTION - 8, 6, -1) if font(n).getlength(title) <= tile - 8), 6)
        pen.text((x + 4, y + tile + 2), title, fill="black", font=font(size))
    return out


def tiles_of(
    name: str, category: Category, recipe: Recipe | None, *, tile: int = TILE, closed: bool = False
) -> list[tuple[str, Image.Image]]:
    """A category's pictures with their captions: as it is, and open if it opens and running if it runs, unless it is
    wanted `closed` only."""
    asset = build_asset(name, category, recipe)
    standing = category.kind == "fixture" or (category.kind == "decor" and max(category.size) > LARGE)
    found = [(name, render_asset(asset, tile=tile, standing=standing))]
    if len(asset.links) > 1 and not closed:
        found.append((f"{name}, open", render_asset(asset, opened=True, tile=tile, standing=standing)))
    if "device" in category.affords and not closed:
        opened = "container" not in category.affords  # a laptop's screen is seen then, an oven's light through its door
        picture = render_asset(asset, opened=opened, states=("running",), tile=tile, standing=standing)
        found.append((f"{name}, running", picture))
    return found


def contact_sheet(names: Iterable[str], *, tile: int = TILE, columns: int = COLUMNS) -> Image.Image:
    """Pictures of the categories with their names; what opens and what runs is shown both ways."""
    catalogue, recipes = load_catalogue(), load_recipes()
    tiles = [t for name in names for t in tiles_of(name, catalogue.categories[name], recipes.get(name), tile=tile)]
    return sheet(tiles, tile=tile, columns=columns)


def reader_sheets(names: Sequence[str], folder: Path, *, tile: int = TILE, seed: int = 0) -> list[Path]:
    """Sheets for readers who shall name the things: shuffled, closed, with numbers alone. `key.json` says what is what.

    Writes `sheet-01.png`, ... into `folder`, `SHEET` things on each, and returns the paths of the pictures.
    """
    catalogue, recipes = load_catalogue(), load_recipes()
    order = [names[number] for number in np.random.default_rng(seed).permutation(len(names)).tolist()]
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for first in range(0, len(order), SHEET):
        tiles = []
        for number, name in enumerate(order[first : first + SHEET], first + 1):
            [(_, picture)] = tiles_of(name, catalogue.categories[name], recipes.get(name), tile=tile, closed=True)
            tiles.append((str(number), picture))
        pictures.append(folder / f"sheet-{first // SHEET + 1:02}.png")
        sheet(tiles, tile=tile).save(pictures[-1])
    key = {str(number): name for number, name in enumerate(order, 1)}
    (folder / "key.json").write_text(json.dumps(key, indent=1) + "\n", encoding="utf-8")
    return pictures


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Draw a picture of every category, or of those named.")
    parser.add_argument("out", type=Path, help="a picture, or with --readers a folder")
    parser.add_argument("categories", nargs="*")
    parser.add_argument("--readers", action="store_true", help="shuffled sheets with numbers for names, and a key")
    parser.add_argument(
        "--kind", choices=("object", "fixture", "decor"), help="of all categories, only those of this kind"
    )
    parser.add_argument("--columns", type=int, default=COLUMNS, help="pictures beside one another")
    parser.add_argument("--tile", type=int, default=TILE, help="pixels of one picture, each way")
    arguments = parser.parse_args()
    categories = load_catalogue().categories
    of_kind = [name for name, c in categories.items() if arguments.kind in (None, c.kind)]
    names = arguments.categories or of_kind
    if arguments.readers:
        reader_sheets(names, arguments.out, tile=arguments.tile)
    else:
        contact_sheet(names, tile=arguments.tile, columns=arguments.columns).save(arguments.out)


if __name__ == "__main__":
    main()
