"""The play: the scripted agent under the real supervisor, as a stream of events read back from the journal."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from ..config import Config
from ..config.model import Runtime
from ..core import Context, Decision, ManualClock, Usage
from ..core.decoding import from_json
from ..journal import JournalReader, Store
from ..runtime import Supervisor
from .script import SCENES, TASK, Act, Scene
from .workspace import Output, Workshop

START = 1_700_000_000.0

STORY_S = 2_900.0
"""A little more than the story takes on its own clock: a kept run starts so long ago that nothing lies ahead of now."""

PATIENCE_MS = 20_000.0
"""A machine that halts for a moment must not change the story, as a step that goes on without its answer would."""

PACE_S = 0.12
"""Time between two events for people to read; the story's own clock runs much faster."""

LONGEST_WAIT_S = 2.0
"""A throttled call really waits, but not longer than this."""


class DemoEvent(Struct, frozen=True, omit_defaults=True):
    """Something to show: what kind, when on the story's clock, and the facts."""

    kind: str
    clock: float
    body: dict[str, object]


def play(*, fast: bool = False, keep: Store | None = None) -> Iterator[DemoEvent]:
    """Run the whole demonstration in a temporary folder; nothing is left behind unless there is a store to keep it."""
    place = tempfile.TemporaryDirectory if keep is None else _lasting
    with place(prefix="interlock-demo-") as folder:
        root = Path(folder)
        workshop = Workshop(_made(root / "workspace"))
        clock = ManualClock(START if keep is None else time.time() - STORY_S)
        supervisor = Supervisor.open(
            task=TASK,
            name="demo",
            workspace=workshop.root,
            context=Context(
                original_prompt=TASK,
                primary_goal="tests/test_parser.py passes",
                constraints=("Do not touch data/", "Work only in src and tests"),
                expected_paths=("src", "tests"),
                workspace=str(workshop.root),
            ),
            config=Config(runtime=Runtime(step_timeout_ms=PATIENCE_MS)),
            store=Store(keep.root if keep is not None else root / "runs", clock),
            checkpoint_store=root / "checkpoints" if keep is None else None,
            clock=clock,
        )
        with supervisor:
            yield from Play(supervisor, workshop, clock, fast=fast).run()


class Play:
    """One performance."""

    def __init__(self, supervisor: Supervisor, workshop: Workshop, clock: ManualClock, *, fast: bool) -> None:
        self._supervisor = supervisor
        self._workshop = workshop
        self._clock = clock
        self._started = clock.time()
        self._pace = 0.0 if fast else PACE_S
        self._longest = 0.0 if fast else LONGEST_WAIT_S
        assert supervisor.run.folder is not None
        self._reader = JournalReader.open(supervisor.run.folder)
        self._read = 0

    def run(self) -> Iterator[DemoEvent]:
        """Every scene until the last, or until the run is stopped."""
        try:
            for number, scene in enumerate(SCENES, 1):
                yield self._event("scene", number=number, title=scene.title, watch_for=scene.watch_for)
                yield from self._scene(scene)
                if self._supervisor.run.ended:
                    break
            yield self._event("end", summary=msgspec.to_builtins(self._supervisor.run.summary))
        finally:
            self._reader.close()

    def _scene(self, scene: Scene) -> Iterator[DemoEvent]:
        before = self._workshop.fingerprint()
        for act in scene.acts:
            yield from self._act(act)
            if self._supervisor.run.ended:
                return
        after = self._workshop.fingerprint()
        yield self._event("files", before=before, after=after, count=self._workshop.count())

    def _act(self, act: Act) -> Iterator[DemoEvent]:
        supervisor = self._supervisor
        if act.says:
            words = supervisor.message(act.says, usage=Usage(act.tokens, act.tokens // 4))
            yield self._event("says", step=words.index, text=act.says)
            supervisor.after(words)
            yield from self._news()
        if act.command or act.arguments:
            yield from self._call(act)
        self._clock.advance(act.after)

    def _call(self, act: Act) -> Iterator[DemoEvent]:
        supervisor = self._supervisor
        arguments = act.arguments or {"command": act.command}
        step = msgspec.structs.replace(supervisor.call(act.tool, arguments), usage=Usage(act.tokens, act.tokens // 4))
        yield self._event("call", step=step.index, tool=act.tool, arguments=arguments)
        decision = supervisor.before(step)
        yield from self._news()
        if decision.action == "hold":
            yield self._event("held", reason=decision.reason)
            supervisor.resume()
            yield self._event("resumed", by="a person")
            decision = supervisor.before(step)
        if decision.delay_s:
            yield from self._wait(decision)
        if decision.action in ("deny", "stop"):
            yield self._event("denied", step=step.index, reason=decision.reason)
            return
        output = self._output(act)
        self._clock.advance(2.0)
        result = supervisor.result(output.text, error=output.failed, exit_code=output.exit_code)
        yield self._event("result", step=result.index, text=output.text, failed=output.failed)
        supervisor.after(result)
        yield from self._news()

    def _wait(self, decision: Decision) -> Iterator[DemoEvent]:
        yield self._event("waits", seconds=decision.delay_s, reason=decision.reason)
        time.sleep(min(decision.delay_s, self._longest))
        self._clock.advance(decision.delay_s)

    def _output(self, act: Act) -> Output:
        if act.output is not None:
            return Output(act.output, 1 if act.failed else 0)
        return self._workshop.run(act.command)

    def _news(self) -> Iterator[DemoEvent]:
        """What supervision has written into the journal since."""
        self._supervisor.run.journal.flush()
        for record in self._reader.read(after=self._read):
            self._read = record.seq
            if record.kind in SHOWN:
                body = from_json(record.body, dict)
                if record.kind == "incident":
                    body["report"] = _report(Path(body["where"]))
                yield self._event(record.kind, **body)

    def _event(self, kind: str, **body: object) -> DemoEvent:
        if self._pace:
            time.sleep(self._pace)
        return DemoEvent(kind, self._clock.time() - self._started, body)


SHOWN = frozenset(
    ("issue", "episode", "intervention", "effect", "restored", "applied", "limit", "incident", "plan", "fault")
)
"""The records that the audience sees; steps are shown as they are played."""


def _report(incident: Path) -> str:
    try:
        return (incident / "report.txt").read_text()
    except OSError:
        return ""


@contextmanager
def _lasting(prefix: str) -> Iterator[str]:
    yield tempfile.mkdtemp(prefix=prefix)


def _made(path: Path) -> Path:
    path.mkdir()
    return path
