"""The performance: the story in a temporary folder, contained where that works; nothing is left behind unless kept."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..config import Config, RunLimits, Runtime
from ..contain import GuardedPlaces, find_bubblewrap, guard_words, open_filter, own_places, why_not
from ..core import Context, Contract, ManualClock
from ..journal import Store
from ..link import runtime_dir
from ..runtime import Supervisor, Wall, no_wall
from .player import DemoEvent, Play
from .story import BUDGET_USD, CHECK, FILES, MODEL, SCENES, TASK
from .workspace import Workshop

PREFIX = "interlock-demo-"

STORY_S = 960.0
"""A little more than the story takes on its own clock: it starts so long ago that nothing is ahead of now."""

PATIENCE_MS = 20_000.0
"""A machine that halts for a moment must not change the story, as a step that proceeds without its answer would."""


def play(*, keep: Store | None = None) -> Iterator[DemoEvent]:
    """Run the whole demonstration, as fast as it can."""
    with ExitStack() as stack:
        if keep is None:
            root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=PREFIX)))
            stack.enter_context(_no_new_folders(own_places()))
        else:
            root = Path(tempfile.mkdtemp(prefix=PREFIX))
        stack.enter_context(_environment())
        workspace = root / "workspace"
        workspace.mkdir()
        clock = ManualClock(time.time() - STORY_S)
        store = Store(keep.root if keep is not None else root / "runs", clock)
        checkpoints = root / "checkpoints" if keep is None else None
        missing = why_not()
        wall = no_wall if missing else _guard(workspace, store.root)
        workshop = Workshop(workspace, FILES, wall)
        supervisor = Supervisor.open(
            task=TASK,
            name="demo",
            model=MODEL,
            workspace=workspace,
            context=Context(original_prompt=TASK, expected_paths=("src", "tests"), workspace=str(workspace)),
            contract=Contract(done_when=(CHECK,)),
            config=Config(runtime=Runtime(step_timeout_ms=PATIENCE_MS), limits=RunLimits(max_cost_usd=BUDGET_USD)),
            store=store,
            checkpoint_store=checkpoints,
            clock=clock,
        )
        with supervisor:
            supervisor.stop_gate.runner.enclose = wall
            about = {"task": TASK, "model": MODEL, "budget_usd": BUDGET_USD, "files": len(FILES), "guard": missing}
            yield DemoEvent("start", 0.0, about)
            yield from Play(supervisor, workshop, clock, SCENES, guarded=not missing, usage=True).run()


def _guard(workspace: Path, store: Path) -> Wall:
    """The words that put guard around one command of the agent."""
    program = find_bubblewrap()
    assert program is not None, "why_not has found it"
    kept = GuardedPlaces(hidden=(store, runtime_dir()), workspaces=(workspace,))

    def enclose() -> tuple[tuple[str, ...], tuple[int, ...]]:
        store.mkdir(parents=True, exist_ok=True)
        filter_fd = open_filter()
        fds = () if filter_fd is None else (filter_fd,)
        return (*guard_words(program, kept, filter_fd=filter_fd), "--"), fds

    return enclose


@contextmanager
def _environment() -> Iterator[None]:
    """The story's `python3` is the interpreter that we run on, and leaves no compiled files."""
    before = dict(os.environ)
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{before.get('PATH', os.defpath)}"
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _no_new_folders(places: tuple[Path, ...]) -> Iterator[None]:
    """Remove those of our folders that guard made to have them read-only."""
    new = [place for place in places if not place.exists()]
    try:
        yield
    finally:
        for place in new:
            with suppress(OSError):
                place.rmdir()
