"""Roundabout forms that say the same as a plain one: `fill the glass with it` is `pour it into the glass`.

The forms are patterns over the plain words of a sentence. What they become is read by the other rules.
"""

from __future__ import annotations

import re
from typing import Final

from iwkit_runtime.english.verbs import PARTICIPLES
from iwkit_runtime.english.words import Sentence

_DET: Final = r"(?:the|a|an|your|my|our|this|that|those|these)"
_THING: Final = rf"{_DET} (?:(?!to\b|and\b|,)\S+ )*?\S+"
_STATE: Final = (
    r"(?P<state>(?:switched |turned |powered )?(?:on|off)|open(?:ed)?|closed|shut|running(?= now| please|$))"
)
_GOOD: Final = (
    r"(?:good|great|nice|lovely|best|better|wise|useful|helpful|ideal|perfect|fine|wonderful|kind|smart|handy|safer|"
    r"a good idea|a great help|a help|of help)"
)
_SOFT: Final = r"(?: (?:really|also|certainly|probably|maybe|perhaps|just|now|then|rather|so|very|much))*"
_END: Final = r"(?P<end>(?: (?:now|please|first|again|also|then))*)$"


def _shared_verb(found: re.Match[str]) -> str:
    """`put the blue mug in the sink, the red one in the cupboard`: the second has a verb of its own."""
    second = found["second"].split()
    if second[-1] != found["noun"] and found[0].split(found["second"], 1)[1].startswith(" one "):
        second.append(found["noun"])
    again = f"{found['verb']} {' '.join(second)} {found['again']} {found['other']}"
    return f"{found['verb']} {found['first']} {found['prep']} {found['place']}, {again}"


_FORMS: Final = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        # who asks, and how: what follows is an imperative
        (
            r"^(?P<lead>(?:.*, )?)(?:may|might|could|can) (?:i|we)(?: please| kindly)? (?:ask|bother|trouble) you to ",
            r"\g<lead>please ",
        ),
        (
            r"^(?P<lead>(?:.*, )?)(?:would|could|will) you(?: please)? be (?:so|very|kind|good|nice)(?: kind| "
            r"good| nice)?"
            r"(?: enough| as| a dear)?(?: to| and) ",
            r"\g<lead>please ",
        ),
        (r"\bbe (?:so (?:kind|good|nice)|a dear|a darling|kind enough)(?: as)? (?:to|and) ", "please "),
        (r"\bdo (?:me|us) (?:a|the) (?:favou?r|kindness) and ", "please "),
        (r"^(?P<lead>.*)\bdo (?:me|us) (?:a|the) (?:favou?r|kindness) of ", r"how about "),
        (r"^(?:would|could|is) it (?:be )?(?:possible|all right|okay|ok)(?: for you)? to ", "please "),
        (r"^(?:will|would|could) not you ", "could you "),
        (rf"^(?P<lead>(?:.*, )?)i would{_SOFT} have you ", r"\g<lead>please "),
        (r"^i wonder(?:ed)? (?:if|whether) you (?:could|would|might) ", "please "),
        (r"^i am wondering (?:if|whether) you (?:could|would|might) ", "please "),
        (r"^your (?:next|first|last|only) (?:stop|destination|goal) (?:now )?is ", "go to "),
        (r",? (?:i would say|i would think|i think|i suppose|i guess|i believe|if you ask me|i should think)$", ""),
        (r"^(?:i|we) (?:think|believe|guess|suppose|reckon|feel|find)(?: that)? (?=the |your |it )", ""),
        # what state something should be in
        (
            rf"^(?:.*, )?(?:it|that) would{_SOFT} (?:help|be {_GOOD})(?: a lot| abit| for (?:me|us))? if "
            rf"(?P<thing>{_THING})"
            rf" (?:was|were|is|got|gets|could be|stood|stands) {_STATE}{_END}",
            r"make sure \g<thing> is \g<state>\g<end>",
        ),
        (
            rf"^(?:.*, )?(?:it|that) would{_SOFT} (?:help|be {_GOOD})(?: a lot| abit| for (?:me|us))? to have"
            rf" (?P<thing>{_THING}) {_STATE}{_END}",
            r"make sure \g<thing> is \g<state>\g<end>",
        ),
        (
            rf"^(?:(?:could|can|may) (?:i|we)|(?:i|we)(?: would| will| really)*) (?:like|need|want|prefer|have|"
            r"get)(?: to have)?"
            rf" (?P<thing>{_THING}) {_STATE}{_END}",
            r"make sure \g<thing> is \g<state>\g<end>",
        ),
        (
            rf"^(?:.*, )?(?:so )?(?P<thing>{_THING})(?: really| also| now)* (?:could|would) do with (?:being|"
            r"having been|getting)"
            rf" {_STATE}{_END}",
            r"make sure \g<thing> is \g<state>\g<end>",
        ),
        (
            rf"^(?P<thing>{_THING}|it|that)(?: really| also| now)* (?:should|must|ought to|needs to|has to|had better)"
            rf"{_SOFT} (?:be|stay|get) {_STATE}{_END}",
            r"make sure \g<thing> is \g<state>\g<end>",
        ),
        # where something should be
        (
            rf"^(?:i|we)(?: would| will| really)* (?:like|need|want|prefer)(?: to have)? (?P<thing>{_THING})"
            r" (?P<where>(?:on|in|into|inside|onto) (?:the|your|that|this) .+)$",
            r"put \g<thing> \g<where>",
        ),
        (
            rf"^let us have (?P<thing>{_THING}) (?P<where>(?:on|in|into|inside|onto) (?:the|your|that|this) .+)$",
            r"put \g<thing> \g<where>",
        ),
        (
            rf"^(?P<thing>{_THING}|it|that)(?: really| also| now)* (?:would|might) be{_SOFT} (?:better|best)(?: "
            r"off| placed| kept)?"
            r" (?P<where>(?:on|in|into|inside|onto) .+)$",
            r"put \g<thing> \g<where>",
        ),
        (
            rf"^(?P<thing>{_THING}|it|that)(?: really| also| now)* (?:needs?|has|have|wants?) to (?:end up|end|"
            r"be|get|land|come|go)"
            r"(?: back)? (?P<where>(?:on|in|into|inside|onto) .+)$",
            r"put \g<thing> \g<where>",
        ),
        (
            rf"^(?P<thing>{_THING}|it|that)(?: really| also| now)* (?:had|would) better (?:be|go)(?: back)?"
            r" (?P<where>(?:on|in|into|inside|onto) .+)$",
            r"put \g<thing> \g<where>",
        ),
        (
            rf"^(?P<thing>{_THING}|it|that) (?:is|are)(?: now| also)* (?:needed|wanted|required)"
            r" (?P<where>(?:on|in|inside) .+)$",
            r"put \g<thing> \g<where>",
        ),
        # who does what to oneself
        (
            r"^(?:i|we) would(?: really| very much| certainly)* (?:appreciate|love|be (?:grateful|glad|happy|"
            r"delighted|thankful"
            r"|obliged|pleased))(?: it)? if you(?: could| would)? ",
            "please PAST ",
        ),
        (r"^(?:it|that) would(?: really| also)* (?:help|be \w+)(?: me| us)?(?: a lot)? if you ", "please PAST "),
        (r"^the (?P<kind>\w+) (?:that )?you (?:want|need)(?: now)? is (?P<which>the .+)$", r"take \g<which>"),
        (
            rf"^(?P<thing>{_THING}|it|that)(?: also| now)* (?:can|could|may) go(?: back)? (?P<where>(?:on|in|"
            r"into|inside|onto) .+)$",
            r"put \g<thing> \g<where>",
        ),
        (r"\bturn (?:your (?:whole )?body|yourself)\b", "turn"),
        (r"\bwithout (?:any )?(?!\w+ing\b)(?=\w+(?: ,|,|$))", "not "),
        (
            r"^(?P<lead>(?:please |now |then )*)(?P<verb>(?!do|does|is|are|was|were|could|should|would|must|need|"
            r"will|may|might|"
            r"just|only|but|and|or|why|if|also|rather|maybe|better|it|you|i|we|that|this|please|now|then)\w+) not"
            r" (?P<what>(?:the|a|any|your|of) .+)$",
            r"\g<lead>do not \g<verb> \g<what>",
        ),
        (
            r"\b(?P<verb>put|place|set|lay|bring|hang) (?P<first>the (?:\w+ )*?(?P<noun>\w+)) (?P<prep>in|on|"
            r"into|onto) (?P<place>(?:the|your) [\w ]+?)"
            r"(?:, and|,| and) (?P<second>the [\w ]+?)(?: one)? (?P<again>in|on|into|onto) (?P<other>(?:the|"
            r"your) [\w ]+)$",
            _shared_verb,
        ),
        (
            r",? (?:say|about|roughly|around|approximately|maybe|perhaps|some),?(?= \d+ ?(?:deg|m\b|met|step|"
            r"pace|sec|min))",
            "",
        ),
        # what is done, said by what it is for
        (
            rf"\b(?:fill|water|top up)(?: up)? (?P<thing>{_THING}|it)(?: up)? (?:with|from|using) (?P<with>.+)$",
            r"pour \g<with> into \g<thing>",
        ),
        (
            rf"\bgive (?P<thing>{_THING}|it|that) (?:a|another) (?:quick |good |thorough )?(?P<act>wipe|clean|"
            r"rub|dust|polish|stir)\b",
            r"\g<act> \g<thing>",
        ),
        (
            rf"^(?P<lead>(?:please |now |then |and |so |just )*)(?:bin|trash) (?P<thing>it|that|this|{_THING})$",
            r"\g<lead>put \g<thing> in the bin",
        ),
        (rf"\blet (?P<thing>it|that|{_THING}) go$", r"let go of \g<thing>"),
        (r" (?:(?:more|very|really|quite|abit) )?(?:closely|closer|carefully)(?: now| please)*$", ""),
        # what is written on something
        (
            rf"\b(?:the |its |that )?(?:label|text|writing|print|inscription|lettering) (?:of|on)(?= (?:{_DET} |it$))",
            "",
        ),
        (
            r"\b(?:see|check|read|look at|find out|tell me) what (?:it says|is (?:written|printed|said|standing)|"
            r"stands|there is)?"
            r" ?on (?=the|your|that|it)",
            "read ",
        ),
        (
            r"\b(?P<act>take|grab|get|pick up|hold|fetch) (?:what|whatever) (?:says|reads|label)\b",
            r"\g<act> the one label",
        ),
        (r"\b(?:on which it|on which there|where it) (?:says|is written|reads|is)\b", "label"),
        (r"\b(?:that|which) (?:has|weighs|holds|contains)(?: got)?(?= (?!to\b|been\b|just\b)\w)", "with"),
        (r"\bthe (?P<thing>(?!turn|look)\w+) about (?=\w)", r"the \g<thing> label "),
        (r"\b(?:that|which) (?:does|do) not (?:say|read|show|have|contain|hold)\b", "not"),
        (r"\b(?:that|which) (?:has|have) not(?: got)?(?= (?!been\b)\w+)", "not"),
        (r"\bthe (?:thing|item|object)(?= (?:label|with|rel|on|in|near)\b)", "the one"),
        (r"\b(?:that|this) (?:thing|item|object)\b", "it"),
    )
)


def rephrased(sentence: Sentence) -> Sentence:
    """The sentence in the plain form; the same sentence where it has one already."""
    text = " ".join(sentence.tokens).replace(" ,", ",")
    plain = text
    for pattern, form in _FORMS:
        plain = pattern.sub(form, plain)
    if plain == text:
        return sentence
    plain = (
        re.sub(r"\b(?:switched|turned|powered) (on|off)\b", r"\1", plain) if plain.startswith("make sure") else plain
    )
    tokens = tuple(plain.replace(",", " ,").split())
    asks = sentence.question and not plain.startswith(("please", "could you", "make sure"))
    return Sentence(_present(tokens), asks)


def _present(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """`please PAST opened the drawer`: the verb in its base form."""
    if "PAST" not in tokens:
        return tokens
    at = tokens.index("PAST")
    verb = tokens[at + 1 : at + 2]
    return (*tokens[:at], *(PARTICIPLES.get(v, v) for v in verb), *tokens[at + 2 :])
