"""Verdicts: claims judged literally by the checks that ran."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..core import late_pattern
from .model import CheckRun, Claim, ClaimKind, ClaimVerdict

NAMED = 8
"""Files named in a stale verdict."""

_KINDS: dict[ClaimKind, tuple[ClaimKind, ...]] = {
    "tests": ("tests",),
    "types": ("types", "build"),
    "lint": ("lint",),
    "build": ("build", "types"),
    "endpoint": ("endpoint",),
    "commit": ("commit",),
    "push": ("push",),
    "done": ("tests", "types", "lint", "build"),
}
"""The kinds of checks that can bear out a claim."""
_COMPILING = frozenset(("cargo", "go", "mvn", "mvnw", "gradle", "gradlew", "dotnet", "swift", "bazel", "sbt"))
"""Test runners that build first."""
_NOTHING: dict[ClaimKind, str] = {
    "tests": "no tests were run",
    "types": "no type checker was run",
    "lint": "no linter was run",
    "build": "nothing was built",
    "endpoint": "nothing was requested",
    "commit": "no git commit was run",
    "push": "no git push was run",
}

Changed = Callable[[CheckRun], Sequence[str]]


def judge(
    claim: Claim, checks: Sequence[CheckRun], changed: Changed, absent: Mapping[str, bool], known: Iterable[str] = ()
) -> ClaimVerdict | None:
    """The verdict on one claim; None if nothing can be said about it.

    `known` are tests that failed before any change.
    """
    if claim.kind == "file":
        return _file(claim, absent)
    bearing = [check for check in reversed(checks) if _bears(claim, check)]
    if claim.kind == "done":
        return _done(claim, bearing, changed)
    near: CheckRun | None = None
    for check in bearing:
        if check.outcome == "passed" or _passed_for(claim, check, known):
            why_not = _why_not_literally(claim, check)
            if not why_not:
                return _passed(claim, check, changed)
            near = near or check
        elif check.outcome == "failed":
            if near is not None and _covered(check, changed):
                break
            return ClaimVerdict(claim, "contradicted", f"{_words(check)} failed: {check.detail}", check)
    tried = near or next(iter(bearing), None)
    if tried is None:
        return ClaimVerdict(claim, "unproven", _NOTHING[claim.kind])
    what = _why_not_literally(claim, tried) if tried.outcome == "passed" else tried.detail
    return ClaimVerdict(claim, "unproven", f"{_words(tried)}: {what}", tried)


def _done(claim: Claim, bearing: Sequence[CheckRun], changed: Changed) -> ClaimVerdict | None:
    """No check says that a task is done; but one that failed last, with nothing changed since, says that it is not."""
    last = next((each for each in bearing if each.step < claim.step and each.outcome in ("passed", "failed")), None)
    if last is None or last.outcome == "passed" or _covered(last, changed):
        return None
    return ClaimVerdict(claim, "contradicted", f"{_words(last)} failed: {last.detail}", last)


def _passed(claim: Claim, check: CheckRun, changed: Changed) -> ClaimVerdict:
    files = _covered(check, changed)
    if files:
        more = f" and {len(files) - 3} more" if len(files) > 3 else ""
        why = f"{_words(check)} passed, but {', '.join(files[:3])}{more} changed afterwards"
        return ClaimVerdict(claim, "stale", why, check, files[:NAMED])
    if check.own:
        return ClaimVerdict(claim, "own_check", f"{_words(check)} passed, but the agent itself {check.own}", check)
    return ClaimVerdict(claim, "proven", f"{_words(check)} passed: {check.detail}", check)


def _covered(check: CheckRun, changed: Changed) -> tuple[str, ...]:
    """The files that a check depends on and that changed since."""
    return tuple(dict.fromkeys(path for path in (*check.changed, *changed(check)) if covers(check.kind, path)))


def _why_not_literally(claim: Claim, check: CheckRun) -> str:
    """Why a check that passed does not say what the claim says; empty if it does."""
    if claim.kind != "tests":
        return ""
    if claim.subject:
        return "" if not check.limited or _includes(check, claim.subject) else f"it does not include {claim.subject}"
    if claim.every and check.limited:
        return "it passed, but does not run all tests"
    counted = _PASSED.search(check.detail)
    if claim.count and counted is not None and int(counted[1]) < claim.count:
        return f"it passed, but counts {counted[1]} tests, not {claim.count}"
    return ""


_PASSED = late_pattern(r"(\d+) pass")
_PARTS = late_pattern(r"::|[\s./()\[\]]")


def _includes(check: CheckRun, subject: str) -> bool:
    name = subject.rpartition("::")[2].rpartition("/")[2]
    if check.selects or "::" in check.command:
        return name in check.command.partition(" -")[2] or f"::{name}" in check.command
    return name.removesuffix(".py") in check.command or any(target in subject for target in check.targets)


def _passed_for(claim: Claim, check: CheckRun, known: Iterable[str]) -> bool:
    """Whether the failures of a check are not about what is claimed: other tests, or ones that failed before."""
    if claim.kind != "tests" or claim.every or not check.failing:
        return False
    name = claim.subject.rpartition("::")[2]
    if name:
        return not any(name in _PARTS.split(failing) or claim.subject in failing for failing in check.failing)
    return set(check.failing) <= set(known)


def _bears(claim: Claim, check: CheckRun) -> bool:
    if claim.kind == "build" and check.kind == "tests":
        return check.runner.split()[0] in _COMPILING
    return check.kind in _KINDS[claim.kind]


def _words(check: CheckRun) -> str:
    return f"`{check.command}`" if check.ours else f"`{check.command}` at step {check.step}"


def _file(claim: Claim, absent: Mapping[str, bool]) -> ClaimVerdict | None:
    missing = absent.get(claim.subject)
    if missing is None:
        return None
    if missing:
        return ClaimVerdict(claim, "contradicted", f"{claim.subject} does not exist")
    return ClaimVerdict(claim, "proven", f"{claim.subject} exists", source="own_run")


_LEFT_BY_TOOLS = late_pattern(
    r"(?:^|/)(?:\.git|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.hypothesis|\.tox|\.nox|node_modules"
    r"|\.venv"
    r"|venv|dist|build|target|coverage|htmlcov|\.next|\.nyc_output|\.gradle|\.cache|\.idea|\.vscode|[\w.-]+\.egg-info)"
    r"(?:/|$)|\.(?:pyc|pyo|log|tmp|swp|o|class|coverage|tsbuildinfo)$|(?:^|/)\.coverage[\w.]*$|^/tmp/|^/dev/|^/var/"
)
_PROSE = late_pattern(
    r"\.(?:md|rst|adoc|png|jpe?g|gif|svg|pdf)$|(?:^|/)(?:docs?|LICENSE|CHANGELOG)(?:/|$)|\.txt$", re.I
)
_NEEDED_TEXT = late_pattern(r"(?:requirements|constraints|CMakeLists)[\w.-]*\.txt$", re.I)


def covers(kind: ClaimKind, path: str) -> bool:
    """Whether a check of this kind depends on a file."""
    if not path or _LEFT_BY_TOOLS.search(path):
        return False
    if kind in ("commit", "push"):
        return True
    return _PROSE.search(path) is None or _NEEDED_TEXT.search(path) is not None
