"""Requests of a screen: what is known of each until its run has answered."""

from __future__ import annotations

import threading

import pytest

from interlock.control import Request, RequestOutcome
from interlock.core import BadInput, InterlockError
from interlock.journal import Store
from interlock.link.owner_client import Notice
from interlock.link.requests import Requests, Runs, SentRequest


class Scripted:
    """A run that answers when it is let."""

    def __init__(self, answer: RequestOutcome | Exception) -> None:
        self.answer, self.go_on = answer, threading.Event()
        self.asked: list[Request] = []

    def ask(self, request: Request, timeout: float, notice: Notice) -> RequestOutcome:
        self.asked.append(request)
        notice("its owner is gone")
        self.go_on.wait(150)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def follow(run: Scripted) -> tuple[Requests, list[SentRequest], threading.Event]:
    seen: list[SentRequest] = []
    over = threading.Event()

    def changed(sent: SentRequest) -> None:
        seen.append(sent)
        if sent.state != "sent":
            over.set()

    return Requests(run, actor="screen", changed=changed, now=lambda: 5.0), seen, over


def test_a_request_is_only_sent_until_its_run_has_answered() -> None:
    run = Scripted(RequestOutcome(outcome="success", message="paused", accepted=True))
    requests, seen, over = follow(run)
    sent = requests.send("pause", "r1", reason="look")
    assert (sent.state, sent.time) == ("sent", 5.0)
    run.go_on.set()
    assert over.wait(150)
    assert [(each.state, each.notice) for each in seen] == [
        ("sent", ""), ("sent", "its owner is gone"), ("success", "its owner is gone"),
    ]  # fmt: skip
    (known,) = requests.of("r1")
    assert (known.message, known.accepted, requests.of("r2")) == ("paused", True, [])
    assert (run.asked[0].actor, run.asked[0].reason) == ("screen", "look")


def test_a_connection_that_breaks_leaves_the_outcome_unknown() -> None:
    run = Scripted(InterlockError("the hub is gone"))
    run.go_on.set()
    requests, seen, over = follow(run)
    requests.send("cancel", "r1")
    assert over.wait(150)
    assert (seen[-1].state, seen[-1].message) == ("unknown", "the hub is gone")


def test_a_payload_that_does_not_fit_is_not_sent() -> None:
    run = Scripted(RequestOutcome(outcome="success", message=""))
    requests, seen, _ = follow(run)
    with pytest.raises(BadInput, match="escalate"):
        requests.send("escalate", "r1", {})
    assert seen == [] and run.asked == []


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "x" * 201, "a\0b"])
def test_what_cannot_be_a_runs_folder_is_not_here(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    runs = Runs(Store(tmp_path_factory.mktemp("runs")))
    assert not runs.is_here(name)
    with pytest.raises(InterlockError, match="there is no run"):
        runs.folder(name)
