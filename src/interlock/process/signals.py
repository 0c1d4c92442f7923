"""Stops, continues and kills a process family by signals, repeated until nothing moves."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection

from msgspec import Struct

from . import proc
from .proc import Process
from .process_family import ProcessFamily

CHASE = 200
"""Checks of the keeper's children per round: a process that forks and exits lives shorter than a /proc scan takes."""

PAUSE_S = 0.001
"""Delay between two rounds, so that signalled processes can react."""


class SignalOutcome(Struct, frozen=True):
    """How many processes a round of signals reached, and which ones it could not."""

    processes: int
    left: tuple[int, ...] = ()
    note: str = ""


def stop(family: ProcessFamily, *, outside: Collection[int] = (), seconds: float) -> SignalOutcome:
    """Stop every member except those in `outside` (stopped by other means), until two scans find none running."""
    deadline = time.monotonic() + seconds
    asked: dict[int, int] = {}
    refused: set[int] = set()
    calm = 0
    if not outside:
        # Busy processes leave little time for a full scan: first stop those that are easily found.
        for pid in family.descend():
            proc.send_now(pid, signal.SIGSTOP)
    while True:
        members, others = family.scan(outside)
        ours = {pid: p for pid, p in members.items() if pid not in outside}
        moving = [p for p in ours.values() if not _still(p, asked) and p.pid not in refused]
        calm = 0 if moving or family.unseen(members) else calm + 1
        if calm == 2 or (outside and not ours) or time.monotonic() > deadline:
            left = (*sorted(refused & ours.keys()), *(p.pid for p in moving))
            return SignalOutcome(len(ours), left, _why(refused & ours.keys(), moving))
        for group in _own_groups(ours, others):
            proc.send_group(group, signal.SIGSTOP)
        for process in moving:
            if _send(process, signal.SIGSTOP, refused):
                asked[process.pid] = process.start
        if calm == 0:
            _chase(family.keeper)
            time.sleep(PAUSE_S)


def resume(family: ProcessFamily, inside: Collection[int] | None) -> SignalOutcome:
    """Continue every stopped member, children first so that no parent notices that its child was stopped.

    `inside` are the processes in the cgroup, which are continued by other means; None if there is no cgroup.
    """
    refused: set[int] = set()
    ours = [p for pid, p in family.sample(inside, strays=True).items() if pid not in (inside or ())]
    # A process that seems to run may have a pending stop, which SIGCONT cancels.
    for process in reversed(ours):
        _send(process, signal.SIGCONT, refused)
    return SignalOutcome(len(ours), tuple(sorted(refused)), _why(refused, []))


def ask(family: ProcessFamily, number: int, *, seeds: Collection[int] = ()) -> SignalOutcome:
    """Send one signal to every member, once."""
    refused: set[int] = set()
    members, _ = family.scan(seeds)
    for process in members.values():
        _send(process, number, refused)
    return SignalOutcome(len(members), tuple(sorted(refused)), _why(refused, []))


def kill(family: ProcessFamily, *, seconds: float) -> SignalOutcome:
    """Kill every member, after stopping them so that none can fork faster than it is killed."""
    deadline = time.monotonic() + seconds
    killed: set[tuple[int, int]] = set()
    refused: set[int] = set()
    stop(family, seconds=seconds / 2)
    calm = 0
    while True:
        members, _ = family.scan()
        alive = [p for p in members.values() if p.pid not in refused]
        calm = 0 if alive or family.unseen(members) else calm + 1
        if calm == 2 or time.monotonic() > deadline:
            left = tuple(sorted(members))
            return SignalOutcome(len(killed), left, _why(refused & members.keys(), alive))
        for process in alive:
            if _send(process, signal.SIGKILL, refused):
                killed.add((process.pid, process.start))
        if calm == 0:
            time.sleep(PAUSE_S)


def _still(process: Process, asked: dict[int, int]) -> bool:
    """Whether a process no longer runs its own code.

    A process that waits in the kernel (D) stops before it returns: a vfork parent waits for its stopped child.
    """
    return process.stopped or (process.state in "DZ" and asked.get(process.pid) == process.start)


def _own_groups(ours: dict[int, Process], others: dict[int, Process]) -> set[int]:
    """The process groups that consist of members only; never our own group."""
    running = {p.group for p in ours.values() if not p.stopped}
    return running - {p.group for p in others.values()} - {os.getpgrp(), 0}


def _chase(keeper: int | None) -> None:
    """Stop the keeper's children as they appear: some fork and exit faster than we can scan."""
    seen: set[int] = set()
    if keeper is None:
        return
    for _ in range(CHASE):
        fresh = [pid for pid in proc.children_of(keeper) if pid not in seen]
        if not fresh:
            return
        for pid in fresh:
            proc.send_now(pid, signal.SIGSTOP)
            seen.add(pid)


def _send(process: Process, number: int, refused: set[int]) -> bool:
    try:
        return proc.send(process.pid, process.start, number)
    except PermissionError:
        refused.add(process.pid)
        return False


def _why(refused: Collection[int], moving: Collection[Process]) -> str:
    parts = []
    if refused:
        parts.append(f"{len(refused)} processes belong to another user")
    if moving:
        parts.append(f"{len(moving)} processes did not react in time")
    return " and ".join(parts)
