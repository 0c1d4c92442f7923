"""Checks: the checks that a call runs (tests, types, lint, build, an endpoint, a push), as its reading names them."""

from __future__ import annotations

from msgspec import Struct

from ..calls import CallReading, read_script
from .model import ClaimKind

TARGETS = 6
"""Targets kept per check."""
WORK_VERBS = frozenset(("administer", "execute", "send", "fetch", "delete"))
WORK_ZONES = frozenset(("service", "host", "container"))
"""What a program does to something that runs, here or elsewhere, is work; reading and moving files is not."""
WORK = 80
"""Characters kept of the name of a program that did real work."""
TEXT = 200
"""Characters kept of its command."""
SCRIPTS = frozenset(
    ("python", "python3", "node", "bash", "sh", "ruby", "perl", "php", "deno", "ts-node", "tsx", "script")
)
"""Script runners, whose output on failure is unknown."""


class CheckCommand(Struct, frozen=True):
    """A check that a script runs; `shows` if the script's exit status is the check's."""

    kind: ClaimKind
    runner: str
    text: str
    targets: tuple[str, ...]
    shows: bool


def read_checks(script: str) -> tuple[CheckCommand, ...]:
    """The checks that a script runs, in order."""
    return checks_in(read_script(script))


def checks_in(reading: CallReading) -> tuple[CheckCommand, ...]:
    """The checks that a call runs, in order."""
    return tuple(
        CheckCommand(check.kind, check.runner, check.text, _files(check.targets), check.decides)
        for check in reading.checks
    )


def work_in(reading: CallReading) -> tuple[CheckCommand, ...]:
    """The last program of a call that does real work: evidence for a claim that something is done."""
    works = {effect.by for effect in reading.effects if effect.verb in WORK_VERBS and effect.zone in WORK_ZONES}
    for program in reversed(reading.programs):
        if program.act != "install" and (program.executes or program.name in works):
            text = " ".join(program.words)[:TEXT]
            return (CheckCommand("done", " ".join(program.words[:2])[:WORK], text, (), program.decides),)
    return ()


def _files(targets: tuple[str, ...]) -> tuple[str, ...]:
    """The files that a check is limited to, without the tests in them."""
    names = dict.fromkeys(target.partition("::")[0].rstrip("/") for target in targets)
    return tuple(name for name in names if name not in ("", ".", "./..."))[:TARGETS]
