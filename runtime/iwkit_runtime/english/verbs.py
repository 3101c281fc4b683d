"""Verbs as tables: what people say -> what is done."""

from __future__ import annotations

import re
from typing import Final


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


VERBS: Final[dict[str, str]] = {
    verb: act
    for act, verbs in {
        "grab": "pick up|pick|grab|fetch|collect|retrieve|lift|lift up|lift out|grasp|snatch|gather|gather up|"
        "seize|remove|extract|"
        "scoop up|take hold of|get hold of|grab hold of|get a hold of|take a hold of|hold|hold up|"
        "help yourself to|pull out|"
        "fish out|pick out|reach for|reach out for|reach over for|reach forward for|reach down for|reach in for|"
        "take out|bring out|take down|get out|grip|catch|clasp|take up|lay hands on|lay your hand on|get your hands on|"
        "go for|dig out|slide out|draw out|recover|reclaim|nab|haul out",
        "fetch": "take|get|bring|carry|move|return|transfer|deliver|shift|transport|relocate|ferry|haul|"
        "bring back|take back|"
        "take along|carry back|convey|bring over|take over|get back|carry over|move back",
        "put": "put|place|set|lay|rest|pop|leave|stick|slide|slip|tuck|stash|stow|store|deposit|dump|toss|throw|"
        "position|"
        "park|insert|load|drop off|put down|set down|lay down|put back|put away|place back|hang|stack|pile|plonk|"
        "balance|drop back|chuck|file|plop|restore|ease|lower|rehome|replace|shove|settle|nestle|pack|"
        "transfer over|set back|serve|add|get rid of|dispose of|throw away",
        "open": "open|open up|unlock|uncover|pull open|swing open|slide open|push open|reopen|crack open",
        "close": "close|shut|close up|shut up|reclose|pull shut|push shut|swing shut|push closed|slam|pull closed|"
        "pull to|"
        "close off|shut down tight|seal|swing closed|slide shut",
        "walk": "go|walk|head|proceed|navigate|stroll|wander|march|hurry|run|rush|make your way|find your way|nip|dash|"
        "approach|visit|go back|come back|come|step|go over|walk over|walk back|head back|head over|pop over|"
        "travel|enter|double back|turn back|get back over|stop by|pop back|make a trip|go along|go across|cross over|"
        "walk up|go up|return yourself|move along|move on|move over|retrace your steps|back up|swing by|continue on|"
        "backtrack|trot|pop along|nip back|step over|step up|cross|take yourself|stop at|stop near|stop by|"
        "stand by|stand at|stand near|get yourself|end up at|position yourself",
        "forward": "go forward|walk forward|move forward|step forward|go straight|walk straight|go ahead|walk ahead|"
        "go straight ahead|walk straight ahead|go straight on|walk straight on|move ahead|go forwards|walk forwards",
        "left": "turn left|turn to the left|turn to your left|rotate left|swing left|turn left around|"
        "turn yourself left",
        "right": "turn right|turn to the right|turn to your right|rotate right|swing right|turn yourself right",
        "about": "turn around|turn round|turn about|face the other way|turn yourself around|spin around|"
        "turn right around|"
        "turn back around|turn all the way around|look behind|look behind you",
        "look": "look|check|inspect|examine|read|view|study|glance|peek|peer|face|take a look|have a look|"
        "look over|look again|"
        "check out|check on|look closely|turn towards|turn to face|have a glance|take a glance|cast an eye|have a read|"
        "scan|survey|take a peek|have a peek|look up|look down|consult|observe|watch|look back|point your camera|"
        "get a look|read through|read over|take a good look|have a good look|take a closer look|have a closer "
        "look|have a close look|take a close look|"
        "take another look|have another look|look through|peruse|stare|gaze|direct your gaze|point your head|"
        "aim your camera|look straight|look directly|turn your head|take a quick look|have a quick look|show me|"
        "let me see",
        "around": "look around|look round|look about|take a look around|have a look around|have a look round|"
        "scan around|"
        "look all around|glance around|scan the room|look around you|take a look round|look around the room|"
        "survey the room",
        "on": "turn on|switch on|power on|start|activate|start up|power up|fire up|put on to run|run the|flip on",
        "off": "turn off|switch off|power off|shut off|shut down|deactivate|power down|flip off|switch down",
        "turn": "turn|switch|flip|rotate|toggle|spin|flick",
        "over": "turn over|flip over|upend|overturn|invert",
        "sit": "sit|sit down|take a seat|have a seat|be seated|seat yourself|sit back down",
        "stand": "stand up|get up|rise|stand|stand back up|get to your feet|get back up",
        "squat": "squat|squat down|crouch|crouch down|kneel|kneel down",
        "wait": "wait|pause|hang around|stay put|wait here|hold still|stand still|keep still|stay still|remain still",
        "wipe": "wipe|clean|wipe down|wipe off|scrub|rub|mop|mop up|wipe up|dust|wipe over|wipe clean|dry|"
        "clean up|polish",
        "cut": "cut|slice|chop|cut up|carve|chop up|saw through|cut through|slice up|halve|dice",
        "stir": "stir|mix|stir up|blend|whisk",
        "pour": "pour|pour out|tip|empty|pour over",
        "push": "push|wheel|roll",
        "pull": "pull|drag|tow|tug",
        "drop": "drop|release|let go of|let go|let go off",
        "detach": "detach|disconnect|unplug|disassemble|unscrew|take apart",
        "attach": "attach|connect|assemble|install|plug|screw|mount|fasten|fix",
        "raise": "raise|erect|stand upright|straighten up|set upright|put upright",
        "cook": "cook|fry|bake|roast|grill|boil|heat|heat up|warm up|saute",
        "type": "use the computer|type|type on|log in|log on|log into|log on to|work on",
        "phone": "answer|take the call|pick up the call|get the phone call",
        "confirm": "confirm",
        "use": "use",
        "press": "press|push the button|hit|tap",
        "find": "find|look for|search for|search|locate|hunt for|go find|go and find|track down|seek|seek out|spot",
        "sure": "make sure|see to it|ensure|check that|make certain|see that|be certain|be sure|double check",
        "idle": "reach|reach out|reach forward|reach in|reach down|reach over|reach into|reach up|lean|"
        "lean forward|lean over|"
        "lean in|bend|bend down|bend over|stretch|extend|extend your arm|stretch out|stoop|stoop down|"
        "open your hand|keep holding|hold on to|hold onto|keep hold of|keep going|carry on|continue|keep walking|"
        "stay|let me know|tell me|report back|report|say|go easy|take care|take it easy|take your time|take note|"
        "keep in mind|"
        "choose|select|opt for|go with|watch out|come on|go on|start with|begin with|start off with|begin|"
        "start out with|continue with|go on with|follow me|get ready|get going|get set|bear in mind|hold tight|"
        "put your hand|feel|feel for|"
        "leave it at that|do it|do that|do so|do this|get started|begin|move your hand|use your hand|give it|"
        "use your free hand|"
        "use your other hand|take the next step|use your left hand|stretch out your hand|go easy on|take a step back|"
        "put out your hand|hold out your hand|keep|stop|call me|give me a shout|give me a sign|shout|ping me|"
        "come to me|remember|"
        "note|mind|see|hear|be|listen|relax|guess|imagine|thank|trust|finish|do not worry|focus|forget|ignore|"
        "skip|get it over",
    }.items()
    for verb in verbs.split("|")
}
"""Verb (base form, with a particle that follows at once) -> what is done."""

SPLIT: Final[dict[tuple[str, str], str]] = {
    ("turn", "on"): "on",
    ("turn", "off"): "off",
    ("turn", "over"): "over",
    ("turn", "around"): "over",
    ("switch", "on"): "on",
    ("switch", "off"): "off",
    ("flip", "over"): "over",
    ("flip", "on"): "on",
    ("flip", "off"): "off",
    ("flick", "on"): "on",
    ("flick", "off"): "off",
    ("power", "off"): "off",
    ("power", "on"): "on",
    ("shut", "off"): "off",
    ("shut", "down"): "off",
    ("put", "on"): "on",
    ("pull", "out"): "grab",
    ("pull", "open"): "open",
    ("push", "open"): "open",
    ("slide", "open"): "open",
    ("swing", "open"): "open",
    ("get", "open"): "open",
    ("slide", "out"): "grab",
    ("push", "shut"): "close",
    ("push", "closed"): "close",
    ("push", "to"): "close",
    ("pull", "shut"): "close",
    ("pull", "closed"): "close",
    ("swing", "shut"): "close",
    ("swing", "closed"): "close",
    ("slide", "shut"): "close",
    ("slide", "closed"): "close",
    ("get", "closed"): "close",
    ("get", "shut"): "close",
    ("have", "closed"): "close",
    ("make sure", "closed"): "close",
    ("make sure", "shut"): "close",
    ("stand", "upright"): "raise",
}
"""Verb and a word that comes after its object -> what is done then."""

STATES: Final[dict[str, str]] = {
    "closed": "close",
    "shut": "close",
    "open": "open",
    "opened": "open",
    "on": "on",
    "off": "off",
}
"""`make sure that it is ...` and the like -> what is done."""

INTRANSITIVE: Final = _set(
    "walk forward left right about around sit stand squat wait idle look confirm type stop drop turn find"
)
"""Acts whose verb may stand without an object."""
AMBIGUOUS_PAST: Final = _set("put set cut let leave left hit shut hold read set run put come")
"""Verbs whose past looks like their base form: `you put` tells what happened."""

_IRREGULAR: Final = {
    "taking": "take",
    "taken": "take",
    "got": "get",
    "gotten": "get",
    "brought": "bring",
    "held": "hold",
    "left": "leave",
    "laid": "lay",
    "hung": "hang",
    "thrown": "throw",
    "found": "find",
    "gone": "go",
    "shut": "shut",
    "put": "put",
    "set": "set",
    "cut": "cut",
    "read": "read",
    "stood": "stand",
    "sat": "sit",
    "lying": "lie",
    "swung": "swing",
    "stuck": "stick",
    "slid": "slide",
    "carried": "carry",
    "emptied": "empty",
    "tidied": "tidy",
    "run": "run",
    "went": "go",
    "took": "take",
    "stepped": "step",
    "dried": "dry",
}


def _forms() -> tuple[dict[str, str], dict[str, str]]:
    """Gerund -> base and participle -> base of the first word of every verb."""
    gerunds: dict[str, str] = {}
    participles: dict[str, str] = {}
    for base in sorted({verb.split()[0] for verb in VERBS}):
        stem = base[:-1] if base.endswith("e") and not base.endswith("ee") else base
        double = base + base[-1] if re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", base) else base
        gerunds[stem + "ing"] = base
        gerunds[double + "ing"] = base
        participles[stem + "ed"] = base
        participles[double + "ed"] = base
    for form, base in _IRREGULAR.items():
        (gerunds if form.endswith("ing") else participles)[form] = base
    return gerunds, participles


GERUNDS, PARTICIPLES = _forms()
