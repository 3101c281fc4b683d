"""An OpenGL context without a window, and what to do when the machine has none."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Protocol

import mujoco

from iwkit.errors import IwkitError

EGL, OSMESA = "mujoco.egl", "mujoco.osmesa"
HINT = "on Debian or Ubuntu: apt-get install libegl1 libgl1 (or libosmesa6, and set MUJOCO_GL=osmesa)"


class NoOpenGL(IwkitError):  # noqa: N818  it is a state of the machine
    """There is no way to draw on this machine; everything but frames works all the same."""

    def __init__(self, reason: object) -> None:
        super().__init__(f"frames need OpenGL, which doesn't work here: {reason}\n    hint: {HINT}")


class Context(Protocol):
    """A place to draw."""

    def make_current(self) -> None:
        """Direct OpenGL calls of this thread here."""

    def free(self) -> None:
        """Give it back."""


def context(width: int, height: int) -> Context:
    """A new context for pictures up to this size: EGL on Linux, or OSMesa where MUJOCO_GL says so.

    Raises:
        NoOpenGL: no OpenGL library can be loaded; the message names the packages.
    """
    if not sys.platform.startswith("linux"):
        found: Context = mujoco.GLContext(width, height)
        return found
    backend = OSMESA if os.environ.get("MUJOCO_GL", "").lower() == "osmesa" else EGL
    try:
        made: Context = importlib.import_module(backend).GLContext(width, height)
    # Without its library a backend fails in its own ways: EGL's functions are attributes of None.
    except (ImportError, AttributeError, RuntimeError, OSError) as error:
        raise NoOpenGL(error) from None
    return made


def driver(model: mujoco.MjModel) -> mujoco.MjrContext:
    """A model's meshes and textures in the current context, drawing off screen.

    Raises:
        NoOpenGL: the context's OpenGL can't be used.
    """
    try:
        made = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
    except mujoco.FatalError as error:
        raise NoOpenGL(error) from None
    mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, made)
    return made
