"""The failure table, and which of its rows an answer of HTTP is."""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from iwkit.source.check import check
from iwkit.source.reader import read
from iwkit.spec.base import Model, Text
from iwkit_runtime.models.wire import CallFailed, dig, words

Then = Literal["void", "stop"]


class Failure(Model):
    """One row: how often a call that fails so is tried, and what becomes of the episode and of the money."""

    means: Text
    attempts: Annotated[int, Field(ge=1, le=20)]
    then: Then
    charged: Literal["no", "unknown"]


class FailureTable(Model):
    """`failures.yaml`."""

    failures: Literal["1.0"]
    kinds: dict[str, Failure]
    statuses: dict[str, str]
    codes: dict[str, str]


@cache
def failures() -> FailureTable:
    """The table, read once."""
    return check(read(Path(__file__).with_name("failures.yaml")), FailureTable)


def kind_of_status(status: int, body: Any) -> str:
    """The row that a status which is not 2xx means, with the error that its body tells."""
    table = failures()
    details = dig(body, "error", "details")
    told = [words(body, "error", "code"), words(body, "error", "type")]
    told += [words(detail, "reason") for detail in (details if isinstance(details, list) else [])]
    for word in told:
        if word in table.codes:
            return table.codes[word]
    if str(status) in table.statuses:
        return table.statuses[str(status)]
    return {4: "bad_request", 5: "server_error"}.get(status // 100, "bad_body")


_SECONDS: Final = re.compile(r"(\d+(?:\.\d+)?)s")


def wait_asked(headers: Mapping[str, str], body: Any) -> float | None:
    """How many seconds the server asks to be left alone, by its headers or in the details of its error, or None."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) / unit
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    if date := email.utils.parsedate_tz(headers.get("retry-after", "")):
        return max(0.0, email.utils.mktime_tz(date) - time.time())
    details = dig(body, "error", "details")
    for detail in details if isinstance(details, list) else []:
        if found := _SECONDS.fullmatch(words(detail, "retryDelay") or ""):
            return float(found.group(1))
    return None


def refused(status: int, headers: Mapping[str, str], body: Any) -> CallFailed:
    """The failure of an answer whose status is not 2xx."""
    why = words(body, "error", "message") or words(body, "message") or words(body, "error") or "no reason given"
    return CallFailed(kind_of_status(status, body), f"{status}: {why}", status=status, wait=wait_asked(headers, body))
