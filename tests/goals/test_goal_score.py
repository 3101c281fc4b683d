"""Completion, pass, CFSS, atoms and the stable-completion index on hand-written traces."""

from __future__ import annotations

import json
from typing import Any

import pytest

from iwkit.goals.tracebook import load_trace
from iwkit.goals.vocabulary import Entity, Vocabulary
from iwkit.score import Score, score, stable_completion_index
from iwkit.spec.goal import Atom, Goal, Named, Window

VOCABULARY = Vocabulary(
    {
        name: Entity(name, category)
        for name, category in {
            "left": "cabinet", "right": "cabinet", "cup": "mug", "fridge": "fridge", "table": "table", "shelf": "shelf",
        }.items()
    },
    frozenset({"w", "from_o1"}),
    frozenset({"o1", "p1"}),
)  # fmt: skip
WINDOWS = [
    Window.model_validate({"id": "w", "opens": {"opened": "fridge"}, "closes": {"closed": "fridge"}}),
    Window.model_validate({"id": "from_o1", "opens": {"after": "o1"}}),
]
A = {"id": "a", "that": {"open": "left"}}
B = {"id": "b", "that": {"on": ["cup", "table"]}, "needs": ["a"]}
C = {"id": "c", "that": {"open": "right"}, "needs": ["b"]}
KEEP = {"id": "k", "that": {"at_baseline": "cup"}}
GATE = {"id": "g", "that": {"never": {"moved": "cup"}}}


def scored(trace: Any, achieve: list[Any], family: str = "ASK", void: str | None = None, **blocks: Any) -> Score:
    evidence = [Named.model_validate(named) for named in blocks.pop("evidence", [])]
    atoms = [Atom.model_validate(atom) for atom in blocks.pop("atoms", [])]
    goal = Goal.model_validate({"score": "state", "achieve": achieve} | blocks)
    return score(goal, evidence, atoms, WINDOWS, load_trace(trace), VOCABULARY, source_family=family, void=void)


def ends_with(*relations: list[str], baseline: list[list[str]] | None = None) -> dict[str, Any]:
    return {"baseline": baseline or [], "steps": [{"add": list(relations)}]}


LEFT, CUP, RIGHT = ["open", "left"], ["on", "cup", "table"], ["open", "right"]


@pytest.mark.parametrize(
    ("relations", "completion", "passed"),
    [
        ([], 0, False),
        ([LEFT], 1 / 3, False),
        ([CUP], 0, False),
        ([LEFT, CUP], 2 / 3, False),
        ([LEFT, RIGHT], 1 / 3, False),
        ([CUP, RIGHT], 0, False),  # c needs b, which is satisfied, but b needs a
        ([LEFT, CUP, RIGHT], 1, True),
    ],
)
def test_credit_needs_what_it_needs_transitively(relations: list[Any], completion: float, passed: bool) -> None:
    result = scored(ends_with(*relations), [A, B, C])
    assert result.completion == pytest.approx(completion)
    assert result.passed is passed


def test_what_is_satisfied_without_credit_says_so() -> None:
    result = scored(ends_with(CUP), [A, B])
    assert [(c.id, c.block, c.ok, c.credited) for c in result.conditions] == [
        ("a", "achieve", False, False),
        ("b", "achieve", True, False),
    ]


def test_needs_in_a_circle_earn_nothing() -> None:
    result = scored(ends_with(LEFT, CUP), [A | {"needs": ["b"]}, B])
    assert result.completion == 0


@pytest.mark.parametrize(("relations", "completion"), [([LEFT], 0.0), ([LEFT, CUP], 1.0)])
def test_binary_completion_is_the_pass(relations: list[Any], completion: float) -> None:
    result = scored(ends_with(*relations), [A, B], score="binary")
    assert result.completion == completion
    assert result.passed is bool(completion)


@pytest.mark.parametrize("score_kind", ["state", "binary"])
@pytest.mark.parametrize("broken", ["keep", "gates"])
def test_a_broken_keep_or_gate_fails_the_pass_and_leaves_completion(score_kind: str, broken: str) -> None:
    trace = ends_with(LEFT, baseline=[["at_baseline", "cup"]])
    if broken == "keep":
        trace["steps"][0]["remove"] = [["at_baseline", "cup"]]
    else:
        trace["steps"][0]["events"] = [{"moved": "cup"}]
    result = scored(trace, [A], score=score_kind, keep=[KEEP], gates=[GATE])
    assert result.passed is False
    assert result.completion == (1 if score_kind == "state" else 0)


@pytest.mark.parametrize(
    ("moved", "at_baseline", "cfss", "stg"),
    [(False, True, 0.5, 0.5), (True, True, 0.5, 0), (False, False, 0, 0), (True, False, 0, 0)],
)
def test_under_narrate_cfss_and_stg_cfss_are_reported(moved: bool, at_baseline: bool, cfss: float, stg: float) -> None:
    trace = ends_with(LEFT, baseline=[["at_baseline", "cup"]] if at_baseline else [])
    trace["steps"][0]["events"] = [{"moved": "cup"}] if moved else []
    result = scored(trace, [A, C | {"needs": []}], family="NARRATE", keep=[KEEP], gates=[GATE])
    assert (result.cfss, result.stg_cfss, result.completion) == (cfss, stg, 0.5)
    elsewhere = scored(trace, [A], keep=[KEEP], gates=[GATE])
    assert (elsewhere.cfss, elsewhere.stg_cfss) == (None, None)


def test_the_score_is_of_the_end_state() -> None:
    trace = {"steps": [{"add": [LEFT]}, {"remove": [LEFT]}]}
    assert scored(trace, [A]).completion == 0


def test_a_trace_that_ends_at_the_handoff() -> None:
    trace = {"opening": [{"events": [{"opened": "left"}], "add": [LEFT]}]}
    result = scored(
        trace, [A, {"id": "h", "that": {"happened": {"opened": "left"}}}], keep=[{"id": "k", "that": {"open": "left"}}]
    )
    assert [c.ok for c in result.conditions] == [True, False, True]


SEEN = {"id": "seen", "that": {"happened": {"became_visible": "cup"}}}
PASS_LEFT = {"id": "x", "capability": "C4", "opens": "handoff", "pass": {"opened": "left"}}


def test_false_evidence_voids_the_cell() -> None:
    trace = {"opening": [{}], "steps": [{"events": [{"became_visible": "cup"}, {"opened": "left"}], "add": [LEFT]}]}
    result = scored(trace, [A], family="NARRATE", evidence=[SEEN], atoms=[PASS_LEFT])
    assert result.void == "evidence seen is false: became_visible(cup) never happened in the opening, though it must"
    assert (result.completion, result.passed, result.cfss, result.stg_cfss) == (None, None, None, None)
    assert [a.label for a in result.atoms] == ["void"]
    assert [(c.id, c.block, c.ok) for c in result.conditions] == [("seen", "evidence", False), ("a", "achieve", True)]


def test_a_void_cell_keeps_its_reason() -> None:
    trace = {"opening": [{"events": [{"became_visible": "cup"}]}], "steps": [{"add": [LEFT]}]}
    assert scored(trace, [A], evidence=[SEEN]).passed is True
    assert scored(trace, [A], evidence=[SEEN], void="the renderer died").void == "the renderer died"


def test_the_json_is_plain_and_the_same_each_time() -> None:
    trace = ends_with(LEFT)
    first, second = (scored(trace, [A, B], evidence=[], atoms=[PASS_LEFT]).to_json() for _ in range(2))
    text = json.dumps(first, allow_nan=False)
    assert text == json.dumps(second)
    assert json.loads(text)["completion"] == 0.5
    assert json.loads(text)["conditions"][1] == {
        "id": "b",
        "block": "achieve",
        "ok": False,
        "why": "nothing is known of cup, so cup is not on table",
        "credited": False,
    }
    assert json.loads(text)["atoms"][0]["label"] == "unobserved"


# Atoms

L, R, M, HINT = {"opened": "left"}, {"opened": "right"}, {"moved": "cup"}, {"assisted": True}
SAY, SHOW, HIDE = {"said": "assistant"}, {"opened": "fridge"}, {"closed": "fridge"}
BOTH = {"pass": L, "wrong": {"opened": {"category": "cabinet"}}}
IN_WINDOW = BOTH | {"opens": None, "window": "w"}
TIMELY = {key: {"said": {"by": "assistant", word: "w"}} for key, word in (("pass", "during"), ("wrong", "outside"))}
LABELS: list[tuple[str, Any, list[Any], str]] = [
    ("pass first", BOTH, [L, R], "clean_pass"),
    ("wrong first", BOTH, [R, L], "wrong"),
    ("an event that is both is a pass", BOTH, [L], "clean_pass"),
    ("a hint led to it", BOTH, [L | HINT], "assisted"),
    ("a hint to the wrong is wrong", BOTH, [R | HINT], "wrong"),
    ("a later hint does not matter", BOTH, [L, L | HINT], "clean_pass"),
    ("spoke in vain", BOTH, [SAY], "abstain"),
    ("the wearer spoke", BOTH, [{"said": "wearer"}], "unobserved"),
    ("silence", BOTH, [], "unobserved"),
    ("wrong left out", {"pass": L}, [R], "unobserved"),
    ("several passes", {"pass": [L, M]}, [M], "clean_pass"),
    ("closing and passing in one", BOTH | {"closes": L}, [L], "clean_pass"),
    ("after closing", BOTH | {"closes": M}, [M, L], "unobserved"),
    ("closed, spoke later", BOTH | {"closes": M}, [M, SAY], "unobserved"),
    ("opening and passing in one", BOTH | {"opens": L}, [L], "clean_pass"),
    ("before opening", BOTH | {"opens": M}, [L, M], "unobserved"),
    ("never opened", BOTH | {"opens": M}, [SAY, L], "unobserved"),
    ("opens once", BOTH | {"opens": M, "closes": M}, [M, M, M, L], "unobserved"),
    ("closed by a later one", BOTH | {"opens": M, "closes": M}, [M, L, M], "clean_pass"),
    ("window", IN_WINDOW, [SHOW, L], "clean_pass"),
    ("window shut", IN_WINDOW, [SHOW, HIDE, L], "unobserved"),
    ("window never open", IN_WINDOW, [SAY, L], "unobserved"),
    ("window open since the opening", IN_WINDOW | {"window": "from_o1"}, [SAY], "abstain"),
    ("unknown window", IN_WINDOW | {"window": "v"}, [L], "unobserved"),
    ("timely", TIMELY, [SHOW, SAY], "clean_pass"),
    ("early", TIMELY, [SAY, SHOW, SAY], "wrong"),
]


@pytest.mark.parametrize(("atom", "events", "label"), [c[1:] for c in LABELS], ids=[c[0] for c in LABELS])
def test_the_label_of_an_atom(atom: dict[str, Any], events: list[Any], label: str) -> None:
    # the opening does what the atom waits for: effort spent there earns nothing
    opening = [{"events": [{"after": "o1"}, {"opened": "left"}, {"said": "assistant"}]}]
    data = {"id": "x", "capability": "C4", "opens": "handoff"} | atom
    result = scored({"opening": opening, "steps": [{"events": [e]} for e in events]}, [A], atoms=[data])
    assert result.atoms[0].label == label, result.atoms[0].why


def test_two_conditions_that_come_true_in_one_step_are_a_pass() -> None:
    atom = {
        "id": "x",
        "capability": "C4",
        "opens": "handoff",
        "pass": {"becomes": {"open": "left"}},
        "wrong": {"becomes": {"open": "right"}},
    }
    assert scored({"steps": [{"add": [LEFT, RIGHT]}]}, [A], atoms=[atom]).atoms[0].label == "clean_pass"
    assert scored({"steps": [{"add": [RIGHT]}, {"add": [LEFT]}]}, [A], atoms=[atom]).atoms[0].label == "wrong"
    hinted = {"events": [{"opened": "left", "assisted": True}], "add": [LEFT]}
    assert scored({"steps": [hinted]}, [A], atoms=[atom]).atoms[0].label == "assisted"


# Stable completion

DONE = {"add": [LEFT], "events": [{"commanded": "[Open] <left>"}]}
UNDONE = {"remove": [LEFT], "events": [{"commanded": "[Close] <left>"}]}
IDLE = {"events": [{"commanded": {"do": "[Wait]", "result": "refused"}}]}
SPEECH = {"events": [{"said": "assistant"}]}


@pytest.mark.parametrize(
    ("steps", "index"),
    [
        ([], None),
        ([IDLE], None),
        ([SPEECH, IDLE, SPEECH, DONE], 2),
        ([DONE, IDLE, IDLE, SPEECH], 1),
        ([DONE, UNDONE], None),
        ([DONE, UNDONE, IDLE, DONE, IDLE], 4),
    ],
)
def test_the_stable_completion_index_counts_primitives(steps: list[Any], index: int | None) -> None:
    goal = Goal.model_validate({"score": "state", "achieve": [A]})
    opening = [{"events": [{"commanded": "[Wait]"}]}]
    assert stable_completion_index(goal, load_trace({"opening": opening, "steps": steps}), VOCABULARY, WINDOWS) == index


def test_what_holds_at_the_handoff_is_complete_after_none() -> None:
    goal = Goal.model_validate({"score": "state", "achieve": [A]})
    assert stable_completion_index(goal, load_trace({"initial": [LEFT], "steps": [IDLE]}), VOCABULARY, WINDOWS) == 0


def test_keep_and_gates_count_for_stability() -> None:
    goal = Goal.model_validate({"score": "state", "achieve": [A], "keep": [KEEP], "gates": [GATE]})
    back = {"initial": [CUP], "baseline": [["at_baseline", "cup"]]}
    out = {"remove": [["at_baseline", "cup"]], "events": [{"commanded": "[Wait]"}]}
    home = {"add": [["at_baseline", "cup"]], "events": [{"commanded": "[Wait]"}]}
    assert stable_completion_index(goal, load_trace(back | {"steps": [DONE, out, home]}), VOCABULARY, WINDOWS) == 3
    moved = {"events": [{"moved": "cup"}]}
    assert stable_completion_index(goal, load_trace(back | {"steps": [DONE, moved]}), VOCABULARY, WINDOWS) is None
