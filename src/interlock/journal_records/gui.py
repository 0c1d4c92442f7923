"""The records of a GUI session: chunks typed, checks of the screen, questions to a model, the comparison of files."""

from __future__ import annotations

import enum
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

CheckOutcome = Literal["none", "skipped", "no_action", "recovered", "failed"]
MatchStatus = Literal["match", "partial", "mismatch", "missing"]


class ReplayStatus(enum.Enum):
    """The state of the screen."""

    NORMAL = "normal"
    DIALOG_BLOCKING = "dialog"
    WRONG_FILE = "wrong_file"
    ERROR_STATE = "error"
    TERMINAL_FOCUS = "terminal"
    UNKNOWN = "unknown"


class GuiSessionRecord(Struct, frozen=True):
    """kind `gui_session`: a session begins, with its number of chunks."""

    session_id: str
    chunks: int


class GuiChunkRecord(Struct, frozen=True):
    """kind `gui_chunk`: a chunk was typed, and its file has the expected content."""

    chunk: int
    path: str = ""
    sha256: str = ""


class GuiTroubleRecord(Struct, frozen=True):
    """kind `gui_trouble`: something disturbed a chunk."""

    chunk: int
    trouble: str


_ALSO: tuple[tuple[str, type, Callable[[Any], object]], ...] = (
    ("timestamp", datetime, datetime.timestamp),
    ("screenshot_path", Path, str),
    ("screenshot_after", Path, str),
)


class InterventionEvent(Struct, frozen=True):
    """kind `gui_event`: one check of the screen.

    `outcome` is the result, `reason` why nothing was done or why it failed. `timestamp` is in seconds since 1970
    and pictures are paths as text; a datetime and a Path may be given, and `time` and `screenshot` give them back.
    `screenshot_after` is the picture after a recovery.
    """

    timestamp: float
    status: ReplayStatus
    confidence: float = 0.0
    actions_taken: list[str] = []
    recovery_success: bool | None = None
    screenshot_path: str | None = None
    outcome: CheckOutcome = "none"
    reason: str = ""
    description: str = ""
    raw_response: str = ""
    evidence: tuple[str, ...] = ()
    screenshot_after: str | None = None

    def __post_init__(self) -> None:
        for name, kind, convert in _ALSO:
            value = getattr(self, name)
            if isinstance(value, kind):
                force_setattr(self, name, convert(value))

    @property
    def time(self) -> datetime:
        """The time of the check, in UTC."""
        return datetime.fromtimestamp(self.timestamp, UTC)

    @property
    def screenshot(self) -> Path | None:
        """The saved screenshot, if there is one."""
        return Path(self.screenshot_path) if self.screenshot_path is not None else None


class GuiModelCallRecord(Struct, frozen=True, kw_only=True):
    """kind `gui_model_call`: a model was asked about a screen; neither picture nor key."""

    model: str
    attempt: int = 1
    file: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    question: str = ""
    answer: str = ""
    seconds: float = 0.0
    outcome: str = ""


class FileComparison(Struct, frozen=True):
    """The comparison of one file with its expected content.

    `exact` is equality apart from line ends; `method` says how the similarity was found; `reason` why a file could not
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
    """kind `gui_verification`: all comparisons; success means that all match (and, if strict, that all are exact)."""

    success: bool
    comparisons: list[FileComparison]
    summary: str


class GuiResultRecord(Struct, frozen=True, kw_only=True):
    """kind `gui_result`: the result of the session."""

    completed: bool
    success: bool = False
    chunks: int = 0
    chunks_done: int = 0
    seconds: float = 0.0
    reason: str = ""
    troubles: tuple[str, ...] = ()
    repaired: bool = False
    cost_usd: float = 0.0
