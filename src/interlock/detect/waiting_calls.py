"""Waits: whether a call waits for other work, or polls its status."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec import Struct, field

from ..core import Tool, late_pattern
from .effect import Effect
from .fingerprint import name_words

LONG_SECONDS = 60.0
"""A call that takes this long and does not fail by itself was spent waiting."""
BUSY_POLLS = 30
"""Equal polls without a pause after which an agent polls instead of waiting ..."""
BUSY_SECONDS = 300.0
"""... within this time."""
POLLED = 8
"""Polled states remembered."""

_WAITS = late_pattern(
    r"(?:^|[\s;&|(])(?:sleep\s+[\d.$]|wait(?:\s|$)|watch\s)|\s--wait\b|\btail\s+(?:-?\w+\s+)*(?:-\w*[fF]\b|--follow)"
    r"|\b(?:time|asyncio)\.sleep\(|\binotifywait\b|\brollout status\b|\bwait-for\b|\s--watch\b|\bkubectl wait\b"
)
_ASKS = late_pattern(
    r"^(?:(?:kubectl|oc) (?:get|describe|rollout|logs|top)\b"
    r"|(?:docker|podman) (?:ps|inspect|logs|stats|compose (?:ps|logs))\b"
    r"|systemctl (?:status|is-active|show)\b|gh (?:run|pr|workflow)\b|glab (?:ci|mr)\b|helm (?:status|list|ls)\b"
    r"|(?:aws|gcloud|az) |squeue\b|sacct\b|qstat\b|bjobs\b|ps\b|pgrep\b|jobs\b|pg_isready\b|ping\b"
    r"|supervisorctl status\b|pm2 (?:status|list|ls)\b)"
)
_CLOUD_QUESTION = late_pattern(r"\b(?:describe|get|list|show|wait|status)(?:-[\w-]+)?\b")
_HEALTH = late_pattern(r"\b(?:curl|wget|http|nc)\b[^\n]*(?:health|ready|livez|/live|status|/ping|/up\b)")
_WAIT_NAMES = frozenset((b"sleep", b"wait", b"poll", b"await", b"watch"))
_STATUS_NAMES = frozenset((b"status", b"health", b"progress", b"readiness"))
_TYPES = frozenset((b"write", b"stdin"))
"""Writing nothing into a running command asks what it has printed since."""
_BACKGROUND = frozenset((b"bash", b"task", b"shell", b"terminal", b"process"))
"""With `output`: a tool that reads what a background task has printed."""
_NOT_ASKED = frozenset((b"set", b"update", b"change", b"mark", b"report", b"write", b"create", b"post", b"put", b"git"))
"""With these words a tool's name means that it sets a status, or asks for the status of files."""

_QUESTIONS = frozenset((b"get", b"check", b"list", b"describe", b"view", b"show", b"query", b"fetch"))
_JOINT = late_pattern(r"_|(?<=[a-z0-9])(?=[A-Z])")
_WORK = frozenset((
    b"job", b"jobs", b"run", b"runs", b"build", b"builds", b"deployment", b"deployments", b"pipeline", b"pipelines",
    b"pod", b"pods", b"workflow", b"workflows", b"rollout",
))  # fmt: skip
"""Work that runs elsewhere while its status is polled."""

Wait = Literal["", "sleeps", "asks"]
"""No wait; the call itself takes time; or it polls a status, and time passes only between two calls."""


def read_waits(tool: Tool, effect: Effect, program: str, command: str | None) -> Wait:
    """Whether a call waits or polls the status of something slow; `command` is set for a shell."""
    if command is not None and (waits := _read_command(program, command)):
        return waits
    name = _parts(tool.name)
    if not name.isdisjoint(_WAIT_NAMES):
        return "sleeps"
    if name == _TYPES:
        return "asks" if not str(tool.arguments.get("chars", "")).strip() else ""
    if not name.isdisjoint(_BACKGROUND) and b"output" in name:
        return "asks"
    work = effect == "read" and not name.isdisjoint(_QUESTIONS) and not name.isdisjoint(_WORK)
    status = not name.isdisjoint(_STATUS_NAMES) and name.isdisjoint(_NOT_ASKED)
    return "asks" if work or status else ""


def _read_command(program: str, command: str) -> Wait:
    hinted = "wait" in command or "sleep" in command or "watch" in command or "tail" in command or "status" in command
    if hinted and _WAITS.search(command):
        return "sleeps"
    return "asks" if asks_state(program, command) else ""


def asks_state(program: str, command: str) -> bool:
    """Whether a command asks for the state of something that runs elsewhere."""
    if _ASKS.match(program + " "):
        cloud = program.startswith(("aws", "gcloud", "az"))
        return not cloud or _CLOUD_QUESTION.search(command) is not None
    return ("curl" in command or "wget" in command or "nc " in command) and _HEALTH.search(command) is not None


@lru_cache(maxsize=256)
def _parts(name: str) -> frozenset[bytes]:
    """The words of a tool's name, however they are joined: `get-job`, `get_job`, `getJob`."""
    return name_words(_JOINT.sub(" ", name))


def limits_itself(command: str) -> bool:
    """Whether a command sets its own time limit."""
    return "timeout" in command and _LIMITED.search(command) is not None


_LIMITED = late_pattern(r"(?:^|[\s;&|(])timeout\s+(?:-\S+\s+)*\d")


class Poll(Struct):
    """The last equal polls, and whether they are made without a pause."""

    times: list[float] = field(default_factory=list)
    busy: bool = False


class Polls(Struct):
    """The last polls, by what they asked and got."""

    last: dict[int, Poll] = field(default_factory=dict)

    def busy(self, poll: int, asked: float, now: float) -> bool:
        """Record a poll; whether it is one of more than 30 equal ones in five minutes without a pause.

        Only the time before a call is the agent's pause: the call itself may have been delayed.
        """
        known = self.last.pop(poll, None) or Poll()
        if known.times and asked - known.times[-1] > BUSY_SECONDS / BUSY_POLLS:
            known = Poll()
        known.times = [*known.times, now][-BUSY_POLLS - 1 :]
        known.busy = known.busy or (len(known.times) > BUSY_POLLS and now - known.times[0] <= BUSY_SECONDS)
        self.last[poll] = known
        if len(self.last) > POLLED:
            del self.last[next(iter(self.last))]
        return known.busy
