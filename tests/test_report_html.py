"""The page of a run: whole, valid HTML that needs nothing else, and harmless whatever an agent wrote."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from iwkit.errors import LedgerError
from iwkit.ledger import Record, dump, read_records
from iwkit.report.html import LABEL_SIGNS, RAW_LIMIT, page, spelled_out, write_html
from iwkit.report.pictures import Album
from iwkit.report.tables import CAPABILITIES, STATUS_SIGNS
from iwkit.runfolder import attempt_path, selected_attempt

GOLDEN = Path(__file__).parent / "data" / "golden_run"
TASKS = ("F10", "A1", "D5", "W7")
EMPTY = {"meta", "img", "br", "link", "input", "hr"}
HOSTILE = "<script>alert(1)</script> \"a\" 'b' & <img src=x onerror=alert(2)> </pre></p>{{ 7 * 7 }}"
UNSEEN = "\x1b[31m\u202eback\u202c\x07\u200b\u2066\x9b2J"


class Reader(HTMLParser):
    """Reads a page strictly: every element closed in its turn, no id twice, nothing from outside."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.append((name, value or ""))
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src"):
                self.links.append(value or "")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another element, line {self.getpos()[0]}"
        if tag in ("td", "th", "dt"):
            self.text.append(" ")

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.text.append(data)


def parse(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [], "elements are left open"
    return reader


def words(text: str) -> str:
    """What a reader sees of a page, on one line."""
    return " ".join("".join(parse(text).text).split())


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copytree(GOLDEN, tmp_path / "golden_run"))


def change(folder: Path, cell: str, number: int, edit: Callable[[Record], object]) -> None:
    path = attempt_path(folder, cell, number)
    records = read_records(path)[0]
    for record in records:
        edit(record)
    path.write_bytes(b"".join(map(dump, records)))


def png(folder: Path, colour: str, size: tuple[int, int] = (64, 48)) -> str:
    """Keep a picture in a run folder, and return its digest."""
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    digest = hashlib.sha256(out.getvalue()).hexdigest()
    (folder / "frames").mkdir(exist_ok=True)
    (folder / "frames" / f"{digest}.png").write_bytes(out.getvalue())
    return digest


# What is on the page


def test_the_configuration_leaves_out_what_there_is_none_of(golden: Path) -> None:
    path = golden / "plan.json"
    plan = json.loads(path.read_text("utf-8"))
    plan["config"] |= {"human_code": None, "memory": False}
    path.write_text(json.dumps(plan), "utf-8")
    seen = words(page(golden))
    assert "human_code" not in seen
    assert "memory no" in seen


def test_the_page_is_valid_and_needs_nothing_else() -> None:
    text = page(GOLDEN)
    reader = parse(text)
    assert text.startswith("<!DOCTYPE html>\n")
    assert len(reader.ids) == len(set(reader.ids))
    assert all(link.startswith("#") and link[1:] in reader.ids for link in reader.links)
    assert not {"link", "iframe", "object", "base", "form"} & set(reader.tags)
    assert not re.search(r"https?:|url\(|@import", text)
    assert reader.tags.count("script") == reader.tags.count("style") == 1
    assert ("lang", "en") in reader.attributes


def test_the_policy_admits_the_pages_own_script_and_nothing_else() -> None:
    text = page(GOLDEN)
    policy = dict(
        part.split(" ", 1) for part in html.unescape(re.findall(r'Policy" content="([^"]+)"', text)[0]).split("; ")
    )
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == {
        "default-src": "'none'",
        "img-src": "data:",
        "style-src": "'unsafe-inline'",
        "script-src": f"'sha256-{digest}'",
    }


def test_figures_and_voids_with_their_bounds() -> None:
    seen = words(page(GOLDEN))
    for told in (
        "golden:Assistant with rules human, symbolic world (4 not frozen)",
        "all 1 of 4 25.0 % to 75.0 % (2 void) –",
        "finding 1 of 1 100.0 % 100.0 %",
        "2 of 4 are void",
        "The pass rate over the valid ones alone is 50.0 %.",
        "F10 Thermometer in one of two like bedside cabinets finding ✓ pass 100.0 % 4 8 done",
        "decision – void – – – the assistant failed: ConnectionError: 503 from the [/model] service",
        "prevention – void – – – not finished",
    ):
        assert told in seen
    for key, value in json.loads((GOLDEN / "plan.json").read_text("utf-8"))["config"].items():
        assert f" {key} {'yes' if value is True else value} " in seen


@pytest.mark.parametrize("task", TASKS)
def test_everything_that_was_said_done_and_judged_is_on_the_page_in_order(task: str) -> None:
    chosen = selected_attempt(GOLDEN, f"{task}-s0")
    assert chosen is not None
    seen = words(page(GOLDEN, task))
    at = seen.index("How to read the episodes")
    told = [part for record in chosen[1] for part in parts(record)]
    assert len(told) > 5
    for part in told:
        assert part in seen[at:], part
        at = seen.index(part, at)


def parts(record: dict[str, Any]) -> list[str]:
    match record["kind"]:
        case "speech":
            return [f"{record['by']} {record['events'][0]['seq']} {record['text']}"]
        case "step":
            receipt = record["receipt"]
            return [record["command"], "done in" if receipt["ok"] else f"REFUSED, {receipt['code']}: {receipt['text']}"]
        case "reading" if record.get("why"):
            return [f"gives no valid answer ({record['why']})"]
        case "end":
            rows = [
                f"{'✓ holds' if c['ok'] else '✗ does not hold'} {c['id']}: {c['why']}"
                for c in record["score"]["conditions"]
            ]
            atoms = [] if record["void"] else record["score"]["atoms"]
            labels = [f"{a['label'].replace('_', ' ')} {a['id']} ({a['capability']} " for a in atoms]
            return [f"Score: {STATUS_SIGNS[record['status']]} {record['status']}", *rows, *labels]
    return []


def test_reasons_lead_to_the_events_they_name() -> None:
    text = page(GOLDEN, "F10")
    links = re.findall(r'<a href="#F10-s0-(\d+)">event (\d+)</a>', text)
    assert len(links) == len(re.findall(r"\bevent \d+", text)) > 10
    for first, event in links:
        line = text[text.index(f'id="F10-s0-{first}"') :]
        shown = re.search(r'class="events">(\d+)(?:-(\d+))?<', line)
        assert shown
        assert int(shown[1]) <= int(event) <= int(shown[2] or shown[1])


def test_refusals_are_marked_by_more_than_colour(golden: Path) -> None:
    def refuse(record: Record) -> None:
        if record["kind"] == "step" and record["by"] == "assistant":
            record["receipt"] |= {"ok": False, "code": "PATH_BLOCKED", "text": "The way there is blocked."}

    assert "did refused" not in page(GOLDEN, "A1")
    change(golden, "A1-s0", 1, refuse)
    text = page(golden, "A1")
    assert text.count('class="did refused"') == 2
    assert "[Grab] <soda>, as the assistant asked: ✗ REFUSED, PATH_BLOCKED: The way there is blocked." in words(text)


def test_unearned_conditions_questions_and_interruptions_are_said(golden: Path) -> None:
    def edit(record: Record) -> None:
        if record["kind"] == "speech" and record["by"] == "wearer":
            record["events"].append({"seq": record["events"][0]["seq"], "kind": "asked", "roles": {"by": "wearer"}})
        if record["kind"] == "end":
            record["score"]["conditions"][-2] |= {"block": "achieve", "ok": True, "credited": False}

    change(golden, "A1-s0", 1, edit)
    path = attempt_path(golden, "A1-s0", 1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:9], dump({"kind": "resumed", "after": 9}), *lines[9:]]))
    seen = words(page(golden, "A1"))
    assert "(not credited: what it needs does not hold)" in seen
    assert "wearer asks 57" in seen
    assert "↻ continued after an interruption" in seen


def test_cells_that_are_void_unfinished_or_not_begun(golden: Path) -> None:
    shutil.rmtree(golden / "cells" / "A1-s0")
    seen = words(page(golden))
    assert "Score: – void Void: the assistant failed: ConnectionError: 503" in seen
    assert "Not finished: the same run command continues it." in seen
    assert "Not begun: the same run command plays it." in seen
    assert "cells/F10-s0/attempt-002.jsonl (attempt 2 of 2)" in seen


def test_a_journal_cut_anywhere_has_a_page(golden: Path) -> None:
    path = attempt_path(golden, "W7-s0", 1)
    raw = path.read_bytes()
    for cut in range(0, len(raw), 1500):
        path.write_bytes(raw[:cut])
        assert "Not finished: the same run command continues it." in words(page(golden, "W7"))


def test_quiet_ticks_are_named_together(golden: Path) -> None:
    assert "Nothing was said or done." not in page(golden, "F10")

    def silence(record: Record) -> None:
        if record["kind"] == "end":
            record["ticks"] = 12
        elif record.get("tick") in (2, 4, 5):
            del record["tick"]
            if record["kind"] in ("speech", "step", "reading"):
                record |= {"kind": "quiet"}

    change(golden, "F10-s0", 2, silence)
    titles = re.findall(r"<h3>(Tick.*)</h3>\n(?:<p class=\"quiet\">(Nothing))?", page(golden, "F10"))
    assert titles == [
        ("Tick 1", ""),
        ("Tick 2", "Nothing"),
        ("Tick 3", ""),
        ("Ticks 4 to 5", "Nothing"),
        ("Tick 6", ""),
        ("Tick 7", ""),
        ("Tick 8", ""),
        ("Ticks 9 to 12", "Nothing"),
    ]


def test_a_pack_that_is_missing_or_broken_takes_nothing_but_the_introduction(golden: Path) -> None:
    whole = page(golden, "F10")
    assert "Which of the two like bedside cabinets holds the thermometer?" in whole
    pack = golden / "packs" / "F10.yaml"
    for raw in (b"a: [", b"- 1", b"contract: 3", None):
        if raw is None:
            pack.unlink()
        else:
            pack.write_bytes(raw)
        text = page(golden, "F10")
        assert "Which of the two" not in text
        assert "✓ holds retrieved" in words(text)


def test_seeds_are_told_apart(golden: Path) -> None:
    plan = json.loads((golden / "plan.json").read_text("utf-8"))
    plan["cells"]["F10-s3"] = plan["cells"]["F10-s0"] | {"seed": 3}
    (golden / "plan.json").write_text(json.dumps(plan), "utf-8")
    shutil.copytree(golden / "cells" / "F10-s0", golden / "cells" / "F10-s3")
    reader = parse(page(golden))
    assert len(reader.ids) == len(set(reader.ids))
    assert "F10, seed 3 Thermometer" in words(page(golden, "F10-s3"))


def test_one_episode_alone() -> None:
    reader = parse(page(GOLDEN, "D5"))
    assert "D5-s0" in reader.ids
    assert not {"F10-s0", "A1-s0", "W7-s0"} & set(reader.ids)
    assert all(link[1:] in reader.ids for link in reader.links)


def test_the_same_records_give_the_same_page(golden: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from iwkit.report.html import page\n"
        "sys.stdout.buffer.write(page(Path(sys.argv[1])).encode())"
    )
    command = [sys.executable, "-c", script, str(golden)]
    other = subprocess.run(command, capture_output=True, check=True, env={"PYTHONHASHSEED": "7"}, cwd=golden)
    assert other.stdout.decode() == page(GOLDEN)
    for cell, number in (("F10-s0", 2), ("A1-s0", 1), ("D5-s0", 1)):
        change(golden, cell, number, lambda record: record.update(t_wall=1.0, t_wall_latency=9.0))
    assert page(golden) == page(GOLDEN)


def test_signs_cover_every_label() -> None:
    assert set(CAPABILITIES) == {f"C{n}" for n in range(1, 10)}
    assert set(LABEL_SIGNS) == {"clean_pass", "wrong", "abstain", "unobserved", "assisted", "void"}


# Text is text


def poison(text: str) -> Callable[[Record], None]:
    """Put a text wherever an agent, a pack or a world can put one."""

    def edit(record: Record) -> None:
        for key in ("text", "reason", "stop_reason", "command", "cursor", "task", "assistant"):
            if isinstance(record.get(key), str):
                record[key] = text
        if record["kind"] == "reading":
            record |= {"control": "malformed", "why": text, "problem": text}
        if record["kind"] == "step":
            record["receipt"] |= {"ok": False, "code": text, "text": text}
            record["events"] = [{"seq": 1, "kind": "opened", "roles": {"object": text}}]
        if record["kind"] == "end":
            record |= {"void": text, "status": "void"}
            for row in (*record["score"]["conditions"], *record["score"]["atoms"]):
                row |= {"id": text, "why": text}

    return edit


@pytest.fixture
def poisoned(golden: Path) -> Callable[[str], str]:
    """The page of a run in which every text that comes from outside is the given one."""
    plan = json.loads((golden / "plan.json").read_text("utf-8"))

    def make(text: str) -> str:
        told = {"config": plan["config"] | {"assistant": text}, "cells": {"A1-s0": plan["cells"]["A1-s0"]}}
        told["cells"]["A1-s0"] |= {"family": text}
        (golden / "plan.json").write_text(json.dumps(told), "utf-8")
        pack = {"title": text, "contract": {"question": text, "success": text}}
        (golden / "packs" / "A1.yaml").write_text(json.dumps(pack), "utf-8")
        shutil.copyfile(attempt_path(GOLDEN, "A1-s0", 1), attempt_path(golden, "A1-s0", 1))
        change(golden, "A1-s0", 1, poison(text))
        return page(golden)

    return make


def test_markup_does_nothing(poisoned: Callable[[str], str]) -> None:
    clean, hostile = parse(poisoned("harmless")), parse(poisoned(HOSTILE))
    assert hostile.tags == clean.tags
    assert hostile.ids == clean.ids
    assert not [name for name, _ in hostile.attributes if name.startswith("on")]
    assert "".join(hostile.text).count(HOSTILE) == "".join(clean.text).count("harmless") > 20


def test_characters_that_are_obeyed_are_spelled_out(poisoned: Callable[[str], str]) -> None:
    text = poisoned(UNSEEN)
    assert not [c for c in text if not c.isprintable() and c != "\n"]
    assert "⟨U+001B⟩[31m⟨U+202E⟩back⟨U+202C⟩⟨U+0007⟩⟨U+200B⟩⟨U+2066⟩⟨U+009B⟩2J" in words(text)


def test_half_a_surrogate_pair_can_be_written(golden: Path, tmp_path: Path) -> None:
    path = attempt_path(golden, "D5-s0", 1)
    path.write_bytes(path.read_bytes().replace(b"503 from", rb"\ud800 from"))
    write_html(golden, tmp_path / "out.html")
    assert "ConnectionError: ⟨U+D800⟩ from" in (tmp_path / "out.html").read_text("utf-8")


@given(st.text())
def test_spelled_out_text_is_seen_whole(text: str) -> None:
    shown = spelled_out(text)
    assert all(c.isprintable() or c == "\n" for c in shown)
    if "⟨U+" not in text:
        assert re.sub(r"⟨U\+([0-9A-F]{4,6})⟩", lambda m: chr(int(m[1], 16)), shown) == text


def test_a_malformed_answer_is_shown_as_it_was_written(golden: Path) -> None:
    answer = "<b>Hm</b>\n\n  $silent$\tI think\n" + "x" * (2 * RAW_LIMIT)

    def edit(record: Record) -> None:
        if record["kind"] == "answer" and record["text"].startswith("Hm."):
            record["text"] = answer

    change(golden, "W7-s0", 1, edit)
    (raw,) = re.findall(r"<pre[^>]*>(.*?)</pre>", page(golden, "W7"), re.DOTALL)
    more = len(answer) - RAW_LIMIT
    expected = answer[:RAW_LIMIT].replace("\t", "⟨U+0009⟩")
    assert html.unescape(raw) == f"{expected}\n… and {more} more characters, in the record"


# Pictures


def test_a_world_without_pictures_says_so_once() -> None:
    assert page(GOLDEN).count("gives no pictures: what the wearer saw is told in words") == 1


def test_pictures_are_embedded_once_and_what_is_wrong_is_said(golden: Path) -> None:
    red, blue = png(golden, "red"), png(golden, "blue", (640, 480))
    lost, other, broken = "b" * 64, "c" * 64, hashlib.sha256(b"no picture").hexdigest()
    (golden / "frames" / f"{other}.png").write_bytes(b"changed since")
    (golden / "frames" / f"{broken}.png").write_bytes(b"no picture")
    (golden / "secret.png").write_bytes((golden / "frames" / f"{red}.png").read_bytes())

    def edit(record: Record) -> None:
        if record["kind"] == "step":
            record["frames"] = [red, blue] if record["by"] == "assistant" else [red]
        if record["kind"] == "ask" and record["role"] == "assistant" and record["tick"] == 1:
            record["frames"] = [blue, lost, other, broken, "../secret"]

    change(golden, "A1-s0", 1, edit)
    text = page(golden)
    images = [base64.b64decode(m) for m in re.findall(r'src="data:image/webp;base64,([^"]+)"', text)]
    sizes = [Image.open(io.BytesIO(image)).size for image in images]
    assert sizes == [(64, 48), (640, 480)]
    reader = parse(text)
    assert len(reader.ids) == len(set(reader.ids))
    assert all(link[1:] in reader.ids for link in reader.links if not link.startswith("data:"))
    seen = words(text)
    assert "assistant is shown: picture 2 picture 3 is missing: bbbbbbbbbbbbbb… picture 4 is damaged" in seen
    assert "picture 5 is no picture" in seen
    assert "picture 6 is no digest: ../secret" in seen
    assert "picture 1 again" in seen
    assert "gives no pictures: what" not in text
    assert page(golden) == text


def test_an_album_reads_only_what_is_named_by_a_digest(tmp_path: Path) -> None:
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames" / f"{'d' * 64}.png").mkdir()
    album = Album(tmp_path)
    assert not album.asked
    assert album.picture("d" * 64).problem.startswith("cannot be read: ")
    for name in ("", "D" * 64, "d" * 63, "/etc/passwd", f"{'d' * 64}\n"):
        assert album.picture(name).problem == "is no digest"
    assert album.asked


# Bad input


def test_what_cannot_be_told(golden: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="holds no run"):
        page(tmp_path / "nowhere")
    with pytest.raises(LedgerError, match="has no episode 'F1': it has A1-s0"):
        page(golden, "F1")
    path = attempt_path(golden, "A1-s0", 1)
    path.write_bytes(b"{}\n" + path.read_bytes())
    with pytest.raises(LedgerError, match=r"attempt-001\.jsonl:1: damaged record"):
        page(golden)


def test_the_option_writes_the_page(tmp_path: Path) -> None:
    def iwkit(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "iwkit.cli.main", "report", GOLDEN, *arguments]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)

    out = tmp_path / "new" / "page.html"
    done = iwkit("--html", out, "--episode", "D5")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"report written to {out}\n")
    assert out.read_text("utf-8") == page(GOLDEN, "D5")
    both = iwkit("--html", out, "--format", "json")
    assert (both.returncode, both.stderr) == (1, "--html and --format do not go together\n")
    folder = iwkit("--html", tmp_path)
    assert folder.returncode == 1
    assert folder.stderr == f"{tmp_path}: cannot be written: Is a directory; mend that and run the same command again\n"
