"""Every cell of (status x command x case), as a script that any way to reach a run can be put through."""

from __future__ import annotations

from typing import Protocol

from interlock.control import COMMANDS, Command, Event, IterationStarted, RunEnded, Waiting, WaitingForPerson

from .owner import make

STATUSES = ("running", "pausing", "paused", "done", "aborted")
CASES = ("new", "in flight", "answered", "other content in flight", "other content answered")
CELLS = [(status, command, case) for status in STATUSES for command in COMMANDS for case in CASES]

ENDED = ("done", "aborted")


class Sender(Protocol):
    """A way to reach a run: in memory, on a socket, through the hub."""

    def do(self, event: Event) -> object:
        """Let something happen to the run."""
        ...

    def say(self, data: bytes, expected: int) -> list[str]:
        """Send one message and give the messages that come because of it, in short; `expected` many are waited for."""
        ...

    def execute(self) -> list[str]:
        """Let what is being executed succeed."""
        ...

    def last_result(self) -> bytes:
        """The bytes of the RESULT that came last."""
        ...


def new_answers(status: str, command: Command) -> list[str]:
    """What a new request gets."""
    if status in ENDED:
        return ["not_found"]
    if command == "cancel":
        return ["ACK", "success", "ABORT"]
    if command == "pause":
        return ["ACK", "success", "STATE paused"] if status == "running" else ["ACK", "invalid_state"]
    if command == "resume":
        return ["ACK", "invalid_state"] if status == "running" else ["ACK", "success", "STATE running"]
    return ["ACK", "success", f"STATE {status}"]


def bring_to(sender: Sender, status: str) -> None:
    """Bring a fresh run into a status, with step 3 waiting for a person while it lives."""
    sender.do(WaitingForPerson(Waiting("approval", 3, "delete?")))
    if status == "pausing":
        sender.do(IterationStarted("i1"))
    if status in ("pausing", "paused"):
        assert sender.say(make("pause", id="before"), 3) == ["ACK", "success", f"STATE {status}"]
    elif status == "done":
        sender.do(RunEnded("COMPLETE"))
    elif status == "aborted":
        sender.do(RunEnded("ERROR"))


def play(sender: Sender, status: str, command: Command, case: str) -> None:
    """Put a fresh run through one cell."""
    bring_to(sender, status)
    copy = make(command, id="it")
    if case.endswith("in flight"):
        if status in ENDED:
            # Nothing is ever in flight here: the first copy is answered at once.
            assert sender.say(copy, 1) == ["not_found"]
        else:
            assert sender.say(make("rollback", id="blocker"), 1) == ["ACK"]
            assert sender.say(copy, 1) == ["ACK"]
        still = ["not_found"] if status in ENDED else ["duplicate"]
    else:
        expected = new_answers(status, command)
        answers = (
            sender.say(copy, len(expected)) if not is_executed(status, command) else _say_and_execute(sender, copy)
        )
        assert answers == expected
        if case == "new":
            return
        still = [expected[0] if status in ENDED else expected[1]]
    stored = sender.last_result()
    if case.startswith("other content"):
        for other in other_contents(command):
            assert sender.say(other, 1) == ["bad_request"]
    assert sender.say(copy, 1) == still
    if still != ["duplicate"]:
        assert sender.last_result() == stored


def is_executed(status: str, command: Command) -> bool:
    return status not in ENDED and command in ("approve", "reject", "rollback")


def other_contents(command: Command) -> list[bytes]:
    """The same id with another command, another target, another payload."""
    another: Command = "resume" if command == "pause" else "pause"
    payload = {"model": "opus", "step": 4, "to": "other", "more": True}
    return [make(another, id="it"), make(command, id="it", issue_id="7"), make(command, payload, id="it")]


def _say_and_execute(sender: Sender, copy: bytes) -> list[str]:
    return sender.say(copy, 1) + sender.execute()
