"""The hub with many runs: listing all of them, one command, and what ended runs leave on it."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.link.broker import Broker
from tests.link.owned import Owned

from interlock.config.schema import Hub
from interlock.control import new_request
from interlock.journal import RunSummary
from interlock.link.hub_client import HubClient
from interlock.link.hub_connect import open_session
from interlock.link.hub_endpoint import HubLink
from interlock.link.hub_session import STREAM, run_subject
from interlock.link.outbox import RemoteRun

NOTES = """Rows of runs as owners publish and sign them, and one run with a link of its own that is paused and resumed.
`ps --hub` is a whole process: its CPU time, user and system, and its wall time; the goal is 1 s at 5,000 runs.
REQUEST to RESULT may take at most 1.5 times what it takes at 10 runs. "behind" is the number of consumers that the
stream has after this many sessions of owners; the goal is 0. In two rows some of the runs are real ones,
`interlock run -- sleep` with an owner process each: one of them is paused and resumed, and what is left is counted
after they have ended. Their ratio is that of the second to the first of the two rows."""


REAL = int(os.environ.get("REAL", "200"))


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    rows = []
    with tempfile.TemporaryDirectory() as root, Broker(Path(root) / "js") as broker:
        base = Path(root)
        settings = Hub(url=broker.url, key_file=str(base / "interlock" / "key"))
        with Owned(base / "runs") as owned, HubClient(settings) as client:
            link = HubLink(settings, owned.endpoint, owned.journal)
            link.start()
            known, first = 0, 0.0
            for runs in (10, 100) if quick else (10, 1000, 5000):
                asyncio.run(_publish(settings, known, runs))
                known = runs
                listed, took = min(_spent(broker.url, base) for _ in range(3))
                asked = sorted(_ask(client, f"{runs}-{number}", number) for number in range(40))[20]
                first = first or asked
                left = asyncio.run(_left_behind(settings, 20 if quick else 2 * runs))
                figures = [f"{listed:.2f}", f"{took:.2f}", f"{asked * 1000:.1f}", f"{asked / first:.2f}", str(left)]
                rows.append([f"{runs:,}", *figures])
                if runs == 10:
                    few = _ask_real(settings, client, base / "few", runs, 10)
                    rows.append(_real_row(few, few))
            link.close()
            many = _ask_real(settings, client, base / "many", known, 12 if quick else REAL)
            rows.append(_real_row(many, few))
    columns = [
        "live runs",
        "ps --hub, CPU s",
        "wall s",
        "REQUEST to RESULT, ms",
        "relative to 10 runs",
        "behind",
    ]
    return "Hub with many runs", columns, rows


class _Asked(msgspec.Struct):
    """What was measured with so many runs, some of them real."""

    runs: int
    real: int
    listed: float
    took: float
    asked: float
    left: int


def _real_row(found: _Asked, few: _Asked) -> list[str]:
    figures = [
        f"{found.listed:.2f}",
        f"{found.took:.2f}",
        f"{found.asked * 1000:.1f}",
        f"{found.asked / few.asked:.2f}",
    ]
    return [f"{found.runs:,}, {found.real} of them real", *figures, str(found.left)]


def _ask_real(settings: Hub, client: HubClient, base: Path, known: int, count: int) -> _Asked:
    env = {**os.environ, "XDG_CONFIG_HOME": str(base.parent), "XDG_STATE_HOME": str(base)}
    env["INTERLOCK_HUB__URL"] = str(settings.url)
    agent = ["sh", "-c", "echo up; exec sleep 3600"]
    command = [sys.executable, "-m", "interlock", "run", "--contain", "off", "--", *agent]
    before = {run.summary.run_id for run in client.runs()}
    fleet: list[subprocess.Popen[bytes]] = []
    try:
        for number in range(count):
            workspace = base / f"w{number}"
            workspace.mkdir(parents=True)
            fleet.append(
                subprocess.Popen(command, cwd=workspace, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            )
            if number % 4 == 3 or number == count - 1:
                _wait_until_up(fleet[number // 4 * 4 :])
        while len(real := [run for run in client.runs() if run.summary.run_id not in before]) < count:
            time.sleep(0.5)
        listed, took = min(_spent(str(settings.url), base.parent) for _ in range(3))
        run_id = real[0].summary.run_id
        asked = sorted(_ask(client, f"{base.name}-{number}", number, run_id) for number in range(40))[20]
    finally:
        for run in fleet:
            run.terminate()
        for run in fleet:
            run.wait()
    return _Asked(known + count, count, listed, took, asked, asyncio.run(_left_behind(settings, 0)))


def _wait_until_up(runs: list[subprocess.Popen[bytes]]) -> None:
    for run in runs:
        assert run.stdout is not None
        if not run.stdout.readline():
            raise SystemExit("a run did not start")


async def _publish(settings: Hub, first: int, last: int) -> None:
    session = await open_session(settings, "bench", owner=True)
    for number in range(first, last):
        run = RunSummary(run_id=f"bench-{number:05}", task="mend the parser " * 4, started=float(number))
        body = msgspec.json.encode(RemoteRun(summary=run, host="bench", pid=1))
        sent = await session.publish(run_subject(run.run_id), body, os.urandom(8).hex())
        if number % 100 == 99 or number == last - 1:
            await session.settle([sent])
    await session.close()


def _spent(url: str, base: Path) -> tuple[float, float]:
    env = {**os.environ, "XDG_CONFIG_HOME": str(base), "XDG_STATE_HOME": str(base / "state")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "interlock", "ps", "--hub", url]
    begin = time.perf_counter()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    took = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took


def _ask(client: HubClient, name: str, number: int, run_id: str = "run-1") -> float:
    begin = time.perf_counter()
    client.ask(new_request(name, "resume" if number % 2 else "pause", run_id))
    return time.perf_counter() - begin


async def _left_behind(settings: Hub, sessions: int) -> int:
    for _ in range(sessions):
        await (await open_session(settings, "bench", owner=True)).close()
    session = await open_session(settings, "bench")
    info = await session.api(f"STREAM.INFO.{STREAM}", {})
    await session.close()
    return int(info["state"]["consumer_count"])
