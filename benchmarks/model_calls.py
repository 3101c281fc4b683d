"""How many slow calls of models two cores hold in flight: a server on this machine answers each after some seconds.

python benchmarks/model_calls.py [--seconds 1.0] [--calls 16 128 512]
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import multiprocessing
import os
import platform
import resource
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from PIL import Image as Pillow

from iwkit import __version__
from iwkit.report.calls import totals
from iwkit_runtime.models.desk import Desk
from iwkit_runtime.models.settings import ModelSettings, ModelsFile
from iwkit_runtime.models.wire import Image, Message, Prompt

ANSWERS: dict[str, Any] = {
    "openai": {
        "choices": [{"message": {"content": "$silent$"}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3},
    },
    "google": {"candidates": [{"content": {"parts": [{"text": "$silent$"}]}}]},
}


def serve(port: Any, seconds: float) -> None:
    """Answer every request after some seconds, whatever it asks."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                await reader.readexactly(int(head.split("content-length:")[1].split("\r\n")[0]))
                await asyncio.sleep(seconds)
                body = json.dumps(ANSWERS["google" if "generatecontent" in head else "openai"]).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=2**20, backlog=1024)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def picture(seed: int) -> Image:
    out = io.BytesIO()
    Pillow.effect_noise((640, 480), 20 + seed).convert("RGB").save(out, "JPEG", quality=80)
    return Image("image/jpeg", f"{seed:064}", out.getvalue())


def measure(address: str, name: str, calls: int, images: int) -> tuple[float, float]:
    """Seconds until all of so many calls are answered, and processor seconds of this process for each."""
    os.environ |= {"OPENAI_API_KEY": "k" * 20, "GOOGLE_API_KEY": "k" * 20}
    settings = ModelSettings(base_url=address)
    shown = tuple(picture(n) for n in range(images))
    prompt = Prompt("x" * 3000, (Message("user", "y" * 500, shown),))
    with tempfile.TemporaryDirectory() as folder:
        with Desk(Path(folder), ModelsFile(models="1.0", agents={name: settings})) as desk:
            seats = [desk.seat(name, f"cell-{n}", "assistant") for n in range(calls)]

            async def all_of_them() -> None:
                await asyncio.gather(*(seat.asked(prompt, 1) for seat in seats))

            begun, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
            desk.wait_for(all_of_them())
            took, now = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF)
        (total,) = totals(Path(folder))
        assert total.answered == calls
    return took, (now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime) / calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--calls", type=int, nargs="+", default=[16, 128, 512])
    parser.add_argument("--images", type=int, nargs="+", default=[0, 8])
    given = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there, given.seconds), daemon=True)
    server.start()
    address = f"http://127.0.0.1:{here.recv()}"
    print(
        f"iwkit {__version__}, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} before it began\n"
    )
    print(f"| model | pictures | calls at once, each {given.seconds:g} s | all answered after | processor per call |")
    print("| --- | --- | --- | --- | --- |")
    for name, path in (("openai:m", "/v1"), ("google:m", "")):
        measure(address + path, name, 1, 0)  # imports
        for images in given.images:
            for calls in given.calls:
                took, each = measure(address + path, name, calls, images)
                print(f"| `{name}` | {images} | {calls} | {took:.2f} s | {each * 1000:.1f} ms |", flush=True)
    server.kill()


if __name__ == "__main__":
    main()
