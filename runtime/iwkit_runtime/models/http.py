"""The HTTP client that both providers' libraries are given: bounded in time and in what it reads, never redirected."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from functools import cache
from typing import Any, Final

import httpx2

from iwkit_runtime.models.wire import CallFailed

MAX_BODY: Final = 8_000_000
"""Bytes of an answer that are read. The longest answer that can be used has 20,000 characters."""
_CONNECT: Final = 10.0
"""Seconds that a connection may take to come about."""


class Unreadable(httpx2.TransportError):
    """An answer that is not read on. `kind` is a row of the failure table. Of the transport's errors,
    since the libraries let no other kind pass as a failed request."""

    def __init__(self, kind: str, why: str) -> None:
        self.kind, self.why = kind, why
        super().__init__(why)


class _Bounded(httpx2.AsyncByteStream):
    """A stream that ends with an error where it gets too long."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        async for chunk in self._stream:
            seen += len(chunk)
            if seen > MAX_BODY:
                raise Unreadable("too_large", f"the answer has more than {MAX_BODY:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    """Refuse or bound a body before any of it is read."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        # A few bytes can unpack to any number, and the libraries unpack without a limit.
        raise Unreadable("bad_body", f"the answer is packed ({encoding[:20]}), which was not asked for")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


@cache
def trusted() -> ssl.SSLContext:
    """Whom to trust, read once: it takes longer than all the rest of a client."""
    return httpx2.create_ssl_context()


def http_client(seconds: float) -> httpx2.AsyncClient:
    """A client whose every wait ends after so many seconds. Proxies of the environment are used."""
    return httpx2.AsyncClient(
        verify=trusted(),
        timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT)),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [_bound]},
        follow_redirects=False,  # a key must not travel on
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=32),
    )


def failure(error: BaseException) -> CallFailed:
    """The failure that an error of a library, or of the network below it, is."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    for found in reversed(chain):
        if isinstance(found, Unreadable):
            return CallFailed(found.kind, found.why)
    for kinds, kind in _NETWORK:
        for found in chain:
            if isinstance(found, kinds):
                return CallFailed(kind, f"{type(found).__name__}: {found}"[:500])
    return CallFailed("bad_body", f"{type(error).__name__}: {error}"[:500])


_NETWORK: Final[tuple[tuple[Any, str], ...]] = (
    ((httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol, httpx2.InvalidURL), "unreachable"),
    ((httpx2.TimeoutException, TimeoutError), "timeout"),
    ((httpx2.TransportError, OSError), "dropped"),
)
"""Which errors of the network are which row of the failure table; the first that fits counts."""
