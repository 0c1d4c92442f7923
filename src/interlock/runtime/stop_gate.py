"""StopGate: when the agent says that it is done, runs the checks and asks for proof of its claims.

The `done_when` commands run here; failing output goes back to the agent a few times. An unproven claim is
questioned once. Without a contract or claims, nothing happens.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from ..config import Contract as ContractConfig
from ..core import InterlockError, Step
from ..journal import JournalReading
from ..journal_records import CommandResult, ContractRecord, StopGateRecord, read_body
from ..proof import ClaimVerdict
from .check_runner import CheckRunner, missing_program
from .checkpointing import Checkpointing
from .decision_pipeline import DecisionPipeline
from .directive_executor import DirectiveExecutor
from .git_monitor import Breaches, GitMonitor
from .pipeline_values import AFTER_STEP, END_OF_TURN
from .run import Run
from .run_proof import RunProof, missing

if TYPE_CHECKING:
    from .clean_room import Around

Action = Literal["pass", "return"]

MAX_MESSAGE = 20_000
"""The most characters of an agent's last message that are read."""

MOST_CLAIMS = 6
"""The most claims that one message asks about."""


OURS = "Interlock: "
"""The prefix of messages to the agent at the end of its turn."""


class GateAnswer(Struct, frozen=True):
    """The answer to the agent at the end of its turn: pass, or a message to act on."""

    action: Action = "pass"
    words: str = ""


PASS = GateAnswer()


class StopGate:
    """For one run. Commands run without the supervisor's lock; turns that end at the same time wait for each other."""

    def __init__(
        self, run: Run, pipeline: DecisionPipeline, executor: DirectiveExecutor, checkpointing: Checkpointing,
        proof: RunProof, config: ContractConfig, lock: threading.RLock, git: GitMonitor, *, observe: bool,
    ) -> None:  # fmt: skip
        self._run, self._pipeline, self._executor = run, pipeline, executor
        self._checkpointing, self._config, self._lock = checkpointing, config, lock
        self._proof, self._git, self._observe = proof, git, observe
        self._turn = threading.Lock()
        self.runner = CheckRunner(run.spec.workspace or run.spec.cwd, config.timeout_seconds, lambda: run.ended)
        self.returns = 0
        self.failure = ""
        self._checked: tuple[str, tuple[CommandResult, ...]] | None = None
        self._asked: set[tuple[str, str]] = set()

    def at_turn_end(self, said: str = "") -> GateAnswer:
        """The agent ends its turn with this message; returns what it still has to do, if anything."""
        if self._observe or self._run.ended:
            return PASS
        commands = self._commands()
        with self._lock:
            if said:
                # The transcript may arrive later; a repeated claim counts once.
                step = Step(
                    run_id=self._run.spec.run_id, index=self._step, role="assistant", content=said[:MAX_MESSAGE]
                )
                self._pipeline.proof.observe(step)
            claims = self._pipeline.has_judged and self._pipeline.proof.claims
            if not (commands or claims or self._git.start is not None):
                return PASS
        with self._turn:
            results, tree = self._check(commands)
            failed, broken = _first_failure(results), self._commits()
            if failed is not None or broken:
                if self.returns >= self._config.max_returns:
                    self._record("unproven", results, tree)
                    return PASS
                self.returns += 1
                words = _failing(failed) if failed is not None else _committed(broken)
                tries = f"Try {self.returns} of {self._config.max_returns}."
                self._record("returned", results, tree, tuple(one for said in broken.values() for one in said))
                return GateAnswer("return", f"{OURS}you are not done. {tries} {words}")
            return self._ask_about_claims(results, tree)

    def settle(self) -> str:
        """The agent has ended by itself; returns why the run is unproven, or an empty text."""
        commands = self._commands()
        if not commands:
            return ""
        with self._turn:
            results, tree = self._check(commands)
            failed = _first_failure(results)
            self._record("observed" if self._observe else _outcome(results), results, tree)
            if failed is None:
                return ""
            self.failure = failed.words
            return self.failure

    def _commits(self) -> Breaches:
        """Violations of the contract in the repository that the agent can still undo."""
        found = self._git.breaches(self._pipeline.context.contract)
        return {clause: said for clause, said in found.items() if clause.value != "push"}

    @property
    def _step(self) -> int:
        return self._run.summary.steps

    def recall(self, journal: JournalReading) -> None:
        """Restore a predecessor's state: its attempts, and the repository at the start of the run."""
        for record in journal.read(kinds=frozenset(("contract", "stop_gate"))):
            body = read_body(record)
            if isinstance(body, ContractRecord):
                self._git.start = body.refs or self._git.start
            elif isinstance(body, StopGateRecord):
                self.returns = body.returns

    def note_prompt(self) -> None:
        """A person asked for something new: reset the agent's attempts."""
        self.returns = 0

    def _commands(self) -> tuple[str, ...]:
        """The commands that must pass, except those that only the task's text names and that are not installed."""
        contract = self._pipeline.context.contract
        if not contract.done_when:
            return ()
        said = {clause.value for clause in contract.origins if clause.key == "done_when" and clause.phrase}
        folder = Path(self.runner.folder or ".")
        return tuple(
            command
            for command in contract.done_when
            if command not in said or "/" in command.split()[0] or not missing_program(command.split()[0], folder)
        )

    def _check(self, commands: tuple[str, ...]) -> tuple[tuple[CommandResult, ...], str]:
        """Run the commands on the current files; results for the same files are reused."""
        if not commands:
            return (), self._tree()
        tree = self._tree()
        if self._checked is not None and self._is_same(self._checked[0], tree):
            return self._checked[1], tree
        # Imported here because it needs Python's parser, and most runs have no commands.
        from .clean_room import run_checks

        results = run_checks(self.runner, commands, self._around(tree), self._frozen)
        now = self._tree(own=True)
        with self._lock:
            for result in results:
                if not result.why:
                    own = f"left it as its own check: {'; '.join(result.own)}" if result.own else ""
                    self._pipeline.proof.note_check(result.command, result.output, result.exit_status, now, own)
            if results and all(result.passed for result in results):
                self._pipeline.finish_work([f"`{result.command}` passes" for result in results])
        self._checked = (now, results)
        return results, now

    def _around(self, tree: str) -> Around | None:
        """What the checks are compared with; None without checkpoints."""
        with self._lock:
            workspace, start = self._executor.workspace, self._checkpointing.start()
            if workspace is None or start is None or not tree:
                return None
            from .clean_room import Around

            began = workspace.checkpoints.get(start).time
            return Around(workspace.checkpoints, start, tree, began, self._pipeline.context.task)

    def _frozen(self) -> AbstractContextManager[object]:
        """Freezes the run's processes meanwhile."""
        processes = self._executor.processes
        return processes.frozen() if processes is not None else nullcontext()

    def _is_same(self, before: str, tree: str) -> bool:
        """Whether two trees contain the same files."""
        workspace = self._executor.workspace
        if workspace is None or not before or not tree:
            return False
        try:
            return before == tree or all(
                change.kind == "touched" for change in workspace.checkpoints.diff(before, tree)
            )
        except InterlockError:
            return False

    def _tree(self, *, own: bool = False) -> str:
        with self._lock:
            if self._executor.workspace is None or self._run.ended:
                return ""
            made = self._checkpointing.make(cause=AFTER_STEP if own else END_OF_TURN, step=self._step)
            return made.id if made is not None else ""

    def _ask_about_claims(self, results: tuple[CommandResult, ...], tree: str) -> GateAnswer:
        with self._lock:
            verdicts = missing(self._proof.now().claims)
        open_claims = [found for found in verdicts if (found.claim.kind, found.claim.subject) not in self._asked][
            :MOST_CLAIMS
        ]
        if not open_claims:
            if results:
                self._record(_outcome(results), results, tree)
            return PASS
        self._asked |= {(found.claim.kind, found.claim.subject) for found in open_claims}
        words = tuple(_claim_words(found) for found in open_claims)
        self._record("asked", results, tree, words)
        return GateAnswer("return", _question(words))

    def _record(
        self,
        outcome: Literal["passed", "own_check", "returned", "asked", "unproven", "observed"],
        results: tuple[CommandResult, ...],
        tree: str,
        claims: tuple[str, ...] = (),
    ) -> None:
        self._run.record(
            StopGateRecord(
                step=self._step, outcome=outcome, results=results, claims=claims, returns=self.returns, tree=tree
            )
        )


def _outcome(results: tuple[CommandResult, ...]) -> Literal["passed", "own_check", "unproven"]:
    if all(result.proves for result in results):
        return "passed"
    return "own_check" if all(result.passed for result in results) else "unproven"


def _first_failure(results: tuple[CommandResult, ...]) -> CommandResult | None:
    return next((result for result in results if not result.passed), None)


def _failing(failed: CommandResult) -> str:
    output = f"\n\n{failed.output}" if failed.output else ""
    return (
        f"This run is done when `{failed.command}` passes: {failed.words}.{output}"
        "\n\nFix the cause, not the check. If it is impossible, say so plainly."
    )


def _committed(broken: Breaches) -> str:
    lines = [f"- {one} ({clause})" for clause, said in broken.items() for one in said]
    return "\n".join((
        "The repository contains what this run must not leave there:", *lines,
        "Undo that and keep the rest of your work, for instance with `git reset --soft`. Say what cannot be undone.",
    ))  # fmt: skip


def _question(claims: tuple[str, ...]) -> str:
    return (
        f"{OURS}before you stop, prove what you said, or withdraw it:\n"
        + "\n".join(f"- {claim}" for claim in claims)
        + "\nRun the check now and report what it prints; if it does not hold, say so. This is asked once."
    )


def _claim_words(found: ClaimVerdict) -> str:
    return f'"{found.claim.text}": {found.verdict.replace("_", " ")}' + (f" ({found.why})" if found.why else "")
