"""Things as geometry: from recipes (data) to meshes, convex pieces, joints, regions and labels."""

from __future__ import annotations

from iwkit_runtime.assets.build import build_asset

__all__ = ["build_asset"]
