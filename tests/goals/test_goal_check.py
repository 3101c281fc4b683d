"""Checking conditions against the names of a pack."""

from __future__ import annotations

from typing import Any

import pytest

from iwkit.goals.check import Finding, check_condition, check_goal, check_pattern, check_when
from iwkit.goals.codes import GOAL_CODES
from iwkit.goals.syntax import parse_condition, parse_pattern, parse_when
from iwkit.goals.vocabulary import TRAITS, Entity, Vocabulary
from iwkit.spec.goal import Atom, Goal, Named, Window

ENTITIES = {
    "cup": ("mug", "movable container"),
    "mug_2": ("mug", "movable"),
    "apple": ("apple", "movable"),
    "tray": ("tray", "movable carrier"),
    "table": ("table", "fixture surface"),
    "box": ("box", "movable container"),
    "bag": ("bag", "movable container"),
    "fridge": ("fridge", "fixture container openable"),
    "front_door": ("door", "door"),
    "lamp": ("lamp", "fixture device"),
    "washer": ("washer", "fixture container machine"),
    "chair": ("chair", "seat"),
    "kitchen": ("room", "room"),
}
VOCABULARY = Vocabulary(
    {name: Entity(name, category, frozenset(traits.split())) for name, (category, traits) in ENTITIES.items()},
    frozenset({"open_time"}),
    frozenset({"o1", "p1"}),
)
BAD: list[tuple[Any, str, tuple[Any, ...], str, str]] = [
    ({"on": ["cupp", "table"]}, "G520", ("on", 0), "no entity `cupp`", "did you mean `cup`?"),
    ({"on": ["zebra", "table"]}, "G520", ("on", 0), "", "declare it"),
    ({"open": "fridgee"}, "G520", ("open",), "", "did you mean `fridge`?"),
    ({"all": [{"open": "fridge"}, {"not": {"held": "cupp"}}]}, "G520", ("all", 1, "not", "held"), "", ""),
    ({"held": {"any_of": ["cup", "cupp"]}}, "G520", ("held", "any_of", 1), "", ""),
    ({"held": "wearer"}, "G520", ("held",), "", ""),
    ({"on": ["floor", "table"]}, "G520", ("on", 0), "", ""),
    (
        {"happened": {"grabbed": {"object": "cup", "from": "tabel"}}},
        "G520",
        ("happened", "grabbed", "from"),
        "",
        "`table`",
    ),
    ({"happened": {"commanded": "[Open] <frige>"}}, "G520", ("happened", "commanded"), "no entity `frige`", "`fridge`"),
    ({"never_moved": "cupp"}, "G520", ("never_moved",), "", ""),
    ({"held": {"category": "mugg"}}, "G521", ("held", "category"), "category `mugg`", "did you mean `mug`?"),
    ({"happened": {"grabbed": {"category": "knife"}}}, "G521", ("happened", "grabbed", "category"), "", ""),
    ({"open": "cup"}, "G522", ("open",), "`cup` does not fit `open`", "cup is container, movable"),
    ({"on": ["table", "table"]}, "G522", ("on", 0), "needs movable", ""),
    ({"on": ["cup", "apple"]}, "G522", ("on", 1), "needs carrier or surface", ""),
    ({"inside": ["cup", "table"]}, "G522", ("inside", 1), "", ""),
    ({"running": "table"}, "G522", ("running",), "", ""),
    ({"sitting": "table"}, "G522", ("sitting",), "", ""),
    ({"in_room": ["cup", "table"]}, "G522", ("in_room", 1), "", ""),
    ({"in_cycle": ["cup", "lamp"]}, "G522", ("in_cycle", 1), "", ""),
    ({"open": {"category": "mug"}}, "G522", ("open", "category"), "no `mug` fits", ""),
    ({"match": {"each": ["cup"], "by": "on", "to": ["apple"]}}, "G522", ("match", "to", 0), "", ""),
    ({"exactly": {"in": "table", "are": ["cup"]}}, "G522", ("exactly", "in"), "", ""),
    ({"exactly": {"in": "box", "are": ["cup"], "among": ["cup", "table"]}}, "G522", ("exactly", "among", 1), "", ""),
    ({"happened": {"opened": "cup"}}, "G522", ("happened", "opened"), "", ""),
    ({"happened": {"grabbed": "table"}}, "G522", ("happened", "grabbed"), "", ""),
    ({"happened": {"entered": "table"}}, "G522", ("happened", "entered"), "", ""),
    ({"happened": {"sat": "table"}}, "G522", ("happened", "sat"), "", ""),
    ({"happened": {"becomes": {"open": "cup"}}}, "G522", ("happened", "becomes", "open"), "", ""),
    ({"until": [{"open": "cup"}, {"opened": "fridge"}]}, "G522", ("until", 0, "open"), "", ""),
    ({"visible": "kitchen"}, "G529", ("visible",), "`visible` is never true of `kitchen`: a room", "`in_room`"),
    ({"happened": {"became_visible": "front_door"}}, "G529", ("happened", "became_visible"), "a door", "`opened`"),
    ({"never": {"left_view": {"any_of": ["cup", "kitchen"]}}}, "G529", ("never", "left_view"), "`kitchen`", ""),
    ({"happened": {"left_view": {"category": "room"}}}, "G529", ("happened", "left_view"), "", ""),
    ({"within": {"that": {"moved": "cup"}, "window": "open_tim"}}, "G523", ("within", "window"), "", "`open_time`"),
    ({"never": {"said": {"during": "now"}}}, "G523", ("never", "said", "during"), "", "pack: open_time"),
    ({"before": [{"moved": "cup"}, {"said": {"outside": "now"}}]}, "G523", ("before", 1, "said", "outside"), "", ""),
    ({"happened": {"after": "p2"}}, "G524", ("happened", "after"), "no step `p2`", ""),
    ({"happened": {"commanded": {"by": "asistant"}}}, "G525", ("happened", "commanded", "by"), "", "`assistant`"),
    ({"happened": {"said": "human"}}, "G525", ("happened", "said"), "", "one of assistant, wearer"),
    (
        {"sequence": [{"moved": "cup"}, {"cycle_ended": {"valid": "yes"}}]},
        "G525",
        ("sequence", 1, "cycle_ended", "valid"),
        "",
        "",
    ),
    ({"happened": {"commanded": "[Opn] <fridge>"}}, "G526", ("happened", "commanded"), "C301", ""),
    ({"happened": {"commanded": {"do": "[Put] <cup>", "by": "plan"}}}, "G526", ("happened", "commanded", "do"), "", ""),
    (
        {"happened": {"commanded": "[Open] <fridge> (2)"}},
        "G526",
        ("happened", "commanded"),
        "no index",
        "write <fridge>",
    ),
    ({"count": {"that": {"held": {"category": "mug"}}, "is": 3}}, "G527", ("count", "is"), "only 2 candidates", ""),
    ({"exactly": {"in": "box", "are": ["apple"], "among": ["cup"]}}, "G527", ("exactly", "are", 0), "", ""),
    (
        {"partition": {"by": "inside", "into": {"box": ["cup"]}, "of": ["cup", "apple"]}},
        "G527",
        ("partition", "of"),
        "",
        "",
    ),
    (
        {"partition": {"by": "inside", "into": {"box": ["cup"]}, "of": ["apple"]}},
        "G527",
        ("partition", "into", "box", 0),
        "",
        "",
    ),
    ({"match": {"each": ["cup", "apple"], "by": "on", "to": ["table"]}}, "G527", ("match", "to"), "", ""),
]


@pytest.mark.parametrize(("data", "code", "path", "message", "hint"), BAD, ids=[f"{c}-{d!r:.50}" for d, c, *_ in BAD])
def test_a_condition_that_cannot_be_meant_is_found(data: Any, code: str, path: Any, message: str, hint: str) -> None:
    (finding,) = check_condition(parse_condition(data), VOCABULARY, "gates")
    assert (finding.code, finding.path) == (code, path)
    assert message in finding.message
    assert hint in finding.hint


GOOD: list[Any] = [
    {"on": ["cup", "tray"]},
    {"open": "front_door"},
    {"inside": ["apple", {"category": "mug"}]},
    {"running": "washer"},
    {"near": ["wearer", "table"]},
    {"near": ["cup", "wearer"]},
    {"in_room": ["wearer", "kitchen"]},
    {"match": {"each": ["cup"], "by": "near", "to": ["wearer"]}},
    {"at_baseline": "table"},
    {"visible": "chair"},
    {"contains": ["cup", "vodka"]},
    {"count": {"that": {"held": {"category": "mug"}}, "at_most": 5}},
    {"happened": {"released": {"object": "cup", "to": "floor"}}},
    {"happened": {"commanded": {"do": "[Put]", "object": "cup", "by": "assistant"}}},
    {"happened": {"commanded": "[PutIn] <cup> <fridge>"}},
    {"happened": {"poured": {"substance": "soy"}}},
    {"happened": {"refused": {"code": "OUT_OF_REACH"}}},
    {"happened": {"wiped": {"object": "table", "with": "any", "during": "open_time"}}},
    {"partition": {"by": "inside", "into": {"box": ["cup"], "bag": [{"category": "apple"}]}, "of": ["apple", "cup"]}},
]


@pytest.mark.parametrize("data", GOOD, ids=[f"{d!r:.50}" for d in GOOD])
def test_a_sound_condition_is_let_through(data: Any) -> None:
    assert check_condition(parse_condition(data), VOCABULARY, "achieve") == []


def test_every_mistake_is_found_in_order() -> None:
    condition = parse_condition({"all": [{"on": ["cupp", "tabel"]}, {"open": "cup"}]})
    findings = check_condition(condition, VOCABULARY, "achieve")
    assert [f.path for f in findings] == [("all", 0, "on", 0), ("all", 0, "on", 1), ("all", 1, "open")]


def test_evidence_does_not_compare_the_handoff_with_itself() -> None:
    condition = parse_condition({"at_baseline": "cup"})
    assert [f.code for f in check_condition(condition, VOCABULARY, "evidence")] == ["G528"]
    assert check_condition(condition, VOCABULARY, "keep") == []


def test_patterns_and_whens() -> None:
    assert [f.code for f in check_pattern(parse_pattern({"opened": "frige"}), VOCABULARY)] == ["G520"]
    assert check_when(parse_when("handoff"), VOCABULARY) == []
    assert [f.code for f in check_when(parse_when({"after": "p7"}), VOCABULARY)] == ["G524"]


# Whole goals

CUP = {"on": ["cup", "table"]}


def findings(
    achieve: list[Any] | None = None, windows: tuple[Any, ...] = (), atoms: tuple[Any, ...] = (), **blocks: Any
) -> list[Finding]:
    evidence = [Named.model_validate(named) for named in blocks.pop("evidence", [])]
    default = [{"id": "a", "that": CUP}]
    goal = Goal.model_validate({"score": "state", "achieve": default if achieve is None else achieve, **blocks})
    names = frozenset(w["id"] for w in windows)
    return check_goal(
        goal,
        evidence,
        [Window.model_validate(w) for w in windows],
        [Atom.model_validate({"capability": "C1"} | a) for a in atoms],
        Vocabulary(VOCABULARY.entities, names, VOCABULARY.steps),
    )


def places(found: list[Finding]) -> list[tuple[str, Any]]:
    return [(f.code, f.path) for f in found]


def test_a_sound_goal_has_no_findings() -> None:
    window = {"id": "w", "opens": {"after": "p1"}, "closes": {"opened": "fridge"}}
    atoms = (
        {"id": "x", "window": "w", "pass": {"said": {"by": "assistant", "during": "w"}}, "wrong": {"moved": "cup"}},
    )
    achieve = [{"id": "a", "that": CUP}, {"id": "b", "that": CUP, "needs": ["a"]}]
    assert (
        findings(achieve, (window,), atoms, keep=[{"id": "k", "that": CUP}], evidence=[{"id": "e", "that": CUP}]) == []
    )


def test_places_in_the_blocks() -> None:
    bad = {"held": "cupp"}
    found = findings(
        [{"id": "a", "that": bad}],
        ({"id": "w", "opens": {"opened": "frige"}, "closes": {"after": "p9"}},),
        (
            {"id": "x", "window": "v", "pass": {"moved": "cupp"}, "wrong": [{"moved": "cup"}, {"moved": "cupp"}]},
            {"id": "y", "opens": {"opened": "frige"}, "pass": {"moved": "cup"}},
        ),
        evidence=[{"id": "e", "that": bad}],
        gates=[{"id": "g", "that": {"never": {"moved": "cupp"}}}],
    )
    assert places(found) == [
        ("G520", ("evidence", 0, "that", "held")),
        ("G520", ("goal", "achieve", 0, "that", "held")),
        ("G520", ("goal", "gates", 0, "that", "never", "moved")),
        ("G520", ("windows", 0, "opens", "opened")),
        ("G524", ("windows", 0, "closes", "after")),
        ("G523", ("atoms", 0, "window")),
        ("G520", ("atoms", 0, "pass", "moved")),
        ("G520", ("atoms", 0, "wrong", 1, "moved")),
        ("G520", ("atoms", 1, "opens", "opened")),
    ]


def test_ids_are_used_once() -> None:
    achieve = [{"id": "a", "that": CUP}, {"id": "b", "that": CUP}]
    found = findings(achieve, keep=[{"id": "a", "that": CUP}], evidence=[{"id": "b", "that": CUP}])
    assert places(found) == [("G530", ("goal", "achieve", 1, "id")), ("G530", ("goal", "keep", 0, "id"))]
    window = {"id": "w", "opens": "handoff"}
    atom = {"id": "x", "window": "w", "pass": {"moved": "cup"}}
    assert places(findings(None, (window, window), (atom, atom))) == [
        ("G530", ("windows", 1, "id")),
        ("G530", ("atoms", 1, "id")),
    ]


def test_needs_are_known_and_go_nowhere_in_a_circle() -> None:
    def needing(**needs: list[str]) -> list[tuple[str, Any]]:
        return places(findings([{"id": key, "that": CUP, "needs": value} for key, value in needs.items()]))

    assert needing(a=[], b=["a"], c=["a", "b"]) == []
    assert needing(a=["z"]) == [("G531", ("goal", "achieve", 0, "needs", 0))]
    assert needing(a=["a"]) == [("G532", ("goal", "achieve", 0, "needs", 0))]
    assert [code for code, _ in needing(a=["b"], b=["c"], c=["a"])] == ["G532"] * 3
    # one that leads into a circle is not itself in it
    assert needing(a=["b"], b=["b"]) == [("G532", ("goal", "achieve", 1, "needs", 0))]


def test_a_goal_achieves_something() -> None:
    assert places(findings([])) == [("G533", ("goal", "achieve"))]


def test_windows_do_not_go_in_a_circle() -> None:
    def window(name: str, inner: str) -> dict[str, Any]:
        return {"id": name, "opens": {"said": {"by": "assistant", "during": inner}}}

    assert places(findings(None, (window("v", "w"), window("w", "v")))) == [
        ("G534", ("windows", 0)),
        ("G534", ("windows", 1)),
    ]
    assert places(findings(None, (window("v", "w"), {"id": "w", "opens": "handoff"}))) == []


def test_every_code_of_names_is_found_by_a_test() -> None:
    goal_codes = {"G528", "G530", "G531", "G532", "G533", "G534"}
    assert {code for _, code, *_ in BAD} | goal_codes == {c for c in GOAL_CODES if "G520" <= c < "G535"}


def test_traits_are_words_of_the_language() -> None:
    with pytest.raises(ValueError, match="unknown trait 'moveable'"):
        Entity("cup", "mug", frozenset({"moveable"}))
    assert {trait for _, traits in ENTITIES.values() for trait in traits.split()} <= TRAITS


def test_a_category_stands_for_its_entities_in_order() -> None:
    target = parse_condition({"held": {"category": "mug"}}).args[0]  # type: ignore[union-attr]
    assert VOCABULARY.candidates(target) == ("cup", "mug_2")  # type: ignore[arg-type]


def test_of_a_name_that_could_not_be_bound_nothing_more_is_said() -> None:
    vocabulary = Vocabulary({"broken": Entity("broken", "broken", TRAITS)})
    assert check_condition(parse_condition({"visible": "broken"}), vocabulary, "keep") == []
