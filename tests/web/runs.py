"""Runs for the dashboard's tests: written by the real runtime, or hostile in every field that an agent can fill."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator
from pathlib import Path

from interlock.config import Config
from interlock.config.schema import Interventions, Runtime
from interlock.control import State, Waiting
from interlock.core import Capability, Issue, Limits, Paths, RunSpec, RunState, Spend, Step, Tool, Usage
from interlock.core.intervention import Intervention
from interlock.intervene import emergency_stop
from interlock.journal import JournalEntry, RunFolder, Store
from interlock.journal_records import InterventionRecord, StepRecord
from interlock.runtime import Run, Supervisor
from interlock.runtime.approvals import Approvals
from interlock.runtime.assembly import DirectAdapter
from interlock.runtime.incidents import save_stop

EVIL = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\'"><svg onload=window.pwned=1>'
"""What runs if it is ever taken for HTML."""

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


MESSAGE = {"schema": 0, "request_id": EVIL, "target": {"run_id": EVIL}, "timestamp": "2026-01-01T00:00:00Z"}


def write_run(store: Store, run_id: str, steps: int = 5, *, end: bool = True, **spec: object) -> RunFolder:
    """A plain run of some steps, as its journal has it."""
    with Run.create(RunSpec(run_id=run_id, name=run_id, adapter="direct", **spec), store) as run:  # type: ignore[arg-type]
        for index in range(steps):
            call = Step(
                run_id=run_id, index=index, role="assistant", kind="tool_call", usage=Usage(100, 10, 0.01),
                tool=Tool("bash", {"command": f"echo {index}"}),
            )  # fmt: skip
            run.record(StepRecord(call))
        run.update(steps=steps, iter=steps)
        if end:
            run.end("done", "COMPLETE")
        run.journal.flush()
    return RunFolder(store.root / run_id)


def write_hostile_run(store: Store, workspace: Path) -> tuple[RunFolder, str]:
    """A run that is hostile in every field; gives its folder and its incident's id."""
    spec = RunSpec(
        run_id="hostile", name=EVIL, task=EVIL, model=EVIL, workspace=str(workspace), argv=("agent", EVIL), cwd=EVIL,
        adapter=EVIL, session_id=EVIL, continues=EVIL,
    )  # fmt: skip
    step = Step(
        run_id="hostile", index=1, role="assistant", kind="tool_call", content=EVIL, agent=EVIL, model=EVIL,
        tool=Tool(EVIL, {EVIL: EVIL, "command": EVIL}), paths=Paths(written=(EVIL,)),
    )  # fmt: skip
    issue = Issue(
        id=EVIL,
        type=EVIL,
        step=1,
        description=EVIL,
        severity="critical",
        details={"path": EVIL, EVIL: EVIL},
        agent=EVIL,
    )
    made = Intervention(
        id=EVIL, type=EVIL, level=2, issue_id=EVIL, issue_type=EVIL, step=1, time=1.0, reason=EVIL, details={EVIL: EVIL}
    )
    with Run.create(spec, store) as run:
        run.append_entries(
            [
                JournalEntry("step", StepRecord(step)),
                JournalEntry("step", {"step": {"index": 2, "role": EVIL, "kind": EVIL, "content": EVIL}}),
                JournalEntry("issue", issue),
                JournalEntry("intervention", InterventionRecord(intervention=made, score=1.0, combined=1.0)),
                JournalEntry("checkpoint", {"id": EVIL, "time": 1.0, "step": 1, "label": EVIL, "cause": EVIL}),
                JournalEntry("request", {"request_id": EVIL, "command": EVIL, "actor": EVIL, "reason": EVIL}),
                JournalEntry("request", {**MESSAGE, "type": "REQUEST", "command": "pause", "payload": {}, "actor": EVIL, "reason": EVIL}),
                JournalEntry("result", {**MESSAGE, "type": "RESULT", "command": EVIL, "payload": {"status": "failure", "message": EVIL}}),
                JournalEntry("limit", {"what": EVIL, "limit": EVIL}),
                JournalEntry(EVIL, {EVIL: EVIL}),
                JournalEntry("gui_event", {"timestamp": 1.0, "status": "dialog", "description": EVIL, "screenshot_path": EVIL}),
                JournalEntry("state", State(
                    schema=1, run_id="hostile", updated_at=EVIL, stack=(), status="paused", waiting=Waiting("approval", 1, EVIL)
                )),
            ],
            durable=True,
        )  # fmt: skip
        run.update(last_issue=EVIL, waiting=EVIL, issues=1, interventions=1, steps=2)
        run.journal.flush()
    folder = RunFolder(store.root / "hostile")
    stopped = emergency_stop(issue, RunState(run_id="hostile", issues=(issue,)), Interventions(), 1.0)
    save_stop(folder.incidents, stopped)
    return folder, stopped.incident_id


def stop_run(store: Store, run_id: str, argv: tuple[str, ...], workspace: Path) -> str:
    """A run that an emergency stop ended; gives the incident's id."""
    found = Issue(id="loop:0:3", type="loop", step=3, description="the same again and again", severity="critical")
    spec = RunSpec(run_id=run_id, name=run_id, task="stay calm", argv=argv, adapter="process", cwd=str(workspace))
    with Run.create(spec, store) as run:
        run.end("aborted", "EMERGENCY_STOP")
    state = RunState(run_id=run_id, limits=Limits(max_tokens=1000), spend=Spend(input_tokens=700, output_tokens=20))
    stopped = emergency_stop(found, state, Interventions(), run.clock.time())
    save_stop(RunFolder(store.root / run_id).incidents, stopped)
    return stopped.incident_id


class Switching(DirectAdapter):
    """An agent whose model can be switched."""

    capabilities: frozenset[Capability] = DirectAdapter.capabilities | {"switch_model"}


@contextlib.contextmanager
def supervised(
    store: Store, name: str, workspace: Path | None = None, *, approvals: bool = False, adapter: str = ""
) -> Iterator[Supervisor]:
    """A live run whose owner is this process."""
    spec = RunSpec(
        run_id=name, name=name, task=f"the task of {name}", model="claude-sonnet-4-5",
        adapter=adapter, workspace=str(workspace) if workspace else None,
    )  # fmt: skip
    made = Supervisor.open(
        spec=spec,
        config=Config(limits=Limits(max_cost_usd=2.0), runtime=Runtime(step_timeout_ms=30_000)),
        store=store,
        approvals=Approvals(approvals),
        adapter=Switching(),
    )
    try:
        yield made
    finally:
        made.close()


def work(supervisor: Supervisor, number: int) -> None:
    """One call of a tool, and what came of it."""
    supervisor.before(supervisor.call("bash", {"command": f"make part-{number}"}))
    supervisor.after(supervisor.result(f"part {number} is built", exit_code=0))
