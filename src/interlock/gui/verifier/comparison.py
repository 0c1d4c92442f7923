"""FileComparison: one file on disk against what the script meant; VerificationResult: all of them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

MatchStatus = Literal["match", "partial", "mismatch", "missing"]

MATCH_STATUSES: tuple[MatchStatus, ...] = ("match", "partial", "mismatch", "missing")


class FileComparison(Struct, frozen=True):
    """How one file came out.

    `exact` is equality after line ends; `method` says how the similarity was found; `reason` why a file could not
    be compared. `lines_lost`, `lines_added` and `lines_changed` count lines that differ.
    """

    path: str
    exists: bool
    similarity: float
    match_status: MatchStatus
    diff_lines: list[str] = []
    expected_lines: int = 0
    actual_lines: int = 0
    exact: bool = False
    method: str = ""
    reason: str = ""
    lines_lost: int = 0
    lines_added: int = 0
    lines_changed: int = 0

    def says(self) -> str:
        """The comparison in one line."""
        if not self.exists:
            return f"{self.path}: missing"
        if self.reason:
            return f"{self.path}: {self.match_status}, {self.reason}"
        line = f"{self.path}: {self.match_status}, similarity {self.similarity:.4f}"
        if self.exact:
            return f"{line}, exact"
        return f"{line}, not exact: {self.lines_lost} lost, {self.lines_added} added, {self.lines_changed} changed"


class VerificationResult(Struct, frozen=True):
    """All comparisons; success means that all match (and, if strict, that all are exact)."""

    success: bool
    comparisons: list[FileComparison]
    summary: str


def summarise(comparisons: list[FileComparison], *, strict: bool) -> VerificationResult:
    """Count every class, name what is missing or not exact, and decide."""
    if not comparisons:
        return VerificationResult(True, comparisons, "no files to verify")
    counts = ", ".join(f"{sum(c.match_status == s for c in comparisons)} {s}" for s in MATCH_STATUSES)
    count = len(comparisons)
    summary = f"{count} file{'' if count == 1 else 's'}: {counts}"
    missing = [c.path for c in comparisons if not c.exists]
    if missing:
        summary += f"; missing: {', '.join(missing)}"
    inexact = [c.path for c in comparisons if c.match_status == "match" and not c.exact]
    if inexact:
        summary += f"; not exact: {', '.join(inexact)}"
    success = all(c.match_status == "match" and (c.exact or not strict) for c in comparisons)
    return VerificationResult(success, comparisons, summary)
