"""Checks: the checks that a call runs (tests, types, lint, build, an endpoint, a push), as its reading names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from msgspec import Struct

from ..calls import CHANGING, CallReading, Check, Program, read_script
from .model import ClaimKind

TARGETS = 6
"""Targets kept per check."""
SCRIPTS = frozenset(
    ("python", "python3", "node", "bash", "sh", "ruby", "perl", "php", "deno", "ts-node", "tsx", "script")
)
"""Script runners, whose output on failure is unknown."""
WHOLE = frozenset(
    ("", ".", "./...", "...", "tests", "test", "spec", "specs", "__tests__", "src", "run", "all", "discover")
)
"""Operands that limit nothing."""
LIMITS = frozenset((
    "-k", "-m", "--lf", "--last-failed", "--ff", "--deselect", "--ignore", "--ignore-glob", "--testNamePattern",
    "--grep", "-g", "--filter", "-run", "--run", "--only", "--onlyChanged", "--testPathPattern", "--skip", "--exclude",
    "-Dtest", "--tests", "--changed", "--findRelatedTests", "-short", "--doctest-modules", "--sw",
))  # fmt: skip
"""Options that select tests."""
VALUED = frozenset(
    ("-n", "-j", "-p", "-o", "-W", "-c", "-C", "--tb", "--maxfail", "--timeout", "--durations", "--count")
)
"""Options whose value stands apart from them, and limits nothing."""
STEERING = frozenset(("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "NODE_OPTIONS", "PYTHONSTARTUP", "BASH_ENV", "MAKEFLAGS"))
"""Variables that change what a runner does."""
SETTINGS: dict[str, tuple[str, ...]] = {
    "pytest": ("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "setup.cfg"),
    "tox": ("tox.ini",), "nox": ("noxfile.py",), "make": ("Makefile", "makefile", "GNUmakefile"),
    "npm": ("package.json", ".npmrc"), "yarn": ("package.json",), "pnpm": ("package.json",), "bun": ("package.json",),
    "jest": ("jest.config.js", "jest.config.ts"), "vitest": ("vitest.config.ts", "vitest.config.js"),
}  # fmt: skip
"""Files that decide what a runner runs."""
LOADED = ("sitecustomize.py", "usercustomize.py")


class CheckCommand(Struct, frozen=True):
    """A check that a script runs.

    `shows`: the script's exit status is the check's. `limited`: it does not run everything; `selects`:
    nor all tests of the files that it names. `uses` are the files that
    it names, `changed` those that the same script changes after it, `steered` a variable that the script sets for it.
    """

    kind: ClaimKind
    runner: str
    text: str
    targets: tuple[str, ...]
    shows: bool
    limited: bool = False
    selects: bool = False
    uses: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    steered: str = ""
    folder: str = ""


def read_checks(script: str) -> tuple[CheckCommand, ...]:
    """The checks that a script runs, in order."""
    return checks_in(read_script(script))


def checks_in(reading: CallReading) -> tuple[CheckCommand, ...]:
    """The checks that a call runs, in order."""
    return tuple(_read(check, reading) for check in reading.checks)


def _read(check: Check, reading: CallReading) -> CheckCommand:
    at = next((at for at, each in enumerate(reading.programs) if " ".join(each.words) in check.text), -1)
    later = {each.name for each in reading.programs[at + 1 :]} if at >= 0 else set()
    changed = [each.target for each in reading.effects if each.file and each.verb in CHANGING and each.by in later]
    program = reading.programs[at] if at >= 0 else Program(words=tuple(check.text.split()))
    steered = next((name for name, _ in program.environment if name in STEERING), "")
    operands = tuple(_operands(program.words, check.runner))
    selects = check.kind == "tests" and any(word.partition("=")[0] in LIMITS for word in program.words[1:])
    limited = check.kind == "tests" and any(_is_limit(word, check.runner) for word in (*operands, *check.targets))
    uses = dict.fromkeys(word.partition("::")[0] for word in (*check.targets, *program.words[1:]) if "." in word)
    runner = program.name if check.runner in SCRIPTS else check.runner
    return CheckCommand(
        check.kind, runner, check.text, _files(check.targets), check.decides, limited or selects, selects,
        tuple(uses), tuple(dict.fromkeys(changed)), steered, check.cwd,
    )  # fmt: skip


def _operands(words: tuple[str, ...], runner: str) -> Iterator[str]:
    """The words of a program that may say what it is limited to."""
    named = {*runner.split(), words[0]}
    for before, word in pairwise(words):
        if not word.startswith("-") and word not in named and before not in VALUED and not word.isdigit():
            yield word


def _is_limit(word: str, runner: str) -> bool:
    """Whether an operand limits a runner; the script that a script runner runs does so if it is itself a test."""
    name = word.rstrip("/").removeprefix("./")
    if runner in SCRIPTS and word.endswith((".py", ".js", ".sh", ".ts", ".mjs")):
        return name.rpartition("/")[2].startswith(("test_", "test.")) or ".test." in name
    return name not in WHOLE and "=" not in word


def _files(targets: Iterable[str]) -> tuple[str, ...]:
    """The files that a check is limited to, without the tests in them."""
    names = dict.fromkeys(target.partition("::")[0].rstrip("/") for target in targets)
    return tuple(name for name in names if name not in WHOLE)[:TARGETS]
