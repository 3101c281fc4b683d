"""The codes of what can be wrong with a goal, its evidence, windows and atoms. Codes are stable: never reuse one."""

from __future__ import annotations

GOAL_CODES: dict[str, str] = {
    "G501": "a condition, event pattern or `when` is not a mapping with one key",
    "G502": "a condition names no operator and no predicate of the language",
    "G503": "an event pattern names no kind of event",
    "G504": "a part of an operator or pattern has an unknown name",
    "G505": "an operator or predicate has the wrong number or form of arguments",
    "G506": "a target, name or word is not written as one",
    "G507": "`any` stands outside an event pattern",
    "G508": "a list is empty or too short",
    "G509": "a list names the same thing twice",
    "G510": "an operator lacks a part that it needs, or has two that exclude each other",
    "G511": "a count is not a whole number from 0 up",
    "G512": "`count` needs a state that has a target with several candidates",
    "G513": "an operator over events stands in `until` or `becomes`, which take states only",
    "G514": "conditions are nested too deeply",
    "G520": "a name is no entity of the pack",
    "G521": "a category has no entity in the pack",
    "G522": "an entity cannot take this place in a predicate or event",
    "G523": "a window is unknown",
    "G524": "a step is unknown",
    "G525": "a role does not admit this word",
    "G526": "a command in a pattern is not in the grammar",
    "G527": "a matching can never come out: the numbers or names do not fit",
    "G528": "a condition is always true where it stands",
    "G529": "a room or door is said to be in view, as it never is",
    "G530": "an id is used twice",
    "G531": "`needs` names no condition of `achieve`",
    "G532": "`needs` goes round in a circle",
    "G533": "the goal has nothing to achieve",
    "G534": "a window depends on itself",
    "G535": "an atom must have either `window` or `opens`, and `closes` only with `opens`",
    "G540": "a hand-written trace is not in the form of iwkit.goals.tracebook",
}
"""Code -> meaning."""
