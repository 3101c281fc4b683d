"""A label cut out of a picture and straightened, and what tesseract reads on it; shared by the tests of legibility.

From the label's place in the world and the camera's one knows where its rectangle (or, on something round, its strip of
a cylinder) lies in the picture.
"""

from __future__ import annotations

import io
import math
import re
import subprocess
from itertools import pairwise

import numpy as np
from PIL import Image

from iwkit_runtime.physical.kinematics import Frame
from iwkit_runtime.physical.spec import Label
from iwkit_runtime.render.renderer import FIELD_OF_VIEW

MARGIN = 1.04
"""A label is cropped with so much of what is around it."""
MAGNIFIED = 5
"""Pixels of the straightened picture for one of the frame: tesseract wants letters of 20 pixels and more."""
WIDEST = 900
"""Pixels of the straightened picture at most: nor does it want letters of 200 pixels."""
STRIPS = 12
"""Flat strips that stand for a curved label."""


def columns(place: Frame, label: Label, camera: np.ndarray, size: tuple[int, int], *, curved: bool) -> np.ndarray:
    """Upper and lower ends (n, 2, 2) in the picture of lines down the label, from left to right; two of a flat one."""
    normal, centre = np.array(label.normal), np.array(label.centre)
    up = np.array([0.0, 1, 0]) if abs(normal[2]) > 0.7 else np.array([0.0, 0, 1])
    right, tall, wide = np.cross(up, normal), MARGIN * label.height, MARGIN * label.width
    if curved:
        radius = float(np.linalg.norm(centre[:2]))
        half = math.asin(min(1.0, wide / 2 / radius))
        angles = np.linspace(-half, half, STRIPS + 1)[:, None]
        middle = centre + radius * (np.sin(angles) * right + (np.cos(angles) - 1) * normal)
    else:
        middle = centre + np.array([[-0.5], [0.5]]) * wide * right
    ends = middle[:, None] + np.array([[0.5], [-0.5]]) * tall * up
    seen = (place.point(ends.reshape(-1, 3)) - camera[:3, 3]) @ camera[:3, :3]
    focal = size[1] / 2 / math.tan(math.radians(FIELD_OF_VIEW) / 2)
    points = np.array(size) / 2 + focal * seen[:, :2] / -seen[:, 2:] * [1, -1]
    return points.reshape(-1, 2, 2)


def straightened(picture: Image.Image, lines: np.ndarray, label: Label) -> Image.Image:
    """The label as one faces it, in grey, with a margin of its own background."""
    edges = np.linalg.norm(np.diff(lines.mean(1), axis=0), axis=1)
    width = min(WIDEST, round(MAGNIFIED * float(edges.sum())))
    height = max(24, round(width * label.height / label.width))
    cuts = np.linspace(0, width, len(lines)).round().astype(int)
    out = Image.new("L", (width, height))
    grey = picture.convert("L")
    for (left, right), ((a, d), (b, c)) in zip(pairwise(cuts.tolist()), pairwise(lines), strict=True):
        wide = right - left
        matrix = homography([(0, 0), (wide, 0), (wide, height), (0, height)], [a, b, c, d])
        strip = grey.transform((wide, height), Image.Transform.PERSPECTIVE, matrix, Image.Resampling.BICUBIC)
        out.paste(strip, (left, 0))
    background = round(float(np.percentile(np.asarray(out), 75)))
    framed = Image.new("L", (width + 40, height + 40), background)
    framed.paste(out, (20, 20))
    return framed


def homography(source: list, target: list) -> list[float]:
    """The eight numbers with which Pillow finds for a point of the one picture that of the other."""
    rows, values = [], []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    return np.linalg.solve(np.array(rows, float), np.array(values)).tolist()


def ocr(image: Image.Image, psm: int = 6) -> str:
    """What tesseract reads."""
    file = io.BytesIO()
    image.save(file, "PNG")
    command = ["tesseract", "-", "-", "--psm", str(psm)]
    done = subprocess.run(command, input=file.getvalue(), capture_output=True, check=True)
    return done.stdout.decode()


def words(text: str) -> list[str]:
    """The words and sums of money in a text; tesseract may see other signs in rules and arrows."""
    return re.findall(r"[A-Z]+|\$?\d+", text.upper())
