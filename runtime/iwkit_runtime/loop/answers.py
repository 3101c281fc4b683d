"""Reading what the two roles answer (EVAL-1): tolerant in form, strict in meaning, never guessing.

The assistant answers exactly one of `$silent$`, `$interrupt$ text`, `$error$ text` and `$done$` (or `<done/>`). The
human answers `<reasoning>`, `<action>` and `<speak>` blocks. Under the memory treatment (EVAL-6) an assistant may add a
`$memory$` field. docs/answers.md is the table of inputs and readings.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Final, Literal

Control = Literal["silent", "interrupt", "error", "done", "malformed"]

MAX_ANSWER: Final = 20_000
"""Characters of an answer that are read at all."""
MAX_SPEECH: Final = 2_000
"""Characters of one utterance."""

_FENCE: Final = re.compile(r"\A```[a-zA-Z]*[ \t]*\r?\n(.*?)\r?\n?```\Z", re.DOTALL)
_TOKEN: Final = re.compile(r"\$\s*(silent|interrupt|error|done)\s*\$|<\s*done\s*/\s*>", re.IGNORECASE)
_MEMORY: Final = re.compile(r"\$\s*memory\s*\$", re.IGNORECASE)
_TAG: Final = re.compile(r"<\s*(/?)\s*(reasoning|action|speak)\s*>", re.IGNORECASE)
_QUOTED: Final = re.compile(r"\A(?:\"(.*)\"|'(.*)'|“(.*)”|‘(.*)’|«(.*)»|`(.*)`)\Z", re.DOTALL)
_INVISIBLE: Final = {"Cf", "Cc"}


@dataclass(frozen=True, slots=True)
class AssistantAnswer:
    """One reading. `text` is the utterance of `interrupt` and `error`; `repairs` names each tolerance that was used;
    `why` says what makes an answer malformed. `memory` is what it adds to its memory: kept also where the rest is
    malformed, and heard by nobody."""

    control: Control
    text: str = ""
    repairs: tuple[str, ...] = ()
    why: str = ""
    memory: str = ""


@dataclass(frozen=True, slots=True)
class HumanAnswer:
    """One reading. `action` is the text of the action block (may be empty), `speak` what is said aloud."""

    action: str = ""
    speak: str = ""
    reasoning: str = ""
    repairs: tuple[str, ...] = ()
    malformed: str = ""


def _clean(raw: str, repairs: list[str]) -> str:
    text = "".join(c for c in raw if c in "\n\t" or unicodedata.category(c) not in _INVISIBLE)
    if text != raw.replace("\r\n", "\n"):
        repairs.append("invisible characters removed")
    stripped = text.strip()
    if fenced := _FENCE.match(stripped):
        repairs.append("code fence removed")
        stripped = fenced.group(1).strip()
    return stripped


def _unquoted(text: str, repairs: list[str]) -> str:
    """The text without quotation marks that enclose all of it, where a control token comes right after the first."""
    match = _QUOTED.match(text)
    inside = next(part for part in match.groups() if part is not None).strip() if match else ""
    if not _TOKEN.match(inside):
        return text
    repairs.append("quotation marks removed")
    return inside


def read_assistant(raw: str, *, memory: bool = False) -> AssistantAnswer:
    """Read one answer of the assistant. `memory`: it may end with a `$memory$` field."""
    if len(raw) > MAX_ANSWER:
        return AssistantAnswer("malformed", why=f"longer than {MAX_ANSWER} characters")
    repairs: list[str] = []
    text = _clean(raw, repairs)
    found = _MEMORY.search(text)
    if found is None:
        return _control(text, repairs)
    if not memory:
        return AssistantAnswer("malformed", why="a $memory$ field, and this run has none")
    kept = text[found.end() :].strip()
    if other := _MEMORY.search(kept) or _TOKEN.search(kept):
        return AssistantAnswer("malformed", why=f"{other.group(0)} after $memory$")
    return replace(_control(text[: found.start()].strip(), repairs), memory=kept)


def without_memory(raw: str) -> str:
    """An answer as it was given, up to its `$memory$` field."""
    found = _MEMORY.search(raw)
    return (raw if found is None else raw[: found.start()]).strip()


def _control(clean: str, repairs: list[str]) -> AssistantAnswer:
    text = _unquoted(clean, repairs)
    if not text:
        return AssistantAnswer("malformed", why="empty answer")
    first = _TOKEN.match(text)
    tokens = list(_TOKEN.finditer(text))
    if first is None:
        why = "text before the control token" if tokens else "no control token"
        return AssistantAnswer("malformed", why=why)
    if len(tokens) > 1:
        return AssistantAnswer("malformed", why="more than one control token")
    control: Control = (first.group(1) or "done").lower()  # type: ignore[assignment]
    if first.group(1) and first.group(0) != f"${control}$":
        repairs.append("control token normalised")
    rest = text[first.end() :].strip()
    if control in ("silent", "done"):
        if rest:
            return AssistantAnswer("malformed", why=f"text after ${control}$")
        return AssistantAnswer(control, repairs=tuple(repairs))
    if not rest:
        return AssistantAnswer("malformed", why=f"${control}$ without text")
    if len(rest) > MAX_SPEECH:
        return AssistantAnswer("malformed", why=f"speech longer than {MAX_SPEECH} characters")
    return AssistantAnswer(control, " ".join(rest.split()), tuple(repairs))


def read_human(raw: str) -> HumanAnswer:
    """Read one answer of the human. Commands come only from the action block, speech only from the speak block."""
    repairs: list[str] = []
    if len(raw) > MAX_ANSWER:
        return HumanAnswer(malformed=f"longer than {MAX_ANSWER} characters")
    text = _clean(raw, repairs)
    found: dict[str, str] = {}
    at, open_tag, open_at = 0, "", 0
    for tag in _TAG.finditer(text):
        closing, name = bool(tag.group(1)), tag.group(2).lower()
        if not closing and not open_tag:
            if text[at : tag.start()].strip():
                repairs.append("text outside the blocks ignored")
            open_tag, open_at = name, tag.end()
        elif closing and open_tag == name:
            if name in found:
                return HumanAnswer(malformed=f"more than one <{name}> block")
            found[name] = text[open_at : tag.start()].strip()
            open_tag, at = "", tag.end()
        else:
            return HumanAnswer(malformed=f"<{'/' if closing else ''}{name}> where it does not belong")
    if open_tag:
        return HumanAnswer(malformed=f"<{open_tag}> is never closed")
    if not found:
        return HumanAnswer(malformed="no <action> or <speak> block")
    if text[at:].strip():
        repairs.append("text outside the blocks ignored")
    speak = " ".join(found.get("speak", "").split())
    if len(speak) > MAX_SPEECH:
        return HumanAnswer(malformed=f"speech longer than {MAX_SPEECH} characters")
    return HumanAnswer(found.get("action", ""), speak, found.get("reasoning", ""), tuple(dict.fromkeys(repairs)))


def write_human(action: str = "", speak: str = "", reasoning: str = "") -> str:
    """The form that `read_human` reads, for agents that are code."""
    return f"<reasoning>{reasoning}</reasoning>\n<action>{action}</action>\n<speak>{speak}</speak>"
