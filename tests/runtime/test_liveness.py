"""One word for what a run is doing, from recorded probes and an injected clock: each hang within a minute, no false ones."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from interlock.core import Liveness
from interlock.runtime.liveness import QUIET_S, LivenessMemory, ModelProbe, Probes, TerminalReader, fuse, until_hang

TOOL_S = 600.0
STEP_S = 5.0
BUSY = Probes(now=0.0, wall_time=1e9, visible=True, steps=3, cpu_s=1.0, client_cpu_s=1.0, io_bytes=10, output_bytes=10)


def tell(probes: list[Probes], tool_s: float = TOOL_S) -> list[Liveness]:
    watch, said = LivenessMemory(), []
    for each in probes:
        watch, liveness = fuse(watch, each, tool_s)
        said.append(liveness)
    return said


def over(seconds: float, change=lambda at, probes: probes, start: Probes = BUSY) -> list[Probes]:
    """The same look again and again, with what changes in it."""
    times = [STEP_S * number for number in range(int(seconds / STEP_S) + 1)]
    return [change(at, replace(start, now=at, wall_time=1e9 + at)) for at in times]


HANGS = {
    "half-open stream": lambda at, p: replace(p, model=ModelProbe(0.0, 1.0, 1.0, 1.0)),
    "only pings": lambda at, p: replace(p, model=ModelProbe(0.0, 1.0, max(1.0, at - 2), 1.0)),
    "client spins": lambda at, p: replace(p, cpu_s=1 + at, client_cpu_s=1 + at),
    "client deadlocked": lambda at, p: p,
    "pipe held by a child": lambda at, p: replace(p, tool="Bash", tool_since=0.0, orphan="sleep (process 9)"),
    "disk full": lambda at, p: replace(p, disk_full="the disk of the workspace has 0 bytes left"),
    "network gone": lambda at, p: replace(p, failures=int(at / 10), failure="ConnectError"),
    "empty answers": lambda at, p: replace(p, empty_answers=int(at / 10)),
}


@pytest.mark.parametrize("kind", HANGS)
def test_a_hang_is_told_within_a_minute_with_its_kind_and_evidence(kind):
    said = tell(over(60, HANGS[kind]))
    assert (said[-1].word, said[-1].wedged) == ("wedged", kind) and said[-1].evidence


def test_a_silent_tool_is_waited_for_until_its_time_is_up():
    silent = over(660, lambda at, p: replace(p, tool="Bash", tool_since=0.0))
    said = tell(silent)
    assert {each.word for each in said[: int(590 / STEP_S)]} == {"waiting for a tool"}
    assert (said[-1].word, said[-1].wedged) == ("wedged", "tool never ends") and "Bash" in said[-1].evidence


@pytest.mark.parametrize(
    ("client", "piped", "kind"),
    [
        (False, False, "tool reads the terminal"),
        (True, False, "client prompt"),
        (False, True, "tool waits for input"),
        (True, True, None),
    ],
)
def test_whoever_reads_the_terminal_or_a_pipe_waits_for_a_person_with_the_question(client, piped, kind):
    reader = TerminalReader(7, "ssh", "Password:", client=client, piped=piped)
    (said,) = tell([replace(BUSY, reader=reader, tool="Bash", tool_since=0.0)])
    assert (said.word, said.question, said.wedged) == ("waiting for a person", "Password:", kind)
    (said,) = tell([replace(BUSY, reader=reader, attended=True)])
    assert (said.word, said.wedged) == ("waiting for a person", None)


def build(rng, at, p):
    """A compiler: processor time, now and then output; quiet linking in between."""
    return replace(p, tool="Bash", tool_since=0.0, cpu_s=1 + at * rng.uniform(0.5, 4), client_cpu_s=1.0)


def download(rng, at, p):
    """Bytes come, the processor idles."""
    return replace(p, tool="Bash", tool_since=0.0, io_bytes=10 + int(at * rng.randrange(1, 10_000)))


def slow_model(rng, at, p):
    """A token every 20 seconds, with pings or without."""
    content = max(1.0, at - rng.uniform(0, 20))
    return replace(p, model=ModelProbe(0.0, 1.0, max(content, at - rng.choice((0, 10))), content))


def typing(rng, at, p):
    """A person types at an interactive client, thinks for a while, and types on."""
    return replace(p, attended=True, output_bytes=10 + int(at / rng.choice((5, 40, 90))), reader=rng.choice(
        (None, TerminalReader(3, "claude", "> ", client=True))))  # fmt: skip


@pytest.mark.parametrize("work", [build, download, slow_model, typing])
@pytest.mark.parametrize("seed", range(50))
def test_long_work_is_never_wedged(work, seed):
    rng = random.Random(f"{work.__name__} {seed}")
    said = tell(over(1800, lambda at, p: work(rng, at, p)))
    assert [each for each in said if each.word == "wedged" or each.wedged] == []


def test_a_client_whose_requests_are_not_seen_is_not_called_deadlocked():
    said = tell(over(900, lambda at, p: replace(p, proxied=False)))
    assert {each.word for each in said} == {"working"} and "not visible" in said[-1].evidence


def test_parked_and_paused_and_held_come_before_everything_else():
    stuck = replace(BUSY, disk_full="full", failures=9)
    parked = Liveness("parked", 5.0, "model API: 429", wake=99.0)
    assert tell([replace(stuck, parked=parked, status="paused")]) == [parked]
    assert tell([replace(stuck, status="paused")])[0].word == "paused"
    held = tell([replace(stuck, status="paused", held="nothing helped")])[0]
    assert tell([replace(stuck, status="pausing")])[0].word == "working"
    finishing = tell([replace(stuck, status="pausing", tool="bash", tool_since=0.0)])[0]
    assert (finishing.word, finishing.wedged) == ("waiting for a tool", None)
    assert (held.word, held.question) == ("waiting for a person", "nothing helped")
    assert tell([replace(stuck, asked="rm -rf build")])[0].question == "rm -rf build"


def test_every_call_is_waited_for_since_it_began():
    calls = over(30, lambda at, p: replace(p, tool="bash", tool_since=at - at % 10))
    assert [round(each.since - 1e9) for each in tell(calls)] == [0, 0, 10, 10, 20, 20, 30]


def test_a_call_that_is_delayed_is_not_called_running():
    said = tell(over(30, lambda at, p: replace(p, tool="bash", tool_since=20.0)))
    assert {each.word for each in said} == {"waiting for a tool"}
    delayed, running = said[:4], said[5:]
    assert {each.evidence.split(" until ")[0] for each in delayed} == {"Interlock delays bash"}
    assert {each.since for each in delayed} == {1e9}, "a wait that has begun"
    assert all("delays" not in each.evidence and round(each.since - 1e9) == 20 for each in running)


def test_evidence_stays_true_however_long_it_is_shown():
    early, late = tell(over(5)), tell(over(5, lambda at, p: replace(p, tool="bash", tool_since=0.0)))
    assert not any(" ago" in each.evidence or " for " in each.evidence for each in early + late)


def test_since_stays_while_the_word_does():
    said = tell(over(120, HANGS["client deadlocked"]))
    wedged = [each.since for each in said if each.word == "wedged"]
    assert wedged and set(wedged) == {1e9}


def test_a_look_just_when_a_run_begins_to_hang_is_asked_for():
    watch, _ = fuse(LivenessMemory(), Probes(now=100.0, wall_time=0.0, visible=True), 600.0)
    assert until_hang(LivenessMemory(), 600.0) == float("inf")
    assert until_hang(watch, 600.0) == QUIET_S
    assert until_hang(watch, 20.0) == 20.0
    watch, said = fuse(watch, Probes(now=140.0, wall_time=40.0, visible=True), 600.0)
    assert (until_hang(watch, 600.0), said.word) == (QUIET_S - 40.0, "working")
    watch, said = fuse(watch, Probes(now=100.0 + QUIET_S, wall_time=QUIET_S, visible=True), 600.0)
    assert (until_hang(watch, 600.0), said.wedged) == (600.0 - QUIET_S, "client deadlocked")
    model = ModelProbe(since=140.0, begun=141.0, byte=152.0, content=145.0)
    watch, _ = fuse(LivenessMemory(), Probes(now=155.0, wall_time=0.0, model=model), 600.0)
    assert until_hang(watch, 600.0) == 141.0 + QUIET_S - 155.0


def test_a_child_that_holds_the_pipe_is_named_also_where_tools_have_little_time():
    tool = Probes(now=0.0, wall_time=0.0, visible=True, tool="bash", tool_since=0.0, orphan="sleep (process 3)")
    watch, _ = fuse(LivenessMemory(), tool, 20.0)
    _, said = fuse(watch, replace(tool, now=21.0, wall_time=21.0), 20.0)
    assert said.wedged == "pipe held by a child"
