"""File rules: which clause a change of a path breaks."""

from __future__ import annotations

from ..core import Clause, Contract, matches, may_match_below

ALWAYS_MADE = ("__pycache__/", "*.pyc", ".pytest_cache/", ".hypothesis/")
"""Files that test runs leave behind: not changes to protected files."""

MADE = (
    *ALWAYS_MADE, ".mypy_cache/", ".ruff_cache/", ".tox/", ".nox/", ".venv/", "venv/", "*.egg-info/", "node_modules/",
    "dist/", "build/", "target/", "coverage/", "htmlcov/", ".coverage", ".coverage.*", "coverage.xml", ".next/",
    ".nuxt/", ".gradle/", ".cache/", ".turbo/", ".parcel-cache/", ".eslintcache", "*.tsbuildinfo", "*.log", "*.o",
    "*.class", ".git/", ".DS_Store", "junit.xml",
)  # fmt: skip
"""Build and tool output: `may_change` is about files that an agent writes."""


def broken_by(contract: Contract, path: str, *, whole: bool = False) -> Clause | None:
    """The clause that changing this path breaks; `whole` if all below it would go. Paths are as from `relative`."""
    if path in (".", "..") or path.startswith("../"):
        return None
    for glob in contract.protect:
        if (matches(glob, path) and not _is(ALWAYS_MADE, path)) or (whole and may_match_below(glob, path)):
            return _clause(contract, "protect", glob)
    if path.startswith(("/", "~")):
        return None
    for allowed in (contract.may_change, contract.narrowed):
        if allowed and not any(matches(glob, path) for glob in allowed) and not _is(MADE, path):
            if any(may_match_below(glob, path) for glob in allowed) and not whole:
                continue
            return _clause(contract, "may_change", allowed[0], len(allowed))
    return None


def _clause(contract: Contract, key: str, glob: str, count: int = 1) -> Clause:
    found = next(clause for clause in contract.clauses if clause.key == key and clause.value == glob)
    if count == 1:
        return found
    allowed = contract.narrowed if glob in contract.narrowed else contract.may_change
    return Clause(found.key, ", ".join(allowed), found.source, found.phrase)


def _is(globs: tuple[str, ...], path: str) -> bool:
    return any(matches(glob, path) for glob in globs)
