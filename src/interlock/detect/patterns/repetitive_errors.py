"""Repetitive errors: the same failure again and again, whatever the call and whatever is between."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Issue, Seen
from ..completed_call import CompletedCall
from ..detector import Setting, StatefulDetector
from ..failure import refused_for_form
from ..recurrence import Recurrence, follow
from ..stuck_tracking import failure_of

LONG = 150
"""Characters of a message that was probably longer."""


class Failures(Struct):
    """Failures by their normalised message; what was counted so far; when each tool last did its work."""

    turns: int = 0
    gains: int = 0
    writes: int = 0
    threads: dict[int, Recurrence] = field(default_factory=dict)
    worked: dict[str, int] = field(default_factory=dict)


class RepetitiveErrors(StatefulDetector[Failures]):
    """Counts a normalised error: enough of them in the last turns make an alarm, all of them its severity."""

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
        if turn.waiting and turn.effect != "write":
            return ()  # what is waited for is not there at first; judged by time, see long_wait
        if turn.waits:
            free += self.tuning.patience
        if refused_for_form(turn.message):
            # Nothing ran: a call that is put differently and sent again costs little.
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
                thread.clear()  # the same test after an edit is a new experiment: rounds of it are a loop
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
        """Whether a look into the file that the call is about taught something: the next try is informed."""
        for before in self.history.turns[-2::-1]:
            if before.step <= since:
                break
            if before.taught and before.effect == "read" and not set(before.paths).isdisjoint(turn.paths):
                return True
        return False


def _same_try(before: CompletedCall, turn: CompletedCall) -> bool:
    """Whether a call was made again in the same way; nearly the same counts if nothing in the answer differs.

    A message that repeats another argument each time answers another guess.
    """
    return before.key == turn.key or (before.outcome == turn.outcome and before.near(turn))


def _said(message: str) -> str:
    """What an error says, as the end of a sentence. A long one that ends in the middle of a word was cut there."""
    if len(message) > LONG and message[-1].isalnum():
        return f"{message.rpartition(' ')[0] or message} …"
    return f"{message.rstrip('. ') or 'no message'}."


detector = RepetitiveErrors
