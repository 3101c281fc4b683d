"""Every category as geometry: sizes, convex pieces, regions, doors and prints."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from scipy.spatial import ConvexHull, Delaunay
from scipy.spatial.transform import Rotation

from iwkit.catalogue import interior_size, load_catalogue
from iwkit.errors import UsageError
from iwkit.recipes import load_recipes
from iwkit.scenes import load_scene, scene_ids
from iwkit.spec.catalogue import Category
from iwkit_runtime.assets import build_asset
from iwkit_runtime.physical.placer import regions_for
from iwkit_runtime.physical.spec import Asset, Joint, Link, Vector

CATEGORIES = load_catalogue().categories
RECIPES = load_recipes()
NAMES = list(CATEGORIES)
OPENABLE = [name for name in NAMES if "openable" in CATEGORIES[name].affords]


@cache
def built(name: str) -> Asset:
    return build_asset(name, CATEGORIES[name], RECIPES[name])


def seen(asset: Asset) -> np.ndarray:
    return np.concatenate([visual.vertices for link in asset.links for visual in link.visuals])


def moved(points: np.ndarray, joint: Joint, share: float) -> np.ndarray:
    value = joint.low + share * (joint.high - joint.low)
    if joint.kind == "slide":
        return points + np.array(joint.axis) * value
    turn = Rotation.from_rotvec(np.array(joint.axis) * value)
    return turn.apply(points - joint.anchor) + joint.anchor


def samples(points: np.ndarray, number: int = 6) -> np.ndarray:
    """A grid in the box of the points, on its sides and inside it."""
    axes = [np.linspace(low, high, number) for low, high in zip(points.min(0), points.max(0), strict=True)]
    return np.stack(np.meshgrid(*axes), -1).reshape(-1, 3)


def inside(points: np.ndarray, pieces: list[np.ndarray], depth: float = 0.0005) -> np.ndarray:
    """Which of the points lie deeper than this in any of the convex pieces."""
    found = np.zeros(len(points), dtype=bool)
    for piece in pieces:
        near = ((points > piece.min(0)) & (points < piece.max(0))).all(1) & ~found
        if near.any():
            faces = ConvexHull(piece).equations
            found[near] = (points[near] @ faces[:, :3].T + faces[:, 3] < -depth).all(1)
    return found


def pieces(links: list[Link]) -> list[np.ndarray]:
    return [piece.vertices for link in links for piece in link.pieces]


def digest(asset: Asset) -> str:
    made = hashlib.sha256()
    for link in asset.links:
        made.update(f"{link.name} {link.parent} {link.joint} {link.handle}".encode())
        for visual in link.visuals:
            made.update(visual.vertices.tobytes() + visual.faces.tobytes() + repr(visual.material.rgba).encode())
            for array in (visual.uv, visual.material.texture):
                made.update(b"" if array is None else array.tobytes())
        for piece in link.pieces:
            made.update(piece.vertices.tobytes())
    made.update(repr((asset.size, asset.mass, asset.regions, asset.controls, asset.labels)).encode())
    return made.hexdigest()


def test_every_category_has_a_recipe() -> None:
    assert set(RECIPES) == set(CATEGORIES)


@pytest.mark.parametrize("name", NAMES)
def test_the_visible_box_is_the_catalogues_size(name: str) -> None:
    asset = built(name)
    recipe = RECIPES[name]
    proud = any(part.proud for part in recipe.parts)
    own = [v.vertices for link in asset.links for v in link.visuals if v.when not in ("wet", "dirty")]  # not its own
    low, high = np.concatenate(own).min(0), np.concatenate(own).max(0)
    half = np.array([asset.size[0] / 2, asset.size[1] / 2])
    assert (low[:2] <= -half + 0.002).all() and (high[:2] >= half - 0.002).all()
    assert abs(low[2]) <= 0.002 and high[2] >= asset.size[2] - 0.002
    if proud or recipe.kind in ("sink",):
        return
    assert high[0] <= half[0] + 0.002 and high[1] <= half[1] + 0.002 and high[2] <= asset.size[2] + 0.002
    assert low[0] >= -half[0] - 0.002
    handle = 0.04 if recipe.kind == "cabinet" else 0.002
    assert low[1] >= -half[1] - handle


def test_only_a_few_things_stand_proud_of_their_size() -> None:
    proud = {name for name in NAMES if any(part.proud for part in RECIPES[name].parts)}
    high_ones = {"bed", "hospital_bed", "bathtub", "paper_bag", "plastic_bag", "checkout_counter"}
    assert high_ones <= proud
    for name in proud - high_ones:
        low, high = seen(built(name)).min(0), seen(built(name)).max(0)
        half = np.array(built(name).size) / 2
        assert (low[:2] >= -half[:2] - 0.042).all() and (high[:2] <= half[:2] + 0.042).all(), name


@pytest.mark.parametrize("name", NAMES)
def test_meshes_are_closed_and_look_outwards(name: str) -> None:
    for link in built(name).links:
        for visual in link.visuals:
            points, faces = visual.vertices, visual.faces
            assert faces.min() >= 0 and faces.max() < len(points)
            a, b, c = (points[faces[:, i]] for i in range(3))
            normal = np.cross(b - a, c - a)
            assert (np.linalg.norm(normal, axis=1) > 1e-13).all()
            if visual.uv is None:
                # A closed surface has no net area vector, and encloses a positive volume.
                assert np.linalg.norm(normal.sum(0)) < 1e-6 * np.abs(normal).sum()
                assert np.einsum("ij,ij->", a - points.mean(0), normal) > 0
            else:
                assert visual.uv.shape == (len(points), 2)
                assert visual.uv.min() >= 0 and visual.uv.max() <= 1
                assert visual.material.texture is not None


@pytest.mark.parametrize("name", NAMES)
def test_pieces_are_convex_solids_within_what_is_seen(name: str) -> None:
    for link in built(name).links:
        corners = np.concatenate([visual.vertices for visual in link.visuals])
        low, high = corners.min(0) - 0.002, corners.max(0) + 0.002
        assert link.pieces
        for piece in link.pieces:
            assert (piece.vertices >= low).all() and (piece.vertices <= high).all()
            assert ConvexHull(piece.vertices).volume > 1e-11
        solid = np.concatenate([piece.vertices for piece in link.pieces])
        soft = np.maximum(0.14, 0.13 * np.ptp(corners, axis=0))  # leaves give way
        assert (np.abs(solid.min(0) - corners.min(0)) < soft).all()


@pytest.mark.parametrize("name", NAMES)
def test_regions_are_where_things_can_be(name: str) -> None:
    asset, category = built(name), CATEGORIES[name]
    kinds = {region.kind for region in asset.regions}
    assert ("surface" in category.affords) <= ("surface" in kinds)
    assert ("container" in category.affords) == ("interior" in kinds)
    assert len({region.name for region in asset.regions}) == len(asset.regions)
    half = np.array([asset.size[0] / 2, asset.size[1] / 2])
    solids = pieces(list(asset.links))
    for region in asset.regions:
        low, high = (
            np.array(region.centre) - np.array(region.size) / 2,
            np.array(region.centre) + np.array(region.size) / 2,
        )
        assert (low[:2] >= -half - 1e-6).all() and (high[:2] <= half + 1e-6).all()
        assert low[2] >= -1e-6
        grid = samples(np.array([low, high]), 9)
        if region.kind == "interior":
            assert high[2] <= asset.size[2] + 1e-6
            assert not inside(grid, solids).any(), region.name
        else:
            # Above a surface there is room, and just below it something carries.
            lowest = grid[grid[:, 2] < low[2] + 1e-9]
            assert not inside(np.add(lowest, (0, 0, 0.003)), solids).any(), region.name
            assert inside(np.subtract(lowest, (0, 0, 0.0025)), solids, 0.0).mean() > 0.6, region.name


@pytest.mark.parametrize("name", NAMES)
def test_one_joint_opens_what_opens(name: str) -> None:
    asset = built(name)
    joints = [link for link in asset.links if link.joint]
    assert len(joints) == ("openable" in CATEGORIES[name].affords)
    assert asset.links[0].joint is None and asset.links[0].parent is None
    for link in joints:
        assert link.joint is not None and link.joint.low == 0 < link.joint.high
        assert np.linalg.norm(link.joint.axis) == pytest.approx(1)
        assert link.parent == asset.links[0].name


@pytest.mark.parametrize("name", OPENABLE)
def test_a_door_swings_clear_of_its_own_body(name: str) -> None:
    body, door = built(name).links
    assert door.joint is not None
    for share in np.linspace(0, 1, 13):
        for piece in door.pieces:
            points = moved(samples(piece.vertices, 7), door.joint, share)
            assert not inside(points, pieces([body]), 0.001).any(), share


@pytest.mark.parametrize("name", OPENABLE)
def test_a_handle_can_be_reached_and_moves_outwards(name: str) -> None:
    asset = built(name)
    body, door = asset.links
    assert door.joint is not None and door.handle is not None
    handle = np.array([door.handle])
    assert not inside(handle, pieces([body])).any()
    every = np.concatenate(pieces([door]))
    low, high = every.min(0), every.max(0)
    assert (handle[0] > low - 0.06).all() and (handle[0] < high + 0.06).all()
    before = np.linalg.norm(handle[0] - seen(asset).mean(0))
    opened = moved(handle, door.joint, 1.0)[0]
    if door.joint.kind == "hinge":
        assert np.linalg.norm(opened - seen(asset).mean(0)) > before
    if door.joint.axis[0] == 0 and abs(door.joint.axis[2]) == 1:
        assert opened[1] < handle[0][1] - 0.2


@pytest.mark.parametrize("name", OPENABLE)
def test_an_open_door_lets_a_hand_in(name: str) -> None:
    """From in front, or from above, a straight way leads to the middle of each region inside."""
    asset = built(name)
    body, door = asset.links
    assert door.joint is not None
    opened = [moved(p, door.joint, 1.0) for p in pieces([door])]
    for region in asset.regions:
        if region.kind == "surface" or region.link != "body":
            continue
        centre = np.array(region.centre)
        way = np.linspace(0, 1, 60)[:, None]
        front = centre + way * [0, -asset.size[1] * 0.6, 0]
        above = centre + way * [0, 0, asset.size[2]]
        assert any(not inside(path, [*pieces([body]), *opened]).any() for path in (front, above)), region.name


@pytest.mark.parametrize("name", [n for n in NAMES if "device" in CATEGORIES[n].affords])
def test_a_device_has_a_switch_on_its_surface(name: str) -> None:
    asset = built(name)
    link, point = asset.controls["power"]
    owner = next(item for item in asset.links if item.name == link)
    points = np.concatenate([visual.vertices for visual in owner.visuals])
    assert (np.array(point) >= points.min(0) - 0.01).all() and (np.array(point) <= points.max(0) + 0.01).all()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_on_shows_its_label(name: str) -> None:
    category = CATEGORIES[name]
    if "readable" not in category.affords:
        return
    one = build_asset(name, category, RECIPES[name], label="ALPHA 1")
    other = build_asset(name, category, RECIPES[name], label="ALPHA 2")
    pairs = zip(
        [v.material.texture for link in one.links for v in link.visuals if v.uv is not None],
        [v.material.texture for link in other.links for v in link.visuals if v.uv is not None],
        strict=True,
    )
    assert any(not np.array_equal(a, b) for a, b in pairs)
    assert one.labels
    for label in one.labels:
        assert max(label.width, label.height) < max(one.size) + 0.001
        assert np.linalg.norm(label.normal) == pytest.approx(1)


def test_a_label_has_no_place_on_a_banana() -> None:
    with pytest.raises(UsageError, match="nothing is written on a banana"):
        build_asset("banana", CATEGORIES["banana"], RECIPES["banana"], label="RIPE")


def test_an_upright_things_label_faces_the_front() -> None:
    for name in ("soda_can", "water_bottle", "milk_carton", "tissue_box"):
        label = built(name).labels[0]
        assert label.normal == pytest.approx((0, -1, 0), abs=0.02)
        assert label.centre[0] == pytest.approx(0, abs=0.001)
        assert label.centre[1] < 0


def test_a_label_on_a_cylinder_is_the_right_way_round() -> None:
    """Going right on the front, u grows; going up, v grows."""
    visual = next(v for v in built("soda_can").links[0].visuals if v.uv is not None)
    front = visual.vertices[:, 1] < -0.02
    right = np.corrcoef(visual.vertices[front, 0], visual.uv[front, 0])[0, 1]
    up = np.corrcoef(visual.vertices[front, 2], visual.uv[front, 1])[0, 1]
    assert right > 0.95 and up > 0.95


@pytest.mark.parametrize(
    ("name", "right", "up"),
    [
        ("price_sheet", ((1, 0, 0),), ((0, 1, 0),)),
        ("milk_carton", ((1, 0, 0), (-1, 0, 0)), ((0, 0, 1), (0, 0, 1))),
        ("laptop", ((1, 0, 0),) * 3, ((0, 1, 0), (0, 1, 0), (0, -1, 0))),
    ],
)
def test_a_flat_print_is_the_right_way_round(name: str, right: tuple[Vector, ...], up: tuple[Vector, ...]) -> None:
    """Front and back of a carton, a sheet read from the front, a laptop's screen that stands up when opened."""
    prints = [v for link in built(name).links for v in link.visuals if v.uv is not None]
    for visual, x, y in zip(prints, right, up, strict=True):
        lower_left, lower_right, upper_right, _ = visual.vertices
        assert visual.uv is not None and visual.uv[:3].tolist() == [[0, 0], [1, 0], [1, 1]]
        assert (lower_right - lower_left) / np.linalg.norm(lower_right - lower_left) == pytest.approx(x)
        assert (upper_right - lower_right) / np.linalg.norm(upper_right - lower_right) == pytest.approx(y)


def test_an_a4_sheet_has_its_true_size_and_resolution() -> None:
    sheet = build_asset("price_sheet", CATEGORIES["price_sheet"], RECIPES["price_sheet"], label="PRICES\nAPPLE $3")
    visual = next(v for v in sheet.links[0].visuals if v.uv is not None)
    assert np.ptp(visual.vertices[:, :2], axis=0) == pytest.approx((0.21, 0.297), abs=1e-4)
    assert visual.material.texture is not None
    height, width, channels = visual.material.texture.shape
    assert (width, channels) == (525, 3) and abs(height - 742) <= 1
    label = sheet.labels[0]
    assert label.normal == (0, 0, 1) and label.width > 0.15


def test_a_colour_word_paints_the_thing() -> None:
    def body(**how: object) -> np.ndarray:
        asset = build_asset("mug", CATEGORIES["mug"], RECIPES["mug"], **how)  # type: ignore[arg-type]
        return np.array(asset.links[0].visuals[0].material.rgba)

    blue, red = body(colour="blue"), body(colour="red")
    assert blue[2] > blue[0] and red[0] > red[2]
    assert (body(colour="light blue")[:3] > blue[:3]).all()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"colour": "blurple"}, "no colour is called 'blurple'"),
        ({"colour": "shiny blue"}, "no colour is called 'shiny blue'"),
    ],
)
def test_unknown_words_are_named(how: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build_asset("mug", CATEGORIES["mug"], RECIPES["mug"], **how)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["fridge", "sink", "lunch_box"])
def test_a_size_without_room_for_the_interior_is_refused(name: str) -> None:
    width, depth, height = CATEGORIES[name].size
    with pytest.raises(UsageError):
        build_asset(name, CATEGORIES[name], RECIPES[name], size=(width / 5, depth / 5, height / 5))


def test_every_fixture_of_the_scenes_builds_in_its_own_size() -> None:
    for scene in (load_scene(name, load_catalogue()) for name in scene_ids()):
        for fixture in scene.fixtures.values():
            asset = build_asset(
                fixture.category, CATEGORIES[fixture.category], RECIPES[fixture.category], size=fixture.size
            )
            assert asset.size == (fixture.size or CATEGORIES[fixture.category].size)
            low = seen(asset).min(0)
            assert low[0] == pytest.approx(-asset.size[0] / 2, abs=0.045)
            for region in asset.regions:
                assert abs(region.centre[0]) + region.size[0] / 2 <= asset.size[0] / 2 + 1e-6


def test_a_category_without_a_recipe_is_a_plain_box() -> None:
    asset = build_asset("parcel", CATEGORIES["parcel"], label="TO ANNA")
    points = seen(asset)
    assert np.ptp(points, axis=0) == pytest.approx(CATEGORIES["parcel"].size, abs=0.002)
    assert len(asset.links[0].pieces) == 1 and len(asset.labels) == 1


@pytest.mark.parametrize(
    ("kind", "affords", "regions", "joints"),
    [
        ("object", (), set(), 0),
        ("object", ("surface",), {"surface"}, 0),
        ("object", ("container",), {"interior"}, 0),
        ("object", ("container", "openable"), {"interior"}, 1),
        ("fixture", ("container", "openable", "device"), {"interior"}, 1),
    ],
)
def test_a_category_without_a_recipe_has_the_room_that_it_affords(
    kind: str, affords: tuple[str, ...], regions: set[str], joints: int
) -> None:
    row = {"kind": kind, "public": ["thing"], "size": [0.5, 0.4, 0.3], "mass": 2, "affords": list(affords)}
    category = Category.model_validate(row)
    asset = build_asset("thing", category)
    assert asset.size == category.size
    assert {kind for kind in ("surface", "interior") if regions_for(asset, kind)} == regions
    for region in asset.regions:
        if region.kind == "interior":
            assert region.size == pytest.approx(interior_size(category), abs=0.02)
    assert sum(link.joint is not None for link in asset.links) == joints
    assert set(asset.controls) == ({"power"} if "device" in affords else set())


def test_two_builds_are_equal_in_any_process() -> None:
    names = ["fridge", "mug", "price_sheet", "soda_can", "sofa", "banana"]
    here = [digest(build_asset(n, CATEGORIES[n], RECIPES[n])) for n in names]
    assert here == [digest(built(n)) for n in names]
    code = (
        "import sys, importlib.util as u; s = u.spec_from_file_location('t', sys.argv[1]); t = u.module_from_spec(s);"
        "s.loader.exec_module(t); print(*[t.digest(t.built(n)) for n in sys.argv[2:]])"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", code, __file__, *names]
    assert subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout.split() == here


def test_a_point_in_a_hollow_is_not_in_a_piece() -> None:
    """The check above can fail: a full box in place of the fridge's walls is found."""
    asset = built("fridge")
    region = next(r for r in asset.regions if r.kind == "interior")
    whole = samples(np.array([[-0.35, -0.35, 0], [0.35, 0.35, 1.75]]), 2)
    assert Delaunay(whole).find_simplex(np.array([region.centre]))[0] >= 0
    assert inside(np.array([region.centre]), [whole]).all()
