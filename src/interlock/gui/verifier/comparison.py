"""The comparisons of all files, counted and judged."""

from __future__ import annotations

from ...records import FileComparison, MatchStatus, VerificationResult

MATCH_STATUSES: tuple[MatchStatus, ...] = ("match", "partial", "mismatch", "missing")


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
