"""A run that hangs is answered in order, each answer once: recorded, kept by a successor, begun anew after a step."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.adapters.command.hang_reactions import HangReactions
from interlock.adapters.command.usage_limit_parking import UsageLimitParking
from interlock.adapters.run_process_tree import RunProcessTree
from interlock.config.schema import Resume
from interlock.core import Liveness, RunSpec, WedgedKind
from interlock.journal import RunFolder, Store, new_run_id
from interlock.journal_records import UnwedgeRecord, read_body
from interlock.runtime import Supervisor
from interlock.runtime.liveness import Probes

SAID, HINT, TOOL, CUT = (
    "said",
    "the agent was given a hint",
    "the tool was ended",
    "the connection to the model was closed",
)
RESTART, PAUSE = "the client was restarted in its session", "paused for a person"

ORDER: dict[WedgedKind, list[str]] = {
    "half-open stream": [SAID, CUT, RESTART],
    "only pings": [SAID, CUT, RESTART],
    "client spins": [SAID, RESTART],
    "client deadlocked": [SAID, RESTART],
    "client prompt": [SAID, RESTART],
    "empty answers": [SAID, HINT, RESTART],
    "tool never ends": [SAID, HINT, TOOL, RESTART],
    "tool reads the terminal": [SAID, HINT, TOOL, RESTART],
    "tool waits for input": [SAID, HINT, TOOL, RESTART],
    "pipe held by a child": [SAID, HINT, TOOL, RESTART],
    "network gone": [SAID, PAUSE],
    "disk full": [SAID, HINT, PAUSE],
}


class Hanging:
    """A run with a client that has a session."""

    def __init__(self, root: Path, *, continues: bool = True) -> None:
        self.spec = RunSpec(run_id=new_run_id(), adapter="direct")
        self.supervisor = Supervisor.open(spec=self.spec, store=Store(root))
        self.relaunched: list[int] = []
        self.lot = UsageLimitParking(
            self.supervisor, RunFolder(root / self.spec.run_id), Resume(),
            quota="q", last_words=lambda: "", session=lambda: "s1", continues=continues,
        )  # fmt: skip
        self.lot.relaunch = lambda parked: self.relaunched.append(parked.number)
        self.answers = self.successor()

    def successor(self) -> HangReactions:
        return HangReactions(self.supervisor, RunProcessTree(), self.lot, None)

    def answer(self, kind: WedgedKind, steps: int = 3) -> None:
        self.answers.react(
            Liveness("wedged", 0.0, "nothing moves", wedged=kind), kind, Probes(now=0, wall_time=0, steps=steps)
        )

    def given(self) -> list[str]:
        with self.supervisor.run.journal.reader() as journal:
            bodies = [read_body(record) for record in journal.read(kinds=frozenset(("unwedge",)))]
        return [body.answer for body in bodies if isinstance(body, UnwedgeRecord)]


@pytest.mark.parametrize("kind", ORDER)
def test_each_answer_is_given_once_in_order_and_the_last_is_a_restart_or_a_pause(tmp_path, kind):
    hanging = Hanging(tmp_path)
    for _ in ORDER[kind]:
        # A successor goes on where its predecessor was.
        hanging.answers = hanging.successor()
        hanging.answer(kind)
    assert hanging.given() == ORDER[kind]
    assert hanging.supervisor.run.status == "paused"
    if ORDER[kind][-1] == RESTART:
        assert hanging.lot.exited(-9) is True
        hanging.lot.resume_if_due()
        hanging.lot.resume_if_due()
        assert hanging.relaunched == [1] and hanging.supervisor.run.status == "running"
        hanging.lot.started()
        hanging.answer(kind)
        assert hanging.given() == [*ORDER[kind], PAUSE] and hanging.supervisor.run.status == "paused"
    hanging.supervisor.close()


def test_a_hang_after_a_step_is_another_one_and_a_command_without_a_session_is_never_restarted(tmp_path):
    hanging = Hanging(tmp_path, continues=False)
    hanging.answer("half-open stream", steps=3)
    hanging.answer("half-open stream", steps=3)
    for _ in range(4):
        hanging.answer("half-open stream", steps=5)
    assert hanging.given() == [SAID, CUT, SAID, CUT, PAUSE]
    hanging.supervisor.close()
