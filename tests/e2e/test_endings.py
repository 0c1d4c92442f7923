"""However a run ends, every screen says the same: closing lines, status, lists, inbox, report and alert."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from interlock.report import Fleet, read_inbox

from .running import Place

AGENT = """
import json, subprocess, sys
from interlock.adapters.steps.client import Steps
with Steps() as steps:
    for number, (what, words) in enumerate(json.loads(sys.argv[1])):
        if what == "exit":
            sys.exit(int(words))
        elif what == "silently":
            subprocess.run(words, shell=True)
        elif what == "say":
            steps.say(words)
        elif steps.before("bash", {"command": words}, call_id=str(number))["action"] == "proceed":
            done = subprocess.run(words, shell=True, capture_output=True, text=True)
            steps.after(done.stdout + done.stderr, exit_code=done.returncode, call_id=str(number))
"""
TEST = "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        import work\n        self.assertEqual(work.answer, 42)\n"
RUN = "python3 -m unittest -q"
RIGHT, WRONG = "echo 'answer = 42' > work.py", "echo 'answer = 41' > work.py"
CLAIM = "I fixed it and all tests pass."
WEAKER = "sed -i s/42/41/ test_work.py"
DELETES = "rm -rf /srv/data"

PROVEN, CONTRADICTED = ("--done-when", RUN), ("--done-when", "test -f nothing")

CASES: dict[str, tuple[str, int, list[tuple[str, str]], tuple[str, ...]]] = {
    # A name: the ending, the exit status, what the agent does, and the options of the run.
    "nothing": ("done", 0, [], ()),
    "talk": ("done", 0, [("say", "Hello.")], ()),
    "work": ("done", 0, [("bash", RIGHT)], ()),
    "a failure that is admitted": ("done", 0, [("bash", WRONG), ("bash", RUN), ("say", "The test still fails.")], ()),
    "a claim that is true": ("done", 0, [("bash", RIGHT), ("bash", RUN), ("say", CLAIM)], ()),
    "a claim without a check": ("unproven", 0, [("bash", RIGHT), ("say", CLAIM)], ()),
    "a claim that is false": ("contradicted", 0, [("bash", WRONG), ("bash", RUN), ("say", CLAIM)], ()),
    "a check before the last change": (
        "unproven", 0, [("bash", RIGHT), ("bash", RUN), ("bash", "echo >> work.py"), ("say", CLAIM)], (),
    ),
    "done_when passes": ("proven", 0, [("bash", RIGHT), ("say", "Done.")], PROVEN),
    "done_when fails": ("contradicted", 123, [("bash", WRONG), ("say", "Done.")], PROVEN),
    "done_when fails without a word": ("contradicted", 123, [("bash", WRONG)], CONTRADICTED),
    "done_when and a false claim": ("contradicted", 123, [("bash", WRONG), ("bash", RUN), ("say", CLAIM)], PROVEN),
    "a protected file": ("broken", 123, [("silently", "echo >> test_work.py")], ("--protect", "test_work.py")),
    "a protected file, proven": ("broken", 123, [("silently", WEAKER), ("bash", RIGHT)], (*PROVEN, "--protect", "test_work.py")),
    "outside of what may change": ("broken", 123, [("silently", "echo > other")], ("--may-change", "work.py")),
    "a protected file, observed": (
        "broken", 0, [("silently", "echo >> test_work.py")], ("--protect", "test_work.py", "--observe"),
    ),
    "a status": ("failed", 7, [("exit", "7")], ()),
    "a status after work": ("failed", 1, [("bash", RIGHT), ("say", CLAIM), ("exit", "1")], ()),
    "a status and a broken contract": ("failed", 3, [("silently", "echo >> test_work.py"), ("exit", "3")], ("--protect", "test_work.py")),
    "too many calls": ("limit", 124, [("bash", "true")] * 9, ("--max-steps", "3")),
    "blocked by the contract": ("done", 0, [("bash", "echo >> test_work.py")], ("--protect", "test_work.py")),
    "blocked, and other work done": ("done", 0, [("bash", DELETES), ("bash", RIGHT)], ()),
}  # fmt: skip

NEEDS_A_PERSON = {"unproven", "contradicted", "broken", "failed", "limit", "refused"}
ALERTED = {"contradicted", "broken", "failed", "limit"}


class Channel(ThreadingHTTPServer):
    """Receives alerts, as apprise's JSON channel sends them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receiver)
        self.titles: list[str] = []


class _Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.titles.append(body["title"])  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def channel() -> Iterator[Channel]:
    server = Channel()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def agent(*does: tuple[str, str]) -> tuple[str, ...]:
    return (sys.executable, "-c", AGENT, json.dumps(does))


@pytest.mark.parametrize("name", CASES)
def test_every_screen_says_how_a_run_ended(name: str, tmp_path: Any, channel: Channel) -> None:
    ending, status, does, options = CASES[name]
    place = Place(tmp_path, {"notifications": {
        "channels": {"ops": f"json://127.0.0.1:{channel.server_port}"}, "events": sorted(ALERTED),
    }})  # fmt: skip
    (place.workspace / "test_work.py").write_text(TEST)
    got, _, err = place.run(*agent(*does), options=options)
    said = place.told()
    assert (said["ending"], got, said["exit_status"]) == (ending, status, status), err.decode()
    (row,) = Fleet(place.store).rows(sparks=False)
    (listed,) = json.loads(place.interlock("ps", "--all", "--json")[1])["runs"]
    outcome = f"failed ({status})" if ending == "failed" else ending
    assert {row.outcome, listed["outcome"]} == {outcome}
    assert (row.ending, listed["ending"]) == (ending, ending)
    first = next(line for line in err.decode().splitlines() if line.startswith("interlock ") and said["run_id"] in line)
    assert ending in first, err.decode()
    assert {item.kind for item in read_inbox(place.store)} == {ending} & NEEDS_A_PERSON
    report = json.loads(place.interlock("report", said["run_id"], "-o", "-", "--format", "json")[1])
    assert report["run"]["ending"] == ending
    assert outcome in place.interlock("show", said["run_id"])[1].decode()
    assert len(channel.titles) == (ending in ALERTED), channel.titles
    not_done = json.loads(place.interlock("show", said["run_id"], "--not-done", "--json")[1])
    assert not_done == said["not_done"]
    assert bool(not_done) == (
        ending in ("unproven", "contradicted", "broken") or name.startswith(("blocked", "a status a"))
    )


def test_an_ending_that_counts_as_failure_has_a_status_of_its_own(place: Place) -> None:
    does = agent(("bash", "true"), ("say", CLAIM))
    assert place.run(*does)[0] == 0
    assert place.run(*does, options=("--fail-on", "unproven,refused"))[0] == 123
    (place.root / "strict").mkdir()
    strict = Place(place.root / "strict", {"run": {"fail_on": ["unproven"]}})
    assert strict.run(*does)[0] == 123
    assert strict.run(*does, options=("--fail-on", ""))[0] == 0


def test_an_ending_that_does_not_exist_is_one_clear_line(place: Place) -> None:
    status, _, err = place.run("true", options=("--fail-on", "broken,unprovable"))
    assert (status, err.count(b"\n")) == (2, 1), err
    assert b"unprovable" in err and b"contradicted" in err


def test_the_closing_lines_name_what_was_blocked_and_fit_a_small_terminal(place: Place) -> None:
    does = [("bash", f"{DELETES}{number}") for number in range(12)]
    status, _, err = place.run(*agent(*does, ("say", CLAIM)))
    lines = [line for line in err.decode().splitlines() if line.startswith(("interlock ", "  "))]
    assert status == 0 and len(lines) <= 14, err.decode()
    assert all(len(line) <= 80 for line in lines if "blocked" in line)
    assert f"blocked: bash {DELETES}0" in err.decode()
    assert "more: interlock show" in err.decode() and "--not-done" in err.decode()


@pytest.mark.parametrize("address", ["json://127.0.0.1:9", "nonsense", "json://127.0.0.1:{broken}"])
def test_an_alert_that_cannot_be_sent_is_said(address: str, tmp_path: Any) -> None:
    broken = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)  # it answers 501
    threading.Thread(target=broken.serve_forever, daemon=True).start()
    try:
        channels = {"ops": address.format(broken=broken.server_port)}
        place = Place(tmp_path, {"notifications": {"channels": channels}})
        status, _, err = place.run("sh", "-c", "exit 3")
    finally:
        broken.shutdown()
        broken.server_close()
    assert status == 3
    assert b"alert not sent: channel ops" in err, err.decode()
    assert (b"alerts cannot be sent through ops" in err) == (address == "nonsense")
    assert [each["kind"] for each in place.told()["not_done"]] == ["alert"]
    assert b"alert not sent: channel ops" in place.interlock("show", place.folder.run_id, "--not-done")[1]
