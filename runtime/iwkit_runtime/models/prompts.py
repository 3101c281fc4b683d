"""The prompts: templates in `families/`, and their digest, which is a part of what identifies a result."""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2

from iwkit import resources
from iwkit.digest import digest, file_digest


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.root("families")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        autoescape=False,  # noqa: S701  plain text, for no browser
    )


def render(template: str, **values: Any) -> str:
    """One prompt, without space around it. A name that a template has and `values` lacks is an error."""
    return _templates().get_template(template).render(values).strip()


@cache
def prompts_digest() -> str:
    """The digest of all prompt templates."""
    folder = resources.root("families")
    files = sorted(folder.rglob("*.md.j2"), key=lambda path: path.relative_to(folder).as_posix())
    return digest({path.relative_to(folder).as_posix(): file_digest(path) for path in files})
