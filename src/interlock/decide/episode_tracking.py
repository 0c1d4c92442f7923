"""Following episodes: what an opportunity says about an answer, and when an episode is over. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from ..core import LADDER, LONG_WAIT, Intervention, Outcome, Sign
from .episode import CLEAN, CLEAR, WORKED, Episode, applied
from .ladder import TOP
from .ruling import Sighting
from .state import ControllerState

CHANCES = (2, 2, 1, 1, 1)
"""Opportunities in which it may happen again after an answer of each rung, before that answer has failed."""


def strongest(signs: list[Sign]) -> Sign | None:
    """The sign that counts where an episode is about several things."""
    order: tuple[Sign, ...] = ("solved", "better", "again", "changed", "clear")
    return next((sign for sign in order if sign in signs), None)


def follow(
    state: ControllerState, seen: Sighting, step: int, now: float, attempts: int
) -> tuple[ControllerState, list[Intervention]]:
    """The state after what a step showed of one episode, and the answer whose outcome is now known, if one is.

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
    return _worked(state, episode, seen.sign, now)


def next_rung(episode: Episode, attempts: int) -> int:
    """The rung after one that failed."""
    level = episode.level or 0
    return 0 if level == 0 and episode.hints < attempts else min(TOP, level + 1)


def start_rung(state: ControllerState, issue_type: str, threshold: float) -> int:
    """Where a new episode of a type begins: by what the rung of the last beginning has achieved on this type."""
    known = state.of(issue_type)
    effect = known.effectiveness(LADDER[known.start])
    if effect is None:
        return known.start
    if effect < threshold:
        return min(HIGHEST_START, known.start + 1)
    return max(0, known.start - 1) if effect >= MUCH_EFFECT else known.start


HIGHEST_START = 2
"""A new problem never begins with a rollback or a stop, whatever others needed."""
MUCH_EFFECT = 0.9
"""From this share on the next episode begins one rung milder."""


def relapse_rung(episode: Episode) -> int:
    """Where an episode begins that is back: at what helped last, one higher from the second relapse on."""
    if episode.ending == "resumed":
        return 1
    return min(TOP, (episode.worked or 0) + (episode.relapses >= 1))


def _again(state: ControllerState, episode: Episode, attempts: int) -> tuple[ControllerState, list[Intervention]]:
    made = episode.answer
    if made is None or episode.level is None or episode.again < CHANCES[min(episode.level, TOP)]:
        return state.with_episode(episode), []
    if episode.issue.type == LONG_WAIT:
        # Waiting is never answered with more than a hint.
        return _judged(state.with_episode(replace(episode, answer=None)), made, worked=False)
    failed = made.type if applied(made) else episode.failed
    episode = replace(episode, answer=None, due=next_rung(episode, attempts), failed=failed)
    return _judged(state.with_episode(episode), made, worked=False)


def _worked(
    state: ControllerState, episode: Episode, sign: Sign, now: float
) -> tuple[ControllerState, list[Intervention]]:
    made = episode.answer
    helped = made is not None and made.outcome == "pending"
    ended = replace(episode, worked=episode.level if helped else episode.worked).end(WORKED[sign], now)
    return _judged(state.with_episode(ended), made, worked=True) if made else (state.with_episode(ended), [])


def _judged(state: ControllerState, made: Intervention, *, worked: bool) -> tuple[ControllerState, list[Intervention]]:
    if made.outcome != "pending":
        return state, []  # it was never applied, so it achieved nothing and failed at nothing
    outcome: Outcome = "success" if worked else "failure"
    state = state.with_type(made.issue_type, state.of(made.issue_type).judge(made, worked=worked))
    state = replace(state, failed=state.failed + (not worked), worked=state.worked + worked)
    return state, [replace(made, outcome=outcome)]


def _after_its_end(episode: Episode, sign: Sign) -> Episode:
    """An episode that is over comes down a rung after enough clean opportunities."""
    if sign in ("again", "changed"):
        return replace(episode, clean=0)
    if episode.clean + 1 < CLEAN:
        return replace(episode, clean=episode.clean + 1)
    lower = max(0, episode.worked - 1) if episode.worked else episode.worked
    return replace(episode, clean=0, worked=lower, relapses=0 if not lower else episode.relapses)
