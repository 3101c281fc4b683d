"""The human of a policy file in the symbolic world."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policies import POLICIES, ROOT, TASKS, episode_of, policy_human, sources, turn

from iwkit.compile import CompiledTask
from iwkit.errors import AgentError, LedgerError
from iwkit.source.document import Document
from iwkit.spec.policy import Policy
from iwkit_runtime.agents.policy import PolicyHuman
from iwkit_runtime.agents.registry import code_digest, make_human
from iwkit_runtime.loop.answers import read_human
from iwkit_runtime.loop.views import HumanView
from iwkit_runtime.runs import Config, run
from iwkit_runtime.verifier import NONE, RulesVerifier
from iwkit_validators.policy import check

# --- whole episodes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "assistant", "status"),
    [
        ("W7", "oracle", "pass"),
        ("W7", "silent", "fail"),
        ("W7", "wrong", "fail"),
        ("W7", "early", "fail"),
        ("F10", "oracle", "pass"),
        ("F10", "silent", "fail"),
        ("F10", "wrong", "fail"),
        ("F10", "early", "fail"),
    ],
)
def test_the_controls_come_out_right(tmp_path: Path, task: str, assistant: str, status: str) -> None:
    ends: dict[str, dict[str, Any]] = {}
    config = Config(assistant, f"policy:{POLICIES / task}.yaml", "symbolic", draft=True)
    run(sources(task), config, tmp_path, ends.__setitem__)
    assert ends[task]["status"] == status


def test_a_stopped_episode_goes_on_in_the_state_in_which_it_was(tmp_path: Path) -> None:
    config = Config("oracle", f"policy:{POLICIES / 'F10'}.yaml", "symbolic", draft=True)
    run(sources("F10"), config, tmp_path, lambda _task, _end: None)
    journal = tmp_path / "cells" / "F10-s0" / "attempt-001.jsonl"
    whole = journal.read_text("utf-8").splitlines(keepends=True)
    answers = [i for i, line in enumerate(whole) if json.loads(line)["kind"] == "answer"]
    for cut in (answers[3], answers[-3]):
        journal.write_text("".join(whole[: cut + 1]), "utf-8")
        ends: dict[str, dict[str, Any]] = {}
        run(sources("F10"), config, tmp_path, ends.__setitem__)
        assert ends["F10"]["status"] == "pass"
        again = [json.loads(line) for line in journal.read_text("utf-8").splitlines()]
        told = [r["text"] for r in map(json.loads, whole) if r["kind"] == "answer"]
        assert [r["text"] for r in again if r["kind"] == "answer"] == told


def test_a_changed_policy_is_another_run(tmp_path: Path) -> None:
    path = tmp_path / "W7.yaml"
    text = (POLICIES / "W7.yaml").read_text("utf-8")
    path.write_text(text, "utf-8")
    config = Config("silent", f"policy:{path}", "symbolic", draft=True)
    run(sources("W7"), config, tmp_path / "run", lambda _task, _end: None)
    before = config.header()["human_code"]
    plan = json.loads((tmp_path / "run" / "plan.json").read_text("utf-8"))
    assert plan["config"]["human_code"] == before
    path.write_text(text.replace("timeout: 3", "timeout: 4"), "utf-8")
    assert config.header()["human_code"] != before
    with pytest.raises(LedgerError, match="changed since"):
        run(sources("W7"), config, tmp_path / "run", lambda _task, _end: None)


def test_the_example_of_the_page_is_the_policy_that_is_tested() -> None:
    page = (ROOT / "docs" / "human-policy.md").read_text("utf-8")
    assert (POLICIES / "W7.yaml").read_text("utf-8") in page


# --- moving on --------------------------------------------------------------------------------------------------------


def test_speech_needs_the_world_to_agree() -> None:
    """The fridge is closed at the handoff: what is said is understood, and still takes the default."""
    episode = episode_of("W7")
    human = policy_human("W7", episode)
    turn(episode, human, "Close the fridge.")
    assert human.state == "puzzled"


def test_the_plan_goes_on_until_something_is_said() -> None:
    episode = episode_of("W7")
    human = policy_human("W7", episode)
    assert [turn(episode, human)[0] for _ in range(2)] == ["[Open] <fridge>", "[Grab] <milk_carton>"]
    assert turn(episode, human, "Please close the fridge.") == ("[Close] <fridge>", "")
    assert human.state == "closing"
    assert turn(episode, human) == ("[Put] <milk_carton> <breakfast_table>", "Thanks, the fridge is closed.")


@pytest.mark.parametrize(
    "speech",
    [
        "Well done.",
        "Don't close the fridge.",
        "Close the fridge and put the milk on the table.",
        "Maybe close the fridge.",
        "Is the fridge open?",
        "Blorp the fridge.",
        "The fridge is not closed.",
        "Close the fridge if the milk is warm.",
        "Close the fridge, otherwise the milk gets warm.",
        "Close the oven.",
    ],
)
def test_what_no_branch_means_takes_the_default(speech: str) -> None:
    episode = episode_of("W7")
    human = policy_human("W7", episode)
    turn(episode, human)
    turn(episode, human, speech)
    assert human.state == "puzzled"


def test_a_refused_command_takes_the_default(tmp_path: Path) -> None:
    path = tmp_path / "F10.yaml"
    text = (POLICIES / "F10.yaml").read_text("utf-8")
    path.write_text(
        text.replace('do: ["[Open] <left_cabinet>"]', 'do: ["[Close] <left_cabinet>", "[LookAround]"]'), "utf-8"
    )
    episode = episode_of("F10")
    human = make_human(f"policy:{path}", episode)
    assert isinstance(human, PolicyHuman)
    turn(episode, human, "Open the left bedside cabinet.")
    assert human.state == "opening_left"
    assert turn(episode, human) == ("[Confirm]", "")
    assert human.state == "halt"


def test_what_cannot_be_named_now_is_refused_too(tmp_path: Path) -> None:
    """Under FIND the thermometer in the closed cabinet has no handle."""
    path = tmp_path / "F10.yaml"
    text = (POLICIES / "F10.yaml").read_text("utf-8")
    path.write_text(text.replace('do: ["[Open] <left_cabinet>"]', 'do: ["[Grab] <thermometer>"]'), "utf-8")
    episode = episode_of("F10")
    human = make_human(f"policy:{path}", episode)
    assert isinstance(human, PolicyHuman)
    turn(episode, human, "Open the left bedside cabinet.")
    turn(episode, human)
    assert human.state == "halt"


def test_time_runs_out() -> None:
    episode = episode_of("F10")
    human = policy_human("F10", episode)
    for _ in range(10):
        assert turn(episode, human) == ("", "")
    assert human.state == "waiting"
    assert turn(episode, human) == ("[Confirm]", "")
    assert human.state == "halt"
    assert turn(episode, human, "Open the left bedside cabinet.") == ("", ""), "an end hears nothing"


def test_the_record_says_what_was_understood() -> None:
    episode = episode_of("F10")
    human = policy_human("F10", episode)
    episode.answer("assistant", "$interrupt$ Open the left bedside cabinet.")
    view = episode.observe("human")
    assert isinstance(view, HumanView)
    reasoning = read_human(human.answer(view)).reasoning
    assert reasoning.startswith("waiting -> opening_left; heard ")
    assert json.loads(reasoning.partition("heard ")[2])["intent"] == "open"


# --- names on the command line ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "task", "told"),
    [
        ("policy:nowhere.yaml", "W7", "Y001"),
        (f"policy:{POLICIES / 'W7.yaml'}", "F10", "H803"),
        (f"policy:{ROOT / 'taskpacks' / 'prevention' / 'W7.yaml'}", "W7", "S10"),
    ],
)
def test_what_is_no_policy_for_a_task(name: str, task: str, told: str) -> None:
    with pytest.raises(AgentError, match=told):
        make_human(name, episode_of(task))


def test_digest_of_what_is_no_policy() -> None:
    with pytest.raises(AgentError, match="Y001"):
        code_digest("policy:nowhere.yaml")


MODEL = """
class Canned:
    def verify(self, speech, view):
        return {answer!r}

class Mute:
    pass
"""


@pytest.fixture
def own_verifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], str]]:
    """Makes a policy of F10 with a verifier of one's own, and gives its name."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(class_name: str, answer: str) -> str:
        module = f"verifier_{abs(hash((class_name, answer)))}"
        (tmp_path / f"{module}.py").write_text(MODEL.format(answer=answer), "utf-8")
        text = (POLICIES / "F10.yaml").read_text("utf-8")
        path = tmp_path / f"{module}.yaml"
        path.write_text(text.replace("start: waiting", f'verifier: "{module}:{class_name}"\nstart: waiting'), "utf-8")
        return f"policy:{path}"

    yield make


GOOD = '{"intent": "open", "referents": ["<nightstand> (2)"], "facts": []}'


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (GOOD, "opening_left"),
        (NONE, "unsure"),
        (f"I think it is {GOOD}", "unsure"),
        (GOOD.replace("(2)", "(7)"), "unsure"),
        (GOOD.replace('"open"', '"opens"'), "unsure"),
        (GOOD.replace("[]", '[{"open": "<nightstand> (2)"}]'), "unsure"),
    ],
)
def test_a_verifier_of_ones_own(own_verifier: Callable[[str, str], str], answer: str, state: str) -> None:
    name = own_verifier("Canned", answer)
    episode = episode_of("F10")
    human = make_human(name, episode)
    assert isinstance(human, PolicyHuman)
    turn(episode, human, "Whatever.")
    assert human.state == state
    assert code_digest(name) != code_digest(f"policy:{POLICIES / 'F10.yaml'}")


def test_a_verifier_without_its_method(own_verifier: Callable[[str, str], str]) -> None:
    with pytest.raises(AgentError, match="verify"):
        make_human(own_verifier("Mute", ""), episode_of("F10"))


# --- whatever the policy ----------------------------------------------------------------------------------------------


WORLDS: list[dict[str, Any]] = [{"open": "fridge"}, {"closed": "fridge"}]


@st.composite
def acyclic(draw: st.DrawFn) -> dict[str, Any]:
    """A sound policy of W7 whose states lead to later ones only."""
    count = draw(st.integers(1, 8))
    said = [
        {"intent": "close", "referents": ["fridge"]},
        {"intent": "remark"},
        {"intent": "tell", "facts": [{"open": "fridge"}]},
    ]
    commands = ["[Open] <fridge>", "[Close] <fridge>", "[Grab] <milk>", "[Walk] <counter>"]
    states: dict[str, Any] = {}
    for i in range(count):
        later = st.sampled_from([f"s{k}" for k in range(i + 1, count + 1)])
        guards: list[dict[str, Any]] = [{"timeout": draw(st.integers(1, 3))}]
        guards += [{"state": world} for world in draw(st.sampled_from([[], WORLDS[:1], WORLDS]))]
        tuples = draw(st.lists(st.sampled_from(said), max_size=3, unique_by=str))
        guards += [{"said": tuple_, "and": draw(st.sampled_from(WORLDS))} for tuple_ in tuples]
        states[f"s{i}"] = {
            "do": draw(st.lists(st.sampled_from(commands), max_size=2)),
            "branches": [{"when": guard, "to": draw(later)} for guard in draw(st.permutations(guards))],
            "default": draw(later),
            "meanwhile": draw(st.sampled_from(["wait", "plan"])),
        }
    states[f"s{count}"] = {"end": True}
    return {"human-policy": "1.0", "task": "W7", "start": "s0", "states": states}


SPEECH = st.sampled_from([None, None, "Close the fridge.", "Well done.", "The fridge is open.", "Blah, not that."])


@settings(max_examples=60, deadline=None)
@given(acyclic(), st.data())
def test_an_acyclic_policy_never_comes_back_and_always_ends(data: dict[str, Any], choose: st.DataObject) -> None:
    policy = Policy.model_validate(data)
    task: CompiledTask = TASKS["W7"]
    problems = check(Document("policy.yaml", data, "", {(): (1, 1)}), policy, task)  # type: ignore[dict-item]
    assert {p.code for p in problems} <= {"H811"}, "a state may be left out by chance, and nothing else is wrong"
    episode = episode_of("W7")
    human = PolicyHuman(policy, episode, RulesVerifier())
    most = sum(
        len(s.do) + 1 + max((b.when.timeout or 0) for b in s.branches or ())
        for s in policy.states.values()
        if not s.end
    )
    seen = [human.state]
    for _ in range(most):
        if policy.states[human.state].end or episode.finished or episode.pending != "assistant":
            break
        turn(episode, human, choose.draw(SPEECH))
        if human.state != seen[-1]:
            assert human.state not in seen
            seen.append(human.state)
    assert policy.states[human.state].end or episode.finished
