"""A provider on this machine: real HTTP, scripted answers in the form of each interface, every request kept."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from iwkit_runtime.models.desk import Desk
from iwkit_runtime.models.settings import ModelSettings, ModelsFile

KEYS = {"OPENAI_API_KEY": "sk-zqcanarykeyopenai0123456789", "GOOGLE_API_KEY": "AIzqcanarykeygoogle0123456789"}
FAST = {"timeout": 5.0, "late": 0.0, "backoff": 0.01, "longest_wait": 0.5}


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Behaviour = Callable[[BaseHTTPRequestHandler], None]


class Provider:
    """A server. `script` holds what it does with each request in turn; then it does what `always` says. A behaviour is
    given the handler, which has the request as `seen`: others may come at the same time."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.script: deque[Behaviour] = deque()
        self.always: Behaviour = self.says("$silent$")
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.seen = Request(self.path, dict(self.headers), body)
                provider.requests.append(self.seen)
                act = provider.script.popleft() if provider.script else provider.always
                try:
                    act(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    # --- what a server can do -----------------------------------------------------------------------------------

    @staticmethod
    def raw(data: bytes, *, status: int = 200, kind: str = "application/json", **headers: str) -> Behaviour:
        def act(to: BaseHTTPRequestHandler) -> None:
            to.send_response(status)
            to.send_header("Content-Type", kind)
            to.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                to.send_header(name.replace("_", "-"), value)
            to.end_headers()
            to.wfile.write(data)

        return act

    def json(self, value: Any, *, status: int = 200, **headers: str) -> Behaviour:
        return self.raw(json.dumps(value).encode(), status=status, **headers)

    def refuses(self, status: int, message: str = "no", code: str | None = None, **headers: str) -> Behaviour:
        return self.json({"error": {"message": message, "code": code, "status": "NO"}}, status=status, **headers)

    def says(self, text: str | None, *, tokens: tuple[int, int] | None = (100, 10), **more: Any) -> Behaviour:
        """An ordinary answer, in the form of whichever interface is asked."""

        def act(to: BaseHTTPRequestHandler) -> None:
            self.json(body_of(to.path, text, tokens, **more))(to)

        return act

    def stalls(self, seconds: float, then: Behaviour) -> Behaviour:
        def act(to: BaseHTTPRequestHandler) -> None:
            time.sleep(seconds)
            then(to)

        return act

    @staticmethod
    def drops(to: BaseHTTPRequestHandler) -> None:
        to.close_connection = True
        to.connection.close()

    @staticmethod
    def half(to: BaseHTTPRequestHandler) -> None:
        """Promises more than it sends."""
        to.send_response(200)
        to.send_header("Content-Type", "application/json")
        to.send_header("Content-Length", "500")
        to.end_headers()
        to.wfile.write(b'{"choices": [{"message": {"content": "$done')
        to.wfile.flush()
        to.close_connection = True
        to.connection.close()

    @staticmethod
    def floods(to: BaseHTTPRequestHandler) -> None:
        """Sends without an end, and without saying how much."""
        to.send_response(200)
        to.send_header("Content-Type", "application/json")
        to.send_header("Transfer-Encoding", "chunked")
        to.end_headers()
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        for _ in range(2000):
            to.wfile.write(chunk)


def body_of(path: str, text: str | None, tokens: tuple[int, int] | None, **more: Any) -> dict[str, Any]:
    """An answer's body in the form of the interface at a path."""
    given, taken = tokens or (None, None)
    if path.endswith(":generateContent"):
        usage = {"usageMetadata": {"promptTokenCount": given, "candidatesTokenCount": taken}} if tokens else {}
        content = {"parts": [{"text": text}] if text is not None else [], "role": "model"}
        candidate = {"content": content, "finishReason": "STOP"}
        return {"candidates": [candidate], "modelVersion": "m-1", "responseId": "id-1", **usage, **more}
    if path.endswith("/responses"):
        usage = {"usage": {"input_tokens": given, "output_tokens": taken}} if tokens else {}
        part = {"type": "output_text", "text": text, "annotations": []}
        message = {"type": "message", "role": "assistant", "content": [part] if text is not None else []}
        return {"id": "id-1", "model": "m-1", "status": "completed", "output": [message], **usage, **more}
    usage = {"usage": {"prompt_tokens": given, "completion_tokens": taken}} if tokens else {}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "id-1", "model": "m-1", "object": "chat.completion", "choices": [choice], **usage, **more}


@dataclass
class Kit:
    """A provider, keys in the environment, and a run folder."""

    provider: Provider
    folder: Path
    desks: list[Desk] = field(default_factory=list)

    def file(self, **settings: Any) -> ModelsFile:
        base = {f"openai:{m}": "/v1" for m in "mn"} | {f"openai-responses:{m}": "/v1" for m in "mn"}
        base |= {f"google:{m}": "" for m in "mn"}
        own = {**FAST, **settings}
        agents = {name: ModelSettings(base_url=self.provider.url + path, **own) for name, path in base.items()}
        return ModelsFile(models="1.0", agents=agents)

    def desk(self, *, budget: float | None = None, cache: Path | None = None, **settings: Any) -> Desk:
        desk = Desk(self.folder, self.file(**settings), budget=budget, cache=cache)
        self.desks.append(desk)
        return desk


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kit]:
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, lambda _: None)
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    proxies = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
    for name in ("GEMINI_API_KEY", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", *proxies):
        monkeypatch.delenv(name, raising=False)
    found = Kit(Provider(), tmp_path / "run")
    yield found
    for desk in found.desks:
        desk.close(wait=False)
    found.provider.close()
