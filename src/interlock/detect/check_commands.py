"""Checks: the program and targets of a call, for recognizing two runs of the same check."""

from __future__ import annotations

from collections.abc import Iterator

from ..calls import CallReading, Program

TARGETS = 4
"""Targets kept per call."""


def main_program(reading: CallReading) -> tuple[str, tuple[str, ...]]:
    """The program that a call is about, with its subcommand, and the files that it works on.

    In a line of several it is the first that checks something, else that runs code, else that does anything.
    """
    program = _main(reading)
    if program is None:
        return "", ()
    name = program.command
    if program.executes and program.script:
        name = f"{name} {program.script}"
    targets = dict.fromkeys(_targets(program))
    return name, tuple(targets)[:TARGETS]


def _main(reading: CallReading) -> Program | None:
    checks = {check.text for check in reading.checks}
    works = {effect.by for effect in reading.effects}
    programs = reading.programs
    for wanted in (
        lambda program: " ".join(program.words) in checks,
        lambda program: program.executes,
        lambda program: program.name in works,
    ):
        if (found := next(filter(wanted, programs), None)) is not None:
            return found
    return programs[0] if programs else None


def _targets(program: Program) -> Iterator[str]:
    for word in program.targets:
        name = word.partition("::")[0].rstrip("/")
        if name and name not in (".", program.script):
            yield name


def same_check(program: str, targets: tuple[str, ...], other: str, others: tuple[str, ...]) -> bool:
    """Whether two calls run the same check; a call without targets covers every target."""
    return program == other and (not targets or not others or not set(targets).isdisjoint(others))
