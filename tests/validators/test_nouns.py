"""Which things a text speaks of, as far as that is certain; and nothing where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwkit.compile import load_task
from iwkit.library import Library
from iwkit_validators.nouns import Nouns

ROOT = Path(__file__).parents[2]
LIBRARY = Library()
NOUNS = {path.stem: Nouns(load_task(path, LIBRARY)) for path in sorted((ROOT / "taskpacks").glob("*/*.yaml"))}


def said(pack: str, text: str) -> list[tuple[str, set[str]]]:
    return [(mention.said, set(mention.things)) for mention in NOUNS[pack].mentions(text)]


@pytest.mark.parametrize(
    ("pack", "text", "expected"),
    [
        ("F10", "Pick up the pen.", [("pen", {"pen"})]),
        ("F10", "Pick up THE PEN, then the clipboard!", [("PEN", {"pen"}), ("clipboard", {"clipboard"})]),
        ("F10", "Open the bedside cabinet on the left as you face the bed.", None),
        ("F10", "Take the small white pen", [("small white pen", {"pen"})]),
        ("F10", "Where is the umbrella?", [("umbrella", set())]),
        ("F10", "Where is your umbrella now?", [("umbrella", set())]),
        ("F10", "Take the umbrella stand.", []),
        ("F10", "Take umbrella.", []),
        ("F10", "Pick up the can.", [("can", {"soda"})]),
        ("F10", "Take the can of soda.", [("can of soda", {"soda"})]),
        ("F10", "The key is to stay calm.", []),
        ("F10", "It is in the wardrobe.", []),
        ("F10", "Open the and the of.", []),
        ("P8", "Take the blue mug.", [("blue mug", {"blue_mug"})]),
        ("P8", "Take the mug.", [("mug", {"blue_mug", "white_mug"})]),
        ("P8", "Take the green mug.", [("green mug", {"blue_mug", "white_mug"})]),
        ("W7", "Close the fridge and the oven.", None),
        ("W7", "Take the box of raspberries.", [("box of raspberries", {"raspberries"})]),
        ("W7", "", []),
    ],
)
def test_what_a_text_speaks_of(pack: str, text: str, expected: list[tuple[str, set[str]]] | None) -> None:
    found = said(pack, text)
    if expected is None:
        assert found
        assert all(things for _, things in found)
    else:
        assert found == expected


def test_an_adjective_is_told_from_a_bare_name() -> None:
    assert [m.bare for m in NOUNS["P8"].mentions("the mug, the blue mug, the small mug")] == [True, True, False]


TOKENS = st.sampled_from(
    ["the", "a", "your", "pen", "mug", "of", "on", ",", ".", "red", "can", "key", "umbrella", "in"]
)


@given(st.sampled_from(sorted(NOUNS)), st.lists(TOKENS, max_size=12))
def test_a_mention_stands_where_it_is_said(pack: str, tokens: list[str]) -> None:
    text = " ".join(tokens)
    for mention in NOUNS[pack].mentions(text):
        assert text[mention.at :].startswith(mention.said)
        assert text[: mention.at].split()[-1] in {"the", "a", "your"}


@given(st.sampled_from(sorted(NOUNS)), st.text(max_size=80))
def test_no_text_breaks_it(pack: str, text: str) -> None:
    for mention in NOUNS[pack].mentions(text):
        assert mention.said in text
