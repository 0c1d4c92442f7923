"""While a cancel waits for a process that ignores SIGTERM, others get their answers at once, and it takes effect once."""

from __future__ import annotations

import json
import socket
import sys
import time
import uuid
from typing import Any

from interlock.control import CONTROL_KINDS, Command, new_request
from interlock.control.messages import encode
from interlock.link import noted_socket

from .running import PATIENCE_S, Place, finish

STUBBORN = """
import pathlib, signal, time
signal.signal(signal.SIGTERM, lambda *_: pathlib.Path("asked to end").touch())
pathlib.Path("ready").touch()
while True:
    time.sleep(600)
"""


class Line:
    """A connection to the run's socket; what it receives, in order."""

    def __init__(self, place: Place) -> None:
        self.run_id = place.folder.run_id
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE_S)
        self.sock.connect(str(noted_socket(place.folder.path)))
        self.lines = self.sock.makefile("rb")

    def send(self, command: Command, request_id: str) -> None:
        self.sock.sendall(encode(new_request(request_id, command, self.run_id)) + b"\n")

    def answer(self) -> dict[str, Any]:
        """The next message, shortened to what matters here."""
        message = json.loads(self.lines.readline())
        payload = message.get("payload", {})
        return {
            "id": message.get("request_id"),
            "what": message.get("type") or message["event"],
            "code": payload.get("code") or payload.get("status"),
        }


def test_others_are_answered_while_a_cancel_waits_for_a_process_that_ignores_sigterm(place: Place) -> None:
    run = place.start(sys.executable, "-c", STUBBORN)
    place.wait_for("ready")
    first, second = Line(place), Line(place)
    cancel = str(uuid.uuid4())
    first.send("cancel", cancel)
    assert first.answer() == {"id": cancel, "what": "ACK", "code": None}
    place.wait_for("asked to end")
    second.send("cancel", cancel)
    assert second.answer() == {"id": cancel, "what": "RESULT", "code": "duplicate"}
    spent = []
    for _ in range(20):
        begun = time.monotonic()
        second.send("pause", pause := str(uuid.uuid4()))
        assert second.answer() == {"id": pause, "what": "ACK", "code": None}
        spent.append(time.monotonic() - begun)
    print(f"ACK after {sorted(spent)[10] * 1e3:.2f} ms at the median, {max(spent) * 1e3:.2f} ms at most")
    # The command ends once: after SIGKILL, with everybody's RESULT in the order of the requests.
    results = [first.answer(), first.answer()]
    assert [(each["what"], each["code"]) for each in results] == [("RESULT", "success"), ("ABORT", None)]
    assert second.answer() == {"id": cancel, "what": "RESULT", "code": "success"}
    assert finish(run)[0] == 130
    ids = [
        (record["type"], record["request_id"])
        for record in place.records(*sorted(CONTROL_KINDS))
        if record.get("type") in ("ACK", "RESULT")
    ]
    acknowledged = [request_id for kind, request_id in ids if kind == "ACK"]
    assert [request_id for kind, request_id in ids if kind == "RESULT"] == acknowledged
    assert len(acknowledged) == 21 and acknowledged[0] == cancel
