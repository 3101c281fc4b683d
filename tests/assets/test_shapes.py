"""How far parts reach is known without drawing them, and decor is filled to the touch, not to the eye."""

from __future__ import annotations

import numpy as np
import pytest

from iwkit.library import Library
from iwkit.spec.recipe import Part
from iwkit_runtime.assets import build_asset
from iwkit_runtime.assets.shapes import shapes, spanned

LIBRARY = Library()
PARTS = [part for recipe in LIBRARY.recipes.values() for part in recipe.parts]


@pytest.mark.parametrize("name", ["box", "lathe", "tube", "extrude", "ellipsoid"])
def test_a_part_reaches_as_far_as_what_is_drawn_of_it_to_the_last_bit(name: str) -> None:
    parts = [part for part in PARTS if getattr(part, name) is not None]
    assert len(parts) > 50
    for shape in (shape for part in parts[::5] for shape in shapes(part)):
        assert np.array_equal(shape.bounds, spanned(shape.mesh.vertices))


def test_a_hollow_part_can_be_filled_to_the_touch() -> None:
    cup = Part(lathe=((0.03, 0), (0.04, 0.1)), inner=((0.028, 0.01), (0.038, 0.1)))
    (hollow,), (filled,) = shapes(cup), shapes(cup, filled=True)
    assert (len(hollow.pieces), len(filled.pieces)) == (13, 1)
    assert np.array_equal(hollow.mesh.vertices, filled.mesh.vertices)
    assert spanned(filled.pieces[0]) == pytest.approx(spanned(np.concatenate(hollow.pieces)), abs=1e-9)


def test_filled_decor_looks_the_same_and_has_fewer_pieces() -> None:
    category, recipe = LIBRARY.catalogue.categories["glass_row"], LIBRARY.recipes["glass_row"]
    hollow, filled = (build_asset("glass_row", category, recipe, filled=filled).links[0] for filled in (False, True))
    assert 4 * len(filled.pieces) < len(hollow.pieces)
    for one, other in zip(hollow.visuals, filled.visuals, strict=True):
        assert np.array_equal(one.vertices, other.vertices)
