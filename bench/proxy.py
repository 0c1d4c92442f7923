"""What the model proxy adds to a request: the same client and the same model, with and without it, in turn."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from interlock.adapters.proxy import ProxyAdapter
from interlock.adapters.proxy.proxy import Proxy
from interlock.adapters.steps.step_numbering import StepNumbering
from interlock.config import Config
from interlock.config.schema import Interventions
from interlock.core import Context
from interlock.journal import Store
from interlock.runtime import Supervisor

NOTES = """A request of the given size in Anthropic's format, streamed, over a kept connection; the model replies with
text and one shell call, which the proxy reviews before the client gets it. `relay` is a request that is not a
conversation and passes unchanged. Added is the median of the differences of pairs; the limit is 3 ms at 100 kB."""

CALL = re.compile(rb'"id": ?"(toolu_[0-9a-f]+)"')
SIZES = (1_000, 100_000)
TOOLS = [{"name": "bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}]


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Added milliseconds per request, by size; model, proxy and client are processes of their own."""
    rounds = 60 if quick else 300
    rows = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        script = Path(folder) / "script.json"
        turn = {"text": "I look at the next file.", "shell": "cat src/module___N__.py", "times": 5000}
        script.write_text(json.dumps({"work": [turn]}))
        model = stack.enter_context(_started("-m", "interlock.demo.model", "--script", str(script)))
        through = stack.enter_context(_started(__file__, "--serve", model, folder))
        for size in SIZES:
            rows.append(_row(f"{size // 1000} kB, reviewed", model, through, "/v1/messages", size, rounds))
            rows.append(_row(f"{size // 1000} kB, relay", model, through, "/v1/other", size, rounds))
    header = [
        "request",
        "direct, median ms",
        "through the proxy, median ms",
        "added, median ms",
        "added, p95 ms",
        "target",
    ]
    return "Model proxy: cost per request", header, rows


@contextmanager
def _started(*words: str) -> Iterator[str]:
    """A Python process that says its address first."""
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def serve(model: str, folder: str) -> None:
    """The proxy over a real supervisor, until it is ended."""
    adapter = ProxyAdapter()
    context = Context(original_prompt="work", workspace=folder)
    store = Store(Path(folder) / "runs")
    # Everything is judged, nothing is answered: a benchmark is a loop, and would be stopped as one.
    config = Config(interventions=Interventions(enabled=False))
    with Supervisor.open(config=config, store=store, adapter=adapter, context=context) as supervisor:
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        Proxy(listener, StepNumbering(supervisor), {"anthropic": model}, "t", choice=adapter.choice).start()
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/t/anthropic", flush=True)
        signal.pause()


def _row(name: str, direct: str, through: str, path: str, size: int, rounds: int) -> list[str]:
    plain, proxied = _Client(direct + path), _Client(through + path)
    for number in range(10):
        plain.ask(number, size)
        proxied.ask(number, size)
    pairs = [(plain.ask(number, size), proxied.ask(number, size)) for number in range(rounds)]
    added = sorted(with_it - without for without, with_it in pairs)
    target = "3" if size == SIZES[-1] else ""
    return [
        name,
        f"{statistics.median(one[0] for one in pairs):.2f}",
        f"{statistics.median(one[1] for one in pairs):.2f}",
        f"{statistics.median(added):.2f}",
        f"{added[int(len(added) * 0.95)]:.2f}",
        target,
    ]


class _Client:
    """One kept connection; milliseconds from the first byte sent to the last one read."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._path, self._call = parts.path, ""
        self._connection = http.client.HTTPConnection(parts.netloc)
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, number: int, size: int) -> float:
        body = _body(number, size, self._call)
        begin = time.perf_counter()
        self._connection.request("POST", self._path, body, {"content-type": "application/json", "x-api-key": "none"})
        answer = self._connection.getresponse().read()
        spent = (time.perf_counter() - begin) * 1000
        found = CALL.search(answer)
        self._call = found[1].decode() if found else ""
        return spent


def _body(number: int, size: int, last_call: str) -> bytes:
    """A conversation about as long as `size`; its newest result is that of the last answer's call."""
    turn = "def function():\n    return 'some code, with \"quotes\" and\\ttabs'\n" * 8
    messages: list[dict[str, object]] = [{"role": "user", "content": f"Work on number {number}."}]
    index = 0
    while len(json.dumps(messages)) < size:
        call = f"toolu_{index}"
        messages.append(
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": call, "name": "bash", "input": {"command": f"cat {index}"}}],
            }
        )
        content = turn[: max(20, min(len(turn), size - len(json.dumps(messages)) - 200))] * (8 if size > 50_000 else 1)
        messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": content}]})
        index += 1
    if last_call:
        messages[-2]["content"][0]["id"] = last_call  # type: ignore[index]
        messages[-1]["content"][0]["tool_use_id"] = last_call  # type: ignore[index]
    return json.dumps({"model": "m", "stream": True, "max_tokens": 100, "messages": messages, "tools": TOOLS}).encode()


def main() -> None:
    title, header, rows = measure()
    print(title)
    for row in [header, *rows]:
        print("  ".join(f"{cell:>28}" for cell in row))


if __name__ == "__main__":
    serve(*sys.argv[2:]) if "--serve" in sys.argv else main()
