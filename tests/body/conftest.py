"""One body for all tests of the body."""

from __future__ import annotations

import pytest

from iwkit_runtime.body.model import Body, load_body


@pytest.fixture(scope="session")
def body() -> Body:
    return load_body()
