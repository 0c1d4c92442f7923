"""Outcomes: what was done to a tree, by which means, and whether it worked."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Mechanism = Literal["cgroup", "signals"]


class FreezeOutcome(Struct, frozen=True, kw_only=True):
    """How a tree was frozen or thawed.

    `held` is False if a process continues: `missed` of them could not be reached, and `note` says why.
    `strays` had left the cgroup and were stopped by signal.
    """

    mechanism: Mechanism
    processes: int
    seconds: float
    held: bool = True
    strays: int = 0
    missed: int = 0
    note: str = ""

    @property
    def words(self) -> str:
        means = "cgroup v2" if self.mechanism == "cgroup" else "signals to the process tree"
        text = f"{self.processes} processes by {means} in {self.seconds * 1000:.1f} ms"
        if self.strays:
            text += f", {self.strays} of them by signal because they had left the cgroup"
        if not self.held:
            text += f"; it did not hold: {self.note or f'{self.missed} processes are still running'}"
        return text


class EndOutcome(Struct, frozen=True, kw_only=True):
    """How a tree ended: by itself, after SIGTERM, or by force; `left` are pids that could not be ended."""

    how: Literal["gone", "asked", "killed"]
    mechanism: Mechanism
    processes: int
    killed: int
    seconds: float
    status: int | None = None
    left: tuple[int, ...] = ()
    left_words: str = ""

    @property
    def words(self) -> str:
        text = {
            "gone": "it had already ended",
            "asked": f"{self.processes} processes ended when asked to",
            "killed": f"{self.killed} of {self.processes} processes had to be killed",
        }[self.how]
        if self.left:
            text += f"; could not be ended: {self.left_words}"
        return text


LimitName = Literal["max_memory_mb", "max_processes", "max_cpu_percent"]


class LimitHeld(Struct, frozen=True, kw_only=True):
    """What enforces one limit of a tree; `by` is kernel, watching (our own checks), or nobody."""

    limit: LimitName
    value: float
    by: Literal["kernel", "watching", "nobody"]
    note: str = ""

    @property
    def held(self) -> bool:
        return self.by != "nobody"


class LimitEvent(Struct, frozen=True, kw_only=True):
    """A limit that was reached, how often so far, and a description of the result."""

    limit: LimitName
    value: float
    count: int
    words: str


class Use(Struct, frozen=True, kw_only=True):
    """The resources that a tree currently uses; CPU time since its start."""

    memory_mb: float = 0.0
    processes: int = 0
    threads: int = 0
    cpu_seconds: float = 0.0


AbilityName = Literal["freeze", "end", "memory", "processes", "cpu"]


class Ability(Struct, frozen=True, kw_only=True):
    """One operation on a tree that this machine supports, how it is done, and why not in a better way."""

    name: AbilityName
    by: Literal["kernel", "signals", "watching", "nobody"]
    why: str
