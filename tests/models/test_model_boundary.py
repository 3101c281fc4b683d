"""The information boundary behind real clients: a canary in every hidden field of every pack, and no byte of one in any
request that leaves for a model, neither in text nor in pictures nor in headers."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from iwkit import resources
from iwkit.compile import compile_pack
from iwkit.library import Library
from iwkit.source.check import check
from iwkit.source.reader import read_text
from iwkit.spec.pack import Pack
from iwkit_runtime.agents import make_assistant, make_human
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.models.settings import ImageSettings
from iwkit_runtime.runs import make_world, no_pictures

PACKS = sorted(resources.root("taskpacks").glob("*/*.yaml"))
LIBRARY = Library()
PROVIDERS = [("openai:m", "google:m"), ("google:m", "openai-responses:m"), ("openai-responses:m", "openai:m")]


def planted(path: Path) -> tuple[Any, set[str], set[str]]:
    """A compiled pack with canaries, those that no one may see, and those that the assistant may not see."""
    place = Path(__file__).parent.parent / "e2e" / "test_boundary.py"
    spec = importlib.util.spec_from_file_location("canaries", place)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text, never, only_human = module.planted(path)
    doc = read_text(text, "canary.txt")
    return compile_pack(doc, check(doc, Pack), LIBRARY), never, only_human


def play(
    kit: Any, desk: Any, episode: Episode, names: tuple[str, str], ticks: int | None = None
) -> dict[str, list[bytes]]:
    """What each role's model was sent while both say what the oracle and the rules human would, for so many ticks."""
    rote: dict[str, Any] = {"assistant": make_assistant("oracle", episode), "human": make_human("rules", episode)}
    models: dict[str, Any] = {
        "assistant": make_assistant(names[0], episode, desk, "cell"),
        "human": make_human(names[1], episode, desk, "cell"),
    }
    sent: dict[str, list[bytes]] = {"assistant": [], "human": []}
    while (role := episode.pending) is not None and episode.tick <= (ticks or episode.tick):
        view = episode.observe(role)
        kit.provider.script.append(kit.provider.says(rote[role].answer(view)))
        episode.answer(role, models[role].answer(view))
        request = kit.provider.requests.pop()
        assert not kit.provider.requests
        sent[role].append(request.path.encode() + repr(request.headers).encode() + request.body)
    assert episode.void is None
    assert ticks or episode.finished
    return sent


def plain(request: bytes) -> str:
    """A request with its escapes undone, so that nothing hides behind one."""
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), request.decode())


@pytest.mark.parametrize("number", range(len(PACKS)), ids=[path.stem for path in PACKS])
def test_no_hidden_byte_is_sent_to_a_model(kit: Any, number: int) -> None:
    task, never, only_human = planted(PACKS[number])
    names = PROVIDERS[number % len(PROVIDERS)]
    with kit.desk() as desk:
        sent = play(kit, desk, Episode(task, make_world("symbolic"), lambda *_: None), names)
    assert sent["assistant"]
    assert sent["human"]
    handles = [str(handle) for handle in task.handles.values()]
    for role, requests in sent.items():
        for request in map(plain, requests):
            assert not [c for c in never if c in request], f"{role} sees a hidden field"
            assert task.id not in re.findall(r"\w+", request), "which task it is may be looked up"
            assert task.digest not in request
    for request in map(plain, sent["assistant"]):
        assert not [c for c in only_human if c in request]
        assert not [h for h in handles if h in request]
        for command in (*task.opening, *task.plan):
            assert f"[{command.command.verb}]" not in request
    assert any(c in plain(r) for c in only_human for r in sent["human"]), "the human's context must reach the human"


def pictures(value: Any) -> list[bytes]:
    """Every picture in a request, from whatever place its interface has for it."""
    if isinstance(value, list):
        return [p for part in value for p in pictures(part)]
    if not isinstance(value, dict):
        return []
    found = [p for part in value.values() for p in pictures(part)]
    links = [value.get("url"), value.get("image_url")]
    found += [base64.b64decode(link.partition(",")[2]) for link in links if isinstance(link, str)]
    if isinstance(data := value.get("data"), str):
        found.append(base64.urlsafe_b64decode(data))
    return found


@pytest.mark.slow
def test_pictures_are_sent_as_pixels_and_nothing_else(kit: Any, tmp_path: Path) -> None:
    if why := no_pictures("oracle", "physical"):
        pytest.skip(why)
    from iwkit_runtime.physical.world import PhysicalWorld
    from iwkit_runtime.studio import PhysicalStudio

    (path,) = (path for path in PACKS if path.stem == "W7")
    task, never, only_human = planted(path)
    world, folder = PhysicalWorld(), tmp_path / "zqfoldercanary"
    images = ImageSettings(format="jpeg", quality=80)
    with kit.desk(images=images) as desk, PhysicalStudio(world, folder) as studio:
        sent = play(kit, desk, Episode(task, world, lambda *_: None, studio), ("openai:m", "google:m"), ticks=3)
    for role, requests in sent.items():
        shown = [pictures(json.loads(r[r.index(b"{", r.index(b"}")) :])) for r in requests]
        counts = [len(turn) for turn in shown]
        assert counts[0] > 4, role
        assert max(counts[1:]) <= 32
        for data in (data for turn in shown for data in turn):
            image = Image.open(io.BytesIO(data))
            assert image.format == "JPEG"
            assert image.size == (640, 480)
            assert not image.getexif() and not image.info.get("comment") and not image.info.get("icc_profile")
            assert not [c for c in (*never, *only_human, folder.name) if c.encode() in data]
        for request in map(plain, requests):
            assert not [c for c in (*never, folder.name) if c in request]
            assert ".png" not in request
