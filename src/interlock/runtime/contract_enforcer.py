"""ContractEnforcer: reverts changes that violate the contract; GitMonitor: finds commits and pushes that do."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable
from contextlib import nullcontext, suppress

from ..checkpoint import Restored
from ..contract import broken_by
from ..core import (
    CheckpointInfo,
    Clause,
    Contract,
    Inject,
    InterlockError,
    Message,
    MessageMeta,
    Review,
    Step,
    find_program,
    matches,
    run_program,
)
from ..journal_records import BreachRecord, ContractRecord
from .checkpointing import Checkpointing
from .decision_pipeline import DecisionPipeline
from .directive_executor import DirectiveExecutor
from .fail_open import Guard
from .pipeline_values import AFTER_STEP
from .run import Run

SHOWN = 8
"""The most paths that one message names."""


class ContractEnforcer:
    """For one run; the caller holds the supervisor's lock. With `observe` it only records violations."""

    def __init__(
        self, run: Run, pipeline: DecisionPipeline, executor: DirectiveExecutor, checkpointing: Checkpointing,
        guard: Guard, *, observe: bool,
    ) -> None:  # fmt: skip
        self._run, self._pipeline, self._executor = run, pipeline, executor
        self._checkpointing, self._guard, self._observe = checkpointing, guard, observe
        self._recorded = None if not pipeline.context.contract else object()
        self.git = GitMonitor(run.spec.workspace or run.spec.cwd)
        self._approved: set[str] = set()
        self._open: set[str] = set()

    def record_contract(self) -> None:
        """Record the contract at the start and whenever it changes."""
        contract = self._pipeline.context.contract
        if contract is not self._recorded and (contract or self._recorded is not None):
            self._recorded = contract
            none: Refs = {}
            refs = self._guard.part("contract", self.git.begin, none, contract)
            self._run.record(ContractRecord(contract, refs=refs))

    def approve(self, step: Step, review: Review | None) -> None:
        """Note that a person allowed a call to change files that the contract does not list."""
        from ..contract import PREFIX

        if review is not None and f"{PREFIX}may-change" in review.rules and step.tool is not None:
            self._open.add(step.tool.call_id or str(step.index))

    def after(self, step: Step, before: CheckpointInfo | None, now: CheckpointInfo | None) -> None:
        """After a call: revert changes that violate the contract."""
        self.record_contract()
        if before is None or now is None or before.id == now.id or not self._pipeline.context.contract.guards_files:
            return
        if not self._guard.part("contract", self._may_be_broken, True, before.id):
            return
        broken = self._between(before.id, now.id)
        call = step.tool.call_id or "" if step.tool is not None else ""
        if call in self._open or (not call and self._open):
            self._open.discard(call)
            self._approved |= {path for path, clause in broken.items() if clause.key == "may_change"}
            broken = {path: clause for path, clause in broken.items() if clause.key != "may_change"}
        if broken:
            self._guard.part("contract", self._undo, None, step.index, before.id, broken)

    def settle(self, start: str | None, now: CheckpointInfo | None, step: int) -> tuple[str, ...]:
        """At the end of the run: revert all changes that violate the contract; returns those that remain."""
        if start is None or now is None or not self._pipeline.context.contract.guards_files:
            return ()
        found = self._between(start, now.id)
        broken = {path: clause for path, clause in found.items() if path not in self._approved}
        if not broken:
            return ()
        left = self._guard.part("contract", self._undo, tuple(broken), step, start, broken)
        return tuple(left or ())

    def settle_git(self, step: int) -> tuple[str, ...]:
        """Record commits and pushes that violate the contract; they are not reverted."""
        nothing: Breaches = {}
        found = self._guard.part("contract", self.git.breaches, nothing, self._pipeline.context.contract)
        for clause, words in found.items():
            self._run.record(BreachRecord(step=step, clause=str(clause), git=words))
        return tuple(one for words in found.values() for one in words)

    def _may_be_broken(self, before: str) -> bool:
        """Whether a path that the last call changed violates a clause; fast if few paths changed."""
        workspace, contract = self._executor.workspace, self._pipeline.context.contract
        if workspace is None:
            return False
        return any(broken_by(contract, path) for path in workspace.checkpoints.own_changes(before).states)

    def _between(self, before: str, now: str) -> dict[str, Clause]:
        nothing: dict[str, Clause] = {}
        return self._guard.part("contract", self._broken, nothing, before, now)

    def _broken(self, before: str, now: str) -> dict[str, Clause]:
        """The paths whose changes between two checkpoints violate a clause."""
        workspace, contract = self._executor.workspace, self._pipeline.context.contract
        if workspace is None:
            return {}
        found: dict[str, Clause] = {}
        for change in workspace.checkpoints.diff(before, now):
            if change.kind == "touched" or (change.kind in ("attributes", "mode") and _is_folder(change.was)):
                continue
            clause = broken_by(contract, change.key)
            if clause is not None and not self._is_folder_of_allowed(change.key):
                found[change.key] = clause
        return found

    def _is_folder_of_allowed(self, path: str) -> bool:
        """Whether a folder contains files that may change, and may therefore be created."""
        contract = self._pipeline.context.contract
        return any(matches(glob, f"{path}/x") for glob in (*contract.may_change, *contract.narrowed)) and not any(
            matches(glob, path) for glob in contract.protect
        )

    def _undo(self, step: int, before: str, broken: dict[str, Clause]) -> tuple[str, ...]:
        """Restore the paths, clause by clause; returns those that were left as they are."""
        restored: tuple[str, ...] = ()
        left, safety = tuple(broken), ""
        if not self._observe:
            done = self._restore(before, broken)
            left = tuple(one.path for one in done.left_alone if one.path in broken)
            restored = tuple(path for path in broken if path not in left)
            safety = done.safety_id
        for clause in dict.fromkeys(broken.values()):
            mine = [path for path, why in broken.items() if why == clause]
            self._run.record(
                BreachRecord(
                    step=step,
                    clause=str(clause),
                    restored=tuple(path for path in mine if path in restored),
                    left=tuple(path for path in mine if path in left),
                    safety_id=safety,
                )
            )
        if restored:
            self._checkpointing.make(cause=AFTER_STEP, step=step + 1)
            self._inform_agent(step, restored, broken)
        return left

    def _restore(self, before: str, paths: Iterable[str]) -> Restored:
        workspace = self._executor.workspace
        assert workspace is not None
        processes = self._executor.processes
        with processes.frozen() if processes is not None else nullcontext():
            return workspace.restore(before, tuple(paths))

    def _inform_agent(self, step: int, restored: tuple[str, ...], broken: dict[str, Clause]) -> None:
        clauses = "; ".join(str(clause) for clause in dict.fromkeys(broken[path] for path in restored))
        more = f" and {len(restored) - SHOWN} more" if len(restored) > SHOWN else ""
        text = (
            f"Interlock restored {', '.join(restored[:SHOWN])}{more}: the last call changed what this run must not"
            f" change ({clauses}). Solve the task without it; if that is impossible, say so and stop."
        )
        meta = MessageMeta(
            intervention="contract", issue="scope_creep", time=self._run.steady.time(), run_id=self._run.spec.run_id,
            step=step,
        )  # fmt: skip
        with suppress(InterlockError):
            self._executor.carry_out(Inject(Message(text, meta=meta)))


def _is_folder(state: str) -> bool:
    return state.startswith("folder")


TIMEOUT_S = 20.0
"""For all that is asked of a repository at once: the agent may have made it slow."""
MOST_REFS = 500
"""In a repository with more refs, only HEAD is tracked."""
MOST_COMMITS = 50
"""The most new commits that are checked."""
SHORT = 9

SAFE = (
    "git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "log.showSignature=false", "-c", "safe.directory=*",
)  # fmt: skip
ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
}  # fmt: skip
"""The agent can change the repository's settings: our git commands must not run its programs."""

Refs = dict[str, str]
Breaches = dict[Clause, tuple[str, ...]]


class GitMonitor:
    """For one run. `start` are the refs at the time when the contract first concerned them."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._program = find_program("git")
        self._until = 0.0
        self.start: Refs | None = None

    def begin(self, contract: Contract) -> Refs:
        """Record the repository's refs once, if the contract restricts files, commits or pushes."""
        if self.start is None and _concerns_git(contract):
            self._until = time.monotonic() + TIMEOUT_S
            self.start = self._refs()
        return self.start or {}

    def breaches(self, contract: Contract) -> Breaches:
        """Descriptions of the violations of each clause in the repository."""
        if self.start is None or not _concerns_git(contract):
            return {}
        self._until = time.monotonic() + TIMEOUT_S
        now = self._refs(everything=len(self.start) != 1)
        changed = {name: commit for name, commit in now.items() if self.start.get(name) != commit}
        remote = {name for name in now if name.startswith("refs/remotes/")}
        pushed = sorted(name for name in remote & changed.keys() if self._was_pushed(name))
        tips = {name: commit for name, commit in changed.items() if name not in remote or name in pushed}
        tips.pop("refs/stash", None)
        elsewhere = [now[name] for name in remote - set(pushed)]
        commits = self._new_commits(tips.values(), [*self.start.values(), *elsewhere]) if tips else []
        found: Breaches = {}
        for clause in contract.clauses:
            if clause.key == "may_not" and clause.value == "commit" and commits:
                more = f" and {len(commits) - 3} more" if len(commits) > 3 else ""
                found[clause] = (f"committed {', '.join(commit[:SHORT] for commit in commits[:3])}{more}",)
            elif clause.key == "may_not" and clause.value == "push" and pushed:
                found[clause] = tuple(f"pushed to {name.removeprefix('refs/remotes/')}" for name in pushed)
        for commit in commits if contract.guards_files else ():
            for path in self._paths(commit):
                broken = broken_by(contract, path)
                if broken is not None and self._still_differs(path, tips.values()):
                    found[broken] = (*found.get(broken, ()), f"commit {commit[:SHORT]} changes {path}")
        return found

    def _refs(self, *, everything: bool = False) -> Refs:
        head = self._git("rev-parse", "-q", "--verify", "HEAD^{commit}")
        lines = self._git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        if len(lines) > MOST_REFS and not everything:
            lines = []
        refs = dict(line.split(" ", 1) for line in lines)
        return {"HEAD": head.strip(), **refs} if head.strip() else refs

    def _was_pushed(self, name: str) -> bool:
        """Whether a remote branch moved because of a push, not a fetch."""
        reason = self._git("reflog", "show", "-1", "--format=%gs", name).strip()
        return "push" in reason

    def _new_commits(self, tips: Iterable[str], known: Iterable[str]) -> list[str]:
        wanted = "\n".join([*tips, *(f"^{commit}" for commit in known)])
        options = ("--ignore-missing", f"--max-count={MOST_COMMITS}", "--stdin")
        return self._git("rev-list", *options, stdin=f"{wanted}\n").split()

    def _paths(self, commit: str) -> list[str]:
        """The files below the workspace that a commit changes; for a merge, those that differ from all parents."""
        options = ("-r", "-c", "--root", "--no-commit-id", "--name-only", "--no-ext-diff", "--relative", "-z")
        return [path for path in self._git("diff-tree", *options, commit).split("\0") if path]

    def _still_differs(self, path: str, tips: Iterable[str]) -> bool:
        """Whether a tip has a version of the file that differs from both the workspace and the start."""
        same = {self._git("hash-object", "--no-filters", "--", path).strip()}
        if self.start is not None and "HEAD" in self.start:
            same.add(self._blob(self.start["HEAD"], path))
        return any(self._blob(tip, path) not in same for tip in tips)

    def _blob(self, commit: str, path: str) -> str:
        return self._git("rev-parse", "-q", "--verify", f"{commit}:./{path}").strip()

    def _git(self, *words: str, stdin: str = "") -> str:
        """The output of git; empty if there is no repository, or it cannot be read."""
        try:
            left = self._until - time.monotonic()
            done = run_program(
                [*SAFE, *words],
                program=self._program,
                cwd=self._folder,
                env=ENVIRONMENT,
                given=stdin.encode(),
                timeout=max(0.1, left),
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else ""


def _concerns_git(contract: Contract) -> bool:
    return contract.guards_files or "commit" in contract.may_not or "push" in contract.may_not
