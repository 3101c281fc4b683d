"""The catalogue: the data that ships, what it refuses, and what follows from sizes."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import pytest

from iwkit.catalogue import interior_size, load_catalogue, surface_size, traits
from iwkit.errors import Problems, UsageError
from iwkit.spec.catalogue import Category

CATALOGUE = load_catalogue()

NEED_KINDS = {"furniture": "fixture", "appliance": "fixture", "fixture": "fixture"}


def test_sizes_and_masses_are_believable() -> None:
    for name, category in CATALOGUE.categories.items():
        assert max(category.size) < {"object": 2.5, "fixture": 3, "decor": 5}[category.kind], name
        if category.kind == "object":
            volume = math.prod(category.size)
            assert category.mass is not None, name
            assert 0.002 <= category.mass < 5, name
            assert max(category.size) <= 0.61, name
            # From a plastic bag to cutlery: kilograms in a cubic metre of the bounding box.
            assert 2 < category.mass / volume < 2500, name
        else:
            assert category.mass is None or 0.5 <= category.mass <= 150, name


def test_canonical_names_are_unique_and_names_are_not_repeated() -> None:
    first = [category.public[0] for category in CATALOGUE.categories.values()]
    assert sorted(set(first)) == sorted(first)
    for category in CATALOGUE.categories.values():
        assert len(set(category.public)) == len(category.public)


def test_categories_carry_the_names_of_the_needs_table() -> None:
    with (Path(__file__).parent / "data" / "catalogue_needs.csv").open(newline="") as file:
        needs = {
            re.sub(r"\W+", "_", re.sub(r"\(.*?\)", "", row["name"]).strip()): row["kind"]
            for row in csv.DictReader(file)
        }
    for name, category in CATALOGUE.categories.items():
        if name in needs and name != "trash_can":  # a container by the table, but nothing anyone carries
            assert category.kind == NEED_KINDS.get(needs[name], "object"), name


def test_every_affordance_is_used() -> None:
    used = {trait for category in CATALOGUE.categories.values() for trait in category.affords}
    assert {"surface", "container", "openable", "device", "machine", "heater", "seat", "carrier", "wheeled"} <= used
    assert {"cuttable", "cookable", "cutter", "stirrer", "wiper", "wipeable", "pourer", "vessel", "phone"} <= used
    assert {"workstation", "readable"} <= used


def test_traits_add_whether_it_moves() -> None:
    assert traits(CATALOGUE.categories["mug"]) == {"movable", "vessel", "pourer", "wipeable"}
    assert traits(CATALOGUE.categories["sofa"]) == {"fixture", "surface", "seat"}


def made(**fields: object) -> Category:
    return Category.model_validate({"kind": "fixture", "public": ["box"], "size": [1.0, 0.5, 0.8], **fields})


def test_surface_and_interior_default_to_the_outer_size_less_the_walls() -> None:
    plain = made(affords=["surface", "container"])
    assert surface_size(plain) == (1.0, 0.5)
    assert interior_size(plain) == pytest.approx((0.96, 0.46, 0.76))
    assert interior_size(plain, (2.0, 0.5, 0.8)) == pytest.approx((1.96, 0.46, 0.76))
    given_ = made(affords=["surface", "container"], surface=[0.9, 0.3], interior=[0.8, 0.4, 0.5])
    assert surface_size(given_, (2.0, 0.6, 0.8)) == pytest.approx((1.9, 0.4))
    assert interior_size(given_, (2.0, 0.6, 0.8)) == pytest.approx((1.8, 0.5, 0.5))
    with pytest.raises(UsageError, match="no surface"):
        surface_size(made())
    with pytest.raises(UsageError, match="no container"):
        interior_size(made())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{kind: object, public: [cup], size: [0.1, 0.1, 0.1]}", "needs a mass"),
        ("{kind: fixture, public: [box], size: [1, 1, 1], surface: [1, 1]}", "`surface` isn't among"),
        ("{kind: fixture, public: [box], size: [1, 1, 1], interior: [1, 1, 1]}", "`container` isn't among"),
        ("{kind: fixture, public: [box], size: [1, 1, 1], affords: [container], interior: [2, 1, 1]}", "larger than"),
        ("{kind: fixture, public: [box], size: [1, 1, 0.03], affords: [container]}", "too thin"),
        ("{kind: fixture, public: [box], size: [1, 1, 1], affords: [surfase]}", "surface"),
        ("{kind: fixture, public: [], size: [1, 1, 1]}", "public"),
        ("{kind: fixture, public: [the box_1], size: [1, 1, 1]}", "L703"),
    ],
)
def test_a_bad_category_is_refused_at_its_line(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f'catalogue: "1.0"\ncategories:\n  thing: {line}\n')
    with pytest.raises(Problems) as raised:
        load_catalogue(path)
    assert [problem.pos.line for problem in raised.value.problems] == [3]
    assert said in str(raised.value)


def test_catalogues_merge_and_a_second_definition_is_refused(tmp_path: Path) -> None:
    mine, again = tmp_path / "mine.yaml", tmp_path / "again.yaml"
    body = (
        'catalogue: "1.0"\ncategories:\n  abacus: {kind: object, public: [abacus], size: [0.3, 0.02, 0.2], mass: 0.4}\n'
    )
    mine.write_text(body)
    again.write_text(body + "  mug: {kind: object, public: [mug], size: [0.1, 0.1, 0.1], mass: 0.3}\n")
    merged = load_catalogue(mine)
    assert set(merged.categories) == {*CATALOGUE.categories, "abacus"}
    with pytest.raises(Problems) as raised:
        load_catalogue(mine, again)
    assert [(it.file, it.code, *it.pos) for it in raised.value.problems] == [
        (str(again), "L702", 3, 3),
        (str(again), "L702", 4, 3),
    ]
