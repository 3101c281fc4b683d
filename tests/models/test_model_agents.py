"""One contract for every agent that is not code of iwkit's own: models, a person, a user's own class."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import sys
import types
from pathlib import Path
from typing import Any

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from PIL.PngImagePlugin import PngInfo

from iwkit.compile import load_task
from iwkit.errors import AgentError, RunStopped
from iwkit.families import families
from iwkit_runtime.agents import make_assistant, make_human
from iwkit_runtime.agents.base import Assistant, Human
from iwkit_runtime.loop.answers import read_assistant, read_human
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.loop.frames import PER_TURN
from iwkit_runtime.loop.views import AssistantView, Done, HumanView, Instruction, LegendEntry, Picture, Spoken
from iwkit_runtime.models import prompts
from iwkit_runtime.models.history import selected
from iwkit_runtime.models.images import encode, within
from iwkit_runtime.models.person import Desktop, PersonAssistant, PersonHuman, acted, spoken
from iwkit_runtime.models.settings import ImageLimits, ImageSettings
from iwkit_runtime.models.wire import Image
from iwkit_runtime.runs import make_world
from iwkit_runtime.selection import pack_files

MODELS = ("openai:m", "openai-responses:m", "google:m")
NAMES = (*MODELS, "person", "own:Agent")


def picture(seed: int, size: tuple[int, int] = (64, 48), **text: str) -> Picture:
    """A small PNG; `text` goes into its metadata."""
    out, info = io.BytesIO(), PngInfo()
    for key, value in text.items():
        info.add_text(key, value)
    noise = hashlib.shake_256(str(seed).encode()).digest(size[0] * size[1] * 3)
    Pillow.frombytes("RGB", size, noise).save(out, "PNG", pnginfo=info)
    return Picture(hashlib.sha256(out.getvalue()).hexdigest(), out.getvalue())


def assistant_view(tick: int, **fields: Any) -> AssistantView:
    values = {"public": "You wear smart glasses.", "dialogue": (), "speech": (f"word {tick}",), "frames": ()}
    return AssistantView(tick=tick, **{**values, **fields})


def human_view(tick: int = 1, **fields: Any) -> HumanView:
    values: dict[str, Any] = {
        "source_family": "GUIDE",
        "role": "You have no procedure.",
        "context": "It is your kitchen.",
        "public": "Smart glasses.",
        "request": "Help me, please.",
        "legend": (
            LegendEntry("<fridge> (1)", ("fridge", "refrigerator"), "the white fridge", True, True, bearing="ahead"),
            LegendEntry("<cup> (2)", ("cup",), "the cup", False, True, held=True, support="on the table", label="TEA"),
        ),
        "held": "<cup> (2)",
        "last": Done("[Grab] <cup> (2)", True, "You take the cup."),
        "instructions": (Instruction("Open the fridge.", True),),
        "plan": None,
        "grammar": "[Verb] <noun> (1)",
        "frames": (),
    }
    return HumanView(tick=tick, **{**values, **fields})


def sent(request: Any) -> str:
    """A request's body; Google's pictures are in the other alphabet of base64."""
    text = str(request.body.decode())
    return text.replace("_", "/").replace("-", "+") if "contents" in text[:20] else text


class Bench:
    """Makes an agent of each kind, and tells it what to answer next."""

    def __init__(self, kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kit, self._lines = kit, list[str]()
        self.said: list[str] = []
        lines = self._lines

        class Agent:
            def answer(self, view: object) -> str:
                return lines.pop(0)

        module = types.ModuleType("own")
        module.Agent = Agent  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "own", module)
        self.desk = kit.desk()

    def will_answer(self, text: str) -> None:
        self._lines.append(text)
        self.kit.provider.script.append(self.kit.provider.says(text))

    def _desktop(self) -> Desktop:
        return Desktop(lambda _prompt: self._lines.pop(0), self.said.append)

    def assistant(self, name: str, episode: Episode | None = None) -> Assistant:
        if name == "person":
            return PersonAssistant(self._desktop())
        if name in MODELS and episode is None:
            return self.desk.assistant(name, "guidance", "G10-s0")
        assert episode is not None
        return make_assistant(name, episode, self.desk, "G10-s0")

    def human(self, name: str, episode: Episode) -> Human:
        return PersonHuman(self._desktop()) if name == "person" else make_human(name, episode, self.desk, "G10-s0")


@pytest.fixture
def bench(kit: Any, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(kit, monkeypatch)


@pytest.fixture(scope="module")
def task() -> Any:
    (path,) = pack_files(["F10"])
    return load_task(path)


def as_line(role: str, text: str) -> str:
    """What a person would enter to answer so."""
    reading = read_human(text)
    both = f"{reading.action} / {reading.speak}" if reading.action and reading.speak else ""
    return text if role == "assistant" else both or reading.action or reading.speak


@pytest.mark.parametrize("name", NAMES)
def test_an_episode_is_played_to_its_end(bench: Bench, task: Any, name: str) -> None:
    episode = Episode(task, make_world("symbolic"), lambda *_: None)
    rote: dict[str, Any] = {"assistant": make_assistant("oracle", episode), "human": make_human("scripted", episode)}
    tested: dict[str, Any] = {"assistant": bench.assistant(name, episode), "human": bench.human(name, episode)}
    turns = []
    while (role := episode.pending) is not None:
        view = episode.observe(role)
        right = rote[role].answer(view)
        bench.will_answer(as_line(role, right) if name == "person" else right)
        turns.append((role, tested[role].answer(view)))
        episode.answer(*turns[-1])
    assert len(turns) > 8
    assert turns[-1] == ("assistant", "$done$")
    assert episode.score().passed, episode.score()


@pytest.mark.parametrize("name", MODELS)
def test_one_that_recalls_goes_on_like_one_that_was_asked(bench: Bench, name: str) -> None:
    views = [assistant_view(n, frames=(picture(n), picture(n + 100))) for n in range(1, 6)]
    asked, told = bench.assistant(name), bench.assistant(name)
    for view in views[:-1]:
        bench.will_answer(f"$interrupt$ Step {view.tick}.")
        told.recall(view, asked.answer(view))  # type: ignore[attr-defined]
    assert asked.prompt(views[-1]) == told.prompt(views[-1])  # type: ignore[attr-defined]
    before = len(bench.kit.provider.requests)
    for agent in (asked, told):
        bench.will_answer("$silent$")
        agent.answer(views[-1])
    first, second = bench.kit.provider.requests[before:]
    assert first.body == second.body


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_sent_what_its_view_holds(bench: Bench, name: str) -> None:
    agent = bench.assistant(name)
    bench.will_answer("$interrupt$ Look left.")
    agent.answer(assistant_view(1, speech=("Where is it?",), frames=(picture(1),)))
    bench.will_answer("")
    agent.answer(assistant_view(2, speech=(), dialogue=(Spoken("assistant", "Look left."),)))
    bench.will_answer("$silent$")
    agent.answer(assistant_view(3, speech=("Nothing there.",), notice="empty answer", memory=("The key is red.",)))
    first, _, third = (r.body.decode() for r in bench.kit.provider.requests)
    assert "You wear smart glasses." in first
    assert "Where is it?" in first
    assert base64.b64encode(picture(1).png).decode() in sent(bench.kit.provider.requests[0])
    for part in ("Where is it?", "Look left.", "(no answer)", "Nothing there.", "empty answer", "The key is red.",
                 "Latest segment.", "does not know how"):  # fmt: skip
        assert part in third, part
    assert third.count("You wear smart glasses.") == 1
    assert third.count("Look left.") == 1


@pytest.mark.parametrize("name", MODELS)
def test_a_human_model_is_sent_one_turn_and_nothing_before(bench: Bench, task: Any, name: str) -> None:
    episode = Episode(task, make_world("symbolic"), lambda *_: None)
    agent = bench.human(name, episode)
    answer = "<reasoning>r</reasoning><action>[Open] <fridge> (1)</action><speak></speak>"
    bench.will_answer(answer)
    assert agent.answer(human_view(1, request="zqfirst")) == answer
    bench.will_answer(answer)
    agent.answer(human_view(2))
    second = json.dumps(bench.kit.provider.requests[1].json, ensure_ascii=False)
    assert "zqfirst" not in second
    for part in ("<fridge> (1)", "refrigerator", "ahead", "TEA", "in your hand", "Open the fridge.",
                 "It is your kitchen.", "[Verb] <noun> (1)", "[Grab] <cup> (2): done",
                 "you never choose where to look"):  # fmt: skip
        assert part in second, part


# --- prompts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", sorted(f.id for f in families().values()))
def test_each_family_has_prompts_of_its_own(family: str) -> None:
    plain = prompts.render(f"{family}/assistant.md.j2", memory=False)
    noted = prompts.render(f"{family}/assistant.md.j2", memory=True)
    human = prompts.render(f"{family}/human.md.j2", role="You zqrole.", grammar="[zqgrammar]")
    assert "$memory$" not in plain.lower()
    assert noted.startswith(plain)
    for token in ("$silent$", "$interrupt$", "$error$", "$done$"):
        assert token in plain
    for part in ("You zqrole.", "[zqgrammar]", "<action>", "<speak>"):
        assert part in human
    others = [f.id for f in families().values() if f.id != family]
    assert plain not in [prompts.render(f"{other}/assistant.md.j2", memory=False) for other in others]
    assert "{{" not in plain + noted + human
    with pytest.raises(jinja2.UndefinedError):
        prompts.render(f"{family}/assistant.md.j2")


def test_the_digest_of_the_prompts_is_of_all_of_them(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    from iwkit import resources

    copy = tmp_path / "families"
    shutil.copytree(resources.root("families"), copy)
    monkeypatch.setattr(prompts.resources, "root", lambda _kind: copy)
    seen = {prompts.prompts_digest.__wrapped__()}
    for path in sorted(copy.rglob("*.md.j2")):
        path.write_text(path.read_text("utf-8") + " ", "utf-8")
        seen.add(prompts.prompts_digest.__wrapped__())
    assert len(seen) == 1 + 4 + 2 * 6


# --- pictures ---------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 40), max_size=12))
def test_the_newest_turns_are_whole_and_the_rest_is_sampled(counts: list[int]) -> None:
    kept = selected(counts)
    seen = [turn for turn, count in enumerate(counts) if count]
    for turn, chosen in enumerate(kept):
        assert list(chosen) == sorted(set(chosen))
        assert all(0 <= index < counts[turn] for index in chosen)
    if seen:
        assert len(kept[seen[-1]]) == counts[seen[-1]]
    if len(seen) > 1 and counts[seen[-1]] + counts[seen[-2]] <= PER_TURN:
        assert len(kept[seen[-2]]) == counts[seen[-2]]
    total = sum(map(len, kept))
    assert total <= max(PER_TURN, counts[seen[-1]] if seen else 0)
    assert total == sum(counts) or total >= PER_TURN
    if sum(counts) <= PER_TURN:
        assert total == sum(counts)


def test_old_pictures_are_sampled_evenly() -> None:
    kept = selected([10] * 8)
    assert [len(k) for k in kept[-2:]] == [10, 10]
    assert [len(k) for k in kept[:6]] == [2] * 6


LIMITS = ImageLimits(count=9, bytes=100_000, side=2000, total_bytes=1_000_000, tokens=1)


def size_of(image: Image) -> tuple[int, int]:
    return Pillow.open(io.BytesIO(image.data)).size


def test_a_picture_within_the_limits_goes_as_it_is() -> None:
    found = picture(1)
    image = encode(found, ImageSettings(), LIMITS)
    assert (image.data, image.media, image.sha256) == (found.png, "image/png", found.digest)


def test_pictures_are_encoded_as_asked_and_without_metadata() -> None:
    secret = picture(2, comment="zqmetadata")
    assert b"zqmetadata" in secret.png
    for kind in ("jpeg", "webp"):
        image = encode(secret, ImageSettings(format=kind), LIMITS)
        assert image.media == f"image/{kind}"
        assert Pillow.open(io.BytesIO(image.data)).format == kind.upper()
        assert b"zqmetadata" not in image.data
        assert hashlib.sha256(image.data).hexdigest() == image.sha256


def test_a_picture_that_is_too_large_or_too_heavy_is_made_smaller() -> None:
    large = encode(picture(3, (400, 300)), ImageSettings(), LIMITS.model_copy(update={"side": 100, "bytes": 10**6}))
    assert size_of(large) == (100, 75)
    assert large.media == "image/png"
    heavy = encode(picture(4, (400, 300)), ImageSettings(), LIMITS.model_copy(update={"bytes": 40_000}))
    assert heavy.media == "image/jpeg"
    assert len(heavy.data) <= 40_000
    with pytest.raises(AgentError, match="the limit in the models file is too low"):
        encode(picture(5, (400, 300)), ImageSettings(), LIMITS.model_copy(update={"bytes": 100}))


@given(st.lists(st.lists(st.integers(1, 50), max_size=4), max_size=5), st.integers(1, 200))
def test_all_pictures_together_are_light_enough(sizes: list[list[int]], most: int) -> None:
    turns = [
        [Image("image/png", f"{t}-{n}", b"x" * size) for n, size in enumerate(turn)] for t, turn in enumerate(sizes)
    ]
    kept = within(turns, most)
    flat, before = [i for turn in kept for i in turn], [i for turn in turns for i in turn]
    assert sum(len(i.data) for i in flat) <= most
    assert before[len(before) - len(flat) :] == flat, "the oldest went first"
    gone = before[: len(before) - len(flat)]
    assert not gone or len(gone[-1].data) + sum(len(i.data) for i in flat) > most, "no more than necessary"


@pytest.mark.parametrize("name", MODELS)
def test_a_provider_that_takes_fewer_is_sent_the_newest(kit: Any, name: str) -> None:
    desk = kit.desk(images=ImageSettings(count=3))
    agent = desk.assistant(name, "guidance", "G10-s0")
    for n in range(1, 4):
        agent.answer(assistant_view(n, frames=(picture(2 * n), picture(2 * n + 1))))
    last = sent(kit.provider.requests[-1])
    there = [n for n in range(2, 8) if base64.b64encode(picture(n).png).decode() in last]
    assert there == [5, 6, 7]


# --- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_memory_is_kept_shown_and_heard_by_nobody(bench: Bench, task: Any, name: str) -> None:
    records: list[tuple[str, dict[str, Any]]] = []
    episode = Episode(task, make_world("symbolic"), lambda kind, fields: records.append((kind, fields)), memory=True)
    agent = bench.assistant(name, episode)
    view = episode.observe("assistant")
    assert isinstance(view, AssistantView)
    assert view.memory == ()
    bench.will_answer("$interrupt$ Wait.\n$Memory$ zqnote: the key lies in the box.")
    episode.answer("assistant", agent.answer(view))
    human = episode.observe("human")
    assert "zqnote" not in json.dumps(human.to_json())
    episode.answer("human", "<speak>Yes?</speak>")
    view = episode.observe("assistant")
    assert isinstance(view, AssistantView)
    assert view.memory == ("zqnote: the key lies in the box.",)
    assert "zqnote" not in json.dumps([s.text for s in view.dialogue])
    bench.will_answer("$silent$")
    agent.answer(view)
    body = bench.kit.provider.requests[-1].body.decode()
    assert body.count("zqnote") == 1, "in the list of all entries, not in the dialogue too"
    readings = [fields for kind, fields in records if kind == "reading"]
    assert readings[0]["memory"] == "zqnote: the key lies in the box."


# --- a person ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "control", "text"),
    [
        ("", "silent", ""),
        ("/silent", "silent", ""),
        ("/done", "done", ""),
        ("/error That is the wrong cup.", "error", "That is the wrong cup."),
        ("Open the fridge.", "interrupt", "Open the fridge."),
        ("/unknown thing", "interrupt", "/unknown thing"),
        ("$done$", "done", ""),
        ("<done/>", "done", ""),
        ("$silent$ and more", "malformed", ""),
    ],
)
def test_a_persons_line_as_assistant(line: str, control: str, text: str) -> None:
    reading = read_assistant(spoken(line))
    assert (reading.control, reading.text) == (control, text)


@pytest.mark.parametrize(
    ("line", "action", "speak"),
    [
        ("", "", ""),
        ("Which one?", "", "Which one?"),
        ("[Open] <fridge> (1)", "[Open] <fridge> (1)", ""),
        ("[Open] <fridge> (1) / On it.", "[Open] <fridge> (1)", "On it."),
        ("either / or", "", "either / or"),
    ],
)
def test_a_persons_line_as_human(line: str, action: str, speak: str) -> None:
    reading = read_human(acted(line))
    assert (reading.action, reading.speak, reading.malformed) == (action, speak, "")


def test_a_person_sees_the_turn_and_may_leave() -> None:
    said: list[str] = []
    lines = iter(["Look left.", "the key is red"])

    def ask(_prompt: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    person = PersonAssistant(Desktop(ask, said.append))
    answer = person.answer(assistant_view(1, frames=(picture(1), picture(2)), memory=(), notice="no control token"))
    assert answer == "$interrupt$ Look left.\n$memory$ the key is red"
    shown = "\n".join(said)
    for part in ("turn 1", "You wear smart glasses.", "word 1", "no control token", "2 pictures"):
        assert part in shown
    page = Path(shown.rpartition("oldest first: ")[2].strip())
    names = [part.split('"')[0] for part in page.read_text("utf-8").split('src="')[1:]]
    assert [(page.parent / name).read_bytes() for name in names] == [picture(1).png, picture(2).png]
    with pytest.raises(RunStopped, match="nobody is at the terminal"):
        person.answer(assistant_view(2))
    said.clear()
    human = PersonHuman(Desktop(ask, said.append))
    with pytest.raises(RunStopped):
        human.answer(human_view(1, plan="[Wait]", notice="C318 no such handle"))
    shown = "\n".join(said)
    for part in ("<fridge> (1): the white fridge", "TEA", "in your hand: <cup> (2)", "You take the cup.", "[Wait]",
                 "C318", "assistant (new): Open the fridge.", "It is your kitchen."):  # fmt: skip
        assert part in shown
