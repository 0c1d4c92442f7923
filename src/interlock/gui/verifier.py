"""FileVerifier: compares files on disk with the expected result of a session, and lists differing lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ..core import BadInput, read_small
from ..journal_records import FileComparison, MatchStatus, VerificationResult
from .session import ReplaySession, expected_content, inside, normalise
from .similarity import differ, similarity

MATCH_STATUSES: tuple[MatchStatus, ...] = ("match", "partial", "mismatch", "missing")


class FileVerifier:
    """Compares the files of a workspace with the expected result of a session.

    `tolerance` is the similarity from which a file matches, `partial` the one from which it matches in part;
    `strict` requires equality, apart from line endings. `originals` are the files before the run.
    """

    def __init__(
        self,
        workspace_root: str | Path,
        tolerance: float = 0.98,
        *,
        partial: float = 0.90,
        strict: bool = False,
        originals: Mapping[str, str] | None = None,
    ) -> None:
        if not 0 <= partial <= tolerance <= 1:
            raise BadInput(f"thresholds must be 0 <= partial ({partial}) <= tolerance ({tolerance}) <= 1")
        self.workspace_root = Path(workspace_root).expanduser()
        self.tolerance, self.partial, self.strict = tolerance, partial, strict
        self._originals = originals or {}

    def verify_session(self, session: ReplaySession) -> VerificationResult:
        """Compare every file of the session, once per path."""
        comparisons = [
            self.compare_file(path, expected_content(self._originals.get(path, ""), operations))
            for path, operations in session.merged().items()
        ]
        return summarise(comparisons, strict=self.strict)

    def compare_file(self, path: str | Path, expected: str) -> FileComparison:
        """Compare one file with its expected content."""
        name = str(path)
        lines = len(expected.splitlines())
        target = inside(self.workspace_root, name)
        try:
            actual = read_small(target).decode("utf-8")
        except FileNotFoundError:
            return FileComparison(name, False, 0.0, "missing", [], lines, 0)
        except UnicodeDecodeError as error:
            return _unreadable(name, lines, f"not UTF-8 ({error})")
        except OSError as error:
            return _unreadable(name, lines, f"unreadable ({error.strerror})")
        return self._compare_texts(name, expected, actual)

    _compare_file = compare_file

    def _compare_texts(self, path: str, expected: str, actual: str) -> FileComparison:
        wanted, found = normalise(expected), normalise(actual)
        alike = similarity(wanted, found)
        exact = wanted == found
        return FileComparison(
            path,
            True,
            alike.ratio,
            self._status(alike.ratio),
            [] if exact else unified_diff(path, wanted, found),
            len(expected.splitlines()),
            len(actual.splitlines()),
            exact,
            alike.method,
            "",
            *count_changes(wanted, found),
        )

    def _status(self, ratio: float) -> MatchStatus:
        if ratio >= self.tolerance:
            return "match"
        return "partial" if ratio >= self.partial else "mismatch"


def _unreadable(path: str, expected_lines: int, reason: str) -> FileComparison:
    """A file that exists but cannot be compared."""
    return FileComparison(path, True, 0.0, "mismatch", [f"Read error: {reason}"], expected_lines, 0, reason=reason)


def summarise(comparisons: list[FileComparison], *, strict: bool) -> VerificationResult:
    """Count each match status, name what is missing or not exact, and decide."""
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


class DifferingLines(Struct, frozen=True):
    """A differing section: these lines of the actual text (0-based, end exclusive) should be `expected`."""

    start: int
    end: int
    expected: tuple[str, ...]


def unified_diff(path: str, expected: str, actual: str) -> list[str]:
    """Unified diff from expected to actual, without line ends."""
    return list(
        differ.unified_diff(
            expected.splitlines(), actual.splitlines(), f"expected/{path}", f"actual/{path}", lineterm=""
        )
    ) or ["only the line break at the end of the file differs"]


def count_changes(expected: str, actual: str) -> tuple[int, int, int]:
    """The numbers of missing, extra and differing lines."""
    lost = added = changed = 0
    for tag, i1, i2, j1, j2 in _opcodes(expected.splitlines(), actual.splitlines()):
        if tag != "equal":
            both = min(i2 - i1, j2 - j1)
            changed += both
            lost += i2 - i1 - both
            added += j2 - j1 - both
    return lost, added, changed


def differing_sections(expected: list[str], actual: list[str]) -> list[DifferingLines]:
    """The sections of `actual` that differ, last one first, so that repairing one does not move the others."""
    return [
        DifferingLines(j1, j2, tuple(expected[i1:i2]))
        for tag, i1, i2, j1, j2 in reversed(_opcodes(expected, actual))
        if tag != "equal"
    ]


def _opcodes(expected: list[str], actual: list[str]) -> list[tuple[str, int, int, int, int]]:
    """Opcodes over lines; autojunk keeps files of a hundred thousand lines fast, and the result stays correct."""
    return [tuple(code) for code in differ.SequenceMatcher(None, expected, actual).get_opcodes()]
