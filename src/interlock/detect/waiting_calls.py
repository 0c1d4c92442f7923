"""Waits: whether a call waits for other work, or polls its status."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from ..core import Tool, late_pattern
from .effect import Effect
from .fingerprint import name_words

BUSY_SECONDS = 2.0
"""Calls closer together than this are busy polling: nothing can happen in between."""

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
_NOT_ASKED = frozenset((b"set", b"update", b"change", b"mark", b"report", b"write", b"create", b"post", b"put", b"git"))
"""With these words a tool's name means that it sets a status, or asks for the status of files."""

_QUESTIONS = frozenset((b"get", b"check", b"list", b"describe", b"view", b"show", b"query", b"fetch"))
_JOINT = late_pattern(r"_|(?<=[a-z0-9])(?=[A-Z])")
_WORK = frozenset((
    b"job", b"jobs", b"run", b"runs", b"build", b"builds", b"deployment", b"deployments", b"pipeline", b"pipelines",
    b"pod", b"pods", b"workflow", b"workflows", b"rollout",
))  # fmt: skip
"""Work that runs elsewhere while its status is polled."""

_DURATION = late_pattern(r"\b(\d+(?:\.\d+)?)\s*(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b", re.IGNORECASE)
_REMAINING = late_pattern(
    r"(?:remaining|left|eta\b|estimated|expected|retry[- ]after|ready in|about|approximately|takes?|up to|for)"
    r"[^\n]{0,40}?\b(\d+(?:\.\d+)?\s*(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?))\b"
    r"|\b(\d+(?:\.\d+)?\s*(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)) (?:remaining|left|to go)\b",
    re.IGNORECASE,
)
_TOLD_TO_WAIT = late_pattern(
    r"\b(?:wait|poll|keep (?:checking|watching|polling)|monitor|watch|until (?:it|they|the|all)\b[^.\n]{0,80}"
    r"\b(?:ready|done|finish|complete|running|healthy|available|succeed|up))",
    re.IGNORECASE,
)


Wait = Literal["", "sleeps", "asks"]
"""No wait; the call itself takes time; or it polls a status, and time passes only between two calls."""


def read_waits(tool: Tool, effect: Effect, program: str, command: str | None) -> Wait:
    """Whether a call waits or polls the status of something slow; `command` is set for a shell."""
    if command is not None and (waits := _read_command(program, command)):
        return waits
    name = _parts(tool.name)
    if not name.isdisjoint(_WAIT_NAMES):
        return "sleeps"
    work = effect == "read" and not name.isdisjoint(_QUESTIONS) and not name.isdisjoint(_WORK)
    status = not name.isdisjoint(_STATUS_NAMES) and name.isdisjoint(_NOT_ASKED)
    return "asks" if work or status else ""


def _read_command(program: str, command: str) -> Wait:
    hinted = "wait" in command or "sleep" in command or "watch" in command or "tail" in command or "status" in command
    if hinted and _WAITS.search(command):
        return "sleeps"
    if _ASKS.match(program + " "):
        cloud = program.startswith(("aws", "gcloud", "az"))
        return "asks" if not cloud or _CLOUD_QUESTION.search(command) else ""
    asks = ("curl" in command or "wget" in command or "nc " in command) and _HEALTH.search(command)
    return "asks" if asks else ""


@lru_cache(maxsize=256)
def _parts(name: str) -> frozenset[bytes]:
    """The words of a tool's name, however they are joined: `get-job`, `get_job`, `getJob`."""
    return name_words(_JOINT.sub(" ", name))


def named_seconds(text: str) -> float:
    """The longest remaining time that a text names; 0 if it names none."""
    found = (one or other for one, other in _REMAINING.findall(text[:4000]))
    return max((_seconds(piece) for piece in found), default=0.0)


def told_to_wait(task: str) -> bool:
    """Whether a task says to wait for something."""
    return _TOLD_TO_WAIT.search(task[:4000]) is not None


def _seconds(piece: str) -> float:
    found = _DURATION.match(piece)
    if found is None:
        return 0.0
    factor = {"s": 1.0, "m": 60.0, "h": 3600.0}[found[2][0].lower()]
    return float(found[1]) * factor
