"""Loop: the same calls with the same outcome, alone or in a cycle; rounds of editing that change nothing."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Issue, Seen, Step
from ..detector import Remembering, Setting
from ..fingerprint import fingerprint
from ..history import push
from ..normalise import cut
from ..speech import sentences
from ..thread import Thread, follow
from ..turn import Turn

QUOTED = 80
"""Bytes of a sentence that are repeated."""


class Rounds(Struct):
    """Turns by call and outcome; turns, turns that were new, that taught something, and writes counted so far."""

    turns: int = 0
    fresh: int = 0
    gains: int = 0
    writes: int = 0
    threads: dict[int, Thread] = field(default_factory=dict)
    said: list[list[int]] = field(default_factory=list)
    said_at: list[int] = field(default_factory=list)
    prompts: int = 0
    since: int | None = None


class Loop(Remembering[Rounds]):
    """Counts how often the very same thing was achieved.

    Between two times there may be turns that are repetitions themselves (a cycle) and one that is not (noise).
    After a write the same call is a new experiment: then only a failure that stays the same counts.
    """

    type = "loop"
    kinds = frozenset(("tool_call", "message", "tool_result"))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Rounds())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        turn = self.history.turn
        if turn is None:
            return self._says(seen.step) if seen.step.role == "assistant" and seen.step.content else ()
        if self.state.since is None:
            self.state.since = turn.asked
        thread = self._follow(turn)
        if turn.failed:
            return self._rounds(turn, thread)
        return self._repeats(turn, thread) or self._near(turn)

    def _follow(self, turn: Turn) -> Thread:
        state, tuning = self.state, self.tuning
        state.turns += 1
        thread = follow(state.threads, turn.key * 31 + turn.outcome & 0xFFFFFFFFFFFF)
        prompts = self.history.past.prompts
        known = thread.count > 0 and state.turns - thread.turn <= tuning.loop_span and prompts == thread.prompts
        if not known:
            thread.clear()
        written = state.writes > thread.writes
        if known and (state.fresh - thread.fresh > tuning.loop_noise) and not (turn.failed and written):
            thread.clear()
        elif known and written:
            if not turn.failed or state.turns - thread.turn > tuning.round_span:
                thread.clear()
            else:
                # Looking into it first makes the next try an informed one.
                thread.rounds += state.gains == thread.gains
        thread.add(turn.step)
        if not known:
            state.fresh += 1
            # A write that was made before in the same way changes nothing.
            state.writes += turn.wrote
            state.gains += turn.taught and not turn.wrote
        thread.turn, thread.fresh, thread.gains = state.turns, state.fresh, state.gains
        thread.writes, thread.prompts = state.writes, prompts
        return thread

    def _repeats(self, turn: Turn, thread: Thread) -> tuple[Issue, ...]:
        severity = self.tuning.severity(thread.count - (self.tuning.patience if turn.waits else 0))
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"{turn.tool} was called {thread.count} times in the same way and the result did not change. "
                "Use what it returned, or take a different approach.",
                key=f"{turn.tool}:{turn.key:x}",
                severity=severity,
                confidence=self.tuning.confidence(thread.count),
                evidence=thread.steps,
                started=thread.started,
                details={"count": thread.count, "tool": turn.tool},
            ),
        )

    def _rounds(self, turn: Turn, thread: Thread) -> tuple[Issue, ...]:
        if thread.rounds == 0:
            return ()  # the same call failing again without a change in between is repetitive_errors
        severity = self.tuning.severity(thread.rounds)
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"{thread.rounds} changes in a row left the failure of {turn.tool} as it was: "
                f"{turn.message.rstrip('. ') or 'no message'}. Look for the cause elsewhere before editing again.",
                key=f"{turn.tool}:{turn.error:x}",
                severity=severity,
                confidence=self.tuning.confidence(thread.count),
                evidence=thread.steps,
                started=thread.started,
                details={"count": thread.count, "rounds": thread.rounds, "error": turn.message, "tool": turn.tool},
            ),
        )

    def _says(self, step: Step) -> tuple[Issue, ...]:
        """The same sentence before one call after another, or in one message after another."""
        state, tuning, prompts = self.state, self.tuning, self.history.past.prompts
        if prompts != state.prompts:
            state.said.clear()
            state.said_at.clear()
            state.prompts = prompts
        spoken = sentences(step.content)
        said = [fingerprint(sentence) for sentence in spoken]
        found: list[int] = []
        again = b""
        if said and not set().union(*state.said).isdisjoint(said):
            for one, sentence in zip(said, spoken, strict=True):
                at = [index for index, before in zip(state.said_at, state.said, strict=True) if one in before]
                if len(at) > len(found):
                    found, again = at, sentence
        push(state.said, said, tuning.sentence_window - 1)
        push(state.said_at, step.index, tuning.sentence_window - 1)
        if found and any(turn.wrote and turn.asked >= found[0] for turn in self.history.turns):
            found = []  # "Let's run the test again" after a change is said of something new
        times = len(found) + 1
        severity = tuning.severity(times - tuning.sentence_times + tuning.medium_after)
        if severity is None:
            return ()
        return (
            self.issue(
                step.index,
                f'The agent keeps saying "{cut(again, QUOTED).decode("utf-8", "replace")}" ({times} times within '
                f"{tuning.sentence_window} turns). Name what has changed since, or take a different approach.",
                key="said",
                severity="medium",
                confidence=tuning.confidence(times),
                evidence=[*found, step.index],
                details={"count": times},
            ),
        )

    def _near(self, turn: Turn) -> tuple[Issue, ...]:
        """Nearly the same asked again and again without a change in between, and nothing learnt from it."""
        tuning = self.tuning
        if turn.wrote or turn.news > tuning.no_news or turn.effect == "answer" or turn.waits:
            return ()
        steps, noise = [turn.step], 0
        since = max(self.state.since or 0, self.history.past.prompt_step)
        for before in self.history.turns[-2 : -2 - tuning.loop_span : -1]:
            if before.wrote or before.asked < since:
                break
            if (turn.echo and before.echo and before.like(turn)) or (
                before.outcome == turn.outcome and before.near(turn)
            ):
                steps.append(before.step)
            elif (noise := noise + 1) > tuning.loop_noise:
                break
        severity = tuning.severity(len(steps))
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"{turn.tool} was asked nearly the same {len(steps)} times and brought nothing new. "
                "Ask something different, or go on with what is known.",
                key=f"{turn.tool}:near",
                severity="medium",
                confidence=tuning.confidence(len(steps)),
                evidence=steps[::-1],
                details={"count": len(steps), "tool": turn.tool},
            ),
        )


detector = Loop
