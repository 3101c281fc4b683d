"""What works on this machine: each part is tried, not looked up."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from iwkit import resources
from iwkit.errors import IwkitError
from iwkit.library import Library
from iwkit.lock import body_label
from iwkit_runtime.assets.typeset import font
from iwkit_runtime.body.amass import clips
from iwkit_runtime.body.cycle import recorded_cycle
from iwkit_runtime.body.model import load_body
from iwkit_runtime.identity import runtime_digest
from iwkit_runtime.render import opengl

OLDEST: Final = (3, 11)
KEYS: Final = ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
"""Environment variables in which the providers' own clients look for a key."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One part. `fine` says that it works; `broken` that iwkit can do nothing without it."""

    what: str
    here: str
    remedy: str = ""
    fine: bool = True
    broken: bool = False


def examine() -> Iterator[Finding]:
    """Try every part, the ones that all else needs first."""
    for what, look in _PARTS:
        try:
            yield look(what)
        except (IwkitError, ImportError, OSError, PackageNotFoundError) as error:
            yield Finding(what, "does not work", str(error), fine=False, broken=what in _NEEDED)


def _python(what: str) -> Finding:
    old = sys.version_info < OLDEST
    remedy = "iwkit needs Python 3.11 or newer" if old else ""
    return Finding(what, f"{platform.python_version()} on {platform.platform(terse=True)}", remedy, not old, old)


def _data(what: str) -> Finding:
    library = Library()
    categories, recipes = len(library.catalogue.categories), len(library.recipes)
    packs = len(list(resources.root("taskpacks").glob("*/*.yaml")))
    scenes = len(library.scene_ids())
    return Finding(what, f"{packs} packs, {scenes} scenes, {categories} categories, {recipes} recipes")


def _code(what: str) -> Finding:
    return Finding(what, f"iwkit {version('iwkit')}, runtime {runtime_digest()[7:19]}")


def _body(what: str) -> Finding:
    body, own = load_body(), body_label()
    name = "iwkit's own" if own == "default" else f"{resources.body_file()}, named by {resources.BODY} ({own[7:19]})"
    return Finding(what, f"{name}, {len(body.vertices)} vertices")


def _motion(what: str) -> Finding:
    folder = resources.motion_folder()
    if folder is None:
        return Finding(what, f"none; {resources.AMASS} may name an AMASS folder")
    found = list(clips(folder))
    path, cycle = recorded_cycle(folder, load_body())
    walk = f"walking as in {path.relative_to(folder).as_posix()}, {cycle.stride:.2f} m a stride"
    return Finding(what, f"{len(found)} clips in {folder}, named by {resources.AMASS}; {walk}")


def _physics(what: str) -> Finding:
    importlib.import_module("iwkit_runtime.engines.mujoco_engine")
    return Finding(what, f"MuJoCo {version('mujoco')}")


def _pictures(what: str) -> Finding:
    context = opengl.context(64, 64)
    context.make_current()
    context.free()
    return Finding(what, "OpenGL draws without a window")


def _films(what: str) -> Finding:
    ffmpeg = importlib.import_module("imageio_ffmpeg")
    return Finding(what, f"ffmpeg {ffmpeg.get_ffmpeg_version()}")


def _letters(what: str) -> Finding:
    font(20)
    return Finding(what, f"DejaVu Sans, Pillow {version('pillow')}")


def _reader(what: str) -> Finding:
    if shutil.which("tesseract"):
        return Finding(what, "tesseract")
    return Finding(what, "not here", "only tests need it: apt-get install tesseract-ocr", fine=False)


def _usd(what: str) -> Finding:
    try:
        return Finding(what, f"usd-core {version('usd-core')}")
    except PackageNotFoundError:
        return Finding(what, "not here", 'only importing USD needs it: pip install "iwkit[usd]"', fine=False)


def _models(what: str) -> Finding:
    try:
        return Finding(what, f"openai {version('openai')}, google-genai {version('google-genai')}")
    except PackageNotFoundError:
        return Finding(what, "not here", 'only models need it: pip install "iwkit[models]"', fine=False)


def _cluster(what: str) -> Finding:
    try:
        return Finding(what, f"ray {version('ray')}")
    except PackageNotFoundError:
        return Finding(what, "not here", 'only --executor ray needs it: pip install "iwkit[cluster]"', fine=False)


def _keys(what: str) -> Finding:
    """Only whether a key is there: what it is, nobody is told."""
    here = [name for name in KEYS if os.environ.get(name)]
    if here:
        return Finding(what, f"{', '.join(here)} set")
    return Finding(what, "none", f"only models need one: set {' or '.join(KEYS)}", fine=False)


def _isaac(what: str) -> Finding:
    if importlib.util.find_spec("isaacsim"):
        return Finding(what, "here", "iwkit has no engine for it yet: it uses MuJoCo", fine=False)
    return Finding(what, "not here", "nothing needs it: the engine is MuJoCo", fine=False)


_PARTS: Final[tuple[tuple[str, Callable[[str], Finding]], ...]] = (
    ("Python", _python),
    ("iwkit", _code),
    ("its data", _data),
    ("body", _body),
    ("recorded motion", _motion),
    ("physics", _physics),
    ("letters on things", _letters),
    ("pictures", _pictures),
    ("films", _films),
    ("text recognition", _reader),
    ("USD files", _usd),
    ("models' libraries", _models),
    ("clusters", _cluster),
    ("model keys", _keys),
    ("Isaac Sim", _isaac),
)
_NEEDED: Final = frozenset({"Python", "iwkit", "its data", "body", "physics"})
