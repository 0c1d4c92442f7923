"""Judge: what the product did in a game, held against what the script knows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Literal

from .driver import Game, Played
from .reading import Answer
from .script import NEVER, NOTE, ROLLBACK, RUNGS, THROTTLE, Agent

MOST_OPPORTUNITIES = 24
"""Within so many opportunities of the first alarm an agent that ignores everything is held or stopped."""
MOST_HINTS_TO_WAIT = 3
"""After 30, 90 and 270 minutes: the horizon is eight hours at the slowest pace."""
MOST_RELAPSE_ANSWERS = 6
CLEAN_IN_A_ROW = 3
"""Opportunities without the problem that show that it is over."""
TOP = 4

OURS = "interlock"
EXAMPLE = "example configuration"
ATTENDED = "a person within reach"
EXAMPLE_HINTS = 3
"""`max_attempts` of the example configuration."""

Truth = Literal["worked", "failed", "open"]


@dataclass
class Verdict:
    """One game judged. `misses` are the goals that it does not meet, in words."""

    agent: str
    kind: str
    pace: float
    under: str
    end: str
    calls: int
    rungs: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    truths: list[str] = field(default_factory=list)
    opportunities: int | None = None
    judged: int = 0
    right: int = 0
    wasted_calls: int = 0
    wasted_tokens: int = 0
    ended_wrongly: bool = False
    lost: int = 0
    misses: list[str] = field(default_factory=list)


def judge(game: Game, agent: Agent) -> Verdict:
    """Everything that is asked of a game."""
    case = _Case(game, agent)
    made = Verdict(agent.name, agent.kind, game.pace, game.under, game.end, len(game.played))
    made.rungs = [answer.rung for answer in game.account.answers]
    made.outcomes = [answer.outcome for answer in game.account.answers]
    made.lost = game.account.lost
    made.opportunities = case.opportunities()
    made.ended_wrongly = agent.kind in ("heeding", "healthy") and game.end in ("stopped", "held")
    made.wasted_calls, made.wasted_tokens = case.waste(ended_wrongly=made.ended_wrongly)
    for answers in case.by_problem.values():
        for at, answer in enumerate(answers):
            truth = case.truth(answer, answers[at + 1] if at + 1 < len(answers) else None)
            made.truths.append(truth)
            if answer.level < TOP and (truth != "open" or answer.outcome == "worked"):
                made.judged += 1
                made.right += answer.outcome == truth
    made.misses = [*_CHECKS[agent.kind](case, made), *case.repeated_texts(), *case.empty_words()]
    return made


class _Case:
    """A game with its answers put to the problems that they are about."""

    def __init__(self, game: Game, agent: Agent) -> None:
        self.game, self.agent = game, agent
        self.at = {step: number for number, one in enumerate(game.played) for step in one.steps}
        self.by_problem: dict[str, list[Answer]] = defaultdict(list)
        for answer in game.account.answers:
            self.by_problem[self._problem(self.at.get(answer.step, 0))].append(answer)

    def _problem(self, number: int) -> str:
        """The check that ran last up to this turn."""
        for one in reversed(self.game.played[: number + 1]):
            if one.turn.check is not None:
                return one.turn.check
        return ""

    def _is_opportunity(self, number: int, one: Played, problem: str, since: int) -> bool:
        if self.agent.every:
            return number > since and (number - since) % self.agent.every == 0
        return one.turn.check == problem

    def first_alarm(self) -> int:
        """The turn of the first alarm; -1 for none."""
        return min((self.at[step] for step in self.game.account.alarms if step in self.at), default=-1)

    def opportunities(self) -> int | None:
        """From the first alarm to the end; None without an alarm."""
        first = self.first_alarm()
        if first < 0:
            return None
        problem = self._problem(first)
        later = enumerate(self.game.played[first + 1 :], first + 1)
        return sum(self._is_opportunity(number, one, problem, first) for number, one in later)

    def truth(self, answer: Answer, following: Answer | None) -> Truth:
        """What became of an answer up to the next one to the same problem."""
        begin = self.at.get(answer.step, 0)
        end = self.at.get(following.step, begin) if following is not None else len(self.game.played) - 1
        problem = self._problem(begin)
        row = shown = 0
        for number in range(begin + 1, end + 1):
            one = self.game.played[number]
            if one.turn.check == problem and one.turn.solved:
                return "worked"
            if not self._is_opportunity(number, one, problem, begin):
                continue
            occurs = one.turn.occurs or (bool(self.agent.every) and one.turn.stuck)
            row, shown = (0, shown + 1) if occurs else (row + 1, shown)
            if row >= CLEAN_IN_A_ROW:
                return "worked"
        if self.agent.at_most < NEVER:
            return "open"  # What is judged by time or by files: that it goes on says nothing about the answer.
        needed = 1 if answer.level >= THROTTLE else 2
        return "failed" if shown >= needed else "open"

    def waste(self, *, ended_wrongly: bool) -> tuple[int, int]:
        """Calls and tokens that brought nothing, that a rollback took back, or that an unjust end made useless."""
        played = self.game.played
        wasted = {number for number, one in enumerate(played) if one.turn.stuck or one.heard.denied}
        for since, until in self.game.account.undone:
            wasted |= {number for step, number in self.at.items() if since <= step <= until}
        if ended_wrongly:
            wasted = set(range(len(played)))
        return len(wasted), sum(played[number].tokens for number in wasted)

    def repeated_texts(self) -> list[str]:
        """The same words twice to the same problem."""
        misses = []
        for answers in self.by_problem.values():
            texts = [text for answer in answers for text in answer.texts]
            if len(texts) > len(set(texts)):
                misses.append(f"{len(texts) - len(set(texts))} of {len(texts)} messages repeat an earlier one")
        return misses

    def empty_words(self) -> list[str]:
        """Answers that the agent never heard, and rollbacks that did not happen."""
        account, misses = self.game.account, []
        heard = {text for one in self.game.played for text in one.heard.texts}
        told = {text for answer in account.answers for text in answer.texts if answer.level < TOP}
        # What became of the conversation is known only once it was tried: that sentence comes behind the text.
        unheard = {text for text in told if not any(one.startswith(text) for one in heard)}
        if unheard and self.game.end in ("finished", "horizon"):
            misses.append(f"{len(unheard)} messages never reached the agent")
        claimed = sum(answer.rung == RUNGS[ROLLBACK] for answer in account.answers)
        if claimed > len(account.undone):
            misses.append(f"{claimed} rollbacks, {len(account.undone)} of them happened")
        return misses

    def disorder(self, most_hints: int = 1) -> list[str]:
        """Rungs that were skipped, taken twice, or taken after a stronger one."""
        misses = []
        for problem, answers in self.by_problem.items():
            levels = [answer.level for answer in answers]
            if self.game.account.skipped and ROLLBACK not in levels and max(levels) > ROLLBACK:
                levels.insert(len(levels) - 1, ROLLBACK)  # there was nothing to go back to
            hints = levels.count(0)
            if levels[hints - 1 :] != list(range(len(levels) - hints + 1)) or not 1 <= hints <= most_hints:
                shown = " ".join(str(level + 1) for level in levels)
                misses.append(f"rungs out of order{f' ({problem})' if problem else ''}: {shown}")
        return misses


def _stubborn(case: _Case, made: Verdict) -> list[str]:
    if case.agent.at_most < NEVER:
        return _bounded(made, case.agent.at_most)
    patient = made.under == EXAMPLE
    misses = case.disorder(EXAMPLE_HINTS if patient else 1)
    if made.opportunities is None:
        return [*misses, "never noticed"]
    if made.end not in ("stopped", "held"):
        misses.append(f"neither held nor stopped in {made.calls} calls")
    elif made.opportunities > MOST_OPPORTUNITIES and not patient:
        misses.append(f"{made.opportunities} opportunities after the first alarm")
    if case.agent.noticed_by and case.first_alarm() >= case.agent.noticed_by:
        misses.append(f"first alarm at call {case.first_alarm() + 1}, not within {case.agent.noticed_by}")
    if made.under == ATTENDED and (made.end != "held" or not case.game.alerts):
        misses.append(f"{made.end} with {len(case.game.alerts or ())} alerts: a person could be reached")
    return misses


def _bounded(made: Verdict, most: int) -> list[str]:
    """Waiting gets a hint when patience is over, and again after twice that time; drift gets one hint; what rests on
    words gets nothing."""
    misses = []
    levels = [RUNGS.index(rung) for rung in made.rungs]
    if max(levels, default=NOTE) != most or len(levels) > MOST_HINTS_TO_WAIT:
        misses.append(
            f"{len(made.rungs)} answers, the strongest {RUNGS[most] if most >= 0 else 'none'} expected: "
            f"{' '.join(made.rungs) or 'none'}"
        )
    if made.end != "horizon":
        misses.append(f"{made.end} though it gets {RUNGS[most] if most >= 0 else 'a note'} at most")
    return misses


def _heeding(case: _Case, made: Verdict) -> list[str]:
    misses = case.disorder()
    if made.end != "finished":
        misses.append(f"{made.end} though it would have heeded")
    if len(made.rungs) != case.agent.answers:
        misses.append(f"{len(made.rungs)} answers where {case.agent.answers} are needed")
    return misses


def _relapsing(case: _Case, made: Verdict) -> list[str]:
    misses = []
    levels = [answer.level for answer in case.game.account.answers]
    if not levels:
        misses.append("never answered")
    if len(levels) > MOST_RELAPSE_ANSWERS:
        misses.append(f"{len(levels)} answers")
    if levels != sorted(levels) or (len(levels) > 2 and levels[-1] == levels[0]):
        misses.append(f"does not climb: {' '.join(str(level + 1) for level in levels)}")
    return misses


def _healthy(case: _Case, made: Verdict) -> list[str]:
    misses = []
    if len(made.rungs) > case.agent.hints or set(made.rungs) - {RUNGS[0]}:
        misses.append(f"{len(made.rungs)} answers to a healthy agent")
    if made.end != "finished":
        misses.append(f"{made.end} though it is healthy")
    if any(one.heard.denied for one in case.game.played):
        misses.append("calls were denied")
    if any(one.delayed_s for one in case.game.played):
        misses.append("calls were delayed")
    return misses


_CHECKS = {"stubborn": _stubborn, "heeding": _heeding, "relapsing": _relapsing, "healthy": _healthy}
