"""ProofTracker: tracks the claims and checks of one run, and judges claims by checks. Pure; can be stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import zip_longest

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from ..calls import CallReading, read_call
from ..core import Step, Tool, from_msgpack
from .checks import LOADED, SCRIPTS, SETTINGS, CheckCommand, checks_in, read_checks
from .claims import admits_failure, read_claims
from .honesty import is_test
from .model import CheckRun, Claim, ClaimVerdict, Source
from .outcomes import failing_tests, read_outcome
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
"""Characters read of what a call hands in as the agent's answer."""
TEMPORARY = ("/tmp/", "/var/tmp/")


class OpenCheck(Struct):
    """A pending call that runs checks."""

    step: int
    call_id: str | None
    checks: list[CheckCommand]
    script: str = ""
    own: list[str] = field(default_factory=list)


class ProofState(Struct):
    """The stored state of a run.

    `written` is the newest step that wrote each file; `others`: tests are known that the agent did not write. `known`
    are the tests that failed before it wrote anything. `spoke` is true once a message of the agent was seen,
    `last_call` is the tool that it called after its last message.
    """

    open: list[OpenCheck] = field(default_factory=list)
    checks: list[CheckRun] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    written: dict[str, int] = field(default_factory=dict)
    absent: dict[str, bool] = field(default_factory=dict)
    known: list[str] = field(default_factory=list)
    others: bool = False
    tree: str = ""
    said: int = -1
    spoke: bool = False
    last_call: str = ""


class ProofTracker:
    """The claims and evidence of one run. `workspace` is where its checks should run, if that is known."""

    def __init__(self, workspace: str = "") -> None:
        self._workspace = workspace
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

    def note_check(self, command: str, output: str, exit_status: int | None, tree: str, own: str = "") -> None:
        """Record a command that Interlock ran itself, on exactly this tree; `own`: what the run changed about it."""
        for check in read_checks(command):
            self._add(self._newest, check, output, exit_status, exit_status != 0, tree, own, ours=True)

    @property
    def _newest(self) -> int:
        return max((claim.step for claim in self.state.claims), default=0)

    def verdicts(
        self, changed: ChangedSince | None = None, *, since: int = 0, source: Source = "", by: str = ""
    ) -> tuple[ClaimVerdict, ...]:
        """The claims since a step with their verdicts on the current tree; without `changed`, judged by steps alone.

        `source` is how the results of the agent's own calls arrive, `by` who reports them.
        """
        judged = (self._judge(claim, changed) for claim in self.state.claims if claim.step >= since)
        return tuple(_seen(found, source, by) for found in judged if found is not None)

    def _judge(self, claim: Claim, changed: ChangedSince | None) -> ClaimVerdict | None:
        found = judge(claim, self.state.checks, self._stale(changed), self.state.absent, self.state.known)
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

    def _say(self, text: str, step: int, absent: tuple[str, ...] | None = None) -> None:
        claims = read_claims(text)
        if not claims:
            if self.state.claims and admits_failure(text):
                # Earlier claims are withdrawn.
                self.state.claims = [each for each in self.state.claims if each.kind in ("file", "commit", "push")]
            return
        for claim in claims:
            same = (claim.kind, claim.subject)
            self.state.claims = [each for each in self.state.claims if (each.kind, each.subject) != same]
            self.state.claims.append(replace(claim, step=step))
            if claim.kind == "file" and absent is not None:
                self.state.absent[claim.subject] = claim.subject in absent
        del self.state.claims[:-CLAIMS]

    def _call(self, step: Step, tool: Tool) -> None:
        call = read_call(tool.name, tool.arguments)
        answers = call.kind == "answer"
        self.state.last_call = "" if answers or _hands_over(tool.name) else tool.name
        # What a call writes after its check is noted with the check: before it, a change is what the check is about.
        self._write(step, call)
        if answers and call.says:
            self._say(call.says[:SAYS], step.index)
        checks = list(checks_in(call))
        if checks:
            own = "\n".join(value for value in tool.arguments.values() if isinstance(value, str))
            self.state.open.append(
                OpenCheck(step.index, tool.call_id, checks, own[:SCRIPT], [self._own(check) for check in checks])
            )
            del self.state.open[:-OPEN]

    def _own(self, check: CheckCommand) -> str:
        """What of a check the agent wrote or changed itself; empty if nothing."""
        program = check.runner.split()[0]
        wrote = [path for path in self.state.written if path.rpartition("/")[2] == program]
        if program not in SCRIPTS and wrote:
            return f"wrote {wrote[0]}"
        if check.steered:
            return f"set {check.steered} for it"
        if check.kind != "tests":
            return ""
        if check.folder and not _is_inside(check.folder, self._workspace):
            return f"ran it in {check.folder}"
        settings = {*SETTINGS.get(program, ()), *LOADED}
        for path in self.state.written:
            name = path.rpartition("/")[2]
            if name in settings or any(_same(path, used) for used in check.uses):
                return f"wrote {path}"
        tests = [path for path in self.state.written if is_test(path)]
        if tests and not self.state.others and (not check.limited or any(_below(tests[0], at) for at in check.targets)):
            return f"wrote {tests[0]}, and no other tests are known"
        return ""

    def _write(self, step: Step, call: CallReading) -> None:
        """Note the files that a call changed: those that were seen to change, else those that it names."""
        seen = step.paths
        changed = (*seen.written, *seen.deleted) if seen is not None else call.changed()
        for path in changed:
            if path:
                self.state.written.pop(path, None)
                self.state.written[path] = step.index
        while len(self.state.written) > FILES:
            del self.state.written[next(iter(self.state.written))]
        if not self.state.others:
            self.note_tests(each.target for each in call.effects if each.file and each.verb in ("read", "execute"))

    def note_tests(self, paths: Iterable[str]) -> None:
        """Files that are known: tests among them that the agent did not write are others'."""
        written = self.state.written
        self.state.others = self.state.others or any(is_test(path) and path not in written for path in paths)

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
        for check, own in zip_longest(call.checks, call.own, fillvalue=""):
            assert isinstance(check, CheckCommand)
            self._add(call.step, check, output, step.exit_code, step.error, self.state.tree, own)

    def _add(
        self, step: int, check: CheckCommand, output: str, exit_code: int | None, error: bool | None, tree: str,
        own: str, *, ours: bool = False,
    ) -> None:  # fmt: skip
        outcome, detail = read_outcome(check, output, exit_code, error)
        failing = failing_tests(output) if outcome == "failed" and check.kind == "tests" else ()
        if failing and not self.state.written:
            self.state.known = [*self.state.known, *failing][-CHECKS:]
        self.state.checks.append(
            CheckRun(
                step, check.kind, check.runner, check.text, outcome, detail, check.targets, tree,
                limited=check.limited, selects=check.selects, own=own, changed=check.changed,
                failing=failing, ours=ours,
            )
        )  # fmt: skip
        del self.state.checks[:-CHECKS]


def _seen(found: ClaimVerdict, source: Source, by: str) -> ClaimVerdict:
    """A verdict with who saw the result that it stands on."""
    if found.evidence is None or found.source:
        return found
    if found.evidence.ours:
        return replace(found, source="own_run")
    why = f"{found.why}, as reported by {by}" if source == "reported" and by else found.why
    return replace(found, source=source, why=why)


def _same(path: str, named: str) -> bool:
    """Whether two paths may name the same file; one of them may be relative."""
    a, b = path.removeprefix("./"), named.removeprefix("./")
    return a == b or a.endswith(f"/{b}") or b.endswith(f"/{a}")


def _below(path: str, folder: str) -> bool:
    return f"/{path}/".find(f"/{folder.strip('./')}/") >= 0


def _is_inside(folder: str, workspace: str) -> bool:
    """Whether a folder that a call changed to belongs to the workspace, as far as that is known."""
    if not folder.startswith("/"):
        return not folder.startswith("..")
    if workspace:
        return f"{folder}/".startswith(f"{workspace.rstrip('/')}/")
    return not f"{folder}/".startswith(TEMPORARY)


def _without_own_words(output: str, script: str) -> str:
    """An output without lines that are in the script: text that the script itself prints is not a check's output."""
    return "\n".join(line for line in output.splitlines() if len(line) < 3 or line.strip() not in script)
