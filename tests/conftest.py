"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
"""How long an example takes depends on what else the machine does: no test asserts a time."""
