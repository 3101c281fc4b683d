"""The variants of a pack: each must stand every check that the pack itself stands, and no two may be alike (N223)."""

from __future__ import annotations

from collections.abc import Callable

from iwkit.compile import CompiledTask, compile_pack
from iwkit.compile.variants import chosen, of_variant, told, written_out
from iwkit.digest import digest
from iwkit.errors import Problems
from iwkit.problems import Problem
from iwkit.source.check import check as check_schema
from iwkit.source.document import Document
from iwkit.spec.pack import Pack

Rules = Callable[[Document, CompiledTask], list[Problem]]


def check(doc: Document, task: CompiledTask, rules: Rules) -> list[Problem]:
    """What is wrong with the variants of a pack that is sound itself, by the `rules` for any pack. What is wrong with
    several in the same way is told for one of those in which the least is changed."""
    pack = task.pack
    variants = {seed: chosen(pack, seed) for seed in range(pack.variants)}
    found: dict[object, Problem] = {}
    known = {_content(doc): 0}
    for seed in sorted(variants, key=lambda seed: len(variants[seed]))[1:]:
        as_played = written_out(doc, pack, seed)
        first = known.setdefault(_content(as_played), seed)
        if first != seed:
            alike = _alike(doc, pack, first, seed)
            found.setdefault((alike.pos, alike.code), alike)
            continue
        for problem in _wrong(as_played, task, rules):
            found.setdefault(problem, of_variant([problem], seed, variants[seed])[0])
    return list(found.values())


def _content(doc: Document) -> str:
    """What makes a variant: not what is told about it."""
    return digest([doc.data["physical"], doc.data["interaction"]])


def _wrong(doc: Document, task: CompiledTask, rules: Rules) -> list[Problem]:
    try:
        return rules(doc, compile_pack(doc, check_schema(doc, Pack), task.library))
    except Problems as error:
        return list(error.problems)


def _alike(doc: Document, pack: Pack, first: int, seed: int) -> Problem:
    """Told at an alternative that makes no difference between the two."""
    one, other = chosen(pack, first), chosen(pack, seed)
    axis = next(i for i, axis in enumerate(pack.vary) if one.get(axis.id) != other.get(axis.id))
    picked = other.get(pack.vary[axis].id) or one[pack.vary[axis].id]
    number = [alternative.id for alternative in pack.vary[axis].among].index(picked)
    like = told(first, one) if first else "the pack as it is written"
    message = f"{told(seed, other)} plays and scores the same as {like}"
    return doc.problem(("vary", axis, "among", number), "N223", message, "change what the wearer meets, or remove it")
