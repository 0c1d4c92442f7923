"""Usage limits through the proxy and in the clients' own words, with everything that happens at night, to real runs.

Kills of owner and front, reboots (the state moved to a new place and process tree), a clock that is set forwards and
backwards by libfaketime, two runs on one quota, a cancel while parked, a window that passes. No run is lost, resumed
twice, early, outside its window or after a cancel.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from interlock.adapters.usage_limits import patterns
from interlock.journal import JournalReader, RunFolder, Store
from interlock.journal.parked_file import read_parked
from interlock.runtime.resume_after_limit import SPACING_S, Parked

from .running import Place, kill_both, owners, until

PATIENCE_S = 180.0

FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)
DELAY_S = 3.0
JUMP_DELAY_S = 6.0

CLIENT = """
import http.client, json, os, sys, time, urllib.parse
parks = int(os.environ.get("INTERLOCK_PARKS", "0"))
with open("starts", "a") as log:
    log.write(f"{parks} {time.monotonic()}\\n")
if parks:
    sys.exit(0)
words = sys.argv[1]
if words:
    print(words)
else:
    where = urllib.parse.urlsplit(os.environ["ANTHROPIC_BASE_URL"])
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    connection = http.client.HTTPConnection(where.hostname, where.port)
    connection.request("POST", where.path + "/v1/messages", json.dumps(body), {"content-type": "application/json"})
    connection.getresponse().read()
sys.exit(1)
"""

KINDS = (
    "quiet",
    "owner",
    "front",
    "both",
    "reboot",
    "forwards",
    "backwards",
    "quota",
    "cancel",
    "window",
    "window jumps",
)


class LimitedModel(BaseHTTPRequestHandler):
    """An API that refuses everything, each time in another way."""

    ways = (
        (429, {"retry-after": f"{DELAY_S:.0f}"}, "rate_limit_error"),
        (529, {"retry-after-ms": f"{DELAY_S * 1000:.0f}"}, "overloaded_error"),
        (503, {"retry-after": f"{DELAY_S:.0f}"}, "api_error"),
        (429, {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": f"{DELAY_S:.0f}s"}, "rate_limit"),
    )

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        status, headers, kind = self.ways[random.randrange(len(self.ways))]
        body = json.dumps({"type": "error", "error": {"type": kind, "message": "Too many requests"}}).encode()
        self.send_response(status)
        for name, value in {**headers, "content-type": "application/json", "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        return


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), LimitedModel) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class Night:
    """One run, or two on one quota, and what happens to it."""

    def __init__(self, root: Path, number: int, model: str) -> None:
        root.mkdir()
        self.rng = random.Random(number)
        self.kind = KINDS[number % len(KINDS)]
        self.root = root
        self._clock = root / "clock"
        self._clock.write_text("+0")
        self._set_at = 0.0
        says = [each for one in patterns() if one.passes for each in one.says]
        said = says[number % len(says)]["text"]
        self.delay = JUMP_DELAY_S if "wards" in self.kind or "window" in self.kind else DELAY_S
        through_proxy = self.kind in ("quiet", "owner", "both", "quota") and number % 2 == 0
        # The client's words, with a reset of ours in place of the one that they tell of.
        words = re.split(r"\||\bresets?\b|try again|retryDelay|retry in", said, flags=re.I)[0]
        self.words = "" if through_proxy else f"{words} try again in {self.delay:g}s"
        resume: dict[str, object] = {"jitter_s": 0, "rerun": True}
        if self.kind.startswith("window"):
            resume["until"] = f"{datetime.now() + timedelta(minutes=30):%H:%M}"
        self.place = Place(root, {"unattended": {"resume": resume}, "runtime": {"contain": "off"}})
        self._more = {"ANTHROPIC_BASE_URL": model} if through_proxy else {}
        self._options = ("--proxy",) if through_proxy else ()
        if "wards" in self.kind or "jumps" in self.kind:
            self._more |= {
                "LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(self._clock),
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                # Else every switch of threads reads the file, or waits wrongly, and the owner does hardly anything else.
                "FAKETIME_CACHE_DURATION": "1", "FAKETIME_FORCE_MONOTONIC_FIX": "0",
            }  # fmt: skip
        script = root / "client.py"
        script.write_text(CLIENT)
        self._client = (sys.executable, str(script), self.words)

    @property
    def folder(self) -> RunFolder:
        return self.place.folder

    def begin(self, workspace: str = "workspace") -> subprocess.Popen[bytes]:
        (self.root / workspace).mkdir(exist_ok=True)
        options = (*self._options, "--workspace", str(self.root / workspace))
        return self.place.start(*self._client, options=options, env={**self.place.environment, **self._more})

    def starts(self) -> list[tuple[int, float]]:
        path = self.place.workspace / "starts"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return [(int(line.split()[0]), float(line.split()[1])) for line in lines]

    def parked(self) -> Parked | None:
        return read_parked(self.folder, Parked) if self.place.store.runs() else None

    def play(self) -> str:
        """Let the night happen; says what went wrong."""
        try:
            process = self.begin()
            second = self.begin("another") if self.kind == "quota" else None
            wait_for("it is parked", lambda: (p := self.parked()) is not None and p.status is not None)
            time.sleep(self.rng.uniform(0, 1))
            getattr(self, "_" + self.kind.replace(" ", "_"))(process)
            if self.kind == "cancel":
                return self._never()
            if self.kind.startswith("window"):
                wait_for("it needs a person", lambda: (p := self.parked()) is not None and p.held_by)
                return self._never()
            if second is not None:
                second.wait(PATIENCE_S)
                return self._apart()
            wait_for("it is done", lambda: self.place.store.runs()[0].status == "done")
            return self._once()
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            return f"lost: {error}"
        finally:
            self.place.close()
            wait_for("nothing is left", self._is_over)

    def _is_over(self) -> bool:
        """End owners and whoever takes over from them: an owner that loses its front starts an adoption as it ends."""
        left = [*owners(self.place), *owners(self.place, b"interlock.adapters.command.adoption")]
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not left

    def _once(self) -> str:
        starts = self.starts()
        if [parks for parks, _ in starts] != [0, 1]:
            return f"started {[parks for parks, _ in starts]}"
        waited = starts[1][1] - starts[0][1]
        with JournalReader.open(self.folder) as reader:
            (parked,), woken = (list(reader.read(kinds=frozenset((kind,)))) for kind in ("parked", "woken"))
        if len(woken) != 1 or waited < self.delay - 0.1:
            return f"woken {len(woken)} times after {waited:.1f} s"
        jumped = abs(woken[0].time - parked.time) > 3000
        # The owner knows of a clock that was set within a second, or was already about to wake.
        known = starts[1][1] - self._set_at > 3
        return "" if jumped or not ("wards" in self.kind and known) else "the clock was not set"

    def _apart(self) -> str:
        # When they were woken, not when their clients got so far: that takes its time on a busy machine.
        times: list[float] = []
        for folder in self.place.store.folders():
            with JournalReader.open(folder) as reader:
                times += [record.time for record in reader.read(kinds=frozenset(("woken",)))]
        times.sort()
        if len(times) != 2 or sum(parks > 0 for parks, _ in self.starts()) != 2:
            return f"woken at {times}, started {self.starts()}"
        return "" if times[1] - times[0] >= SPACING_S - 3 else f"woken only {times[1] - times[0]:.1f} s apart"

    def _never(self) -> str:
        """It stays as it is, also where somebody looks for parked runs."""
        adopt(self.place, self.place.store.root)
        time.sleep(self.delay)
        woken, starts = self.place.records("woken"), [parks for parks, _ in self.starts()]
        return "" if not woken and starts == [0] else f"{self.kind}: woken {woken}, started {starts}"

    def _quiet(self, process: subprocess.Popen[bytes]) -> None:
        process.wait(PATIENCE_S)

    _quota = _quiet

    def _owner(self, process: subprocess.Popen[bytes]) -> None:
        if (owner := self.folder.owner()) is not None:
            os.kill(owner.pid, signal.SIGKILL)
        process.wait(PATIENCE_S)

    def _front(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait(PATIENCE_S)

    def _both(self, process: subprocess.Popen[bytes]) -> None:
        self._kill_both(process)
        adopt(self.place, self.place.store.root)

    def _kill_both(self, process: subprocess.Popen[bytes]) -> None:
        if (owner := self.folder.owner()) is not None:
            kill_both(process.pid, owner.pid)
        process.kill()
        process.wait(PATIENCE_S)
        wait_for("nobody has it", lambda: self.folder.owner() is None)

    def _reboot(self, process: subprocess.Popen[bytes]) -> None:
        """Everything of the run dies; its state is found elsewhere, by another boot."""
        self._kill_both(process)
        for pid in owners(self.place, b"interlock.adapters.command.adoption"):
            os.kill(pid, signal.SIGKILL)
        moved = self.root / "after"
        self.place.store.root.rename(moved)
        self.place.store = Store(moved)
        path = self.folder.path / "parked.json"
        timer = json.loads(path.read_text())
        timer["at"] = {**timer["at"], "since_boot": 1e9, "boot": "another boot"}
        path.write_text(json.dumps(timer))
        tree = self.folder.path / "tree.json"
        tree.write_text(json.dumps({**json.loads(tree.read_text()), "boot": "another boot"}))
        adopt(self.place, moved)

    def _forwards(self, process: subprocess.Popen[bytes]) -> None:
        self._set(f"+{self.rng.randrange(1, 9)}h")
        process.wait(PATIENCE_S)

    def _backwards(self, process: subprocess.Popen[bytes]) -> None:
        self._set(f"-{self.rng.randrange(1, 9)}h")
        process.wait(PATIENCE_S)

    def _set(self, clock: str) -> None:
        self._clock.write_text(clock)
        self._set_at = time.monotonic()

    def _cancel(self, process: subprocess.Popen[bytes]) -> None:
        assert self.place.order("cancel").outcome == "success"
        process.wait(PATIENCE_S)

    def _window(self, process: subprocess.Popen[bytes]) -> None:
        """The machine sleeps through the window: everything dies, and what comes after finds that it has passed."""
        self._kill_both(process)
        path = self.folder.path / "parked.json"
        timer = json.loads(path.read_text())
        path.write_text(json.dumps({**timer, "until": timer["at"]["wall"] - 1}))
        adopt(self.place, self.place.store.root)

    def _window_jumps(self, process: subprocess.Popen[bytes]) -> None:
        self._set("+3h")


def wait_for(what: str, is_so: Callable[[], object]) -> None:
    until(what, is_so, PATIENCE_S)


def adopt(place: Place, store: Path) -> None:
    """What `interlock serve` does after a reboot, in a process tree of its own."""
    code = "import sys; from pathlib import Path; from interlock.link import adopt_orphans as a"
    words = [sys.executable, "-c", f"{code}; a(Path(sys.argv[1]))", str(store)]
    subprocess.run(words, env=place.environment, capture_output=True, check=True, start_new_session=True)


def play_nights(root: Path, numbers: range, model: str, at_once: int) -> dict[str, str]:
    """What went wrong, by night."""
    with ThreadPoolExecutor(at_once) as pool:
        said = pool.map(lambda number: Night(root / f"{number}", number, model).play(), numbers)
        return {f"{KINDS[number % len(KINDS)]} {number}": why for number, why in zip(numbers, said, strict=True) if why}


@pytest.mark.skipif(FAKETIME is None, reason="needs Debian's faketime")
@pytest.mark.parametrize("kind", ["forwards", "window jumps"])
def test_a_clock_that_is_set_wakes_nothing_early_and_nothing_outside_its_window(tmp_path, model, kind):
    assert Night(tmp_path / "night", KINDS.index(kind), model).play() == ""


@pytest.mark.torture
@pytest.mark.skipif(FAKETIME is None, reason="needs Debian's faketime")
@pytest.mark.parametrize("first", range(0, 200, 40))
def test_two_hundred_limits_lose_nothing_and_resume_once(tmp_path, model, first):
    assert play_nights(tmp_path, range(first, first + 40), model, at_once=4) == {}
