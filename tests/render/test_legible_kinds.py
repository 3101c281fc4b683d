"""Every kind of label, sign and document, read in the frame that the wearer's look at it leaves in the run folder.

One room holds them all. The physical wearer goes and looks at each; what the studio keeps as `look_hold` is cropped to
the label, straightened, and read by tesseract. Then the room is built with another digit in each text, and read again.
A few kinds are read in the default tier, all of them with both digits in the slow one.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image
from staging import staged

from iwkit.compile import CompiledTask
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit_runtime.body.camera import camera_frame
from iwkit_runtime.physical.kinematics import Frame, frame, link_frames
from iwkit_runtime.physical.spec import Label
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.studio import PhysicalStudio

SIZE = (640, 480)
ROUND = {"soda_can", "water_bottle"}
INK = 115
"""The palest grey of ink."""


def _reading() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reading", Path(__file__).with_name("reading.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reading = _reading()

SCENE: dict[str, Any] = {
    "scene": "1.0",
    "id": "labels",
    "title": "A room for labels",
    "rooms": {
        "office": {"public": "the office", "box": [0, 0, 12, 7]},
        "store": {"public": "the store", "box": [12, 0, 15, 7]},
    },
    "doors": {"store_door": {"public": "the store door", "between": ["store", "office"], "at": [12, 3.5]}},
    "fixtures": {
        **{
            f"desk_{n}": {
                "category": "desk",
                "room": "office",
                "at": [1.3 + 2.1 * (n % 5), 2.2 + 2.3 * (n // 5)],
                "facing": 270,
                "public": f"desk number {n + 1}",
            }
            for n in range(9)
        },
        "counter": {"category": "kitchen_counter", "room": "office", "against": "north", "along": 1.2},
        "fridge": {"category": "fridge", "room": "office", "against": "north", "along": 3.2},
        "freezer": {"category": "freezer", "room": "office", "against": "north", "along": 4.4},
        "locker": {"category": "locker", "room": "office", "against": "north", "along": 5.4},
        "cabinet": {"category": "cabinet", "room": "office", "against": "north", "along": 6.5},
        "files": {"category": "filing_cabinet", "room": "office", "against": "north", "along": 7.6},
        "shelf": {"category": "shelf", "room": "office", "against": "north", "along": 8.9},
        "bin": {"category": "trash_can", "room": "office", "against": "north", "along": 10.2},
        "wall_sign": {"category": "wall_sign", "room": "office", "against": "south", "along": 1.5, "base": 1.35},
        "prohibition": {
            "category": "prohibition_sign",
            "room": "office",
            "against": "south",
            "along": 3.5,
            "base": 1.35,
        },
        "warning": {"category": "warning_sign", "room": "office", "against": "south", "along": 5.5, "base": 1.35},
    },
}


class Kind(NamedTuple):
    """A row of the needs table: which thing shows it, where, and what is written on it, `#` standing for a digit.

    `psm` is how tesseract takes the page (6: lines one below another, 4: of different sizes, 8: a word, 11: words
    anywhere). `lined`: what is paler than ink is dropped before, since it takes lines and glints for letters.
    """

    need: str
    thing: dict[str, Any]
    text: str
    psm: int = 6
    lined: bool = False


def on(category: str, where: str, u: float = 0.0, **more: Any) -> dict[str, Any]:
    return {"category": category, "on": where, "spot": [u, 0.3], **more}


KINDS: dict[str, Kind] = {
    "instructions": Kind(
        "printed instruction sheet", on("instruction_sheet", "desk_0", -0.6), "RULE #\nMUG: BLUE SPONGE\nPHONE: CLOTH"
    ),
    "checklist": Kind("checklist", on("checklist", "desk_0", 0), "CHECKLIST\n[x] FOLDER\n[ ] # MUGS\n[ ] PHONE"),
    "capacity": Kind("capacity label", on("milk_carton", "shelf", -0.3), "#00 mL", 11),
    "data": Kind("data table sheet", on("data_sheet", "desk_1", -0.6), "STOCK\nITEM | HAVE\nTOWEL | 2\nMUG | #"),
    "order": Kind("order ticket", on("order_ticket", "desk_1", 0), "ORDER #\n2 x WINE\n1 x BURGER"),
    "box_zone": Kind("box/zone label", on("packing_box", "desk_1", 0.6), "BOX #"),
    "schedule": Kind("time/schedule card", on("schedule_card", "desk_2", -0.6), "OVEN\nTROUT | 25 MIN\nBREAD | #0 MIN"),
    "zones": Kind("house/zone map", on("zone_map", "desk_2", 0.05), "FLOOR #\nDESKS | COPY ROOM\nHALL", 11, True),
    "recipe": Kind("recipe card", on("recipe_card", "desk_2", 0.7), "PORRIDGE\n# CUPS OATS\nBOIL"),
    "product": Kind("product label/text", on("water_bottle", "shelf", 0.3), "OIL #", 6, True),
    "diet": Kind("allergy/diet card", on("diet_card", "desk_3", -0.1), "GUEST #\nNO NUTS\nLOW SUGAR", 4, True),
    "answer": Kind("answer card (A/B)", on("answer_card", "desk_3", 0.5), "B\nENDS\n7:#5"),
    "quote": Kind("invoice/quote", on("quote", "desk_4", -0.6), "QUOTE B\nCASE | $70\nTOTAL | $5#0"),
    "invoice": Kind("invoice/quote", on("invoice", "desk_4", 0), "INVOICE\nTOTAL $4#"),
    "storage": Kind("storage rule/label", on("storage_rule", "desk_4", 0.6), "SHELF #\nKEEP DARK\nAND DRY"),
    "no_glass": Kind("No Glass sign", {"fixture": "prohibition"}, "NO GLASS\nBIN #"),
    "appliance": Kind("appliance label (freezer/chiller)", {"fixture": "freezer"}, "CHILLER #"),
    "fridge": Kind("appliance label (freezer/chiller)", {"fixture": "fridge"}, "DAIRY #"),
    "obsolete": Kind("archive/obsolete mark", on("folder", "desk_5", -0.6), "PLAN #\n*OBSOLETE*", 4),
    "brand": Kind("brand label (AXO/BYT/CUE)", on("drink_carton", "desk_5", -0.1), "AXO #"),
    "calories": Kind(
        "calorie/nutrition report", on("nutrition_report", "desk_5", 0.5), "KCAL\nSYRUP | 4#\nCANDY | 120"
    ),
    "form": Kind("form (Equipment/Food Storage)", on("form", "desk_6", -0.6), "EQUIPMENT\nSHELF #\nNAME:\nDATE:"),
    "note": Kind("handwritten note", on("handwritten_note", "desk_6", 0), "APPLE\nTEAPOT\nMUG #"),
    "price": Kind("price card", on("price_card", "desk_6", 0.5), "$#"),
    "visitors": Kind(
        "sign-in sheet", on("sign_in_sheet", "desk_7", -0.6), "VISITORS\nNAME | AT\nANNA | 9:#0\nBEN | 10:15"
    ),
    "unit": Kind("unit label (A/B/C)", on("projector", "desk_7", 0.4), "UNIT #"),
    "welcome": Kind("welcome card", on("welcome_card", "desk_8", -0.5), "Welcome\nRoom 20#"),
    "calendar": Kind(
        "time/schedule card",
        on("calendar", "desk_8", 0.4),
        "MAY\nMON | TUE | WED\n4 BINS | 5 | #\n11 | 12 TAX | 13",
        11,
    ),
    "tag": Kind("box/zone label", on("hang_tag", "counter", -0.8), "ZONE #"),
    "place": Kind("box/zone label", on("place_sign", "counter", -0.3), "B#", 8),
    "desk_sign": Kind("storage rule/label", on("counter_sign", "counter", 0.2), "RETURNS\nDESK #"),
    "small_ban": Kind("No Glass sign", on("counter_prohibition", "counter", 0.75), "NO\nGLASS #"),
    "locker": Kind("storage rule/label", {"fixture": "locker"}, "LOCKER #"),
    "cabinet": Kind("storage rule/label", {"fixture": "cabinet"}, "MUGS #"),
    "files": Kind("storage rule/label", {"fixture": "files"}, "FORMS #"),
    "shelf": Kind("box/zone label", {"fixture": "shelf"}, "SHELF #"),
    "waste": Kind("No Glass sign", {"fixture": "bin"}, "NO GLASS #"),
    "wall": Kind("box/zone label", {"fixture": "wall_sign"}, "ORDER\nSTATION #"),
    "warning": Kind("storage rule/label", {"fixture": "warning"}, "HOT\nZONE #"),
    "door": Kind("box/zone label", {"door": "store_door"}, "STORE #"),
}


def built(folder: Path, digit: str) -> CompiledTask:
    written_on = {kind.thing.get("fixture") for kind in KINDS.values()}
    entities: dict[str, Any] = {name: {"fixture": name} for name in SCENE["fixtures"] if name not in written_on}
    entities |= {name: {**kind.thing, "label": kind.text.replace("#", digit)} for name, kind in KINDS.items()}
    (folder / "labels.yaml").write_text(json.dumps(SCENE), encoding="utf-8")
    physical = {"scene": "labels", "wearer": {"at": "desk_0"}, "entities": entities}
    return staged(physical, "LABELS", Library([folder]), capabilities=["C3"])


class Office:
    """The room, a wearer in it, and the pictures that are kept."""

    def __init__(self, folder: Path, digit: str) -> None:
        self.folder, self.digit = folder, digit
        task = built(folder, digit)
        self.world = PhysicalWorld()
        self.world.reset(task)
        self.studio = PhysicalStudio(self.world, folder)
        self.studio.begin(task)

    def read(self, name: str) -> list[str]:
        """The words that tesseract reads in what the wearer's look at a thing leaves in the run folder."""
        if name == "door":
            assert self.world.execute(parse("[Walk] <door>")).ok
        crop = self.crop(name)
        if KINDS[name].lined:
            crop = crop.point(lambda value: 255 if value > INK else 0)
        return reading.words(reading.ocr(crop, KINDS[name].psm))

    def crop(self, name: str) -> Image.Image:
        """The picture of a look, cut to the label and straightened."""
        receipt = self.world.execute(parse(f"[LookAt] <{name}>"))
        assert receipt.ok, receipt.text
        ref = next(ref for ref in self.studio.shoot("look_at") if ref.kind == "look_hold")
        picture = Image.open(io.BytesIO(self.studio.picture(ref.digest)))
        stage, shown = self.world.stage, self.world.trajectory.frames[ref.index].kept()
        body = stage.person.body
        camera = camera_frame(body, body.forward(*shown.body))
        placed = stage.placed[name]
        links = link_frames(placed.asset, frame(stage.engine.poses()[name]), {})
        label = max((label for label in placed.asset.labels if label.given), key=partial(_towards, links, camera))
        lines = reading.columns(links[label.link], label, camera, SIZE, curved=placed.asset.category in ROUND)
        return reading.straightened(picture, lines, label)

    def expected(self, name: str) -> list[str]:
        """What stands on a thing, without the marks that say how it is set."""
        return reading.words(re.sub(r"\[.\]", "", KINDS[name].text).replace("#", self.digit))


def _towards(links: dict[str, Frame], camera: np.ndarray, label: Label) -> float:
    """How much a label looks towards the camera: a door has one on either side."""
    at = links[label.link]
    return float(at.turn @ np.array(label.normal) @ (camera[:3, 3] - at.point(label.centre)))


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Office]:
    if not shutil.which("tesseract"):
        pytest.skip("reading labels needs tesseract: apt-get install tesseract-ocr")

    @cache
    def with_digit(digit: str) -> Office:
        try:
            return Office(tmp_path_factory.mktemp("labels"), digit)
        except NoOpenGL as error:
            pytest.skip(str(error))

    return with_digit


def assert_read(office: Office, name: str) -> None:
    """Every word that is written there is among those read, as often; marks may be read as more."""
    read, expected = Counter(office.read(name)), Counter(office.expected(name))
    assert not expected - read, f"read {sorted(read.elements())}"


@pytest.mark.parametrize("name", ["no_glass", "note", "data", "order"])
def test_what_the_pack_writes_is_read(office: Callable[[str], Office], name: str) -> None:
    assert_read(office("7"), name)


@pytest.mark.slow
@pytest.mark.parametrize("digit", ["7", "4"])
@pytest.mark.parametrize("name", KINDS)
def test_a_digit_changed_in_the_pack_is_read_changed(office: Callable[[str], Office], name: str, digit: str) -> None:
    assert_read(office(digit), name)


def test_each_kind_of_the_needs_table_is_among_them() -> None:
    with (Path(__file__).parents[1] / "data" / "catalogue_needs.csv").open(encoding="utf-8") as file:
        needed = {row["name"] for row in csv.DictReader(file) if row["kind"] == "label/sign/document"}
    assert needed == {kind.need for kind in KINDS.values()}
