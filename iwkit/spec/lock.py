"""The lock: what is frozen, by digest (BENCH-7)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from iwkit.source import patterns
from iwkit.spec.base import AsTuple, Model, Text
from iwkit.spec.pack import Family, PackId

Digest = Annotated[str, StringConstraints(pattern=patterns.DIGEST)]


class Revision(Model):
    """One frozen revision of a pack: its digest, and that of its record `revisions/ID@N.json`."""

    revision: Annotated[int, Field(ge=1)]
    pack: Digest
    record: Digest


class Shortest(Model):
    """The fewest primitives from the handoff to a pass (MET-3): at least `low`; `high` are known to suffice."""

    low: Annotated[int, Field(ge=0)]
    high: Annotated[int, Field(ge=0)]


class LockedPack(Model):
    """One frozen pack: its parts, and what it uses. `revision` grows by one each time its digest changes. `shortest` is
    None where there is no plan of the assistant's alone. `history` has the revisions whose records are kept, the oldest
    first."""

    revision: Annotated[int, Field(ge=1)]
    family: Family
    path: Text
    pack: Digest
    physical: Digest
    scene: Digest
    categories: Digest
    recipes: Digest
    body: Digest
    family_file: Digest
    controls: Digest
    shortest: Shortest | None = None
    history: Annotated[tuple[Revision, ...], AsTuple] = ()


class Lock(Model):
    """The lock file of a project. `runtime` is the digest of the code that the controls were run with."""

    lock: Literal["1.0"]
    runtime: Digest
    packs: dict[PackId, LockedPack]
