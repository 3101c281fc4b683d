"""Every problem code and its one-line meaning; docs/problem-codes.md shows an example and the mend for each.

A code is stable: once released it keeps its meaning, and a retired code is not used again.
"""

from __future__ import annotations

from typing import Final

from iwkit.goals.codes import GOAL_CODES
from iwkit.grammar import GRAMMAR_CODES
from iwkit.scenes import SCENE_CODES

# --- Y0xx: reading YAML (iwkit.source.reader) ---
_READING: Final = {
    "Y001": "the file cannot be read",
    "Y002": "the file is too large",
    "Y003": "the file is not UTF-8",
    "Y004": "control character",
    "Y005": "invisible character",
    "Y010": "not valid YAML",
    "Y011": "anchor",
    "Y012": "alias",
    "Y013": "tag",
    "Y014": "directive",
    "Y015": "more than one document",
    "Y016": "nested too deep",
    "Y017": "merge key",
    "Y020": "the file is empty",
    "Y021": "the top of the file is not a mapping",
    "Y030": "key that is not text",
    "Y031": "empty key",
    "Y032": "duplicate key",
    "Y040": "ambiguous number",
    "Y041": "ambiguous true, false or null",
    "Y042": "number out of range",
    "Y043": "text cut by '#'",
    "Y044": "entry without a value, often text cut by a comma",
}

# --- S1xx: the schema (iwkit.source.check) ---
_SCHEMA: Final = {
    "S101": "unknown field",
    "S102": "missing field",
    "S103": "value of the wrong kind",
    "S104": "value that is not one of those allowed",
    "S105": "value that the schema refuses",
}

# --- N2xx: names and the frame of a pack (iwkit.compile) ---
_NAMES: Final = {
    "N201": "no such entity",
    "N202": "no such scene",
    "N203": "the scene has no such fixture, room or door",
    "N204": "no such category of objects",
    "N205": "an entity takes the name of another thing of the scene",
    "N206": "an entity is called by a word of the language",
    "N207": "two entities are the same thing of the scene",
    "N208": "an object would support or contain itself",
    "N209": "the wearer starts at what is neither fixture nor room",
    "N210": "a cue names no step of its program",
    "N211": "the file is not called like the pack",
    "N212": "family and source_family do not go together",
    "N213": "a plan outside WATCH, or WATCH without one",
    "N214": "fails names no condition of the goal",
    "N215": "an entity with an index",
    "N216": "two objects begin at the same spot",
    "N217": "a pack lies in the folder of another family",
    "N218": "an event of the pack happens to what it cannot happen to",
    "N219": "an event of the pack waits for what no world can tell",
    "N220": "a variant sets what is not there",
    "N221": "a variant sets a part of the pack that does not vary",
    "N222": "two changes of a pack's variants get in each other's way",
    "N223": "two variants of a pack are alike",
}

# --- A4xx: what commands ask of things, and what happens when they are played (iwkit.compile, iwkit_validators) ---
_ACTIONS: Final = {
    "A401": "an object begins on what has no surface, or inside what has no interior",
    "A402": "a command asks of a thing what its kind cannot do",
    "A403": "a step of the opening is refused",
    "A404": "a step of the plan is refused although nobody interferes",
    "A405": "a command of a script is refused where the wearer should do it",
    "A406": "a line says that the wearer is refused, but nothing is refused",
    "A407": "an object is too big for where it begins",
    "A408": "more begins on or in a thing than there is room for",
    "A409": "a thing begins in a state that its kind cannot have",
    "A410": "a label on a thing with no writing place",
    "A411": "a command for what no hand reaches",
    "A420": "an event of the pack never happens",
}

# --- G55x: the goal at the handoff (iwkit_validators.handoff) ---
_HANDOFF: Final = {
    "G550": "an achieve is true at the handoff already",
    "G551": "a keep is false at the handoff",
    "G552": "a condition is false at the handoff and can never come true",
    "G553": "an evidence condition is false at the handoff",
}

# --- G554 to G561: what a goal, its windows and atoms can show (iwkit_validators) ---
_SHOWN: Final = {
    "G554": "two conditions of the goal exclude each other",
    "G555": "a condition is true whatever happens",
    "G556": "a condition can never be true",
    "G557": "an atom can never be wrong",
    "G558": "an atom can never be passed",
    "G559": "a window or atom never opens, never closes, or is over before the handoff",
    "G560": "a condition is false when the oracle is done",
    "G561": "an atom that the oracle does not pass",
}

# --- I6xx: how the episode is played (iwkit_validators) ---
_INTERACTION: Final = {
    "I601": "a line asks for more commands than the family's human takes at once",
    "I602": "WATCH without a window",
    "I603": "WATCH without an atom for C7 or for C8",
    "I604": "an atom of a capability that the pack does not list",
    "I605": "a capability of the pack without an atom",
    "I606": "done is not the last line of a script, or is missing",
    "I607": "early says nothing",
    "I608": "early gives nothing before its time",
    "I609": "wrong asks for no change that the oracle does not ask for",
    "I610": "the budget of actions is too small for the oracle",
    "I611": "the budget of ticks is too small for the oracle",
    "I612": "the score does not go with the source family",
    "I613": "a capability for which the pack holds nothing",
    "I614": "the contract speaks of a thing that is not there",
    "I620": "spoken or public text holds a name or notation that people do not say",
    "I621": "the wearer or the public text says what the oracle should",
    "I622": "text that is to be read is quoted",
    "I623": "what is to be found is in view at the handoff",
    "I630": "two like things that nobody can tell apart in words, one of which is asked for",
    "I631": "a line speaks of a thing that is not there",
    "I632": "a line leaves open which of several things is meant",
    "I633": "a line speaks of one thing and has the wearer handle another",
    "I634": "the request and the goal are about different things",
    "I640": "two packs have the same id",
    "I641": "two packs have the same guid",
    "I642": "two packs have the same physical part",
    "I643": "two packs mean the same",
}

# --- H8xx: policies of an authored human (iwkit_validators.policy) ---
_POLICIES: Final = {
    "H801": "a policy names no pack that there is",
    "H802": "a policy is for a pack that has problems of its own",
    "H803": "a policy is played on another task than its own",
    "H804": "a policy names no state of its own",
    "H810": "the states of a policy go round",
    "H811": "a state that nothing leads to",
    "H812": "a state that may wait for ever",
    "H813": "a state without a default",
    "H814": "two branches of a state can hold at once",
    "H815": "an end leads on",
    "H816": "a policy follows a plan where the wearer has none",
    "H817": "a branch asks for an event",
    "H818": "a branch asks for what can never be true",
    "H819": "a tuple with too few or too many referents",
    "H820": "a tuple that tells nothing",
    "H821": "a fact that is more than one predicate of named things",
}

# --- L73x: recipes (iwkit.recipes, iwkit_validators.suite) ---
_RECIPES: Final = {
    "L730": "a category has two recipes",
    "L731": "a recipe is for a category that doesn't exist",
}

CODES: Final[dict[str, str]] = {
    **_READING,
    **_SCHEMA,
    **_NAMES,
    **GRAMMAR_CODES,
    **_ACTIONS,
    **GOAL_CODES,
    **_HANDOFF,
    **_SHOWN,
    **_INTERACTION,
    **SCENE_CODES,
    **_RECIPES,
    **_POLICIES,
}
