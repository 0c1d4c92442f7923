"""A stage for the dashboard's pictures: runs made by the real supervisor, some of them still alive in this process."""

from __future__ import annotations

import os
import random
import time
import uuid
from contextlib import ExitStack
from pathlib import Path

from tests.failing_agent import SCENES, TASK, make_workshop

from interlock.config import Config
from interlock.config.schema import Interventions
from interlock.control import new_request
from interlock.core import Context, Limits, ManualClock, RunSpec, Usage
from interlock.demo.player import Act, Workshop
from interlock.journal import Store
from interlock.link import ask_owner
from interlock.runtime import Supervisor
from interlock.runtime.approvals import Approvals

JOBS = (
    ("nightly-upgrade", "Upgrade the dependencies and keep the tests green.", "claude-sonnet-4-5", 46, 2.31, 5.0),
    ("docs-links", "Find and repair every dead link in docs/.", "claude-haiku-4-5", 31, 0.22, 1.0),
    ("flaky-login", "Make test_login_redirect stable; it fails one time in ten.", "gpt-5", 58, 3.84, 4.0),
    ("csv-import", "Read semicolon-separated files in the importer.", "claude-sonnet-4-5", 24, 0.91, None),
    ("type-hints", "Add type hints to src/billing and run mypy.", "gemini-2.5-pro", 37, 1.12, 5.0),
    ("release-notes", "Write release notes from the merged changes.", "claude-haiku-4-5", 12, 0.07, None),
)


class StageOfRuns:
    """A store with runs of every kind; `close` ends those that live."""

    def __init__(self, root: Path) -> None:
        self.root = root
        os.environ["XDG_STATE_HOME"] = str(root / "state")
        os.environ["XDG_RUNTIME_DIR"] = str(_made(root / "run", 0o700))
        self.store = Store(root / "runs")
        self._open = ExitStack()
        self._chance = random.Random(7)
        self._workshops: dict[str, Workshop] = {}

    def build(self) -> None:
        """All runs, oldest first."""
        now = time.time()
        for number, job in enumerate(JOBS):
            self._ordinary(*job, started=now - 9_000 + number * 1_100, end=number != 0)
        self.incident = self._play("parser-fix", now - 4_200, scenes=None)
        self.climbing = self._play("parser-retry", now - 2_400, scenes=36)
        self.waiting = self._approval("deploy-config", now - 300)
        self.paused = self._ordinary(
            "schema-migration", "Split the users table and migrate the data.", "claude-opus-4-1", 22, 1.75, 6.0,
            started=now - 1_500, end=False,
        )  # fmt: skip
        self.order(self.paused, "pause", "lunch; look at the plan first")

    def order(self, supervisor: Supervisor, command: str, reason: str, **payload: object) -> None:
        """Send a control command as a person would."""
        folder = supervisor.run.folder
        assert folder is not None
        request = new_request(str(uuid.uuid4()), command, folder.run_id, payload, actor="ada", reason=reason)
        ask_owner(folder, request, timeout=10)

    def close(self) -> None:
        self._open.close()

    def _supervise(
        self, name: str, task: str, clock: ManualClock, model: str, limits: Limits, **more: object
    ) -> Supervisor:
        workshop = self._workshops[name] = make_workshop(_made(self.root / "work" / name))
        spec = RunSpec(
            run_id=_run_id(clock.time(), name),
            name=name, task=task, workspace=str(workshop.root), model=model, adapter="claude-code",
            argv=("claude", "-p", task), cwd=str(workshop.root),
        )  # fmt: skip
        config = Config(limits=limits, interventions=Interventions())
        context = Context(
            original_prompt=task, primary_goal="tests/test_parser.py passes", expected_paths=("src", "tests"),
            constraints=("Do not touch data/", "Work only in src and tests"), workspace=str(workshop.root),
        )  # fmt: skip
        made = Supervisor.open(
            spec=spec, config=config, context=context, store=Store(self.store.root, clock), clock=clock, **more
        )  # type: ignore[arg-type]
        self._open.callback(made.close)
        return made

    def _play(self, name: str, started: float, scenes: int | None) -> Supervisor:
        """The demonstration's agent, to its end or for so many calls."""
        clock = ManualClock(started)
        limits = Limits(max_cost_usd=4.0, max_steps=200)
        supervisor = self._supervise(name, TASK, clock, "claude-sonnet-4-5", limits)
        workshop = self._workshops[name]
        for act in [act for scene in SCENES for act in scene.acts][:scenes]:
            self._act(supervisor, workshop, clock, act)
            if supervisor.run.ended:
                break
        supervisor.run.journal.flush()
        if scenes is None:
            supervisor.close()
        return supervisor

    def _act(self, supervisor: Supervisor, workshop: Workshop, clock: ManualClock, act: Act) -> None:
        """One thing that the demonstration's agent says and does."""
        usage = Usage(act.tokens * 9, act.tokens, act.tokens * 0.00006)
        if act.says:
            supervisor.after(supervisor.message(act.says, usage=usage))
        if act.command or act.arguments:
            call = supervisor.call(act.tool, act.arguments or {"command": act.command})
            decision = supervisor.before(_with_usage(call, usage))
            if decision.action == "hold":
                supervisor.resume()
                decision = supervisor.before(_with_usage(call, usage))
            clock.advance(decision.delay_s)
            if decision.action not in ("deny", "stop"):
                output, failed = act.output, act.failed
                if output is None:
                    done = workshop.run(act.command)
                    output, failed = done.text, done.failed
                clock.advance(2.0)
                supervisor.after(supervisor.result(output, error=failed, exit_code=int(failed)))
        clock.advance(act.after)

    def _ordinary(
        self,
        name: str,
        task: str,
        model: str,
        steps: int,
        cost: float,
        budget: float | None,
        *,
        started: float,
        end: bool,
    ) -> Supervisor:
        """An agent that mostly works."""
        clock = ManualClock(started)
        supervisor = self._supervise(name, task, clock, model, Limits(max_cost_usd=budget, max_steps=120))
        commands = (
            "cat src/parser.py",
            "ls src",
            "grep -rn parse src",
            "python -m pytest -q",
            "sed -n 1,40p src/report.py",
        )
        for number in range(steps):
            share = cost / steps * self._chance.uniform(0.6, 1.4)
            usage = Usage(self._chance.randint(2_000, 9_000), self._chance.randint(200, 900), share)
            command = f"{commands[number % len(commands)]} # {number}"
            if number % 6 == 4:
                command = f"echo 'change {number}' >> src/parser.py"
                with (Path(supervisor.run.spec.workspace or "") / "src" / "parser.py").open("a") as file:
                    file.write(f"# change {number}\n")
            call = supervisor.call("bash", {"command": command})
            supervisor.before(_with_usage(call, usage))
            failed = self._chance.random() < 0.12
            supervisor.after(
                supervisor.result(f"{'1 failed' if failed else 'ok'}, {number} lines", exit_code=int(failed))
            )
            clock.advance(self._chance.uniform(4, 20))
        supervisor.run.journal.flush()
        if end:
            supervisor.close()
        return supervisor

    def _approval(self, name: str, started: float) -> Supervisor:
        """A step that waits for a person."""
        clock = ManualClock(started)
        approvals = Approvals(True)
        supervisor = self._supervise(
            name, "Roll the new proxy configuration out to staging.", clock, "claude-opus-4-1",
            Limits(max_cost_usd=3.0),
            approvals=approvals,
        )  # fmt: skip
        for number in range(6):
            call = supervisor.call("read", {"file_path": f"deploy/{number}.yaml"})
            supervisor.before(_with_usage(call, Usage(4_000, 300, 0.05)))
            supervisor.after(supervisor.result("proxy: v2"))
            clock.advance(9)
        supervisor.before(supervisor.call("bash", {"command": "kubectl --context staging apply -f deploy/proxy.yaml"}))
        supervisor.run.journal.flush()
        return supervisor


def _with_usage(step, usage):  # type: ignore[no-untyped-def]
    from msgspec.structs import replace

    return replace(step, usage=usage)


def _run_id(when: float, name: str) -> str:
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(when)) + f"-{sum(map(ord, name)) % 0xFFFF:04x}"


def _made(path: Path, mode: int = 0o755) -> Path:
    path.mkdir(parents=True, exist_ok=True, mode=mode)
    return path
