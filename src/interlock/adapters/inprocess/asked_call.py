"""CallDecision: a call that was asked about, and the result of one that ran."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ...core import Decision, Step


class CallDecision(Struct, frozen=True):
    """Whether a call runs, with which arguments, and what the model hears if it does not."""

    step: Step
    decision: Decision
    arguments: dict[str, object]

    @property
    def runs(self) -> bool:
        return self.decision.action in ("proceed", "rewrite")

    @property
    def stopped(self) -> bool:
        return self.decision.action == "stop"

    @property
    def words(self) -> str:
        """The text in place of the result of a call that does not run."""
        what = "Stopped" if self.stopped else "Refused"
        return f"{what} by Interlock: {self.decision.reason}"


class CallOutcome(Struct, frozen=True):
    """A tool's result as supervision sees it; `error` is None if the framework does not say."""

    content: str
    error: bool | None = None
    exit_code: int | None = None


def read_outcome(result: object) -> CallOutcome:
    """A tool's own return value: text, or something with an exit status."""
    if isinstance(result, Mapping):
        status = next((result[key] for key in ("returncode", "exit_code") if key in result), None)
        if isinstance(status, int):
            said = next((result[key] for key in ("output", "stdout", "content") if key in result), result)
            return CallOutcome(str(said), status != 0, status)
    return CallOutcome(result if isinstance(result, str) else str(result))


def read_error(error: BaseException) -> CallOutcome:
    """What a tool that raised leaves behind."""
    return CallOutcome(f"{type(error).__name__}: {error}", True)
