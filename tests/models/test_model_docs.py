"""docs/models.md says what is there: fields, failures, names, and an example that can be read."""

from __future__ import annotations

import re
from pathlib import Path

from iwkit_runtime.models.failures import failures
from iwkit_runtime.models.http import MAX_BODY
from iwkit_runtime.models.settings import (
    PERSON,
    PROVIDERS,
    ImageSettings,
    ModelSettings,
    Price,
    load_models,
    providers,
)

PAGE = (Path(__file__).parent.parent.parent / "docs" / "models.md").read_text("utf-8")


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_every_setting_and_its_default_is_documented() -> None:
    described = section("The models file")
    rows = [line.split("|")[1:3] for line in described.splitlines() if line.startswith("| `")]
    names = [name for cell, _ in rows for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(names) == sorted(ModelSettings.model_fields)
    for cell, default in rows:
        defaults = [ModelSettings.model_fields[name].default for name in re.findall(r"`(\w+)`", cell)]
        numbers = [float(value) for value in defaults if isinstance(value, int | float)]
        assert [float(number) for number in re.findall(r"\d+", default)] == numbers, cell
    for field in (*Price.model_fields, *ImageSettings.model_fields):
        assert re.search(rf"\b{field}\b", PAGE) or field == "tokens", field


def test_the_example_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(PAGE.split("```yaml\n")[1].split("```")[0].replace("ADDRESS", "http://host/v1"), "utf-8")
    file = load_models(path)
    assert set(file.agents) == {"openai:gpt-5.4-mini", "openai:my-own-model"}
    assert file.of("openai:gpt-5.4-mini").timeout == 60


def test_the_failures_are_as_the_table_says() -> None:
    rows = [[c.strip() for c in line.split("|")[1:4]] for line in section("What can go wrong").splitlines()]
    told = {(int(attempts), then) for _, attempts, then in (r for r in rows if len(r) == 3) if attempts.isdigit()}
    assert told == {(row.attempts, row.then) for row in failures().kinds.values()}
    assert f"{MAX_BODY:,} bytes" in PAGE
    for status in failures().statuses:
        assert status in PAGE or status in ("408", "425", "413")


def test_every_name_is_documented() -> None:
    for provider in PROVIDERS:
        assert f"`{provider}:MODEL`" in PAGE
        for key in providers()[provider].key:
            assert f"`{key}`" in PAGE
        assert f"`{providers()[provider].address}`" in PAGE
    assert f"`{PERSON}`" in PAGE
    assert "No paid model has been called" in PAGE
