"""Every problem code and its one-line meaning; docs/problem-codes.md shows an example and the mend for each.

A code is stable: once released it keeps its meaning, and a retired code is not used again.
"""

from __future__ import annotations

from typing import Final

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

CODES: Final[dict[str, str]] = {**_READING, **_SCHEMA}
