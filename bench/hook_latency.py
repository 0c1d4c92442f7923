"""What a hook costs: a client's start, its line to the owner and the reply, beside spawning /bin/true."""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from interlock.adapters.hooks.hookclient_build import compile_client, python_command
from table import print_table

NOTES = """Medians of one hook (PreToolUse of a command that reads) of each kind in turn, answered by a real `interlock
serve` in another process: review, detection and journal included. Each gets the payload on its standard input,
/bin/true too. Then twenty agents at once, each with a session of its own, as fast as they can. Limits: the compiled
client 2 times spawning /bin/true, the plain interpreter 12 times, HTTP 1 time; no hook lost."""

BARS = {"compiled client": 2.0, "python -I -S": 12.0, "HTTP": 1.0}
AGENTS = 20
_numbers = count()


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Milliseconds of each client, and the ratio to spawning /bin/true."""
    rounds, seconds = (40, 5.0) if quick else (200, 60.0)
    with tempfile.TemporaryDirectory(prefix="il-") as name, serving(Path(name)) as where:
        cases = _cases(where)
        spent: dict[str, list[float]] = {case: [] for case in cases}
        for _ in range(rounds):
            for case, call in cases.items():
                begin = time.perf_counter()
                call()
                spent[case].append((time.perf_counter() - begin) * 1000)
        crowd, lost = _crowd(where, seconds)
    floor = statistics.median(spent["spawn /bin/true"])
    rows = [_row(case, times, floor) for case, times in spent.items()]
    rows.append([f"{AGENTS} agents at once", *_figures(crowd, floor), f"{len(crowd)} hooks, {lost} lost"])
    return "Cost of a hook", ["client", "best ms", "median ms", "p99 ms", "x /bin/true", "bar"], rows


def main() -> None:
    print_table(*measure(quick="--quick" in sys.argv), NOTES)


@contextmanager
def serving(root: Path) -> Iterator[dict[str, str]]:
    """A resident supervisor; where it is spoken to."""
    (root / "run").mkdir(mode=0o700)
    (root / "work").mkdir()
    config = root / "interlock.yaml"
    config.write_text(json.dumps({"store": {"dir": str(root / "runs")}}))
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(root / "run"), "XDG_STATE_HOME": str(root / "state")}
    words = [sys.executable, "-m", "interlock", "serve", "--config", str(config), "--http", "0", "--json"]
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, cwd=root)
    assert process.stdout is not None
    try:
        yield {**json.loads(process.stdout.readline()), "work": str(root / "work")}
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def payload(where: dict[str, str], session: str) -> bytes:
    """A hook like no other, so that nothing is taken for a loop or for told twice."""
    number = next(_numbers)
    call: dict[str, Any] = {
        "tool_name": "Bash",
        "tool_input": {"command": f"ls dir{number}"},
        "tool_use_id": f"c{number}",
    }
    base = {"session_id": session, "hook_event_name": "PreToolUse", "cwd": where["work"]}
    return json.dumps({**base, **call}).encode()


def _cases(where: dict[str, str]) -> dict[str, Callable[[], object]]:
    cases: dict[str, Callable[[], object]] = {"spawn /bin/true": lambda: _spawn(["/bin/true"], where, "none")}
    compiled = compile_client()
    if compiled is not None:
        cases["compiled client"] = lambda: _hook((str(compiled),), where, "one")
    cases["python -I -S"] = lambda: _hook(python_command(), where, "one")
    host, port = where["url"].removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port))
    cases["HTTP"] = lambda: _post(connection, where)
    return cases


def _hook(command: tuple[str, ...], where: dict[str, str], session: str) -> None:
    _spawn([*command, "--before", "--closed", "--socket", where["socket"], "claude-code"], where, session)


def _spawn(words: list[str], where: dict[str, str], session: str) -> None:
    """As an agent starts a hook: with the payload on its standard input."""
    subprocess.run(words, input=payload(where, session), stdout=subprocess.DEVNULL, check=True)


def _post(connection: http.client.HTTPConnection, where: dict[str, str]) -> None:
    headers = {"Authorization": f"Bearer {where['token']}", "Content-Type": "application/json"}
    connection.request("POST", "/hooks/claude-code", payload(where, "two"), headers)
    response = connection.getresponse()
    assert response.status == 200, response.read()
    response.read()


def _crowd(where: dict[str, str], seconds: float) -> tuple[list[float], int]:
    """Many agents for a while: what each hook took, and how many got no answer."""
    spent: list[float] = []
    lost: list[object] = []
    command = (str(compiled),) if (compiled := compile_client()) is not None else python_command()
    until = time.monotonic() + seconds

    def agent(number: int) -> None:
        while time.monotonic() < until:
            begin = time.perf_counter()
            try:
                _hook(command, where, f"agent-{number}")
            except subprocess.CalledProcessError as error:
                lost.append(error)
            spent.append((time.perf_counter() - begin) * 1000)

    threads = [threading.Thread(target=agent, args=(number,)) for number in range(AGENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return spent, len(lost)


def _row(case: str, times: list[float], floor: float) -> list[str]:
    bar = f"<= {BARS[case]:g}" if case in BARS else ""
    return [case, *_figures(times, floor), bar]


def _figures(times: list[float], floor: float) -> list[str]:
    median, last = statistics.median(times), sorted(times)[int(len(times) * 0.99) - 1]
    return [f"{min(times):.2f}", f"{median:.2f}", f"{last:.2f}", f"{median / floor:.2f}"]


if __name__ == "__main__":
    main()
