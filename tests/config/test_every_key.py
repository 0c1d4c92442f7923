"""Every key of the configuration has an effect: it is observed here, or by the test that is named.

A named test must fail where its key is forced to the default: the torture version runs each both ways, in processes
of their own (tests/config/forced).
"""

from __future__ import annotations

import ast
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from interlock.adapters.command.containment_choice import (
    SandboxPaths,
    decide_containment,
    has_own_temporary,
    resolve,
    sandbox_words,
    unlimited_because,
)
from interlock.adapters.command.liveness_monitor import LivenessMonitor
from interlock.checkpoint.sweep import Sweep
from interlock.config import Config, Models
from interlock.config.key_types import keys_of, sections
from interlock.config.schema import Budget, BudgetMatch, ModelInfo
from interlock.contract import agree
from interlock.control import new_request
from interlock.control.messages import encode
from interlock.core import (
    BadInput,
    CheckpointInfo,
    Context,
    Contract,
    Goal,
    Issue,
    RunSpec,
    RunState,
    Spend,
    Step,
    Tool,
    Usage,
    from_plain,
)
from interlock.gui import LocalAnalyzer
from interlock.gui.analyzer.auto import create_analyzer
from interlock.gui.assembly import Screen, assemble
from interlock.gui.screenshot.album import Album
from interlock.intervene import context_text
from interlock.intervene.checkpoint_rollback import checkpoint_rollback
from interlock.journal import RunFolder, Store
from interlock.journal.budget_ledger import Amount, period_of
from interlock.link.hub_signing import Signing
from interlock.review import Reviewer
from interlock.runtime import Supervisor
from interlock.runtime.assembly import open_notifier
from interlock.runtime.budgets import BudgetReached, fits
from interlock.runtime.decision_pipeline import DecisionPipeline
from interlock.runtime.judge_question import ask_model
from interlock.runtime.liveness import LivenessMemory, Probes
from interlock.runtime.model_judge import Judge
from interlock.runtime.resume_after_limit import ParkClock, park
from interlock.runtime.run_control import RunControl
from interlock.runtime.usage_tracker import Prices
from tests.decide.decide_builders import Driver, issue

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
NAMED: dict[str, str] = dict(
    line.split(" | ") for line in (HERE / "every_key.txt").read_text().splitlines() if not line.startswith("#")
)
"""Keys and the test that observes each."""

TASK = "Fix src/a.py. Do not change tests/test_a.py."
CALLS = ("rm x", "rm /etc/hosts", "curl http://a.example", "touch src/b", "sed -i s/a/b/ /opt/c", "cat a", "frobnicate")


def every_key() -> Iterator[str]:
    for path, section in sections().items():
        for key in keys_of(section).values():
            if not key.section and key.name not in ("models", "budgets"):
                yield f"{path}.{key.name}"
    for path, cls in (("models", ModelInfo), ("budgets", Budget), ("budgets.match", BudgetMatch)):
        for name in cls.__struct_fields__:
            if name != "match" and (name != "name" or path == "budgets.match"):
                yield f"{path}.{name}"


def with_key(key: str, value: object) -> Config:
    """A configuration with one key set."""
    first, *path = key.split(".")
    for name in reversed(path):
        value = {name: value}
    if first in ("models", "budgets"):
        value = [{"name": "x", **cast("dict[str, object]", value)}]
    return from_plain({first: value}, Config)


def pipeline(config: Config) -> DecisionPipeline:
    return DecisionPipeline("r", config, Context(original_prompt=TASK))


def verdicts(config: Config) -> list[str]:
    """Of calls inside and outside the task's paths, before and after failures."""
    context = Context(original_prompt=TASK, primary_goal="Fix src/a.py", expected_paths=("src/**",), workspace="/w")
    reviewer, found = Reviewer(config.review, context), []
    for number, command in enumerate(CALLS * 4):
        call = Step(
            run_id="r", index=2 * number, role="assistant", kind="tool_call",
            tool=Tool("bash", {"command": command}, str(number)),
        )  # fmt: skip
        found.append(reviewer.review(call).verdict)
        reviewer.observe(replace(call, index=2 * number + 1, role="tool", kind="tool_result", error=True))
    return found


def rolled_back(config: Config) -> object:
    saved = CheckpointInfo(id="c", time=0.0, step=0)
    state = RunState(run_id="r", rollbacks=2, checkpoints=(saved,))
    found = Issue(id="i", type="loop", step=3, description="again")
    return type(checkpoint_rollback(found, state, config.interventions.checkpoint_rollback, 1.0))


def judged_after_three_steps(config: Config) -> int:
    driver = Driver(replace(config.interventions, strategy=replace(config.interventions.strategy, type="severity")))
    driver.ruling(issue())
    return len(driver.work(3))


def agreed(config: Config) -> Context:
    return agree(Context(original_prompt=TASK), config.contract)


def supervised(tmp: Path, config: Config) -> Supervisor:
    return Supervisor.open(config=config, store=Store(tmp / "runs"), workspace=None)


def approval_time(config: Config, tmp: Path) -> object:
    with supervised(tmp, config) as supervisor:
        return supervisor.approvals.hours


def step_time(config: Config, tmp: Path) -> object:
    with supervised(tmp, config) as supervisor:
        return supervisor._guard.timeout


def templates(config: Config, tmp: Path) -> object:
    try:
        with supervised(tmp, config):
            return "opened"
    except BadInput as error:
        return str(error)


def programs(config: Config, _: Path) -> object:
    try:
        return type(Reviewer(config.review, Context())).__name__
    except BadInput as error:
        return str(error)


def words_of_sandbox(config: Config, tmp: Path) -> object:
    """The arguments of the sandbox of a fenced run."""
    for name in ("store", "run", "w", "t"):
        (tmp / name).mkdir(exist_ok=True)
    paths = SandboxPaths(
        store=tmp / "store", run=tmp / "run", sockets=(), wiring=tmp / "wiring", files=(), workspaces=(tmp / "w",),
        temporary=tmp / "t", fenced=True,
    )  # fmt: skip
    config = resolve(config, "fence", attended=False)
    words, fds, _ = sandbox_words(paths, config)
    for fd in fds:
        os.close(fd)
    return words


def questions(config: Config) -> bool:
    """Whether ten steps are enough for a question."""
    judge = Judge(config.detect.judging, Prices(()), lambda *_: ("", Usage()))
    for number in range(10):
        judge.note(Step(run_id="r", index=number, role="assistant", content="x"), TASK)
    return judge._thread is not None


def key_sent(config: Config) -> str:
    """The key that a model's server receives."""
    got: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.headers["x-api-key"])
            self.send_error(500)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        with contextlib.suppress(OSError):
            ask_model(replace(config.detect.judging, url=f"http://127.0.0.1:{server.server_port}"), "s", "t")
        server.shutdown()
    return got[0]


def ring(config: Config, tmp: Path) -> object:
    signing = Signing.from_settings(config.hub)
    return (str(signing._trusted), signing.ring.own and signing.ring.own.public)


def model(config: Config) -> object:
    models = Models.from_config(config)
    return models.strength("x"), models.resolve("other"), models.compare("x", "claude-haiku-4-5")


def budget_fits(config: Config) -> bool:
    spec = RunSpec(run_id="r", name="n", workspace="/w", labels=("l",))
    return all(fits(budget, spec, user="u", host="h") for budget in config.budgets)


def models_asked(config: Config) -> object:
    """The analyzer of a session, and its models in order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-0123456789")
        analyzer = create_analyzer(config.gui, LocalAnalyzer(editor=False))[0]
    models = getattr(analyzer, "_models", [analyzer])
    return [(type(each).__name__, getattr(each, "_threshold", None), getattr(each, "model", None)) for each in models]


def pressed(config: Config) -> str:
    """What comes of an order to press a dangerous button, on a screen without buttons."""
    screen, gui = Screen(display=":9"), replace(config.gui, screenshot_backend="scrot")
    watch = assemble(screen, gui, expect_editor=False).orchestrator
    (done,) = watch.recovery_executor.execute(["click_button Delete"])
    return str(done.error)


def album(config: Config, tmp: Path) -> int:
    """Pictures that are left of one that is two days old."""
    folder = RunFolder(tmp / "runs" / "r")
    folder.pictures.mkdir(parents=True, exist_ok=True)
    picture = folder.pictures / "screen-20200101T000000000000Z-1-ab.jpg"
    picture.write_bytes(b"x")
    os.utime(picture, (time.time() - 2 * 86_400,) * 2)
    Album(folder.pictures, config.gui.screenshot_retention_days).prune()
    return len(list(folder.pictures.iterdir()))


def parked(config: Config) -> object:
    """A run that has spent 5 dollars reaches its second usage limit at 12:00 UTC."""
    return park(
        2, "limit", "s", resets_in=3600.0, passes=True, quota="q", rules=config.unattended.resume,
        now=ParkClock(wall=1_700_000_000.0, since_boot=0.0, boot="b"), started=1_700_000_000.0 - 60, cost_usd=5.0, jitter=1.0,
    )  # fmt: skip


def priced(config: Config) -> object:
    (one,) = config.models
    both = replace(
        one,
        input_usd_per_million=one.input_usd_per_million or 1.0,
        output_usd_per_million=one.output_usd_per_million or 1.0,
    )
    return Prices([both]).cost("x", Usage(input_tokens=1_000_000, output_tokens=1_000_000))


def reacted(config: Config) -> float | None:
    """After how many minutes of a silent tool the run is acted on, with 20 minutes at most."""
    monitor, done = LivenessMonitor.__new__(LivenessMonitor), []
    nothing = lambda *_, **__: None  # noqa: E731
    run = SimpleNamespace(ended=False, summary=SimpleNamespace(liveness=None), append=nothing, update=nothing,
                          on_waiting=nothing)  # fmt: skip
    parts: dict[str, object] = {
        "supervisor": SimpleNamespace(config=config, run=run, next_index=0), "rules": config.unattended,
        "memory": LivenessMemory(), "reader": SimpleNamespace(unsure=False), "is_first": False, "react_at": 0.0,
        "refresh": 0.0, "reactions": SimpleNamespace(react=lambda *_: done.append(minute)),
    }  # fmt: skip
    for name, part in parts.items():
        setattr(monitor, f"_{name}", part)
    for minute in range(20):
        looks = Probes(
            now=minute * 60.0, wall_time=1e9 + minute * 60, visible=True, steps=3, cpu_s=1.0, client_cpu_s=1.0,
            io_bytes=10, output_bytes=10, tool="Bash", tool_since=0.0,
        )  # fmt: skip
        monitor._probe = lambda now, looks=looks: looks  # type: ignore[method-assign, misc]
        monitor._next = 0.0
        monitor.check()
    return done[0] if done else None


def returns(config: Config, tmp: Path) -> list[str]:
    """The answers to an agent that says four times that it is done, and is not."""
    work = tmp / "work"
    work.mkdir(exist_ok=True)
    with Supervisor.open(
        config=config, store=Store(tmp / "runs"), workspace=work, contract=Contract(done_when=("false",))
    ) as supervisor:
        return [supervisor.stop_gate.at_turn_end().action for _ in range(4)]


def alerts(config: Config) -> int:
    """Alerts that go out of two equal ones, half a minute apart."""
    notifications = replace(config.notifications, channels={"ops": "json://127.0.0.1:9"})
    notifier = open_notifier(replace(config, notifications=notifications))
    assert notifier is not None
    return int(notifier._repeat_s)


def request_of_any_id(config: Config, tmp: Path) -> str:
    with supervised(tmp, config) as supervisor:
        control = supervisor.run.steering
        assert isinstance(control, RunControl)
        control.endpoint.receive(encode(new_request("not a uuid", "pause", supervisor.run.spec.run_id)), None)
        return supervisor.run.status


Observe = Callable[[Config], object]
OBSERVED: dict[str, tuple[object, Observe]] = {
    "interventions.resource_throttling.metrics_window_seconds": (7.0, lambda c: pipeline(c).meter.window),
    "interventions.checkpoint_rollback.max_rollback_depth": (1, rolled_back),
    "interventions.strategy.effectiveness_steps": (3, judged_after_three_steps),
    "limits.max_file_operations": (1, lambda c: pipeline(c).meter.over(Spend(file_operations=5))),
    "limits.max_processes": (5, lambda c: pipeline(c).meter.for_processes(0.0)),
    "limits.max_cpu_percent": (50.0, lambda c: pipeline(c).meter.for_processes(0.0)),
    "limits.default_max_cost_usd": (50.0, lambda c: pipeline(c).meter.over(Spend(cost_usd=30.0))),
    "review.risk_levels.medium": (0.79, verdicts),
    "review.risk_levels.high": (0.61, verdicts),
    "review.rationality_levels.high": (1.0, verdicts),
    "contract.may_run": (["make"], lambda c: agreed(c).contract.may_run),
    "contract.may_not": (["push"], lambda c: agreed(c).contract.may_not),
    "contract.done_when": (["make test"], lambda c: agreed(c).contract.done_when),
    "contract.boundaries": (["b"], lambda c: context_text(agreed(c), "strong", None, examples=True)),
    "contract.examples": (["e"], lambda c: context_text(agreed(c), "strong", None, examples=True)),
    "contract.goals": (["g"], lambda c: Goal("g") in agreed(c).goals),
    "contract.task": (False, lambda c: agreed(c).contract.protect),
    "detect.second_opinion.model": ("claude-opus-4-5", lambda c: c.detect.judging.model),
    "detect.judge.every": (2, questions),
    "detect.judge.key_env": ("HOME", key_sent),
    "runtime.contain": ("off", lambda c: decide_containment(c)),
    "checkpoints.keep_days": (1.0, lambda c: Sweep(None, None, c.checkpoints, 1e9)._oldest()),  # type: ignore[arg-type]
    "gui.confidence_threshold": (0.5, models_asked),
    "gui.analyzer": ("local", models_asked),
    "gui.model": ("claude-opus-4-5-20251101", models_asked),
    "gui.small_model": ("claude-opus-4-5-20251101", models_asked),
    "gui.allowed_buttons": (["Delete"], pressed),
    "unattended.resume.until": ("22:30", parked),
    "unattended.resume.max_parks": (1, parked),
    "unattended.resume.max_cost_usd": (4.0, parked),
    "unattended.resume.jitter_s": (60.0, parked),
    "models.input_usd_per_million": (3.0, priced),
    "models.output_usd_per_million": (3.0, priced),
    "unattended.unwedge": (False, reacted),
    "unattended.tool_minutes": (3.0, reacted),
    "notifications.repeat_seconds": (1.0, alerts),
    "hub.unsigned": (True, lambda c: Signing.from_settings(c.hub).unsigned),
    "budgets.per": ("week", lambda c: period_of(c.budgets[0].per, 1_700_000_000.0, "r")),
    "budgets.max_tokens": (5, lambda c: str(BudgetReached(c.budgets[0], Amount(0.0, 9), Amount(0.0, 0)))),
    "models.strength": (7, model),
    "models.aliases": (["other"], model),
    "budgets.match.name": ("z", budget_fits),
    "budgets.match.label": ("z", budget_fits),
    "budgets.match.workspace": ("/z", budget_fits),
    "budgets.match.user": ("z", budget_fits),
    "budgets.match.host": ("z", budget_fits),
}
WITH_FOLDER: dict[str, tuple[object, Callable[[Config, Path], object]]] = {
    "interventions.soft_correction.custom_prompts_path": ("/nowhere/prompts.yaml", templates),
    "review.programs_path": ("/nowhere/programs.yaml", programs),
    "review.approval_hours": (1.0, approval_time),
    "runtime.step_timeout_ms": (9.0, step_time),
    "contain.allow": (["ssh-keys", "tmux", "docker"], words_of_sandbox),
    "contain.files": ("everything", lambda c, _: unlimited_because(c, "claude")),
    "contain.tmp": (
        "own",
        lambda c, _: has_own_temporary(replace(c, contain=replace(c.contain, files="workspace")), "guard"),
    ),
    "contain.write": (["/usr/local"], words_of_sandbox),
    "contain.show": (["/etc/shadow"], words_of_sandbox),
    "contain.hide": (["/usr/share"], words_of_sandbox),
    "contract.max_returns": (1, returns),
    "gui.screenshot_retention_days": (1.0, album),
    "control.strict_ids": (True, request_of_any_id),
    "hub.key_file": ("~/nowhere/key", ring),
    "hub.trusted_file": ("/nowhere/trusted", ring),
}


def test_every_key_is_observed_once() -> None:
    known = [*OBSERVED, *WITH_FOLDER, *NAMED]
    assert sorted(known) == sorted(every_key())


@pytest.mark.parametrize("key", [*OBSERVED, *WITH_FOLDER])
def test_changing_a_key_changes_what_happens(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    value, look = OBSERVED.get(key) or WITH_FOLDER[key]
    base = with_key(key, value)
    usual = with_key(key.rpartition(".")[0], {}) if key.startswith(("models", "budgets")) else Config()
    given: tuple[Any, ...] = (tmp_path,) if key in WITH_FOLDER else ()
    assert look(base, *given) != look(usual, *given)


@pytest.mark.parametrize("key", NAMED)
def test_the_named_test_exists(key: str) -> None:
    path, *_, name = NAMED[key].split("::")
    assert name in {node.name for node in ast.walk(ast.parse((ROOT / path).read_text())) if hasattr(node, "name")}


@pytest.mark.torture
@pytest.mark.parametrize("key", NAMED)
def test_the_named_test_fails_where_its_key_is_forced_to_the_default(key: str) -> None:
    assert _runs(NAMED[key]) == 0
    assert _runs(NAMED[key], FORCED=key) == 1


def _runs(test: str, **environment: str) -> int:
    path = os.pathsep.join((str(HERE / "forced"), *(place for place in sys.path if place)))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=no", test]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment, "PYTHONPATH": path}, capture_output=True, timeout=300,
        check=False,
    ).returncode  # fmt: skip
