"""What a print is drawn with: its colours, and rectangles on its image."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image

from iwkit_runtime.assets.colours import RGBA, as_bytes, luminance
from iwkit_runtime.assets.typeset import Box

Bytes = tuple[int, int, int]
TALL, TALLISH = 2.6, 1.7
"""How many times as high as usual letters may be: on packages, which are mostly seen from above, and on sheets."""
RULE: Bytes = (150, 172, 190)
"""Lines of tables and walls on plans: pale, so that they aren't taken for letters."""


@dataclass(frozen=True)
class Inks:
    """The colours of a print."""

    paper: RGBA
    ink: RGBA
    accent: RGBA

    @property
    def on_accent(self) -> Bytes:
        """What can be read on the accent: white or nearly black."""
        return (20, 20, 24) if luminance(self.accent) > 0.5 else (255, 255, 255)

    @property
    def pale(self) -> Bytes:
        """The paper with a breath of the accent, for what lies under letters: dark on light is read best."""
        paper, accent = as_bytes(self.paper), as_bytes(self.accent)
        red, green, blue = (round(0.88 * p + 0.12 * a) for p, a in zip(paper, accent, strict=True))
        return red, green, blue


def inner(image: Image.Image, x: float, y: float) -> Box:
    """The image's rectangle less these shares of width and height at each side."""
    width, height = image.size
    return width * x, height * y, width * (1 - x), height * (1 - y)


def around(*boxes: Box) -> Box:
    """The rectangle around rectangles."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
