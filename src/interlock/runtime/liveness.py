"""Determines from many probes what a run is doing. Pure: measurements and the time are passed in."""

from __future__ import annotations

import math
from datetime import datetime

from msgspec import Struct

from ..core import Liveness, LivenessWord, Status, WedgedKind

QUIET_S = 45.0
"""After this long without activity a run counts as hung; this is reported within a minute."""

SPIN = 0.8
"""Share of one core. A client that uses more, and does nothing else, is spinning."""

EMPTY = 3
FAILURES = 3
"""How many empty answers or failed requests in a row count as a hang."""


CALLS = ("waiting for a tool", "waiting for the model")
"""Words about one call: the next call is another wait."""


class ModelProbe(Struct, frozen=True):
    """The oldest open request: when it was sent, when its answer began, and when bytes and content last arrived."""

    since: float
    begun: float | None = None
    byte: float | None = None
    content: float | None = None


class TerminalReader(Struct, frozen=True):
    """A process of the run that waits for a person to type; `client`: it is the agent client itself.

    `piped`: it waits for its standard input, which is a pipe.
    """

    pid: int
    command: str
    text: str
    client: bool = False
    piped: bool = False


class Probes(Struct, frozen=True, kw_only=True):
    """One measurement. Times are seconds of a monotonic clock; `wall_time` is for display.

    `cpu_s`, `io_bytes` and `output_bytes` are totals of the run's processes; `client_cpu_s` is the CPU time that
    the client itself used or waited for. `visible`: we see the agent's steps; `proxied`: we see its requests to
    the model; `attended`: a person may be at its terminal. `held` is what a person is needed for. `tool` is
    the call in progress, which began at `tool_since`, or begins then, as Interlock delays it. `orphan` is a process
    that a tool left behind while its call is still open.
    """

    now: float
    wall_time: float
    status: Status = "running"
    parked: Liveness | None = None
    held: str | None = None
    asked: str | None = None
    visible: bool = False
    attended: bool = False
    proxied: bool = True
    steps: int = 0
    cpu_s: float = 0.0
    client_cpu_s: float = 0.0
    io_bytes: int = 0
    output_bytes: int = 0
    model: ModelProbe | None = None
    empty_answers: int = 0
    failures: int = 0
    failure: str = ""
    tool: str | None = None
    tool_since: float | None = None
    orphan: str = ""
    reader: TerminalReader | None = None
    disk_full: str = ""


class LivenessMemory(Struct, frozen=True):
    """State between two checks: the last activity, and since when only the client is busy."""

    last: Probes | None = None
    moved: float = 0.0
    what: str = "it started"
    spins: float | None = None
    said: Liveness | None = None


def fuse(memory: LivenessMemory, seen: Probes, tool_s: float) -> tuple[LivenessMemory, Liveness]:
    """The next memory, and the run's liveness. `tool_s`: how long a tool may be silent."""
    memory = _remember(memory, seen)
    word, evidence, question, wedged, since = _judge(memory, seen, tool_s)
    said, at = memory.said, seen.wall_time - (seen.now - since)
    if seen.parked is not None and word == seen.parked.word:
        now = seen.parked
    elif (
        said is not None
        and (said.word, said.wedged, said.question) == (word, wedged, question)
        and (word not in CALLS or said.evidence == evidence or abs(said.since - at) < 1.0)
    ):
        now = Liveness(word, said.since, evidence, question, wedged)
    else:
        now = Liveness(word, at, evidence, question, wedged)
    return LivenessMemory(seen, memory.moved, memory.what, memory.spins, now), now


def until_hang(memory: LivenessMemory, tool_s: float) -> float:
    """Seconds from the last measurement until the run counts as hung without activity; infinite if never."""
    seen = memory.last
    if seen is None:
        return math.inf
    at = [memory.moved + QUIET_S, memory.moved + tool_s]
    if memory.spins is not None:
        at.append(memory.spins + QUIET_S)
    if seen.model is not None:
        at += [came + QUIET_S for came in (seen.model.begun, seen.model.byte, seen.model.content) if came is not None]
    return min((each - seen.now for each in at if each > seen.now), default=math.inf)


Judgement = tuple[LivenessWord, str, str | None, WedgedKind | None, float]


def _judge(memory: LivenessMemory, seen: Probes, tool_s: float) -> Judgement:
    quiet, moved = seen.now - memory.moved, f"{memory.what} at {_clock(seen, memory.moved)}"
    if seen.parked is not None:
        return seen.parked.word, seen.parked.evidence, seen.parked.question, None, seen.now
    if seen.asked is not None:
        return "waiting for a person", "a step waits for approval", seen.asked, None, seen.now
    if seen.status == "pausing" and seen.tool is not None and seen.tool_since is not None:
        evidence = f"{seen.tool} since {_clock(seen, seen.tool_since)}; the run pauses when it ends"
        return "waiting for a tool", evidence, None, None, seen.tool_since
    if seen.status == "pausing":
        return "working", "the run pauses when the current step ends", None, None, memory.moved
    if seen.status == "paused":
        if seen.held is not None:
            return "waiting for a person", "Interlock paused the run", seen.held, None, seen.now
        return "paused", "a person paused the run", None, None, seen.now
    if seen.disk_full:
        return "wedged", seen.disk_full, None, "disk full", seen.now
    if seen.failures >= FAILURES:
        evidence = f"{seen.failures} requests in a row did not reach the model: {seen.failure}"
        return "wedged", evidence, None, "network gone", seen.now
    if seen.empty_answers >= EMPTY:
        return "wedged", f"the model sent an empty response {seen.empty_answers} times", None, "empty answers", seen.now
    if seen.reader is not None:
        tools: WedgedKind = "tool waits for input" if seen.reader.piped else "tool reads the terminal"
        kind: WedgedKind = "client prompt" if seen.reader.client else tools
        source = "its standard input, a pipe" if seen.reader.piped else "the terminal"
        evidence = f"process {seen.reader.pid} ({seen.reader.command}) reads {source}"
        # A pipe into the run has a script or a person at its other end that may still answer.
        answered = seen.attended or (seen.reader.piped and seen.reader.client)
        return "waiting for a person", evidence, seen.reader.text, None if answered else kind, seen.now
    if seen.model is not None:
        return _judge_model(seen, seen.model)
    if seen.tool is not None:
        return _judge_tool(memory, seen, seen.tool, quiet, tool_s)
    if memory.spins is not None and seen.now - memory.spins >= QUIET_S:
        evidence = f"processor time and nothing else for {seen.now - memory.spins:.0f} s"
        return "wedged", evidence, None, "client spins", memory.spins
    if quiet >= QUIET_S and seen.visible and not seen.proxied:
        # It may be waiting for the model, which we cannot see, so it does not count as hung.
        return "working", f"{moved}; its requests are not visible", None, None, memory.moved
    if quiet >= QUIET_S and seen.visible:
        if seen.attended:
            return "waiting for a person", f"the client has been idle for {quiet:.0f} s", None, None, memory.moved
        evidence = f"no step, request, tool, output, input or processor time for {quiet:.0f} s"
        return "wedged", evidence, None, "client deadlocked", memory.moved
    return "working", moved, None, None, memory.moved


def _clock(seen: Probes, moment: float) -> str:
    """A moment as a time of day: it stays true however long it is shown."""
    return f"{datetime.fromtimestamp(seen.wall_time - (seen.now - moment)):%H:%M:%S}"


def _judge_model(seen: Probes, model: ModelProbe) -> Judgement:
    now = seen.now
    if model.begun is None:
        evidence = f"a request has been open since {_clock(seen, model.since)}; no response yet"
        return "waiting for the model", evidence, None, None, model.since
    byte = model.byte if model.byte is not None else model.begun
    content = model.content if model.content is not None else model.begun
    if now - byte >= QUIET_S:
        evidence = f"the response began {now - model.begun:.0f} s ago; the last byte came {now - byte:.0f} s ago"
        return "wedged", evidence, None, "half-open stream", byte
    if now - content >= QUIET_S:
        evidence = f"only pings for {now - content:.0f} s; the last byte came {now - byte:.0f} s ago"
        return "wedged", evidence, None, "only pings", content
    return "waiting for the model", f"the last byte came at {_clock(seen, byte)}", None, None, model.since


def _judge_tool(memory: LivenessMemory, seen: Probes, tool: str, quiet: float, tool_s: float) -> Judgement:
    since = seen.tool_since if seen.tool_since is not None else seen.now
    if since > seen.now:
        return "waiting for a tool", f"Interlock delays {tool} until {_clock(seen, since)}", None, None, seen.now
    running = f"{tool} since {_clock(seen, since)}"
    if seen.orphan and quiet >= min(QUIET_S, tool_s):
        return "wedged", f"{running}: {seen.orphan} is left behind", None, "pipe held by a child", memory.moved
    if quiet >= tool_s:
        evidence = f"{running}; no output, input or processor time for {quiet:.0f} s"
        return "wedged", evidence, None, "tool never ends", memory.moved
    return "waiting for a tool", f"{running}; {memory.what} at {_clock(seen, memory.moved)}", None, None, since


def _remember(memory: LivenessMemory, seen: Probes) -> LivenessMemory:
    last = memory.last
    if last is None:
        return LivenessMemory(seen, seen.now, memory.what, None, memory.said)
    span = max(seen.now - last.now, 1e-3)
    busy = seen.cpu_s - last.cpu_s
    moved = (
        "a step was taken" if seen.steps != last.steps
        else "output was printed" if seen.output_bytes != last.output_bytes
        else "data was read or written" if seen.io_bytes != last.io_bytes
        else "a tool began or ended" if (seen.tool, seen.tool_since) != (last.tool, last.tool_since)
        else "the model was asked or answered" if (seen.model is None) != (last.model is None)
        else ""
    )  # fmt: skip
    only_client = seen.visible and seen.proxied and seen.tool is None and seen.model is None and not moved
    spins = memory.spins
    if only_client and seen.client_cpu_s - last.client_cpu_s >= SPIN * span:
        spins = spins if spins is not None else last.now
    elif moved or busy < SPIN * span:
        spins = None
    if not moved and busy > 0.01 * span and spins is None:
        moved = "processor time was used"
    return LivenessMemory(seen, seen.now if moved else memory.moved, moved or memory.what, spins, memory.said)
