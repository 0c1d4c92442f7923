"""Exploration wandering: moving between directories, away from what the task names. The task's words make it a note."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Context, Issue, Seen
from ..agent_history import push
from ..detector import Setting, StatefulDetector
from ..goal import goal_stems, path_stems


class Wanderings(Struct):
    """(step, directory, whether the directory changed, whether it relates to the goal) of the last reads."""

    looks: list[tuple[int, str, bool, bool]] = field(default_factory=list)
    last: str = ""
    batch: int = -1
    goal: dict[bytes, None] | None = None


class ExplorationWandering(StatefulDetector[Wanderings]):
    """Scores how much of the exploration is aimless."""

    type = "exploration_wandering"
    kinds = frozenset(("tool_result",))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Wanderings())

    def learn_task(self, context: Context) -> None:
        super().learn_task(context)
        self.state.goal = None

    def observe(self, seen: Seen) -> Iterable[Issue]:
        turn, state, tuning = self.history.turn, self.state, self.tuning
        if turn is None:
            return ()
        if turn.wrote or turn.effect in ("answer", "think"):
            state.looks.clear()
            return ()
        if not turn.paths or turn.failed or turn.batch == state.batch:
            return ()  # a failed call shows nothing, and a batch counts as one read
        state.batch = turn.batch
        if state.goal is None:
            state.goal = dict.fromkeys(goal_stems(self.context, self.history.past.prompt))
        place = _directory(turn.paths[0])
        goal = state.goal.keys()
        about = any(not goal.isdisjoint(path_stems(path)) for path in turn.paths)
        push(state.looks, (turn.step, place, place != state.last, about), tuning.wander_window)
        state.last = place
        if len(state.looks) < tuning.wander_least or len(state.goal) < tuning.goal_words:
            return ()
        looks = len(state.looks)
        moves = sum(moved for _, _, moved, _ in state.looks) / looks
        aimless = 1 - sum(aim for *_, aim in state.looks) / looks
        score = moves * aimless
        if score <= tuning.wander_score:
            return ()
        places = len({place for _, place, _, _ in state.looks})
        return (
            self.issue(
                turn.step,
                f"{looks} looks into {places} directories, one after another, without using what they showed. "
                "Return to what the task names and decide what to change.",
                key="wandering",
                severity="low",
                confidence=min(score, 1.0),
                evidence=[step for step, *_ in state.looks][-8:],
                started=state.looks[0][0],
                details={"score": round(score, 2), "directories": places, "tool": turn.tool},
            ),
        )


def _directory(path: str) -> str:
    head, _, name = path.rstrip("/").rpartition("/")
    return head if "." in name else path.rstrip("/")


detector = ExplorationWandering
