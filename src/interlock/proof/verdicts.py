"""Verdicts: claims judged by the checks that ran: proven, contradicted, unproven, or stale because a file changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ..core import late_pattern
from .checks import SCRIPTS
from .model import CheckRun, Claim, ClaimKind, ClaimVerdict

NAMED = 8
"""Files named in a stale verdict."""

RECENT = 3
"""For a claim that something is done, how many of the commands before it are considered."""

_KINDS: dict[ClaimKind, tuple[ClaimKind, ...]] = {
    "tests": ("tests",),
    "types": ("types", "build"),
    "lint": ("lint",),
    "build": ("build", "types"),
    "endpoint": ("endpoint",),
    "commit": ("commit",),
    "push": ("push",),
    "done": ("tests", "types", "lint", "build", "done"),
}
"""The kinds of checks that can confirm a claim."""
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


def judge(
    claim: Claim,
    checks: Sequence[CheckRun],
    changed: Callable[[CheckRun], Sequence[str]],
    absent: Mapping[str, bool],
) -> ClaimVerdict | None:
    """The verdict on one claim; None if nothing can be said about it."""
    if claim.kind == "file":
        return _file(claim, absent)
    if claim.printed:
        checks = [check for check in checks if check.step < claim.step]
    evidence = _evidence(claim, checks)
    if evidence is None:
        if claim.kind == "done" or (
            claim.kind in ("tests", "build") and any(_may_test(check) for check in checks) and not claim.printed
        ):
            return None
        tried = next((check for check in reversed(checks) if _bears(claim, check)), None)
        why = f"{_words(tried)}: {tried.detail}" if tried is not None else _NOTHING[claim.kind]
        if claim.printed and tried is None:
            return ClaimVerdict(claim, "contradicted", f"it is written as output, but {why} before")
        return ClaimVerdict(claim, "unproven", why, tried)
    if evidence.outcome == "failed":
        if claim.kind == "done" and any(covers("done", path) for path in changed(evidence)):
            return None  # the failure may have been fixed since
        return ClaimVerdict(claim, "contradicted", f"{_words(evidence)} failed: {evidence.detail}", evidence)
    files = tuple(path for path in changed(evidence) if covers(evidence.kind, path))
    if files:
        more = f" and {len(files) - 3} more" if len(files) > 3 else ""
        why = f"{_words(evidence)} passed, but {', '.join(files[:3])}{more} changed afterwards"
        return ClaimVerdict(claim, "stale", why, evidence, files[:NAMED])
    return ClaimVerdict(claim, "proven", f"{_words(evidence)} passed: {evidence.detail}", evidence)


def _evidence(claim: Claim, checks: Sequence[CheckRun]) -> CheckRun | None:
    """The last check of the claim's kind that passed or failed; for a "done" claim, the last of the recent commands."""
    if claim.kind == "done":
        before = [check for check in checks if check.step < claim.step and _bears(claim, check)][-RECENT:]
        return next((check for check in reversed(before) if check.outcome in ("passed", "failed")), None)
    found = next(
        (check for check in reversed(checks) if check.outcome in ("passed", "failed") and _bears(claim, check)), None
    )
    if found is None and claim.kind == "tests":
        scripts = [check for check in checks if check.kind == "done" and check.outcome == "passed"]
        return next((check for check in reversed(scripts) if _SAYS_PASSED.search(check.detail)), None)
    return found


_SAYS_PASSED = late_pattern(r"\bpass(?:ed|es)?\b|✓|✅|\ball ok\b", re.IGNORECASE)
_TEST_LIKE = late_pattern(r"repro|test|check|verif|valid|demo|edge|case|assert|try", re.IGNORECASE)


def _may_test(check: CheckRun) -> bool:
    """Whether a command that is not a known check may have tested something: by its name, or because it is unknown."""
    if check.kind != "done":
        return False
    return check.runner.split()[0] not in SCRIPTS or _TEST_LIKE.search(check.command) is not None


def _bears(claim: Claim, check: CheckRun) -> bool:
    if claim.kind == "build" and check.kind == "tests":
        return check.runner.split()[0] in _COMPILING
    return check.kind in _KINDS[claim.kind]


def _words(check: CheckRun | None) -> str:
    return f"`{check.command}` at step {check.step}" if check is not None else ""


def _file(claim: Claim, absent: Mapping[str, bool]) -> ClaimVerdict | None:
    missing = absent.get(claim.subject)
    if missing is None:
        return None
    if missing:
        return ClaimVerdict(claim, "contradicted", f"{claim.subject} does not exist")
    return ClaimVerdict(claim, "proven", f"{claim.subject} exists")


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
