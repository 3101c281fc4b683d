"""English as tables: what the rules know of the language. No name of any pack, scene or catalogue belongs here."""

from __future__ import annotations

from typing import Final


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --- words ------------------------------------------------------------------------------------------------------------

CONTRACTIONS: Final[dict[str, tuple[str, ...]]] = {
    "don't": ("do", "not"),
    "doesn't": ("does", "not"),
    "didn't": ("did", "not"),
    "can't": ("could", "not"),
    "cannot": ("could", "not"),
    "won't": ("will", "not"),
    "wouldn't": ("would", "not"),
    "couldn't": ("could", "not"),
    "shouldn't": ("should", "not"),
    "mustn't": ("must", "not"),
    "needn't": ("need", "not"),
    "isn't": ("is", "not"),
    "aren't": ("are", "not"),
    "wasn't": ("was", "not"),
    "haven't": ("have", "not"),
    "hasn't": ("has", "not"),
    "let's": ("let", "us"),
    "it's": ("it", "is"),
    "that's": ("that", "is"),
    "there's": ("there", "is"),
    "here's": ("here", "is"),
    "what's": ("what", "is"),
    "where's": ("where", "is"),
    "which's": ("which", "is"),
    "wanna": ("want", "to"),
    "gonna": ("going", "to"),
    "gotta": ("have", "to"),
    "gimme": ("give", "me"),
    "lemme": ("let", "me"),
    "dont": ("do", "not"),
    "pls": ("please",),
    "plz": ("please",),
    "'em": ("them",),
    "oj": ("orange", "juice"),
}

_UNITS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS: Final[dict[str, int]] = {w: n for n, w in enumerate(_UNITS.split())} | {
    w: 10 * n for n, w in enumerate(_TENS.split(), 2)
}

STOPWORDS: Final = _set(
    "a an the of in on at to for from by with and or as is are was be it its your my our his her their this that these "
    "those them you i we one ones some any s what who where when there here"
)
"""Words that tell nothing apart."""

DETERMINERS: Final = _set("a an the this that these those your my our his her its their some any both another each")
INDEFINITE: Final = _set("a an any some either")
PRONOUNS: Final = _set("it that this them these those one")
SIDES: Final = _set("left right")
ANTONYMS: Final[dict[str, str]] = {
    a: b
    for pair in ("left right", "long short", "nearer farther", "upper lower", "top bottom", "front back", "big small")
    for a, b in (pair.split(), pair.split()[::-1])
}
"""A description that says the one contradicts a phrase that says the other."""
COLOURS: Final = _set(
    "red green blue yellow white black grey gray brown orange pink purple violet silver gold golden beige cream "
    "turquoise"
)
VAGUE: Final = _set(
    "matching missing corresponding respective big small little large tiny cold hot warm cool full empty whole "
    "heavy light nice own same correct right proper plastic "
    "metal wooden paper cardboard single lone only remaining current open closed shut tall short long new old "
    "clean dirty "
    "good nearest closest near next just same usual very first last other second third actual whole entire one "
    "item thing "
    "lovely dear still fresh round square flat narrow wide high low loose spare lying standing sitting placed located "
    "sealed half upright nearby middle center"
)
"""Adjectives that may be said of a thing without telling it apart."""
SAME_AS: Final[dict[str, str]] = {
    "centre": "middle",
    "center": "middle",
    "gray": "grey",
    "mid": "middle",
    "central": "middle",
    "upper": "top",
    "uppermost": "top",
    "topmost": "top",
    "highest": "top",
    "lower": "bottom",
    "lowermost": "bottom",
    "lowest": "bottom",
    "bottommost": "bottom",
}
THESAURUS: Final[dict[str, tuple[str, ...]]] = {
    "tin": ("can",),
    "telephone": ("phone",),
    "cell": ("phone",),
    "cellphone": ("phone",),
    "mobile": ("phone",),
    "handset": ("phone",),
    "refrigerator": ("fridge",),
    "icebox": ("fridge",),
    "countertop": ("counter",),
    "worktop": ("counter",),
    "worksurface": ("counter",),
    "cupboard": ("cabinet",),
    "cabinet": ("cupboard",),
    "dresser": ("cabinet",),
    "couch": ("sofa",),
    "settee": ("sofa",),
    "washbasin": ("basin", "sink"),
    "garbage": ("bin",),
    "dustbin": ("bin",),
    "wastebasket": ("bin",),
    "rubbish": ("bin",),
    "cart": ("trolley",),
    "trolley": ("cart",),
    "carafe": ("jug",),
    "flask": ("bottle",),
    "pack": ("packet", "box", "package", "carton"),
    "packet": ("package", "box", "pack"),
    "package": ("packet", "box", "pack"),
    "container": ("box", "carton", "bottle", "package"),
    "drink": ("can", "bottle", "carton"),
    "beverage": ("can", "bottle", "carton"),
    "punnet": ("box",),
    "bill": ("invoice",),
    "tub": ("box",),
    "soda": ("cola",),
    "cola": ("soda",),
    "coke": ("cola", "soda"),
    "workstation": ("desk",),
    "paper": ("sheet",),
    "document": ("folder", "sheet"),
    "leaflet": ("sheet",),
    "smartphone": ("phone",),
    "list": ("sheet",),
    "binder": ("folder",),
    "file": ("folder",),
}
"""Other words for a thing. A thing named by the word itself always comes before one named by these."""

PAPERS: Final = _set(
    "sheet paper page form note list checklist card map plan menu ticket receipt invoice quote bill letter report rule "
    "schedule calendar poster newspaper book folder magazine sign"
)
"""What one reads, and neither cuts nor cooks."""
PARTS: Final = _set("piece bit shard slice fragment remains rest remainder leftover")
"""`the pieces of the glass` are the glass, where nothing is called pieces."""
FURNITURE: Final = _set(
    "table desk counter worktop sideboard dresser cupboard cabinet wardrobe closet locker nightstand shelf bookshelf "
    "bookcase rack stand bench workbench chair armchair stool seat sofa couch bed bathtub bath sink basin toilet stove "
    "chest drawer cooktop hob oven fridge refrigerator freezer microwave dishwasher washer dryer machine bin "
    "television tv "
    "lamp window wall floor door doorway room cart trolley printer whiteboard radiator"
)
"""Heads of the names of what stands where it stands and is not carried about."""
ABSTRACT: Final = _set(
    "errand step task job move part action idea plan goal stage stop problem news way time moment question answer rest "
    "hint tip reminder point mistake reason trouble matter turn"
)
"""Nouns of what is no thing."""
LIDDED: Final = _set("window laptop toilet hatch drawer lid")
"""Heads of the names of what opens though nothing is kept in it that a legend would tell of."""

REWRITES: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    tuple(key.split()): tuple(value.split())
    for keys, value in (
        (
            "out of|out from|off of|from inside|from within|from out of|from off|out from inside|from on|"
            "from the top of",
            "from",
        ),
        ("i mean|i am talking about|meaning|that is to say", ""),
        ("instead of|rather than", "without"),
        ("anything but|anything except|everything but|everything except|anywhere but|anywhere except", "anything not"),
        ("except for|except|excepting|apart from|other than|but not|but no|but neither|neither", "not"),
        ("look behind you|look behind|look back behind you", "turn around"),
        ("on top", "on"),
        (
            "on top of|on to|on the top of|down on|down onto|over on|back on|back onto|back down on|over onto|up on",
            "on",
        ),
        ("back upon|upon|atop|down upon", "on"),
        ("inside of|in to|back in|back into|back inside|down in|down into|over into|right into|straight into", "into"),
        ("next to|close to|nearest to|near to|closest to|right by|beside|alongside|adjacent to|close by", "near"),
        ("in front of|just in front of|opposite|across from|behind|underneath|under|below|above", "near"),
        (
            "over to|back to|up to|across to|along to|through to|on over to|straight to|right to|down to|back over to",
            "to",
        ),
        ("over toward|over towards|towards|toward|back toward|back towards|all the way to|all the way back to", "to"),
        ("back across to|as far as|on to the way to|round to|around to", "to"),
        ("back from|over from|up from|down from|away from", "from"),
        (
            "left hand side|left side|left hand|lefthand|leftmost|left most|furthest to the left|farthest to the "
            "left|far left|furthest left",
            "left",
        ),
        (
            "right hand side|right side|right hand|righthand|rightmost|right most|furthest to the right|farthest "
            "to the right|far right|furthest right",
            "right",
        ),
        (
            "as you face|when you face|if you face|when facing|while facing|as you are facing|when you are facing",
            "facing",
        ),
        ("as you look at|when you look at|if you look at|looking at|when looking at|if you are facing", "facing"),
        ("as you enter|when you enter|as you come into|as you go into|as you walk into|when entering", "facing"),
        ("as you come in|as you go in|as you walk in|as you look towards|facing towards|as seen facing", "facing"),
        (
            "when you look towards|when you look toward|when looking towards|if you look towards|looking towards",
            "facing",
        ),
        ("as you look to|when you look to|looking toward|as you look toward|as you turn to|facing toward", "facing"),
        ("as seen from|seen from|as you stand facing|when you stand facing|standing facing|as you see", "facing"),
        (
            "labelled|labeled|marked|that says|which says|that reads|which reads|saying|reading|titled|called|"
            "showing|bearing|stating|displaying|totalling|totaling|that shows|which shows|that totals",
            "label",
        ),
        ("that comes to|which comes to|that adds up to|coming to|worth", "label"),
        ("that is labelled|that is marked|that is labeled|which is labelled|which is marked|with the label", "label"),
        ("you are holding|you hold|you are carrying|you have in your hand|that you are holding|in your hand", "inhand"),
        ("you have got in your hand|in your hands|in your right hand|you just picked up|you picked up", "inhand"),
        ("you have just picked up|you have picked up|that you just picked up|that you have picked up", "inhand"),
        ("that you picked up|that you have in your hand|which you are holding|you just took|you took", "inhand"),
        ("that you just took|that you took|you have just taken|you have got|you are carrying in your hand", "inhand"),
        ("a couple of|couple of", "2"),
        ("a little|a bit|a tad", "abit"),
        ("that is still|which is still|that is|which is|that are|which are|who is|that was|which was", "rel"),
        ("that sits|that stands|that lies|that you see|which you see|that you will see|that you will find", "rel"),
        ("you see|you will see|you will find there|that you will find there|which stands|which lies|which sits", "rel"),
        ("lying|standing|sitting|resting|located", "rel"),
        ("you opened|you just opened|you have opened|you have just opened|that you opened|that you just opened", "rel"),
        ("you closed|you just closed|you have closed|you have just closed|that you closed|that you just closed", "rel"),
        ("thank you|many thanks", "thanks"),
        ("as well|too", "also"),
        ("right there|right here|over there|down there|up there|in there|over here|just there", "there"),
        ("right now|straight away|right away|at once|for now|for me|if you would|if you please", "now"),
        (
            "if you could|if you do not mind|if you would not mind|if possible|when you are ready|once you are ready",
            "now",
        ),
        ("if you like|when you have a moment|when you get a chance|if you want|if that is ok|if that is okay", "now"),
        ("when you can|as soon as you could|as soon as possible|before you forget|in the meantime|by the way", "now"),
        ("on your way|while you are there|while you are at it|this time|one more time|again|once more", "now"),
        ("when you could|if you could please|would you please|would you kindly|first of all|to start with", "now"),
        ("to begin with|after that|after this|and then|from there|once there|when you get there|when there", "then"),
        ("once you are there|when you are there|once you get there|when you arrive|once you arrive", "then"),
        ("next up|once that is done|when that is done|when you are done|once you are done", "then"),
        ("once done|when done|following that|having done that|with that done|once it is done", "then"),
        ("before that|before this|before anything else|before you do anything else|before anything", "first"),
        ("so that|in order to", "so that"),
        ("of them|of those|of these|of the 2|of the 3|of the 4|of the pair", ""),
        ("with you|along with you|for yourself|yourself|by hand|with your hand|with your free hand", ""),
        ("either of the|any of the", "any"),
    )
    for key in keys.split("|")
}
"""Fixed expressions. A few stand for themselves in the later stages: `facing`, `label`, `inhand`, `rel`, `near`."""

PREPOSITIONS: Final = _set(
    "on onto into in inside within from to at by near with using facing label inhand off for between against over "
    "across "
    "through along around behind where beyond opposite past"
)
PARTICLES: Final = _set(
    "up down out back over away along around off across forward forwards aside together apart straight ahead "
    "round upright"
)
"""Words that go with a verb and name nothing, unless a determiner stands before them."""
ADVERBS: Final = _set(
    "please now then next first also just simply carefully gently slowly quickly finally instead afterwards afterward "
    "lastly last again kindly maybe perhaps quick still already really soon immediately directly go-ahead well "
    "securely "
    "properly neatly safely firmly fully completely all either so therefore only almost nearly even"
)


# --- the grammar of sentences ---------------------------------------------------------------------------------------

SUBORDINATORS: Final = _set(
    "when once after before while if unless until till because since as although though whenever whether so in"
)
SUBJECTS: Final = _set(
    "i you we he she they it there this that these those what who which where how why when the a an your my"
)
FINITE: Final = _set(
    "is are was were am has have had will would should could may might must seems seem looks lies stands sits "
    "contains holds "
    "goes belongs says means does did shows reads comes stays remains needs wants forgot put took got went sounds"
)
HARMLESS: Final = _set(
    "do mind remember note notice imagine listen watch relax enjoy thank let tell say hope trust see beware keep "
    "be think know "
    "continue worry guess sorry welcome congratulations stay breathe focus bear report careful try forget ignore skip"
)
"""Imperatives that ask for nothing that could be carried out."""
SENSES: Final = _set("gaze eye attention glasses camera head look glance view")
LIMBS: Final = _set("hand arm finger palm grip fingertip foot feet body")
"""What is meant by a movement of the eyes, and of the hand."""
WITNESS: Final = _set(
    "come pass meet spot find see notice hear feel be have had know recognise recognize remember reach want like "
    "need recall get spot"
)
"""After `you will` these tell what the wearer will notice, and ask for nothing."""
