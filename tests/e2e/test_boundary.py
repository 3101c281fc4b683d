"""The information boundary (EVAL-2): a canary in every hidden field of every pack, and no byte of one in any view."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from iwkit import resources
from iwkit.compile import compile_pack
from iwkit.library import Library
from iwkit.source.check import check
from iwkit.source.reader import read_text
from iwkit.spec.pack import Pack
from iwkit_runtime.agents import make_assistant, make_human
from iwkit_runtime.loop.episode import Episode, Role
from iwkit_runtime.loop.views import AssistantView, HumanView
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.runs import make_world, no_pictures
from iwkit_runtime.studio import PhysicalStudio

PACKS = sorted(resources.root("taskpacks").glob("*/*.yaml"))
LIBRARY = Library()

NEVER = (
    ("title",),
    ("contract", "*"),
    ("review", "notes", "*"),
    ("physical", "entities", "*", "!key"),
    ("physical", "opening", "*", "id"),
    ("physical", "plan", "*", "id"),
    ("physical", "windows", "*", "id"),
    ("physical", "evidence", "*", "id"),
    ("physical", "goal", "achieve", "*", "id"),
    ("physical", "goal", "keep", "*", "id"),
    ("physical", "goal", "gates", "*", "id"),
    ("physical", "atoms", "*", "id"),
)
"""What neither role may see. `!key` plants in the key itself."""
ONLY_HUMAN = (("interaction", "human", "context"),)
"""What the assistant may not see."""


def places(data: Any, path: tuple[str, ...]) -> list[tuple[Any, Any]]:
    """(container, key) of every field that a path with wildcards reaches."""
    if len(path) == 1 and path[0] != "*":
        return [(data, path[0])] if isinstance(data, dict) and path[0] in data else []
    head, rest = path[0], path[1:]
    if head != "*":
        return places(data.get(head, {}), rest) if isinstance(data, dict) else []
    if rest == ("!key",):
        return [(data, key) for key in list(data)]
    if not rest:
        return [(data, index) for index in range(len(data))]
    inner = data.values() if isinstance(data, dict) else data
    return [found for value in inner for found in places(value, rest)]


def planted(path: Path) -> tuple[str, set[str], set[str]]:
    """A pack with canaries, those that no one may see, and those that the assistant may not see."""
    data = read_text(path.read_bytes(), path.name).data
    data["review"] = {"notes": ["x"]}
    never: set[str] = set()
    renamed: dict[str, str] = {}
    for pattern in NEVER:
        wanted = ("contract",) if pattern == ("contract", "*") else pattern
        found = [(data["contract"], k) for k in data["contract"]] if wanted == ("contract",) else places(data, pattern)
        for container, key in found:
            canary = f"zq{len(never):03}canary"
            never.add(canary)
            if pattern[-1] == "!key":
                renamed[key] = canary
            elif pattern[-1] == "id":
                renamed[container[key]] = canary
            else:
                container[key] = f"{container[key]} {canary}"
    human: set[str] = set()
    for pattern in ONLY_HUMAN:
        for container, key in places(data, pattern):
            human.add("zqhumancanary")
            container[key] += " zqhumancanary"
    return json.dumps(rename(data, renamed)), never, human


def rename(data: Any, names: dict[str, str]) -> Any:
    """Rename entities and ids wherever they are referred to: as keys, as whole scalars, and in commands."""

    def walk(value: Any, keys: bool = True) -> Any:
        if isinstance(value, dict):
            return {
                (names.get(k, k) if keys else k): (
                    v if k in ("fixture", "room", "door", "category", "say", "handoff") else walk(v)
                )
                for k, v in value.items()
            }
        if isinstance(value, list):
            return [walk(v) for v in value]
        if isinstance(value, str):
            return re.sub(r"<(\w+)>", lambda m: f"<{names.get(m[1], m[1])}>", names.get(value, value))
        return value

    fixed = {
        k: data[k]
        for k in ("taskpack", "id", "family", "source_family", "title", "guid", "capabilities", "contract", "review")
    }
    physical = data["physical"]
    talk = data["interaction"]
    kept = ("frames", "public", "human", "handoff", "budget")
    return {
        **fixed,
        "physical": {"scene": physical["scene"], **{k: walk(v) for k, v in physical.items() if k != "scene"}},
        "interaction": {k: v if k in kept else walk(v) for k, v in talk.items()},
    }


def views(episode: Episode, assistant: str, human: str) -> Iterator[tuple[Role, AssistantView | HumanView]]:
    """Every view of both roles while an episode is played to its end."""
    agents = {"assistant": make_assistant(assistant, episode), "human": make_human(human, episode)}
    while (role := episode.pending) is not None:
        view = episode.observe(role)
        yield role, view
        episode.answer(role, agents[role].answer(view))  # type: ignore[arg-type]
    assert episode.void is None


def play(task: Any, assistant: str, human: str) -> dict[str, list[str]]:
    """Every view of both roles as the bytes that an agent would be sent."""
    sent: dict[str, list[str]] = {"assistant": [], "human": []}
    for role, view in views(Episode(task, make_world("symbolic"), lambda *_: None), assistant, human):
        sent[role].append(json.dumps(view.to_json(), ensure_ascii=False))
    return sent


@pytest.mark.parametrize("path", PACKS, ids=lambda p: p.stem)
@pytest.mark.parametrize(
    ("assistant", "human"), [("oracle", "scripted"), ("oracle", "rules"), ("wrong", "rules"), ("silent", "rules")]
)
def test_no_hidden_byte_reaches_a_role(path: Path, assistant: str, human: str) -> None:
    text, never, only_human = planted(path)
    doc = read_text(text, "canary.txt")
    task = compile_pack(doc, check(doc, Pack), LIBRARY)
    sent = play(task, assistant, human)
    assert sent["assistant"]
    assert sent["human"]
    for role, views in sent.items():
        for view in views:
            assert not [c for c in never if c in view], f"{role} sees a hidden field"
    for view in sent["assistant"]:
        assert not [c for c in only_human if c in view]
    assert any(c in view for c in only_human for view in sent["human"]), "the human's context must reach the human"


@pytest.mark.parametrize("path", PACKS, ids=lambda p: p.stem)
def test_the_assistant_never_sees_a_handle_a_receipt_or_the_plan(path: Path) -> None:
    doc = read_text(path.read_bytes(), "pack.txt")
    task = compile_pack(doc, check(doc, Pack), LIBRARY)
    views = "\n".join(play(task, "oracle", "rules")["assistant"])
    for handle in map(str, task.handles.values()):
        assert handle not in views
    for name in task.things:
        if "_" in name:
            assert name not in views
    for command in [c.command for c in (*task.opening, *task.plan)]:
        assert f"[{command.verb}]" not in views
    assert task.digest not in views


@pytest.mark.parametrize("path", PACKS, ids=lambda p: p.stem)
def test_the_human_never_sees_what_the_assistant_has_not_said(path: Path) -> None:
    doc = read_text(path.read_bytes(), "pack.txt")
    task = compile_pack(doc, check(doc, Pack), LIBRARY)
    views = "\n".join(play(task, "silent", "rules")["human"])
    for script in task.scripts.values():
        for line in script.lines:
            assert line.say is None or line.say not in views


# --- pictures ---------------------------------------------------------------------------------------------------------


def chunks(png: bytes) -> list[bytes]:
    """The kinds of the chunks of a PNG file, with nothing before, between or after them."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    kinds, at = [], 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kinds.append(png[at + 4 : at + 8])
        at += 12 + length
    assert at == len(png)
    return kinds


@pytest.mark.slow
def test_pictures_carry_nothing_but_pixels(tmp_path: Path) -> None:
    if why := no_pictures("oracle", "physical"):
        pytest.skip(why)
    (path,) = (path for path in PACKS if path.stem == "A1")
    text, never, only_human = planted(path)
    doc = read_text(text, "canary.txt")
    task = compile_pack(doc, check(doc, Pack), LIBRARY)
    world, folder = PhysicalWorld(), tmp_path / "zqfoldercanary"
    seen = {"assistant": 0, "human": 0}
    with PhysicalStudio(world, folder) as studio:
        for role, view in views(Episode(task, world, lambda *_: None, studio), "oracle", "rules"):
            sent = [repr(dataclasses.asdict(view)), json.dumps(view.to_json())]
            assert not [c for c in (*never, folder.name) if any(c in text for text in sent)]
            if role == "assistant":
                assert not [c for c in only_human if any(c in text for text in sent)]
            for frame in view.frames:
                seen[role] += 1
                assert hashlib.sha256(frame.png).hexdigest() == frame.digest
                assert set(chunks(frame.png)) == {b"IHDR", b"IDAT", b"IEND"}
                assert not [c for c in (*never, *only_human, folder.name) if c.encode() in frame.png]
    assert seen["assistant"] > 10
    assert seen["human"] == 0, "NARRATE: the human sees nothing"
