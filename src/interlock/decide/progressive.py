"""Progressive: the mildest answer first, one rung at a time, for as long as an episode lasts. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from msgspec.structs import replace

from ..config import Interventions
from ..core import (
    DESTRUCTIVE_ACTION,
    ENDED,
    LADDER,
    LONG_WAIT,
    Capability,
    Inject,
    Intervention,
    Issue,
    Outcome,
    RunState,
)
from ..intervene import (
    Attempt,
    ChangedSince,
    Continue,
    Custom,
    InterventionResponse,
    RecoveryNeeded,
    Stopped,
    Templates,
)
from .episode import KEPT_MESSAGES, TOP, Episode
from .episode_tracking import follow, relapse_rung, start_rung
from .ladder import Ladder, apply_rung, can_restore
from .ruling import IssueWeight, Observed, Ruling, Rulings, WeighedIssue, weigh
from .state import ControllerState, remember
from .strategies import band

ROLLBACK = LADDER.index("checkpoint_rollback")


class Progressive:
    """Answers episodes. Everything that changes is in the state passed in and returned."""

    def __init__(
        self,
        config: Interventions,
        capabilities: frozenset[Capability],
        custom: Sequence[Custom],
        templates: Templates,
        restorable: bool | None,
        changed: ChangedSince | None = None,
    ) -> None:
        self._config = config
        self._templates = templates
        self._restorable = restorable
        self._changed = changed
        self._ladder = Ladder(config, capabilities, custom)
        self._attempts = config.soft_correction.max_attempts or 1

    def use_capabilities(self, capabilities: frozenset[Capability]) -> None:
        """Set the adapter's actual capabilities."""
        self._ladder = replace(self._ladder, capabilities=capabilities)

    def advance(
        self, state: ControllerState, seen: Observed, run: RunState, now: float
    ) -> tuple[ControllerState, Rulings]:
        """Process one step: its sightings of known episodes, and its new alarms."""
        judged: list[Intervention] = []
        happened = set()
        for sighting in seen.sightings:
            state, outcomes = follow(state, sighting, seen.step, self._attempts)
            judged += outcomes
            if sighting.sign == "again":
                happened.add(sighting.episode)
        if seen.instructed:
            state = self._instructed(state, seen.agent)
        for issue in seen.issues:
            state, raised = self._raise(state, issue, seen.agent, run, now)
            happened.add(raised)
        run = remember(run, seen.issues, judged)
        if self._config.observe:
            judged = []
        rulings: list[Ruling] = []
        due = [
            episode for episode in state.episodes if episode.open and episode.due is not None and episode.id in happened
        ]
        for episode in sorted(due, key=lambda one: weigh(state, one.issue, now).strength, reverse=True):
            given = next((ruling.intervention for ruling in rulings if ruling.answer), None)
            if given is not None and given.level == episode.due and seen.agent == episode.agent:
                state = state.with_episode(_shared(episode, given, now))  # one answer is enough for both
                continue
            state, run, ruled = self._rule(state, episode, run, now, acted=given is not None)
            rulings += ruled
        return state, Rulings(rulings=tuple(rulings), judged=tuple(judged), run=run)

    def _raise(
        self, state: ControllerState, issue: Issue, agent: str, run: RunState, now: float
    ) -> tuple[ControllerState, str]:
        """The episode that an alarm belongs to: an open one, a relapse, or a new one."""
        mine = [episode for episode in reversed(state.episodes) if episode.agent == agent]
        known = next((one for one in mine if one.open and one.about(issue)), None)
        if known is not None:
            episode = known.raised(issue)
            if episode.due is None and episode.answer is None:
                episode = replace(episode, due=min(TOP, episode.most, (episode.level or 0) + 1))
            return state.with_episode(episode), episode.id
        back = next((one for one in mine if not one.open and one.about(issue)), None)
        if back is not None:
            again = back.reopen(issue, now, run.spend)
            episode = replace(again, due=min(again.most, relapse_rung(back)))
            return state.with_episode(episode), episode.id
        due = self._start(state, issue, now)
        state = state.with_type(issue.type, replace(state.of(issue.type), start=min(due, TOP)))
        opened = Episode(
            id=f"e{state.opened + 1}",
            issue=issue,
            stuck=(issue.stuck,) if issue.stuck is not None else (),
            opened_step=issue.step,
            opened_at=now,
            began=issue.began,
            agent=agent,
            spent=run.spend,
            steps=tuple(dict.fromkeys((*issue.evidence, issue.step))),
            due=due,
        )
        return replace(state, opened=state.opened + 1).with_episode(opened), opened.id

    def _start(self, state: ControllerState, issue: Issue, now: float) -> int:
        if issue.type == LONG_WAIT or (issue.stuck is not None and issue.stuck.most == 0):
            return 0
        if issue.type == DESTRUCTIVE_ACTION and not issue.details.get("prevented"):
            # Actual damage gets an answer according to its severity.
            return band(weigh(state, issue, now).combined) if issue.severity in ("high", "critical") else 0
        return start_rung(state, issue.type, self._config.strategy.effectiveness_threshold)

    def _instructed(self, state: ControllerState, agent: str) -> ControllerState:
        for episode in state.episodes:
            if episode.open and episode.agent == agent:
                state = state.with_episode(episode.end("new_instructions"))
        return state

    def _rule(
        self, state: ControllerState, episode: Episode, run: RunState, now: float, *, acted: bool
    ) -> tuple[ControllerState, RunState, list[Ruling]]:
        """Apply the rung that is due, or postpone it."""
        weight = weigh(state, episode.issue, now)
        if why := self._wait_for(state, episode, run, now, acted=acted):
            if episode.postponed:
                return state, run, []
            case = self._case(episode, weight, run)
            made = self._made(state, case, episode, run, now, "held_back", why)
            state = replace(state, recorded=state.recorded + 1).with_episode(replace(episode, postponed=True))
            return state, remember(run, (), (made,)), [case.ruling(made, None, self._config.observe)]
        if state.failed >= self._config.max_interventions_per_execution:
            return self._end_attempts(state, episode, weight, run, now)
        rulings: list[Ruling] = []
        while True:
            case = self._case(episode, weight, run)
            answer = self._answer(case, episode, run, now) if case.rung.applicable else None
            skipped = self._skipped(case, answer)
            if not skipped:
                break
            made = self._made(state, case, episode, run, now, "not_applied", skipped)
            state = replace(state, recorded=state.recorded + 1)
            run = remember(run, (), (made,))
            rulings.append(case.ruling(made, None, self._config.observe))
            if case.rung.level < ROLLBACK:
                # A message that cannot be sent counts as tried, and the agent gets as many chances as if it had been.
                hints = episode.hints + (case.rung.level == 0)
                tried = replace(
                    episode, level=case.rung.level, answer=made, due=None, again=0, hints=hints, postponed=False
                )
                return state.with_episode(tried), run, rulings
            episode = replace(episode, level=case.rung.level, due=min(TOP, case.rung.level + 1))
        assert answer is not None
        state, run, ruling = self._act(state, case, episode, answer, run, now)
        return state, run, [*rulings, ruling]

    def _wait_for(self, state: ControllerState, episode: Episode, run: RunState, now: float, *, acted: bool) -> str:
        """Why the due rung cannot be applied yet; empty if it can."""
        if not self._config.enabled:
            return "interventions are switched off"
        if run.status in ENDED:
            return "the run has ended"
        if run.status in ("pausing", "paused"):
            return "the run waits for a person"
        if acted:
            return "postponed: another episode is handled first"
        if episode.issue.type == DESTRUCTIVE_ACTION and not episode.issue.details.get("prevented"):
            return ""
        cooldown = state.pace.cooldown(self._config)
        if state.last_acted is not None and now - state.last_acted < cooldown:
            return f"postponed: less than {cooldown:.3g} s since the last intervention"
        delay = state.pace.escalation_delay(self._config)
        climbs = episode.level is not None and (episode.due or 0) > episode.level
        if climbs and episode.answered_at is not None and now - episode.answered_at < delay:
            return f"postponed: less than {delay:.3g} s since the last intervention in this episode"
        return ""

    def _case(self, episode: Episode, weight: IssueWeight, run: RunState) -> WeighedIssue:
        restorable = can_restore(run) if self._restorable is None else self._restorable
        rung = self._ladder.at(episode.due or 0, episode.issue, restorable=restorable, reachable=run.reachable)
        before = "first intervention" if episode.level is None else f"{LADDER[min(episode.level, TOP)]} did not work"
        if episode.relapses and episode.level is None:
            before = "it is back"
        return WeighedIssue(weight, rung, (before, *rung.reasons))

    def _answer(self, case: WeighedIssue, episode: Episode, run: RunState, now: float) -> InterventionResponse:
        attempt = Attempt(
            number=episode.answers + 1,
            again=episode.again if episode.answers else 0,
            relapses=episode.relapses,
            place=next((stuck.place for stuck in episode.stuck if stuck.place), ""),
            since=episode.opened_at,
        )
        issue = replace(episode.issue, started_step=episode.began)
        answer = apply_rung(case.rung, issue, run, self._config, now, self._templates, attempt, self._changed)
        return _never_twice(answer, episode)

    def _skipped(self, case: WeighedIssue, answer: InterventionResponse | None) -> str:
        """Why this rung cannot work and the next one is due; empty if it can be applied."""
        if answer is None:
            return "; ".join(case.rung.reasons)
        if case.rung.level == ROLLBACK and isinstance(answer, RecoveryNeeded):
            return answer.log
        return ""

    def _act(
        self,
        state: ControllerState,
        case: WeighedIssue,
        episode: Episode,
        answer: InterventionResponse,
        run: RunState,
        now: float,
    ) -> tuple[ControllerState, RunState, Ruling]:
        rung, watching = case.rung, self._config.observe
        reason = f"observe: would have been applied: {answer.log}" if watching else answer.log
        made = self._made(state, case, episode, run, now, "not_applied" if watching else "pending", reason)
        escalated = episode.level is not None and rung.level > episode.level
        answered = replace(
            episode,
            level=rung.level,
            due=None,
            postponed=False,
            answer=replace(made, outcome="pending"),
            answers=episode.answers + 1,
            hints=episode.hints + (rung.level == 0),
            again=0,
            passed=0,
            answered_at=now,
            said=(*episode.said, *_digests(answer))[-KEPT_MESSAGES:],
            stuck=episode.answered(),
        )
        state = replace(
            state.with_episode(answered), recorded=state.recorded + 1, acted=state.acted + 1, last_acted=now
        )
        if not watching and not isinstance(answer, Stopped):
            run = answer.state
        return state, remember(run, (), (made,)), case.ruling(made, answer, self._config.observe, escalated=escalated)

    def _end_attempts(
        self, state: ControllerState, episode: Episode, weight: IssueWeight, run: RunState, now: float
    ) -> tuple[ControllerState, RunState, list[Ruling]]:
        """Too many interventions have failed: pause for a person, or stop the run."""
        why = f"{state.failed} interventions did not work"
        pauses = self._config.on_limit == "pause"
        rung = self._ladder.top(episode.issue, reachable=pauses)
        rung = replace(rung, reasons=(why,) if pauses else (*rung.reasons, why))
        case = WeighedIssue(weight, rung, rung.reasons)
        answer = self._answer(case, episode, run, now)
        state, run, ruling = self._act(state, case, episode, answer, run, now)
        return state, run, [ruling]

    def _made(
        self,
        state: ControllerState,
        case: WeighedIssue,
        episode: Episode,
        run: RunState,
        now: float,
        outcome: Outcome,
        reason: str,
    ) -> Intervention:
        made = case.intervention(state.recorded + 1, run, now, outcome, (reason,))
        return replace(made, episode=episode.id)


def _shared(episode: Episode, given: Intervention, now: float) -> Episode:
    """The episode after an answer to another one of the same agent that it was due for as well."""
    return replace(
        episode,
        level=given.level,
        due=None,
        postponed=False,
        answer=replace(given, outcome="not_applied"),
        hints=episode.hints + (given.level == 0),
        again=0,
        passed=0,
        answered_at=now,
        stuck=episode.answered(),
    )


def _digests(answer: InterventionResponse) -> tuple[str, ...]:
    """Short digests of the messages sent."""
    texts = (directive.message.content for directive in answer.directives if isinstance(directive, Inject))
    return tuple(sha256(text.encode("utf-8", "replace")).hexdigest()[:16] for text in texts)


def _never_twice(answer: InterventionResponse, episode: Episode) -> InterventionResponse:
    """The answer, changed if the episode has already sent one of its messages, whatever the templates contain."""
    if not isinstance(answer, Continue) or set(_digests(answer)).isdisjoint(episode.said):
        return answer
    directives = tuple(
        Inject(replace(directive.message, content=f"{directive.message.content}\n(Message {episode.answers + 1}.)"))
        if isinstance(directive, Inject)
        else directive
        for directive in answer.directives
    )
    return replace(answer, directives=directives)
