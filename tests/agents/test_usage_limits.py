"""The real clients at a usage limit: parked, started again in their session or thawed, and done."""

from __future__ import annotations

import os
import signal
import time

import pytest

from interlock.demo.model import ScriptedModel
from interlock.demo.model.script import ModelRequest, ScriptedTurn, run
from interlock.journal.folder import read_tree
from interlock.journal.parked_file import read_parked
from interlock.runtime.resume_after_limit import Parked

from .clients import CLIENTS, AgentPlace, shown, until

pytestmark = pytest.mark.agents

WAIT_S = 65
"""Longer than what is left to the client."""


class Limited:
    """A model that gives one call, then is limited until its time is over or it is lifted, then answers again."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.lifted, self.refused, self.until = seconds, False, 0, float("inf")

    @property
    def limited(self) -> bool:
        return not self.lifted and time.monotonic() < self.until

    def answer(self, request: ModelRequest) -> ScriptedTurn:
        if not request.has_tools:
            return ScriptedTurn(text="ok")
        if "marker-before" not in request.text:
            return ScriptedTurn(calls=(run("echo marker-before > before.txt; cat before.txt"),))
        if "usage limit stopped you" in request.text or (self.refused and not self.limited):
            return ScriptedTurn(text="all done, marker-after")
        self.refused += 1
        self.until = min(self.until, time.monotonic() + self.seconds)
        return ScriptedTurn(
            status=429,
            headers=(("retry-after", str(int(self.seconds))),),
            error=("rate_limit_error", f"Rate limit reached. Please try again in {int(self.seconds)}s."),
        )


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_client_at_its_limit_is_parked_and_the_timer_wakes_it_in_its_session(
    client, tmp_path, agents_folder, record_property
):
    record_property("agent", client.name)
    limited = Limited(WAIT_S)
    with ScriptedModel(limited.answer) as model:
        config = {"unattended": {"resume": {"jitter_s": 0}}, "checkpoints": {"budget_files": 10_000}}
        place = AgentPlace(tmp_path, client, model, agents_folder, config)
        try:
            # opencode knows its provider by a file of its own: its plugin says that it waits.
            process = place.begin_agent(options=() if client.name == "opencode" else ("--proxy",))
            until("it is parked", lambda: place.store.runs() and place.records("parked"))
            parked = place.records("parked")
            assert len(parked) == 1 and parked[0].get("wake") is not None, shown(parked)
            out, err = process.communicate(timeout=WAIT_S + 150)
            said = shown({"out": out.decode()[-1500:], "err": err.decode()[-1500:], "refused": limited.refused})
            assert process.returncode == 0, said
            assert [each["by"] for each in place.records("woken")] == ["the timer"], said
            assert len(place.records("parked")) == 1, said
            # The model was shown the conversation from before the limit.
            assert "marker-before" in model.asked[-1].text, said
        finally:
            place.close()


@pytest.mark.parametrize(
    "client", [c for c in CLIENTS if c.name in ("codex", "gemini")], ids=lambda client: client.name
)
def test_a_client_that_dies_while_it_is_parked_is_started_again_in_its_session(client, tmp_path, agents_folder):
    limited = Limited(3600)
    with ScriptedModel(limited.answer) as model:
        config = {"unattended": {"resume": {"jitter_s": 0}}, "checkpoints": {"budget_files": 10_000}}
        place = AgentPlace(tmp_path, client, model, agents_folder, config)
        try:
            process = place.begin_agent(options=("--proxy",))
            until("it is parked", lambda: place.store.runs() and place.records("parked"))
            tree = read_tree(place.folder)
            assert tree is not None
            os.kill(tree.root.pid, signal.SIGKILL)
            until("it has ended", lambda: (p := read_parked(place.folder, Parked)) is None or p.status is not None)
            before = read_parked(place.folder, Parked)
            assert before is not None and before.session and not before.held_by, before
            assert place.order("resume").outcome == "success"
            limited.lifted = True
            out, err = process.communicate(timeout=150)
            said = shown({"out": out.decode()[-1500:], "err": err.decode()[-1500:], "refused": limited.refused})
            assert process.returncode == 0, said
            assert [each["how"] for each in place.records("woken")] == ["the client is restarted in its session"]
            last = model.asked[-1].text
            assert "usage limit stopped you" in last and "marker-before" in last, said
        finally:
            place.close()
