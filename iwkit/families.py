"""The six family files, read once."""

from __future__ import annotations

from functools import cache

from iwkit import resources
from iwkit.source.check import check
from iwkit.source.reader import read
from iwkit.spec.family import FamilySpec
from iwkit.spec.pack import SourceFamily


@cache
def families() -> dict[SourceFamily, FamilySpec]:
    """Source family -> its file."""
    paths = sorted(resources.root("families").glob("*/family.yaml"))
    return {spec.source_family: spec for spec in (check(read(path), FamilySpec) for path in paths)}
