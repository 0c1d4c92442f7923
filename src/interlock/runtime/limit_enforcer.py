"""LimitEnforcer: enforces a run's limits and budgets: ends, delays or holds the run."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec.structs import replace

from ..core import Decision, Hold, Step, Stop
from ..journal_records import LimitRecord
from .batch import named_files
from .budgets import BudgetReached, RunBudgets
from .decision_pipeline import DecisionPipeline
from .directive_executor import DirectiveExecutor
from .fail_open import Guard
from .limit_meter import LimitExceeded
from .run import Run
from .step_recorder import StepRecorder


class LimitEnforcer:
    """For one run; the caller holds the supervisor's lock."""

    def __init__(
        self,
        run: Run,
        pipeline: DecisionPipeline,
        executor: DirectiveExecutor,
        recorder: StepRecorder,
        guard: Guard,
        hold: Callable[[Hold], str],
        budgets: RunBudgets | None = None,
    ) -> None:
        self._run, self._pipeline, self._executor, self._recorder, self._hold = run, pipeline, executor, recorder, hold
        self._guard, self._budgets = guard, budgets

    def check_spend(self, *, reserve: bool = False) -> Decision | None:
        """The decision if a limit or a budget is used up; None if none is. With `reserve` a step is about to run."""
        over = self._used_up()
        if over is not None:
            return self._over(over)
        return self.check_budgets(reserve=reserve)

    def check_budgets(self, *, reserve: bool) -> Decision | None:
        """The decision if a budget is too small for the next step; None if there is room, or no budget."""
        if not self._budgets or self._run.ended:
            return None
        now = self._run.clock.time()
        if self._run.gate.status == "running":
            self._budgets.resumed(now)
        reached = self._budgets.check(self._pipeline.ledger.spend, now, reserve=reserve)
        return self._answer_budget(reached, now) if reached is not None else None

    def is_free(self) -> bool:
        """Whether no limit affects the next call."""
        return (
            not self._budgets
            and self._pipeline.meter.limits.batch_size is None
            and self._used_up() is None
            and self._pipeline.meter.wait(self._pipeline.ledger, self._run.steady.time()) is None
        )

    def slow_down(self, decision: Decision, step: Step) -> Decision:
        """Add the delay that the limits require to a decision that allows a call; refuse one with too many files."""
        allowed = self._pipeline.meter.limits.batch_size
        if allowed is not None and decision.action in ("proceed", "rewrite") and (count := named_files(step)) > allowed:
            why = f"the call names {count} files, and batch_size allows {allowed} at once"
            self._recorder.run.record(LimitRecord(why, limit="batch_size"))
            return Decision("deny", reason=f"{why}: split it into smaller calls")
        wait = self._pipeline.meter.wait(self._pipeline.ledger, self._run.steady.time())
        if wait is None or wait.seconds <= 0 or decision.action not in ("proceed", "rewrite"):
            return decision
        if math.isinf(wait.seconds):
            self._recorder.run.record(LimitRecord(wait.reason))
            return Decision("deny", reason=wait.reason)
        self._recorder.run.record(LimitRecord(wait.reason, seconds=wait.seconds))
        if "hold" in self._executor.adapter.capabilities:
            return replace(decision, delay_s=wait.seconds, reason=wait.reason)
        return Decision("deny", reason=f"{wait.reason}. Try again in {wait.seconds:.0f} s.")

    def check_use(self, memory_mb: float, elapsed_s: float) -> Decision | None:
        """Apply the limits to the usage of a process tree, between steps or without steps."""
        self._pipeline.ledger.measure_memory(memory_mb, self._run.steady.time())
        awake = max(0.0, elapsed_s - self._run.gate.rested_s)
        spend = replace(self._pipeline.ledger.spend, execution_time=awake)
        over = self._pipeline.meter.over(spend)
        return self._over(over) if over is not None else None

    def _used_up(self) -> LimitExceeded | None:
        spend = self._pipeline.ledger.spend
        awake = max(0.0, spend.execution_time - self._run.gate.rested_s)
        return self._pipeline.meter.over(replace(spend, execution_time=awake))

    def _answer_budget(self, reached: BudgetReached, now: float) -> Decision | None:
        assert self._budgets is not None
        words, answer = str(reached), reached.budget.on_limit
        if answer == "warn":
            if self._budgets.is_news(reached, now):
                self._recorder.run.record(LimitRecord(words, limit=reached.budget.name))
                if self._executor.notifier is not None:
                    self._executor.notifier.budget(words)
            return None
        self._recorder.run.record(LimitRecord(words, limit=reached.budget.name))
        if answer == "pause":
            self._guard.part("journal", lambda: self._hold(Hold(words, kind="limit")), "")
            # After the hold: if the owner dies in between, the run still says why it is held.
            self._budgets.hold(reached, now)
            return Decision("hold", reason=f"{words}. The run needs a person.")
        return self._end_run(words)

    def _over(self, over: LimitExceeded) -> Decision:
        self._recorder.run.record(LimitRecord(str(over), limit=over.limit))
        if not over.ends:
            self._guard.part("journal", lambda: self._hold(Hold(str(over), kind="limit")), "")
            return Decision("deny", reason=f"{over}. The run needs a person.")
        return self._end_run(str(over))

    def _end_run(self, words: str) -> Decision:
        # A journal that cannot be written must not prevent the agent from being stopped.
        self._guard.part("journal", lambda: self._run.end("done", "MAX_ITERATIONS", words), None)
        self._executor.carry_out(Stop(f"limit: {words}"))
        return Decision("stop", reason=words)
