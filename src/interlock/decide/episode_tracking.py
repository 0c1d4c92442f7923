"""Tracks episodes: what an opportunity shows about an answer, and when an episode ends. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from ..core import LADDER, Intervention, Sign
from .episode import CLEAN, CLEAR, TOP, WORKED, Episode, applied
from .ruling import Sighting
from .state import ControllerState
from .strategies import next_intervention

CHANCES = (2, 2, 1, 1, 1)
"""Recurrences allowed after an answer of each rung before that answer has failed."""


def strongest(signs: list[Sign]) -> Sign | None:
    """The sign that counts if an episode has several `Stuck`."""
    order: tuple[Sign, ...] = ("solved", "better", "moved", "again", "changed", "clear")
    return next((sign for sign in order if sign in signs), None)


def follow(
    state: ControllerState, seen: Sighting, step: int, attempts: int
) -> tuple[ControllerState, list[Intervention]]:
    """The state after a step's sighting of one episode, and the answer whose outcome is now known, if any.

    `attempts` is the number of hints before the next rung.
    """
    episode = state.episode(seen.episode)
    if episode is None:
        return state, []
    if episode.stuck != seen.stuck:
        episode = replace(episode, stuck=seen.stuck)
    if seen.sign is None:
        return state.with_episode(episode), []
    if not episode.open:
        return state.with_episode(_after_its_end(episode, seen.sign)), []
    if seen.sign == "again":
        return _again(state, episode.happened(step), attempts)
    episode = replace(episode, opportunities=episode.opportunities + 1)
    if seen.sign == "changed":
        return state.with_episode(replace(episode, passed=0)), []
    episode = replace(episode, passed=episode.passed + 1)
    if seen.sign == "clear" and episode.passed < CLEAR:
        return state.with_episode(episode), []
    return _worked(state, episode, seen.sign)


def next_rung(episode: Episode, attempts: int) -> int:
    """The rung after a failed one."""
    level = episode.level or 0
    return 0 if level == 0 and episode.hints < attempts else min(TOP, level + 1)


def start_rung(state: ControllerState, issue_type: str, threshold: float) -> int:
    """The first rung for a new episode of a type, by the effectiveness of the last episode's first rung."""
    known = state.of(issue_type)
    effect = known.effectiveness(LADDER[known.start])
    return min(HIGHEST_START, next_intervention(known.start, effect, threshold=threshold))


HIGHEST_START = 2
"""A new problem never starts with a rollback or a stop, whatever others needed."""


def relapse_rung(episode: Episode) -> int:
    """The first rung for a relapse: the rung that helped last, one higher from the second relapse on."""
    if episode.ending == "resumed":
        return 1
    return min(TOP, (episode.worked or 0) + (episode.relapses >= 1))


def _again(state: ControllerState, episode: Episode, attempts: int) -> tuple[ControllerState, list[Intervention]]:
    made = episode.answer
    if made is None or episode.level is None or episode.again < CHANCES[min(episode.level, TOP)]:
        return state.with_episode(episode), []
    failed, due = made.type if applied(made) else episode.failed, next_rung(episode, attempts)
    if episode.most == 0:
        # That a wait goes on says nothing about the hint; the next is due when the wait is told again.
        due = TOP
    episode = replace(episode, answer=None, due=due if due <= episode.most else None, failed=failed)
    if episode.most == 0:
        return _unjudged(state.with_episode(episode), made)
    return _judged(state.with_episode(episode), made, worked=False)


def _worked(state: ControllerState, episode: Episode, sign: Sign) -> tuple[ControllerState, list[Intervention]]:
    made = episode.answer
    helped = made is not None and made.outcome == "pending" and sign != "moved"
    ended = replace(episode, worked=episode.level if helped else episode.worked).end(WORKED[sign])
    if made is None or not helped:
        return _unjudged(state.with_episode(ended), made)
    return _judged(state.with_episode(ended), made, worked=True)


def _unjudged(state: ControllerState, made: Intervention | None) -> tuple[ControllerState, list[Intervention]]:
    """What came next would have come anyway: it says nothing about the answer."""
    if made is None or made.outcome != "pending":
        return state, []
    return state, [replace(made, outcome="not_judged")]


def _judged(state: ControllerState, made: Intervention, *, worked: bool) -> tuple[ControllerState, list[Intervention]]:
    if made.outcome != "pending":
        return state, []  # it was never applied, so it neither worked nor failed
    state, outcome = state.judged(made, worked=worked)
    return state, [outcome]


def _after_its_end(episode: Episode, sign: Sign) -> Episode:
    """Lower a closed episode by one rung after enough clean opportunities."""
    if sign in ("again", "changed"):
        return replace(episode, clean=0)
    if episode.clean + 1 < CLEAN:
        return replace(episode, clean=episode.clean + 1)
    lower = max(0, episode.worked - 1) if episode.worked else episode.worked
    return replace(episode, clean=0, worked=lower, relapses=0 if not lower else episode.relapses)
