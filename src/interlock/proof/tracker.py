"""ProofTracker: tracks the claims and checks of one run, and judges claims by checks. Pure; can be stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from ..calls import CallReading, read_call
from ..core import Step, Tool, from_msgpack
from .checks import SCRIPTS, CheckCommand, checks_in, read_checks, work_in
from .claims import admits_failure, read_claims
from .model import CheckRun, Claim, ClaimVerdict
from .outcomes import read_outcome
from .verdicts import judge

CHECKS, CLAIMS, FILES, OPEN = 128, 64, 512, 64
"""Checks, claims, written files and pending calls that are kept."""

_HANDS_OVER = re.compile(r"transfer|hand_?off|hand_?over|escalate|terminate|ask_user", re.IGNORECASE)
"""Tools that end a run other than by a message."""


@lru_cache(512)
def _hands_over(name: str) -> bool:
    return _HANDS_OVER.search(name) is not None


ChangedSince = Callable[[str], Sequence[str] | None]
"""The files that differ now from a tree; None if the tree no longer exists."""


SCRIPT = 4_000
"""Characters kept of the text of a call, which its output may repeat."""
SAYS = 1_000
"""Characters read of what a call prints in the agent's own words."""
_LOG = re.compile(r"\.(?:log|out)$|(?:^|/)(?:output|results?)\.txt$")


class OpenCheck(Struct):
    """A pending call that runs checks."""

    step: int
    call_id: str | None
    checks: list[CheckCommand]
    script: str = ""


class ProofState(Struct):
    """The stored state of a run.

    `written` is the newest step that wrote each file, `submitted` the claims that were contradicted when submitted;
    `spoke` is true once a message of the agent was seen, `last_call` is the tool that it called after its last message.
    """

    open: list[OpenCheck] = field(default_factory=list)
    checks: list[CheckRun] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    written: dict[str, int] = field(default_factory=dict)
    absent: dict[str, bool] = field(default_factory=dict)
    tree: str = ""
    said: int = -1
    spoke: bool = False
    last_call: str = ""
    submitted: dict[str, ClaimVerdict] = field(default_factory=dict)


class ProofTracker:
    """The claims and evidence of one run."""

    def __init__(self) -> None:
        self.state = ProofState()

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The agent's current claims: the newest of each kind and subject."""
        return tuple(self.state.claims)

    @property
    def claimed_at(self) -> int:
        """The step of the newest claim; -1 if there is none."""
        return self.state.claims[-1].step if self.state.claims else -1

    @property
    def checks(self) -> tuple[CheckRun, ...]:
        """The checks that ran, oldest first."""
        return tuple(self.state.checks)

    @property
    def ending(self) -> str:
        """What is odd about a run that ends here: it calls a tool without a final message; otherwise empty."""
        state = self.state
        if not (state.spoke and state.last_call):
            return ""
        return f"no final message: the last thing that the agent did was to call {state.last_call}"

    def observe(self, step: Step, prevented: bool = False, absent: tuple[str, ...] | None = None) -> None:
        """Process one step. `prevented`: the call did not run; `absent`: claimed files that do not exist."""
        if step.origin != "agent":
            return
        if step.kind == "tool_result":
            self._result(step)
            return
        if step.role != "assistant":
            self.state.last_call = ""
            return
        if step.kind == "message":
            self.state.spoke, self.state.last_call = True, ""
        if step.content:
            self.state.said = step.index
            self._say(step.content, step.index, absent)
        if step.tool is not None and not prevented:
            self._call(step, step.tool)

    def mark(self, tree: str, *, after: bool) -> None:
        """Record a checkpoint; one `after` a call contains the state that the checks of that call left."""
        state = self.state
        if after and state.checks and tree != state.tree:
            newest = state.checks[-1].step
            state.checks = [
                replace(check, tree=tree) if check.step == newest and check.tree == state.tree else check
                for check in state.checks
            ]
        state.tree = tree

    def note_check(self, command: str, output: str, exit_status: int | None, tree: str) -> None:
        """Record a command that Interlock ran itself, on exactly this tree."""
        for check in read_checks(command):
            outcome, detail = read_outcome(check, output, exit_status, exit_status != 0)
            self.state.checks.append(
                CheckRun(self._newest, check.kind, check.runner, check.text, outcome, detail, check.targets, tree)
            )
        del self.state.checks[:-CHECKS]

    @property
    def _newest(self) -> int:
        return max((claim.step for claim in self.state.claims), default=0)

    def verdicts(self, changed: ChangedSince | None = None, *, since: int = 0) -> tuple[ClaimVerdict, ...]:
        """The claims since a step with their verdicts on the current tree; without `changed`, judged by steps alone."""
        judged = [
            found for claim in self.state.claims if claim.step >= since and (found := self._judge(claim, changed))
        ]
        kinds = {each.claim.kind for each in judged if each.verdict in ("proven", "contradicted")}
        earlier = [
            each for kind, each in self.state.submitted.items() if kind not in kinds and each.claim.step >= since
        ]
        return (*earlier, *judged)

    def _judge(self, claim: Claim, changed: ChangedSince | None) -> ClaimVerdict | None:
        found = judge(claim, self.state.checks, self._stale(changed), self.state.absent)
        if found is not None and found.verdict == "contradicted" and found.evidence is not None:
            # An agent that continues after a failed check has dropped its earlier claims.
            return None if claim.step < found.evidence.step < self.state.said else found
        return found

    def save(self) -> bytes:
        return msgspec.msgpack.encode(self.state)

    def restore(self, state: bytes) -> None:
        self.state = from_msgpack(state, ProofState)

    def _stale(self, changed: ChangedSince | None) -> Callable[[CheckRun], Sequence[str]]:
        def since(check: CheckRun) -> Sequence[str]:
            if changed is not None and check.tree:
                found = changed(check.tree)
                if found is not None:
                    return found
            return [path for path, step in self.state.written.items() if step > check.step]

        return since

    def _say(self, text: str, step: int, absent: tuple[str, ...] | None = None, *, printed: bool = False) -> None:
        claims = read_claims(text)
        if not claims:
            if self.state.claims and not printed and admits_failure(text):
                # Earlier claims are withdrawn.
                self.state.claims = [each for each in self.state.claims if each.kind in ("file", "commit", "push")]
            return
        for claim in claims:
            if printed and (claim.kind == "done" or " check" in claim.text.lower()):
                continue
            self.state.claims = [
                each
                for each in self.state.claims
                if (each.kind, each.subject, each.printed) != (claim.kind, claim.subject, printed)
            ]
            self.state.claims.append(replace(claim, step=step, printed=printed))
            if claim.kind == "file" and absent is not None:
                self.state.absent[claim.subject] = claim.subject in absent
        del self.state.claims[:-CLAIMS]

    def _call(self, step: Step, tool: Tool) -> None:
        call = read_call(tool.name, tool.arguments)
        answers = call.kind == "answer"
        self.state.last_call = "" if answers or _hands_over(tool.name) else tool.name
        self._write(step, call)
        says = call.says[:SAYS] or _logged(call)
        if says:
            self._say(says, step.index, printed=not answers)
        if answers:
            # An agent may continue after submitting: its claims are judged by what was known then.
            for claim in self.state.claims:
                found = self._judge(claim, None) if claim.step == step.index else None
                if found is not None and found.verdict == "contradicted":
                    self.state.submitted[claim.kind] = found
        checks = [check for check in checks_in(call) or work_in(call) if not self._wrote(check.runner.split()[0])]
        if checks:
            own = "\n".join(value for value in tool.arguments.values() if isinstance(value, str))
            self.state.open.append(OpenCheck(step.index, tool.call_id, checks, own[:SCRIPT]))
            del self.state.open[:-OPEN]

    def _wrote(self, program: str) -> bool:
        """Whether the agent wrote a file with a program's name, so that running it proves nothing."""
        return program not in SCRIPTS and any(path.rpartition("/")[2] == program for path in self.state.written)

    def _write(self, step: Step, call: CallReading) -> None:
        """Note the files that a call changed: those that were seen to change, else those that it names."""
        seen = step.paths
        for path in (*seen.written, *seen.deleted) if seen is not None else call.changed():
            if path:
                self.state.written.pop(path, None)
                self.state.written[path] = step.index
        while len(self.state.written) > FILES:
            del self.state.written[next(iter(self.state.written))]

    def _result(self, step: Step) -> None:
        if not self.state.open:
            return
        call_id = step.tool.call_id if step.tool is not None else None
        at = next(
            (at for at in reversed(range(len(self.state.open))) if self.state.open[at].call_id == call_id),
            None,
        )
        if at is None:
            return
        call = self.state.open.pop(at)
        output = _without_own_words(step.content, call.script) if call.script else step.content
        for check in call.checks:
            outcome, detail = read_outcome(check, output, step.exit_code, step.error)
            self.state.checks.append(
                CheckRun(
                    call.step, check.kind, check.runner, check.text, outcome, detail, check.targets, self.state.tree
                )
            )
        del self.state.checks[:-CHECKS]


def _logged(call: CallReading) -> str:
    """What a call writes into logs and lists of results."""
    return "\n".join(write.text for write in call.writes if _LOG.search(write.path))[:SAYS]


def _without_own_words(output: str, script: str) -> str:
    """An output without lines that are in the script: text that the script itself prints is not a check's output."""
    return "\n".join(line for line in output.splitlines() if len(line) < 3 or line.strip() not in script)
