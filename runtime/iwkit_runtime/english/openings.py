"""How clauses begin: acknowledgements, interruptions, polite and indirect forms, negations, as patterns."""

from __future__ import annotations

import re
from typing import Final

ACKNOWLEDGEMENTS: Final = re.compile(
    r"(?:oh no|oh dear|ok|okay|okey|good|great|perfect|nice|thanks|lovely|wonderful|excellent|brilliant|super|"
    r"fine|fantastic|awesome|cool|"
    r"alright|all right|right|sure|yes|yeah|yep|yup|well done|good job|great job|nice job|nice work|good work|"
    r"great work|"
    r"that is it|that is right|that is great|that is good|that is perfect|exactly|correct|got it|hmm|um|uh|oh|ah|hey|"
    r"hi|hello|well|sorry|excuse me|so|careful|be careful|there you go|here we go|very good|very nice|"
    r"almost there|now|then|"
    r"no problem|not bad|super|listen|look here|attention|heads up|oops|whoops|oh no|hang in there|bravo|"
    r"(?:step|part|number|errand|task|stage|item|job) (?:one|\d+)|alrighty|terrific|splendid|that will do|"
    r"you are doing great|you are doing well)(?= |$)"
)
HALTS: Final = re.compile(
    r"(?:stop(?: right there| there| it)?|wait(?: a (?:second|minute|moment|sec))?|hold on(?: a (?:second|minute|"
    r"moment|sec))?|"
    r"hang on(?: a (?:second|minute|moment|sec))?|hold it|halt|no|nope|just a (?:second|minute|moment)|one moment|"
    r"never mind|forget it|forget that|cancel that|not that one|not that|wrong one)(?= |$)"
)
"""What interrupts: the newest utterance stands, what was under way before it does not."""

_ADV = (
    r"(?: (?:please|kindly|just|now|then|also|maybe|perhaps|possibly|quickly|next|first|simply|really|still|carefully|"
    r"gently|probably|actually|only|always|finally|instead))*"
)
_YOU = r"(?:you|we)"
_LOOK = r"(?! an?(?:other)? (?:\w+ )?(?:look|peek|glance|read|seat)\b)"
"""`you have a look` is no perfect."""
DIRECTIVES: Final = tuple(
    re.compile(rf"(?:{pattern}){_ADV} ")
    for pattern in (
        rf"please do|(?:could|would|will|might) {_YOU}(?:{_ADV} (?:be so kind as to|be able to|try to|"
        "go ahead and|help me))?",
        rf"(?:now |then |next |and |so )?(?:you|we)(?: also| still| just| really| now| then| first| next|"
        r" only)*(?: will| would| should| must| may| might| could| had better| are| have{_LOOK}|"
        r" need| want| ought| can| better| do)(?: also| just| now| then| still| only| first| probably| really| next)*"
        rf"(?: need| want| have{_LOOK}| like| wish| got| going| supposed| meant| ready| free| able| best| better|"
        r" do well)?(?: to)?",
        r"(?:i|we)(?: would| will| really| just)*(?: like| want| need| love| prefer| ask| advise| recommend| tell)"
        r"(?: it if| for)? you(?: to| could| would)?",
        r"i would(?: suggest| recommend| advise| say)?(?: that)?(?: you| we)?(?: should| to)?|i (?:suggest|"
        r"recommend|advise|"
        r"propose|think|say|believe|guess)(?: that)? (?:you|we)(?: should| could| can| need to| had better| ought to)?",
        r"it would(?: really| also| certainly)? (?:help|be (?:good|great|nice|best|useful|helpful|ideal|lovely|"
        r"better|a help))(?: me| us)?"
        r"(?: a lot)? if you(?: could| would)?",
        r"let us|shall we|should we|let me ask you to|i need you to|i want you to|i will need you to|i will ask you to",
        r"go ahead and|feel free to|be sure to|be sure and|make sure to|make sure(?: that)? (?:you|we)|remember to|"
        r"(?:please )?do not forget to|try to|try and|do not hesitate to|be so kind as to|be kind enough to|"
        r"kindly|take care to",
        r"(?:it is |now is the |this is the )?time(?: for you)? to|why do not (?:you|we)|why not|better to|better|"
        r"best to",
        r"(?:the|your|our)(?: \w+){1,5}? (?:is|will be|would be)(?: now| then| simply| just| for you)* to(?! be )|"
        r"(?:the|your|our) (?:next|first|last|final|only) (?:thing|step|errand|job|task|move)(?: to do| for you|"
        r" now)* is",
        r"(?:all|what)(?: that)? (?:you|we)(?: need to| have to| should| want to| could| must)?(?: do| need| want)?"
        r"(?: now| next| then| first)? is(?: to)?|all that is left(?: now)? is to|all that remains is to|"
        r"what remains is to",
        r"it (?:is|would be|will be|might be)(?: now)?(?: the)? (?:best|better|good|great|nice|a good idea|"
        r"helpful|wise|safe|"
        r"necessary|important)(?: if you| for you)?(?: could| would| can)?(?: to)?|your (?:job|task|"
        r"turn) (?:now )?is to",
        r"if you (?:could|would|will|can)|you are (?:now )?(?:ready|free|good|clear|welcome|able) to|time now to|do",
        r"and|but|please|to|have a go at|i am going to ask you to|i would be glad if you could|there is a need to",
    )
)
"""Polite and indirect beginnings; an imperative follows."""
GERUND_DIRECTIVES: Final = tuple(
    re.compile(rf"(?:{pattern}){_ADV} ")
    for pattern in (
        r"(?:all|what|the only thing)(?: that)? (?:is left|remains|is missing)(?: now| to do)? is",
        r"(?:the|your|our)(?: \w+){0,2} (?:step|thing|job|task|errand|move|part|action|idea|plan|goal|stage)"
        r"(?: now| left| to do)* is",
        r"how about|what about|(?:would|do) you mind|(?:start|begin|continue|finish|end|go on|carry on|"
        r"proceed)(?: off| out| up)?"
        r" (?:by|with)|i (?:would )?(?:suggest|recommend|advise|propose)|try|keep|by|(?:your|the) (?:next|first|last) "
        r"(?:step|thing|job|task|errand) is|it is worth|consider|you can (?:start|begin) by|after",
    )
)
NEGATIONS: Final = tuple(
    re.compile(rf"(?:{pattern})(?: ever| yet| even| just| please| accidentally| go and| try to| start)* ")
    for pattern in (
        r"(?:please )?(?:do|must|should|could|would|will|need|may|might)? ?not(?: need to| have to| want to| forget)?",
        r"(?:you|we|i would|i|it)(?: really| just)? (?:do|must|should|could|would|will|need|may|might|had better|"
        r"are|is)"
        r" (?:not|never)(?: need to| have to| want to| going to| supposed to| to)?",
        r"never|no need to|there is no need to|(?:be careful|take care|try|make sure|mind|remember) not to|"
        r"nobody should",
        r"without|avoid|no|refrain from|stop|quit|hold off(?: on)?|keep off|(?:keep|stay) away from|steer clear of|"
        r"do without|leave out",
    )
)
"""What follows is not to be done."""
REMINDERS: Final = re.compile(
    r"(?:please )?do not forget (?!to )|remember (?!to )|mind (?!not )|what about (?!\w+ing )"
)
"""These only speak of something."""
NOT_NEGATIONS: Final = re.compile(r"(?:please )?do not (?:forget|hesitate) to |why do not you |why not ")
