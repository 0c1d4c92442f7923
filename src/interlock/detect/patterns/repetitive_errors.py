"""Repetitive errors: the same failure repeatedly, whatever the call and whatever happens in between."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Issue, Seen, Stuck
from ..completed_call import CompletedCall
from ..detector import Setting, StatefulDetector
from ..failure import refused_for_form
from ..recurrence import Recurrence, follow
from ..stuck_tracking import failure_of

LONG = 150
"""Messages longer than this were probably truncated."""


class Failures(Struct):
    """Failures by their normalised message; the counters so far; when each tool last succeeded."""

    turns: int = 0
    gains: int = 0
    writes: int = 0
    threads: dict[int, Recurrence] = field(default_factory=dict)
    worked: dict[str, int] = field(default_factory=dict)
    timed: list[tuple[int, int]] = field(default_factory=list)


class RepetitiveErrors(StatefulDetector[Failures]):
    """Counts a normalised error: its recent occurrences raise the alarm, all occurrences set the severity."""

    type = "repetitive_errors"
    kinds = frozenset(("tool_result",))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Failures())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        turn = self.history.turn
        if turn is None:
            return ()
        state = self.state
        state.turns += 1
        if turn.timed_out:
            return self._timed_out(turn)
        if not turn.failed:
            state.gains += turn.taught and not turn.wrote
            if turn.wrote:
                state.writes += 1
                state.worked[turn.tool] = state.turns
                if len(state.worked) > 64:
                    del state.worked[next(iter(state.worked))]
            return ()
        thread = self._follow(turn)
        # Where calls differ, or something was written in between, the first failure is the price of trying.
        free = 0 if thread.close >= thread.count - 1 and thread.rounds == 0 else 1
        if turn.waiting:
            return ()  # what the call waits for may not exist yet; judged by time, see long_wait
        if refused_for_form(turn.message):
            # Nothing ran: rewording and resending a call costs little.
            free = max(free, self.tuning.form_again if thread.close >= thread.count - 1 else self.tuning.form_patience)
        severity = self.tuning.severity(thread.count - free)
        if severity is None or len(thread.turns) - free < self.tuning.medium_after:
            return ()
        return (
            self.issue(
                turn.step,
                f"{turn.tool} failed {thread.count} times with the same error: {_said(turn.message)} "
                "Find its cause before you try again.",
                key=f"{turn.tool}:{turn.error:x}",
                severity=severity,
                confidence=self.tuning.confidence(thread.count),
                evidence=thread.steps,
                started=thread.started,
                details={"count": thread.count, "error": turn.message, "tool": turn.tool}
                | ({"place": turn.place} if turn.place else {}),
                stuck=failure_of(turn, any_target=thread.close < thread.count - 1),
            ),
        )

    def _timed_out(self, turn: CompletedCall) -> tuple[Issue, ...]:
        """Calls that are ended at a time limit are one problem, whatever they ran."""
        state, tuning = self.state, self.tuning
        state.timed = [one for one in state.timed if one[0] > state.turns - tuning.error_window]
        state.timed.append((state.turns, turn.step))
        count = len(state.timed)
        if count < tuning.medium_after:
            return ()
        return (
            self.issue(
                turn.step,
                f"{count} of the last {min(state.turns, tuning.error_window)} calls were ended at a time limit, last "
                f"{turn.program or turn.tool}. Run it in the background and look at its output later, raise the limit "
                "of the call, or run a smaller part.",
                key="time limit",
                confidence=tuning.confidence(count),
                evidence=[step for _, step in state.timed],
                details={"count": count, "error": turn.message, "tool": turn.tool},
                stuck=Stuck(kind="pattern", key="time limit", tool=turn.tool, most=0),
            ),
        )

    def shows(self, stuck: Stuck, standing: bool) -> bool:
        turn = self.history.turn
        return turn is not None and turn.timed_out if stuck.key == "time limit" else standing

    def _follow(self, turn: CompletedCall) -> Recurrence:
        state = self.state
        thread = follow(state.threads, turn.error)
        prompts = self.history.past.prompts
        if (
            state.turns - thread.turn > self.tuning.error_window
            or state.worked.get(turn.tool, 0) > thread.turn
            or state.gains - thread.gains > self.tuning.error_noise
            or prompts > thread.prompts
            or (thread.count and self._looked(turn, thread.steps[-1]))
        ):
            thread.clear()
        elif thread.count:
            before = next((one for one in self.history.turns[-2::-1] if one.error == turn.error), None)
            written = state.writes > thread.writes
            if before is not None and before.key == turn.key and written:
                thread.clear()  # the same test after an edit is a new experiment: repeated rounds are a loop
            else:
                thread.close += before is not None and _same_try(before, turn)
                thread.rounds += written
        tried, counted = thread.batch == turn.batch, thread.count
        thread.add(turn.step, turn.batch)
        if tried and counted == thread.count:
            return thread
        thread.turns = [at for at in thread.turns if at > state.turns - self.tuning.error_window] + [state.turns]
        thread.turn, thread.gains, thread.writes, thread.prompts = state.turns, state.gains, state.writes, prompts
        return thread

    def _looked(self, turn: CompletedCall, since: int) -> bool:
        """Whether the agent read up what this call's own words, which the failure quotes, did not fit."""
        if "~" not in turn.message:
            return False
        for before in self.history.turns[-2::-1]:
            if before.step <= since:
                break
            if before.taught and before.effect == "read" and not set(before.paths).isdisjoint(turn.paths):
                return True
        return False


def _same_try(before: CompletedCall, turn: CompletedCall) -> bool:
    """Whether the same call was repeated; nearly the same counts if the result is identical.

    A message that names a different argument each time answers a different guess.
    """
    return before.key == turn.key or (before.outcome == turn.outcome and before.near(turn))


def _said(message: str) -> str:
    """An error message as the end of a sentence. A long one that ends in mid-word was truncated."""
    if len(message) > LONG and message[-1].isalnum():
        return f"{message.rpartition(' ')[0] or message} …"
    return f"{message.rstrip('. ') or 'no message'}."


detector = RepetitiveErrors
