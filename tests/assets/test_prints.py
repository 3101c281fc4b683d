"""What is printed on things: the same pixels everywhere, the right way up on every face, and the signs of documents."""

from __future__ import annotations

import hashlib
import json
import math
from functools import cache
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from pydantic import ValidationError

from iwkit.catalogue import load_catalogue, traits
from iwkit.compile.bind import scene_things
from iwkit.compile.things import Thing
from iwkit.errors import UsageError
from iwkit.floorplan import stance
from iwkit.recipes import load_recipes
from iwkit.scenes import load_scene
from iwkit.spec.pack import Entity
from iwkit.spec.recipe import Print, Style
from iwkit.spec.scene import Scene
from iwkit_runtime.assets import build_asset, decals, handwriting, sheets
from iwkit_runtime.assets.colours import rgba
from iwkit_runtime.assets.inks import RULE, Inks
from iwkit_runtime.assets.printing import STYLES, draw
from iwkit_runtime.assets.strokes import STROKES
from iwkit_runtime.physical.kinematics import root_frame
from iwkit_runtime.physical.layout import Assets, furnish
from iwkit_runtime.physical.plates import door_plates
from iwkit_runtime.physical.scene_spec import SceneSpec
from iwkit_runtime.physical.shell import LEAF, door_asset
from iwkit_runtime.physical.spec import Asset, Visual

CATEGORIES, RECIPES = load_catalogue().categories, load_recipes()
INKS = Inks(rgba("white"), rgba((0.06, 0.06, 0.09)), rgba("blue"))
TEXT = {
    "keys": "3x5",
    "plan": "MAP\nHALL | LAB\nSTORE",
    "calendar": "MAY\nMON | TUE\n4 | 5 GYM",
    "table": "STOCK\nITEM | HAVE\nMUG | 12",
    "bill": "QUOTE\nCASE | $70\nTOTAL | $560",
    "page": "LIST\n[x] MUG\n[ ] 2 CUPS\nNAME:\nROW | 7\n*OLD*",
    "note": "Apple, tea & 3 mugs?",
}
"""What is drawn in each style, else two lines."""


def drawn(style: str, text: str | None = None, size: tuple[int, int] = (240, 180)) -> Image.Image:
    return draw(style, size, TEXT.get(style, "AXO 12\nsmall") if text is None else text, INKS)[0]


GOLDEN: dict[str, str] = {
    "plain": "63c24c5e3e6e0c14",
    "band": "3bc6ed0294e8a748",
    "card": "bfa1832c31b82b63",
    "plate": "c52584d1bdae7de3",
    "tag": "3f6d4a454f66cd32",
    "answer": "533cb461cb2eff6d",
    "welcome": "6ae1ddd8885aeafc",
    "sign": "d37de6b6d44d6eef",
    "forbid": "59c6dc8cde85af9a",
    "warn": "8ced0c9f2d8667ff",
    "page": "2d931997ca40248c",
    "table": "ab4dc9844ff832a1",
    "headed": "ee2c69ea4870a710",
    "bill": "d7e619268a2de043",
    "ticket": "d3467fd9320f810a",
    "plan": "2962b6b40caa3bd9",
    "calendar": "f62422a638c3c5e3",
    "note": "1511f2d1c042785e",
    "ruled": "542c069e992081d9",
    "cover": "7d350414497d9ba9",
    "news": "3922e94945a846b8",
    "screen": "2ad271d6248cb818",
    "display": "9056bdc2501d73d9",
    "keys": "95b427cde0fc9d5e",
}
"""Style -> digest of its pixels. They change only when a style is drawn anew on purpose."""


def pixel_digest(image: Image.Image) -> str:
    return hashlib.sha256(image.tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("style", STYLES)
def test_a_style_has_the_same_pixels_on_every_machine(style: str) -> None:
    assert pixel_digest(drawn(style)) == GOLDEN[style]


def test_recipes_may_name_each_style_and_no_other() -> None:
    assert set(get_args(Style)) == set(STYLES)


@pytest.mark.parametrize("style", sorted(set(STYLES) - {"keys"}))
def test_another_digit_gives_other_pixels(style: str) -> None:
    text = TEXT.get(style, "AXO 12\nsmall")
    if style in ("cover", "news", "ruled"):
        text = text.split("\n")[0]
    digit = next(letter for letter in text if letter.isdigit()) if any(map(str.isdigit, text)) else "L"
    other = text.replace(digit, "9", 1)
    assert other != text
    assert np.any(np.asarray(drawn(style, text)) != np.asarray(drawn(style, other)))


LETTERS = st.text(st.sampled_from([*"ABab019 |:*[]x$.-\n"]), min_size=1, max_size=60)


@settings(max_examples=100, deadline=None)
@given(text=LETTERS, style=st.sampled_from(sorted(set(STYLES) - {"keys"})), wide=st.integers(16, 120))
def test_any_text_is_drawn_within_its_print(text: str, style: str, wide: int) -> None:
    """On the smallest prints too; letters that have no room get small, not an error."""
    if style == "note":
        text = text.replace("[", "(").replace("]", ")")
    image, box = draw(style, (wide, 40), text, INKS)
    assert image.size == (wide, 40)
    assert all(math.isfinite(value) for value in box) and box[0] <= box[2] and box[1] <= box[3]


# --- the right way up -------------------------------------------------------------------------------------------------

SEEN_FROM = {
    "front": ((0, -1, 0), (0, 0, 1)),
    "back": ((0, 1, 0), (0, 0, 1)),
    "left": ((-1, 0, 0), (0, 0, 1)),
    "right": ((1, 0, 0), (0, 0, 1)),
    "top": ((0, 0, 1), (0, 1, 0)),
}
"""Face -> where its reader's eyes are, and what is up to them: who reads what lies stands at its front edge."""


def reading_directions(visual: Visual) -> tuple[np.ndarray, np.ndarray]:
    """The directions in which a print's u and v grow: to the right and up, as its image is meant."""
    points, uv = visual.vertices, visual.uv
    assert uv is not None
    basis, *_ = np.linalg.lstsq(np.column_stack([uv, np.ones(len(uv))]), points, rcond=None)
    return basis[0] / np.linalg.norm(basis[0]), basis[1] / np.linalg.norm(basis[1])


def assert_upright(visual: Visual, eyes: tuple[int, ...], up: tuple[int, ...]) -> None:
    """Seen from there, the writing runs to the right and isn't upside down, and its face looks at the reader."""
    along, upwards = reading_directions(visual)
    right = np.cross(up, eyes)
    assert along @ right > 0.99, "mirrored"
    assert upwards @ np.array(up) > 0.99, "upside down"
    a, b, c = visual.vertices[visual.faces[0]]
    assert np.cross(b - a, c - a) @ np.array(eyes) > 0, "on the wrong side"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("face", SEEN_FROM)
def test_every_style_reads_the_right_way_up_on_every_face(style: str, face: str) -> None:
    print_ = Print.model_validate({"face": face, "rect": (-0.1, 0.0, 0.1, 0.1), "at": 0.05, "style": style})
    mesh, rectangle, pixels = decals.flat(print_, TEXT.get(style, "AB"), INKS, np.ones(3), np.zeros(3))
    visual = Visual(mesh.vertices, mesh.faces, mesh.uv, None)  # type: ignore[arg-type]
    eyes, up = SEEN_FROM[face]
    assert_upright(visual, eyes, up)
    assert rectangle[1] == eyes
    assert pixels.shape[2] == 3


@cache
def labelled(name: str) -> Asset:
    return build_asset(name, CATEGORIES[name], RECIPES[name], label="A 1")


WRITABLE = [name for name in CATEGORIES if any(not it.fixed for it in getattr(RECIPES.get(name), "prints", ()))]


@pytest.mark.parametrize("name", WRITABLE)
def test_what_a_pack_writes_faces_its_reader(name: str) -> None:
    """Given labels come first; those of what stands look to the front and those of what lies upwards."""
    asset, recipe = labelled(name), RECIPES[name]
    assert asset.labels[0].given
    free = [it for it in recipe.prints if not it.fixed]
    assert sum(label.given for label in asset.labels) == len(free)
    label = asset.labels[0]
    assert label.normal[1] < -0.9 or label.normal[2] > 0.9, label.normal
    for visual in (v for link in asset.links for v in link.visuals if v.uv is not None):
        if len(visual.vertices) == 4:
            a, b, c = visual.vertices[visual.faces[0]]
            normal = np.cross(b - a, c - a)
            normal = tuple(int(n) for n in np.round(normal / np.linalg.norm(normal)))
            face = next((face for face, (eyes, _) in SEEN_FROM.items() if eyes == normal), None)
            if face:
                assert_upright(visual, *SEEN_FROM[face])


def test_the_check_of_directions_can_fail() -> None:
    print_ = Print.model_validate({"rect": (-0.1, 0.0, 0.1, 0.1)})
    mesh, _, _ = decals.flat(print_, "AB", INKS, np.ones(3), np.zeros(3))
    turned = Visual(mesh.vertices, mesh.faces, mesh.uv[[1, 0, 3, 2]], None)  # type: ignore[arg-type,index]
    with pytest.raises(AssertionError, match="mirrored"):
        assert_upright(turned, *SEEN_FROM["front"])
    with pytest.raises(AssertionError, match="upside down"):
        assert_upright(
            Visual(mesh.vertices, mesh.faces, mesh.uv[[3, 2, 1, 0]], None),  # type: ignore[arg-type,index]
            *SEEN_FROM["front"],
        )


def test_a_door_has_its_plate_on_either_side() -> None:
    visuals, labels = door_plates("STORE", (-0.05, -0.05 + LEAF))
    for visual, label, face in zip(visuals, labels, ("front", "back"), strict=True):
        assert_upright(visual, *SEEN_FROM[face])
        assert label.given and label.link == "leaf"
    door = door_asset(0.9, leaf=True, hinge_left=True, label="STORE")
    assert len(door.labels) == 2 and not door_asset(0.9, leaf=True, hinge_left=True).labels
    with pytest.raises(UsageError, match="nothing is written on an open passage: leave out the label 'STORE'"):
        door_asset(0.9, leaf=False, hinge_left=True, label="STORE")


SIDES = ("front", "back", "left", "right")


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scene, SceneSpec]:
    """Desks that are used from each of their sides, in every direction, with a sheet and a carton on each."""
    fixtures = {
        f"desk_{side}_{facing}": {
            "category": "desk",
            "room": "hall",
            "at": [2.5 + 4 * x, 2.5 + 4 * y],
            "facing": facing,
            "approach": side,
            "public": f"the desk {side} {facing}",
        }
        for x, side in enumerate(SIDES)
        for y, facing in enumerate((0, 90, 180, 270))
    }
    room = {"public": "the hall", "box": [0, 0, 17, 17]}
    text = json.dumps({"scene": "1.0", "id": "hall", "title": "t", "rooms": {"hall": room}, "fixtures": fixtures})
    path = tmp_path_factory.mktemp("scene") / "hall.yaml"
    path.write_text(text, encoding="utf-8")
    catalogue = load_catalogue()
    scene = load_scene(path, catalogue)
    things = {thing.name: thing for thing in scene_things(scene, catalogue)}
    for desk in fixtures:
        for kind in ("price_sheet", "milk_carton"):
            category = CATEGORIES[kind]
            name = f"{kind} {desk}"
            things[name] = Thing(
                name,
                "object",
                kind,
                traits(category),
                name,
                category.public,
                size=category.size,
                place="on",
                at=desk,
                label="A 1",
            )
    return scene, furnish(scene, things, Assets(catalogue, RECIPES))


@pytest.mark.parametrize("side", SIDES)
def test_who_uses_a_thing_reads_what_is_on_it_the_right_way_up(desks: tuple[Scene, SceneSpec], side: str) -> None:
    """From the stance of each desk, sheets have their upper edge away from the reader, and cartons show their front."""
    scene, spec = desks
    placed = {one.name: one for one in spec.placed}
    used = {name: fixture for name, fixture in scene.fixtures.items() if fixture.approach == side}
    assert len(used) == 4
    for name, fixture in used.items():
        heading = math.radians(stance(fixture).heading)
        ahead = np.array([math.cos(heading), math.sin(heading), 0])
        for kind in ("price_sheet", "milk_carton"):
            thing = placed[f"{kind} {name}"]
            frame = root_frame(thing)
            visual = next(v for v in thing.asset.links[0].visuals if v.uv is not None)
            along, upwards = (frame.turn @ way for way in reading_directions(visual))
            assert along @ np.cross(ahead, (0, 0, 1)) > 0.99, "to the reader's right"
            up, normal = (ahead, np.array([0, 0, 1])) if kind == "price_sheet" else (np.array([0, 0, 1]), -ahead)
            assert upwards @ up > 0.99
            assert (frame.turn @ np.array(thing.asset.labels[0].normal)) @ normal > 0.99


def test_a_pack_cannot_write_on_a_room() -> None:
    with pytest.raises(ValidationError, match="nothing is written on a room"):
        Entity.model_validate({"room": "hall", "label": "HALL"})
    assert Entity.model_validate({"door": "hall_door", "label": "HALL"}).label == "HALL"


# --- documents --------------------------------------------------------------------------------------------------------


def test_signs_in_a_text_say_what_a_line_is() -> None:
    rows, stamps = sheets.parse("A | 1\n[x] done\n[ ] open\nNAME:\nplain\n*VOID*")
    assert [row.cells for row in rows] == [("A", "1"), ("done",), ("open",), ("NAME:",), ("plain",)]
    assert [row.box for row in rows] == [False, True, True, False, False]
    assert [row.ticked for row in rows] == [False, True, False, False, False]
    assert [row.blank for row in rows] == [False, False, False, True, False]
    assert stamps == ["VOID"]


def dark(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("L")) < 90


def test_amounts_stand_at_the_right_of_their_column_and_words_at_the_left() -> None:
    text = "T\nNAME | N\nA | {}\nLONG NAME | 1000"
    short, word = (dark(drawn("page", text.format(value), (300, 300))) for value in ("1", "I"))
    assert (
        short.any(0).nonzero()[0].max() == dark(drawn("page", text.format("8"), (300, 300))).any(0).nonzero()[0].max()
    )
    assert not np.array_equal(short, word)


def test_a_ticked_box_has_more_ink_than_an_empty_one() -> None:
    empty, ticked = (dark(drawn("page", f"LIST\n[{mark}] MUG", (200, 200))).sum() for mark in (" ", "x"))
    assert ticked > empty


def test_a_stamp_is_red_and_leaves_the_writing_free() -> None:
    plain, stamped = (
        np.asarray(drawn("page", text, (200, 280)), dtype=int) for text in ("P\nA | B", "P\nA | B\n*OLD*")
    )

    def red(image: np.ndarray) -> np.ndarray:
        return (image[..., 0] > 150) & (image[..., 1] < 90)

    assert not red(plain).any() and red(stamped).sum() > 100
    first = red(stamped).any(1).nonzero()[0].min()
    assert (stamped.max(2) < 90)[:first].any() and not (stamped.max(2) < 90)[first:].any()


def test_a_table_has_lines_between_its_columns_and_a_page_has_none() -> None:
    text = "T\nA | B\nC | D"
    line = np.all(np.asarray(drawn("table", text)) == RULE, axis=2)
    assert line.any() and not np.all(np.asarray(drawn("page", text)) == RULE, axis=2).any()


# --- handwriting ------------------------------------------------------------------------------------------------------


def test_every_letter_digit_and_mark_of_a_note_can_be_written() -> None:
    letters = {chr(code) for code in range(ord("!"), ord("~") + 1)} - set("@[\\]^_`{}~")
    assert letters == set(STROKES)
    for letter in letters:
        assert all(len(stroke) >= 2 for stroke in handwriting.glyph(letter))


def test_no_two_letters_of_a_hand_are_alike() -> None:
    one, other = drawn("note", "OO\nOO"), drawn("note", "OO\nOO")
    assert one.tobytes() == other.tobytes(), "the same note always looks the same"
    ink = dark(one)
    halves = np.array_split(ink[:, ink.any(0)], 2, axis=1)
    width = min(half.shape[1] for half in halves)
    assert not np.array_equal(halves[0][:, :width], halves[1][:, :width])


def test_accents_are_left_out_and_what_nobody_can_write_is_named() -> None:
    assert drawn("note", "Café").tobytes() != drawn("note", "Caf").tobytes()
    with pytest.raises(UsageError, match="handwriting has no '雪': write the note with other letters"):
        drawn("note", "雪")
