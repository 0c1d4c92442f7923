"""Oracle: a keeper that knows the truth of the scripts and answers by the rules; it shows that the goals can be met."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from interlock.core import PROCEED, Decision, ManualClock, Message, MessageMeta, Usage
from loop.driver import Game, play
from loop.reading import Account, Answer
from loop.script import HINT, NEVER, NOTE, RUNGS, THROTTLE, Agent, Turn

TOP = len(RUNGS) - 1


@dataclass
class Episode:
    """One problem: its rung, what showed since the last answer, and how often it came back."""

    level: int = HINT
    open: bool = False
    known: bool = False
    shown: int = 0
    clean: int = 0
    relapses: int = 0


class Oracle:
    """Answers when a script says that it is stuck, climbs when it still is, and closes when it is not."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._step, self._turns = -1, 0
        self._episodes: dict[str, Episode] = {}
        self._last: dict[str, int] = {}
        self.account = Account()

    def ask(self, turn: Turn, usage: Usage) -> tuple[Decision, int]:
        self._step += 1
        return (PROCEED if turn.tool else self._judge(turn)), self._step

    def tell(self, turn: Turn) -> tuple[Decision, int]:
        self._step += 1
        return self._judge(turn), self._step

    def _judge(self, turn: Turn) -> Decision:
        problem = "" if self._agent.every else turn.check
        if problem is None or (self._agent.every and not turn.stuck):
            return PROCEED
        episode = self._episodes.setdefault(problem, Episode())
        if self._agent.every and episode.open:
            self._turns += 1
            if self._turns % self._agent.every:
                return PROCEED
        if turn.occurs or self._agent.every:
            return self._shown(turn, problem, episode)
        episode.clean += 1
        if episode.open and (turn.solved or episode.clean >= 3):
            episode.open = False
            self._settle(problem, "worked")
        return PROCEED

    def _shown(self, turn: Turn, problem: str, episode: Episode) -> Decision:
        episode.clean = 0
        if not episode.open:
            if not turn.stuck or self._agent.at_most == NOTE:
                return PROCEED
            if episode.known:
                episode.relapses += 1
                episode.level += episode.relapses > 1
            episode.open = episode.known = True
            return self._answer(problem, episode)
        episode.shown += 1
        if self._agent.at_most < NEVER or episode.shown < (1 if episode.level >= THROTTLE else 2):
            return PROCEED
        self._settle(problem, "failed")
        episode.level += 1
        return self._answer(problem, episode)

    def _answer(self, problem: str, episode: Episode) -> Decision:
        episode.shown = 0
        rung = RUNGS[episode.level]
        text = f"answer {len(self.account.answers)}"
        self._last[problem] = len(self.account.answers)
        self.account.answers.append(Answer(rung, episode.level, self._step, problem, (text,), "pending"))
        self.account.alarms.append(self._step)
        if rung == "checkpoint_rollback":
            self.account.undone.append((self._step, self._step))
        meta = MessageMeta(intervention=rung, issue="loop", time=0.0, run_id="oracle", step=self._step)
        return Decision("stop" if episode.level == TOP else "proceed", (Message(text, meta=meta),))

    def _settle(self, problem: str, outcome: str) -> None:
        at = self._last[problem]
        made = self.account.answers[at]
        self.account.answers[at] = Answer(made.rung, made.level, made.step, made.episode, made.texts, outcome)


def play_oracle(agent: Agent, pace: float, folder: Path) -> Game:
    """The agent under the oracle."""
    oracle = Oracle(agent)
    game = play(agent, pace, "interlock", oracle, ManualClock(), folder)
    game.account = oracle.account
    return game
