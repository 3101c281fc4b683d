"""Paraphrases of the packs' oracle lines lead the rules human to the commands that the packs expect.

Each is spoken in the state before its line, which the preceding lines and the scripted human have brought about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import pytest
import yaml

from iwkit import resources
from iwkit.compile import CompiledTask, load_task
from iwkit.grammar import Command, parse
from iwkit.library import Library
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.agents.rules import RulesHuman
from iwkit_runtime.agents.scripted import ScriptedAssistant, ScriptedHuman
from iwkit_runtime.loop.episode import Episode

PACKS = {path.stem: path for path in sorted(resources.root("taskpacks").glob("*/*.yaml"))}
DATA = yaml.safe_load((resources.root("taskpacks").parent / "tests" / "data" / "paraphrases.yaml").read_text("utf-8"))
PARAPHRASES = [
    (pack, item["line"] - 1, say)
    for pack, items in DATA["paraphrases"].items()
    for item in items
    for say in item["say"]
]
FURTHER: dict[tuple[str, int], tuple[str, ...]] = {
    ("A1", 0): (
        "Your juice is the middle one. Go on and pick that up.",
        "Reach straight ahead for the carton.",
        "The one right before you is the orange juice; it's a carton. Take it.",
        "Pick up the juice carton that's directly in front of you.",
        "Between the can and the bottle there is a carton of orange juice. Please take hold of it.",
        "Slide your hand forward until you feel a carton. That carton holds the orange juice, so lift it.",
        "Grab the orange juice carton, don't touch the can.",
        "OK so there's a carton in the middle. That's your orange juice. Could you pick it up for me?",
        "I see it: the orange juice. Please pick it up with your right hand.",
        "Move your hand forward, there's a carton right there. That's your juice, so please pick it up.",
        "You want the carton, the middle of the three. Pick it up please.",
        "Okay! The drink in the center is the orange juice. Would you grab it?",
        "Pick up the orange juice. It's the carton straight ahead.",
        "I can see a can, a carton and a bottle. The carton is the orange juice. Please lift it up.",
        "Your orange juice comes in a carton. It stands straight ahead of you. Take it in your hand.",
        "Leave the can and the bottle alone and take the carton.",
        "Go for the orange juice carton in the middle.",
        "Please extend your arm forward and grasp the carton of orange juice.",
    ),
    ("A1", 1): (
        "Now turn around and take a few steps; the breakfast table is there. Set the juice on it.",
        "Great. Please carry the orange juice over to the breakfast table and set it down.",
        "Bring that carton to the breakfast table.",
        "Turn around, walk to the breakfast table, and put the orange juice down on it.",
        "You have the juice. Next, the breakfast table is behind you. Place it there.",
        "Put it on the breakfast table, which is right behind you.",
        "Lovely! Now the orange juice has to go on the breakfast table.",
        "With the carton in your hand, turn around and walk to the breakfast table, then put it down.",
        "Move the juice to the breakfast table behind you please.",
        "The breakfast table is two meters behind you. Could you put the carton on top of it?",
        "You're holding the juice now. Please turn around and place it on the breakfast table.",
        "All good. Now let's bring it to the breakfast table behind you and put it down.",
        "Time to set it on the breakfast table behind you.",
        "You can now put the juice on the breakfast table.",
        "Step over to the breakfast table and lower the carton onto it.",
        "The last step is to put the orange juice on the breakfast table.",
        "Now you need to walk to the breakfast table, it's behind you. Once you're there, set the carton down on it.",
    ),
    ("D5", 0): (
        "First, read the price sheet lying on the packing table.",
        "I need to see the prices. Please look at the price sheet on the packing table.",
        "Turn back to the packing table and look at the price list there.",
        "Could you hold your gaze on the price sheet on the packing table?",
        "Let me see the price sheet on the packing table.",
        "Before we choose, check the price sheet on the packing table.",
        "Show me the price sheet that's on the packing table, please.",
        "Have a look at the prices on the packing table.",
        "Let's check the prices first. Look at the price sheet on the packing table, please.",
        "I haven't seen the prices yet. Can you look at the price sheet on the packing table?",
        "I need you to look at the price sheet that is lying on the packing table.",
        "First things first, the price sheet on the packing table: take a look at it.",
        "Would you please look at the price sheet? It's on the packing table.",
        "Please turn towards the packing table and look at the price sheet.",
    ),
    ("D5", 1): (
        "Okay, walk over to the copy room and stop at the table.",
        "Thanks. Now head to the copy room table where the invoices are.",
        "Go to the table in the copy room now.",
        "Please go look for the invoices: walk to the table in the copy room.",
        "Good, now move on to the copy room table.",
        "You may now walk to the table in the copy room.",
        "The next thing to do is go to the copy room's table.",
        "Got the prices. Please go to the copy room, to the table with the invoices.",
        "Now we need the invoices. Walk to the table in the copy room.",
        "Great, I have all the prices. Head over to the table in the copy room next.",
        "Please proceed to the table in the copy room.",
        "Let's go to the copy room table.",
    ),
    ("D5", 2): (
        "It adds up to $41. Take the invoice with the $41 total.",
        "The one that totals $41 is correct, pick it up please.",
        "Take the forty-one dollar one.",
        "Choose the invoice for $41 and pick it up.",
        "Pick the one with $41 on it.",
        "The invoice you want is the $41 one. Grab it.",
        "Please get the invoice showing a total of $41.",
        "Grab the middle invoice, the one that says $41.",
        "The correct total is $41, so take that invoice.",
        "That makes $41 in total. Please take the $41 invoice.",
        "Five times three plus four times four plus two times five is 41. Pick up the invoice for 41 dollars.",
        "You need the invoice that says TOTAL $41. Take it.",
        "Don't take the $39 or the $45 one. Take the invoice for $41.",
        "The sum is 41 dollars. Please grab the matching invoice, the $41 one.",
        "Pick up the middle one, the invoice over $41.",
    ),
    ("D5", 3): (
        "Perfect. Take that invoice to the approval desk and leave it there.",
        "File it: put it on the approval desk.",
        "Now lay the invoice on the approval desk.",
        "Bring the invoice to the approval desk, please.",
        "Go to the approval desk and put the invoice down.",
        "Drop it off at the approval desk.",
        "The invoice should go on the approval desk now.",
        "Deliver it to the approval desk.",
        "Now bring it to the approval desk.",
        "Great, the $41 invoice goes on the approval desk. Put it there.",
        "Please take the invoice to the approval office and put it on the approval desk.",
        "Now go to the approval desk and lay the invoice on it.",
        "Okay, finally place it onto the approval desk.",
    ),
    ("F10", 0): (
        "Check the left bedside cabinet: open it.",
        "It's in the bedside cabinet to the left of the bed. Open it up.",
        "Walk to the left nightstand and open it.",
        "When facing the bed, it's the cabinet on the left. Please open that cabinet.",
        "I remember you placed it in the left bedside cabinet. Go open that one.",
        "Go to the bed. Open the bedside table on its left side.",
        "Open the left-hand bedside cabinet, not the right one.",
        "You stored it in the nightstand left of the bed, please open it.",
        "Try the left bedside cabinet. Open its door.",
        "Please open the left of the two nightstands.",
        "I saw you put the thermometer in the left bedside cabinet. Please open it.",
        "It's in the bedside cabinet on the left, as you face the bed. Open it, please.",
        "Walk over to the bed and open the cabinet on its left.",
        "The thermometer is in the left nightstand. Can you open that?",
        "Go back to the bed, and open the left bedside cabinet.",
        "You'll find it in the left bedside cabinet. Please go there and open it.",
        "Please go to the bedside cabinet on the left of the bed and open it.",
        "The left cabinet by the bed. Open it.",
    ),
    ("F10", 1): (
        "There it is. Take the thermometer out.",
        "See the thermometer in there? Grab it.",
        "Perfect, now take the thermometer from the cabinet.",
        "It's right in there, pick up the thermometer.",
        "The thermometer is next to the tissues; take it, please.",
        "Now you can lift the thermometer out of the bedside cabinet.",
        "That's it, that's the thermometer! Pick it up.",
        "You should see it now, take the thermometer.",
        "The thermometer should be inside. Pick it up please.",
        "Now pick up the thermometer from inside the cabinet.",
        "Great, take it out. I mean the thermometer.",
        "Take out the thermometer, leave the tissues.",
    ),
    ("F10", 2): (
        "Bring the thermometer over to the infirmary desk.",
        "Head to the infirmary desk and place the thermometer on it.",
        "Now carry it to the infirmary desk and lay it down, please.",
        "Walk to the infirmary desk. Put the thermometer on the desk.",
        "All that remains is to put it on the infirmary desk.",
        "Great, now it just needs to go onto the infirmary desk.",
        "Finally, set the thermometer on the infirmary desk.",
        "Now walk to the infirmary desk and put it there.",
        "Please bring it to the infirmary desk.",
        "You can put it on the infirmary desk now.",
        "Good. Put the thermometer down on the infirmary desk next to the clipboard.",
        "Carry it over and put it on the infirmary desk.",
    ),
    ("G10", 0): (
        "Go to the desk by the window and take the water bottle.",
        "Step one: pick up the water from the desk by the window.",
        "We'll do the water first. It's on the desk by the window, pick it up.",
        "Please start by taking the water bottle off the desk next to the window.",
        "The water bottle is on the window desk. Grab it.",
        "Head to the desk near the window; there's a bottle of water there. Take it.",
        "First step: go to the desk by the window and pick up the water bottle.",
        "The water bottle is on the desk by the window. Please pick it up.",
        "Let's put the water away first. Grab the bottle from the desk by the window.",
        "Get the water bottle that's sitting on the desk by the window.",
    ),
    ("G10", 1): (
        "Bring it to the fridge, open the door and put the bottle in.",
        "Now walk to the fridge. Open it, then place the bottle inside.",
        "That goes into the fridge, so open the fridge and put it in.",
        "According to the map, water belongs in the fridge. Please open the fridge and put the water bottle in there.",
        "Open up the fridge, and put your bottle of water in it.",
        "The water lives in the fridge: open the fridge, then put the water inside.",
        "Walk to the fridge, open it and put the water bottle in it.",
        "Please open the fridge door and place the bottle of water inside the fridge.",
        "The water goes into the fridge. Open the fridge and put it in there.",
        "Take the water bottle to the fridge, open the fridge, and put the bottle inside.",
        "Open the fridge first, then put the water in.",
    ),
    ("G10", 2): (
        "While the fridge is open, take out the phone.",
        "You'll see a phone in the fridge. Take it out, please.",
        "Next is the phone. It's in the fridge, so grab it.",
        "Next, get the mobile phone out of the fridge.",
        "There's also a phone inside the fridge. Pick that up.",
        "Now reach into the fridge and grab the phone.",
        "Good. The phone is in the fridge too. Take it out now.",
        "The next item is the phone, which is in the fridge. Please take it out.",
        "Now grab the phone from the fridge.",
        "Keep the fridge open and take the phone out of it.",
    ),
    ("G10", 3): (
        "The phone belongs in the secure locker. Open that locker and put the phone in.",
        "Go to the secure locker, open it, and place the phone inside.",
        "Now open the secure locker. Then put the phone in it.",
        "Take the phone to the secure locker, open it and put it inside.",
        "Please unlock the secure locker and stow the phone in it.",
        "Carry the phone to the secure locker; open the locker and put the phone away in there.",
        "Bring the phone to the secure locker. Open the locker and put the phone inside.",
        "It goes in the secure locker, so open that and put it in.",
        "Now the secure locker: open it and put the phone in.",
    ),
    ("G10", 4): (
        "There's a green folder in the locker; take it out.",
        "Now grab the green folder from inside the secure locker.",
        "Pick up the green folder that's in the secure locker.",
        "Last item: the green folder. Take it out of the secure locker.",
        "Leave the phone there and take the green folder out.",
        "In the same locker you'll find the green folder. Please take it.",
        "Then take out the green folder that is inside the secure locker.",
        "The green folder is in the locker you just opened. Take it out.",
        "Pick up the green folder from the locker, please.",
    ),
    ("G10", 5): (
        "Lay it on the desk by the window.",
        "Finally, bring the folder to the desk by the window and put it down.",
        "Walk back to the desk by the window and place the green folder on it.",
        "It belongs on the desk by the window; please put it there.",
        "And now the folder goes on the desk by the window.",
        "Take the folder over to the desk next to the window.",
        "The folder belongs on the desk by the window. Put it there.",
        "Carry the folder to the desk by the window, and place it on top.",
        "Last step: put the green folder on the desk by the window.",
    ),
    ("P8", 0): (
        "Errand one: carry the folder from the coffee table to the bed.",
        "Start with the folder: pick it up and take it to the bed.",
        "Pick up the yellow folder here and bring it to the bed in the bedroom.",
        "Grab the folder off the coffee table, walk to the bedroom and put it on the bed.",
        "The folder comes first. Take it to the bed.",
        "Please put the folder on the bed.",
        "Pick up the folder from the coffee table and bring it to the bed.",
        "First errand: the folder goes on the bed. Take it from the coffee table and put it there.",
        "Take the yellow folder with you to the bedroom and lay it on the bed.",
        "Please carry the folder over to the bed and set it down.",
    ),
    ("P8", 1): (
        "Good. While you're in the bedroom, get the phone from the nightstand and bring it to the dining table.",
        "Next errand: phone from the bedside cabinet to the dining table. Pick it up and put it there.",
        "Now, your phone is on the bedside cabinet next to the bed; take it to the dining table.",
        "Second, fetch the phone off the bedside cabinet and place it on the dining table.",
        "Grab the phone and put it on the dining table in the dining room.",
        "You're next to your phone. Pick it up and carry it over to the dining table.",
        "Your second errand is the phone. Pick it up from the bedside cabinet and put it on the dining table.",
        "Now pick up the phone and put it on the dining table.",
        "Take the phone that's on the nightstand to the dining table.",
        "Next: take the phone off the bedside cabinet, carry it to the dining room, and put it on the dining table.",
    ),
    ("P8", 2): (
        "Third and last: the blue mug. Get it from the coffee table and put it on the long kitchen counter.",
        "Now return to the coffee table for the blue mug, and take it to the long counter in the kitchen.",
        "Finally, the blue mug on the coffee table goes to the long kitchen counter. Please take it there.",
        "Get the blue mug and put it on the long kitchen counter by the fridge.",
        "The last errand is the blue mug: take it from the coffee table to the long kitchen counter.",
        "Go get the blue mug from the coffee table and put it on the long kitchen counter.",
        "Return to the coffee table, take the blue mug, and carry it to the long kitchen counter next to the fridge.",
    ),
    ("W7", 0): (
        "Hey, the fridge! You left it open. Please close it before you go on.",
        "One moment: the fridge door is open. Go close it.",
        "Please return to the kitchen and shut the fridge.",
        "You've left the fridge open. Close it first, then get your phone.",
        "Did you notice the fridge is open? Please go and shut it.",
        "Careful, the fridge is still standing open. You should shut it.",
        "Don't forget the fridge, it's open. Go back and shut its door.",
        "Before the phone: the fridge is open. Close it, please.",
        "Wait, you haven't shut the fridge yet! Go back and do it.",
        "I think the fridge is still open. Could you check and close it?",
        "The fridge hasn't been closed. Please close it.",
        "Excuse me, the refrigerator needs closing.",
        "Hang on a second! The fridge is still open. Please close it first.",
        "You left the fridge door open, please go back to the kitchen and close it.",
        "Sorry to interrupt, but the fridge is open. Would you close it?",
        "Quick reminder: close the fridge.",
        "Please don't leave the fridge open. Go back and close it.",
        "You still need to close the fridge.",
        "Fridge is open! Close it please.",
        "Could you go back to the kitchen for a moment and close the fridge? You left it open.",
        "Before you pick up your phone, please go back and close the fridge door.",
        "Oh no, the fridge! Go back and close it.",
        "Your milk and raspberries are out, but the fridge is still open. Close it, please.",
    ),
}
"""More ways to say the oracle lines: (pack, line from 0) -> sentences."""
ScriptName = Literal["oracle", "wrong", "early"]
LIBRARY = Library()


@cache
def task(pack: str) -> CompiledTask:
    return load_task(PACKS[pack], LIBRARY)


class Spoken:
    """What came of one utterance: commands carried out because of it, whether one was refused, what the wearer said."""

    def __init__(self, pack: str, script: ScriptName, line: int, say: str) -> None:
        self.commands: list[Command] = []
        self.refused = False
        self.asked = False
        self.speech: list[str] = []
        self._listening = False
        episode = Episode(task(pack), SymbolicWorld(), self._hear)
        assistant = ScriptedAssistant(episode.task.scripts[script], episode)
        scripted, rules = ScriptedHuman(episode.task), RulesHuman()
        while episode.pending is not None:
            if episode.pending == "human":
                human = rules if self._listening else scripted
                episode.answer("human", human.answer(episode.observe("human")))  # type: ignore[arg-type]
                if self._listening and episode.drained:
                    return
                continue
            view = episode.observe("assistant")
            spoken = sum(s.by == "assistant" for s in view.dialogue)  # type: ignore[union-attr]
            answer = "$silent$" if self._listening else assistant.answer(view)  # type: ignore[arg-type]
            if spoken == line and answer != "$silent$":
                self._listening = True
                answer = f"$interrupt$ {say}"
            episode.answer("assistant", answer)
            if self._listening and episode.drained:
                return
        raise AssertionError(f"ended ({episode.stop_reason}) before the utterance was dealt with")

    def _hear(self, kind: str, fields: Mapping[str, Any]) -> None:
        if not self._listening:
            return
        if kind == "step" and fields["by"] == "assistant":
            self.commands.append(parse(fields["command"]))
            self.refused = self.refused or not fields["receipt"]["ok"]
        elif kind == "speech" and fields["by"] == "wearer":
            self.speech.append(fields["text"])
            self.asked = self.asked or "?" in fields["text"]


def expected(pack: str, script: ScriptName, line: int) -> list[Command]:
    return list(task(pack).scripts[script].lines[line].do)


def bare(commands: list[Command]) -> list[tuple[str, tuple[str, ...]]]:
    """Without ways, unless there is nothing but ways."""
    acts = [c for c in commands if c.primitive != "navigate_to"] or commands
    return [(c.primitive, tuple(ref.name for ref in c.args)) for c in acts]


def script_lines(script: ScriptName) -> list[tuple[str, int]]:
    return [(p, i) for p in PACKS for i, line in enumerate(task(p).scripts[script].lines) if line.say is not None]


def test_there_are_six_paraphrases_of_every_oracle_line() -> None:
    assert Counter((p, i) for p, i, _ in PARAPHRASES) == dict.fromkeys(script_lines("oracle"), 6)


MISSED = frozenset(
    {
        "Before we choose an invoice, I need the prices. The price sheet is on the packing table, so please "
        "look at it.",
        "Turn back to the packing table and look at the price list there.",
        "Let's check the prices first. Look at the price sheet on the packing table, please.",
        "First things first, the price sheet on the packing table: take a look at it.",
        "Please turn towards the packing table and look at the price sheet.",
        # It asks after slices, which have no handle of their own.
        "Look at the slices: that's mould. Set the knife down on the cold prep table, please.",
        # `Get rid of` asks where to, though the place comes next.
        "Get rid of the bad bread: the loaf on the cold prep table belongs in the kitchen bin.",
        # Which loaf is meant comes in a sentence of its own.
        "The good loaf can go on the serving tray now. It's the one on the hot prep table.",
        # Put on the cupboard, not into it: what it may be put on has an inside too.
        "The right sponge belongs in the cupboard in the break room. Please move it there from the blue bin.",
        # G5 and A14: an indirect form, a relative clause, and `the sink`, of which the flat has three.
        "Let the tomato cook in the pan.",
        "The tomato goes on the blue plate, not on the white one.",
        "Please pick up the yellow bag that the glass is in.",
        "Now put the cup in the sink.",
        "Place the coffee cup in the sink, please.",
        "Carry the cup to the sink and put it inside.",
        "Please put it in the sink.",
        "Now put the bowl in the sink.",
        "Place the bowl in the sink, please.",
        "Carry the bowl to the sink and put it inside.",
        "Please put it in the sink as well.",
        # D20, F16 and F3: a way told as two, a place told by what lies there, no verb, an aside with a verb in it, a
        # thing that is only called a thing, a pronoun after another place, what is not meant in a clause of its own.
        "Next, go over to the hall and stop at the console table.",
        "You put the yogurt down here before you answered the phone. Could you take it now?",
        "That's number two on your list. Into the fridge with it, please.",
        "And into the fridge with the feta.",
        "Your apple was at the edge of the desk next to the filing cabinet. Go there, please.",
        "That red thing on the floor is your apple. Could you pick it up?",
        "Found it! Pick up the apple that's lying on the floor.",
        "Stop, there's vodka in the left glass. It belongs on the bar counter, so please put it there.",
        "Not that one for the bar, please. Pick up the right glass and set it on the guest table by the bar.",
        # P20: what only says that it is the old place, a state after the table, and a tool told before what it is for.
        "Could you put the sponge back where it was, on the dish shelf?",
        "Could you pick up the towel on the dish shelf and wipe the cold prep table dry?",
        "Use the towel this time, not the sponge: wipe the cold prep table with it.",
        # G1: a place in a sentence of its own, `as well` after a letter, and what stands beside it.
        "Start with box A: put the white milk bottle inside.",
        "The blue bottle of water belongs in box A as well.",
        "Next, grab the blue water bottle and put it into box A beside the milk.",
        "Everything that is left belongs in box C. Start with the green milk bottle.",
        # A2: a pronoun after two things or after `let us`, and a way without a verb.
        "Leave the scale for now. In front of you, right of the pot, is a red bottle. Pick that up.",
        "The scale does not fit yet. Let us clear the bottles, beginning with the red bottle. Lift it up, please.",
        "Two bottles are left. Back at the long kitchen counter, pick up the yellow bottle.",
        "Back to the long kitchen counter, please, and lift the green bottle.",
    }
)
"""What is not understood; the price sheet, since the wearer cannot name what is behind its back."""


@pytest.mark.parametrize(("pack", "line", "say"), PARAPHRASES, ids=[f"{p}-{i}-{s[:60]}" for p, i, s in PARAPHRASES])
def test_a_paraphrase_leads_to_the_same_commands(pack: str, line: int, say: str) -> None:
    spoken = Spoken(pack, "oracle", line, say)
    assert (bare(spoken.commands) == bare(expected(pack, "oracle", line))) == (say not in MISSED)
    assert not spoken.refused or say in MISSED


@pytest.mark.parametrize(("pack", "line"), FURTHER, ids=[f"{p}-{i}" for p, i in FURTHER])
def test_further_ways_to_say_a_line_lead_to_the_same_commands(pack: str, line: int) -> None:
    for say in FURTHER[pack, line]:
        same = bare(Spoken(pack, "oracle", line, say).commands) == bare(expected(pack, "oracle", line))
        assert same == (say not in MISSED), say


@pytest.mark.parametrize("script", ["oracle", "wrong", "early"])
def test_the_lines_themselves_lead_to_what_the_packs_expect(script: ScriptName) -> None:
    for pack, line in script_lines(script):
        written = task(pack).scripts[script].lines[line]
        assert written.say is not None
        spoken = Spoken(pack, script, line, written.say)
        assert bare(spoken.commands) == bare(list(written.do)), (pack, line)
        assert spoken.refused == (written.reply == "refused"), (pack, line)
        assert written.reply != "asks" or (spoken.asked and not spoken.commands), (pack, line)
