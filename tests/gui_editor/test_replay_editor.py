"""A session is replayed into the real VS Code and comes out byte for byte, disturbed or not."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from interlock.config.schema import Gui
from interlock.core import SystemClock
from interlock.gui.assembly import assemble
from interlock.gui.display import wait_until
from interlock.gui.editor.editor_session import EditorSession
from interlock.gui.open_editor import screen_of
from interlock.gui.replay.engine import ReplayEngine
from interlock.gui.replay.store import SessionStore
from tests.gui_editor.faults import FAULTS, VerdictLog, clean_up, is_there, prepare, throw

from .scripted import assert_exact, make_workspace, session

pytestmark = [pytest.mark.editor, pytest.mark.timeout(900)]

SESSIONS = 4
"""In which every fault has to come about: what is changed on disk a moment too late or too early is no conflict."""

PATIENCE_S = 180.0
"""For one fault to be noticed and recovered from on a slow machine."""


class Replay:
    """A watched replay in a thread of its own."""

    def __init__(
        self, editor: EditorSession, folder: Path, session_id: str, chunk_chars: int, **settings: object
    ) -> None:
        self.editor = editor
        config = Gui(analyzer="local", screenshot_dir=str(folder / "pictures"), **settings)  # type: ignore[arg-type]
        self.watch = assemble(screen_of(editor), config)
        self.looks = VerdictLog(self.watch.local, SystemClock())
        self.watch.orchestrator.analyzer = self.looks
        self.engine = ReplayEngine(
            editor.controller,
            self.watch.orchestrator,
            config=config,
            store=lambda workspace, name: SessionStore(workspace, name, folder / "sessions"),
            on_progress=lambda done, total, path: setattr(self, "chunks", done),
        )
        self.watch.follow(self.engine.situation)
        self.engine.load_session(session(session_id, chunk_chars))
        self.chunks = self._seen = 0
        self.result = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        self.result = self.engine.execute()

    def join(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)
        assert not self._thread.is_alive(), "the replay does not end"

    @property
    def is_over(self) -> bool:
        return self.result is not None

    def is_typing(self) -> bool:
        situation = self.engine.situation()
        return situation.typing and not situation.operating

    def says(self, kind: str, moment: float) -> str:
        """What was seen instead of a fault."""
        seen = [
            f"{verdict.time - moment:.1f} {verdict.result.status.value} {verdict.result.evidence}"
            for verdict in self.looks.ended_since(moment)
        ]
        return "\n".join([f"{kind} went unnoticed", *seen[:40]])

    def wrong_texts(self) -> list[str]:
        """The texts that came out differently since the last call."""
        fresh = self.engine._problems[self._seen :]
        self._seen += len(fresh)
        return [problem for problem in fresh if "came out differently" in problem]

    def alarms_since(self, moment: float) -> list[str]:
        """Also of a check that began before it: a slow one may see what comes while it runs."""
        return [
            f"{verdict.result.status.value}: {verdict.result.description}"
            for verdict in self.looks.ended_since(moment)
            if verdict.result.is_problem
        ]


def begin_anew(editor: EditorSession) -> None:
    """The files as they were before any session, on disk; the editor reads them when the session begins."""
    make_workspace(editor.workspace)
    (editor.workspace / "src" / "long.py").unlink(missing_ok=True)


def test_a_session_comes_out_byte_for_byte(editor: EditorSession, tmp_path: Path) -> None:
    begin_anew(editor)
    replay = Replay(editor, tmp_path, "plain", 2000)
    replay.start()
    replay.join(300)
    assert replay.result is not None
    assert replay.result.success, replay.result
    assert_exact(editor.workspace)
    events = replay.watch.orchestrator.get_events()
    assert [event.outcome for event in events] == ["none"] * len(events), events


def test_faults_of_every_kind_are_noticed_and_recovered_from_and_the_files_come_out_exactly(
    editor: EditorSession, tmp_path: Path
) -> None:
    clock = SystemClock()
    noticed: dict[str, str] = {}
    for number in range(SESSIONS):
        if len(noticed) == len(FAULTS):
            break
        begin_anew(editor)
        replay = Replay(
            editor, tmp_path, f"disturbed{number}", 150, interval_seconds=0.1, min_cooldown_seconds=0, max_retries=50,
            save_screenshots=False,
        )  # fmt: skip
        replay.start()
        disturb(replay, clock, noticed)
        replay.join(400)
        assert replay.result is not None
        assert replay.result.success, replay.result
        assert_exact(editor.workspace)
    assert noticed.keys() == set(FAULTS)


def disturb(replay: Replay, clock: SystemClock, noticed: dict[str, str]) -> None:
    """Throw in what was not noticed yet, one after the other, as long as the session lasts."""
    for kind in [kind for kind in FAULTS if kind not in noticed]:
        before = replay.chunks
        assert wait_until(lambda before=before: replay.is_over or replay.chunks > before, PATIENCE_S), f"before {kind}"
        replay.wrong_texts()
        thrown = throw_in(replay, kind, clock)
        if thrown is None:
            return
        assert wait_until(lambda thrown=thrown: replay.alarms_since(thrown) or replay.wrong_texts(), PATIENCE_S), (
            replay.says(kind, thrown)
        )
        if not replay.alarms_since(thrown):
            # The editor had nothing to save, and took in what was on disk; the session noticed it in the text.
            clean_up(kind, replay.editor)
            continue
        noticed[kind] = replay.alarms_since(thrown)[0]
        before = replay.chunks
        assert wait_until(lambda before=before: replay.is_over or replay.chunks > before, PATIENCE_S), f"after {kind}"
        clean_up(kind, replay.editor)


def throw_in(replay: Replay, kind: str, clock: SystemClock) -> float | None:
    """Throw a fault in while text is typed; a busy editor loses one now and then. None if that cannot be done now."""
    for _ in range(5):
        fault = prepare(kind, replay.editor)
        if fault is None:
            continue
        assert wait_until(
            lambda due=fault.is_due: replay.is_over or (replay.is_typing() and due()), PATIENCE_S, every_s=0.005
        )
        if replay.is_over:
            return None
        thrown = clock.monotonic()

        def came_about(thrown: float = thrown) -> bool:
            before = replay.engine.situation()
            there = not before.operating and is_there(kind, replay.editor, before.expected_file or "")
            return bool(replay.alarms_since(thrown)) or (there and replay.engine.situation().serial == before.serial)

        if throw(kind, fault) and wait_until(came_about, 10):
            return thrown
        clean_up(kind, replay.editor)
    return None


def test_a_session_goes_into_an_editor_that_runs_already(editor: EditorSession, tmp_path: Path) -> None:
    begin_anew(editor)
    script = tmp_path / "session.json"
    operations = [{"type": "insert", "line": 3, "content": "größer\n"}, {"type": "delete", "line": 1}]
    script.write_text(json.dumps({"session_id": "short", "files": [{"path": "notes.md", "operations": operations}]}))
    address = editor.server.address(editor.workspace)
    done = subprocess.run(
        [sys.executable, "-m", "interlock", "gui", "replay", str(script), "--workspace", str(editor.workspace),
         "--editor", address, "--record", str(tmp_path / "film"), "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (editor.workspace / "notes.md").read_text() == "\ngrößer\nfirst\nsecond\nthird\n"
    outcome = json.loads(done.stdout)
    page = Path(outcome["report"]).read_text()
    assert "data:image/jpeg" in page
    assert "notes.md" in page
    film = [json.loads(line) for line in (tmp_path / "film" / "film.jsonl").read_text().splitlines()]
    assert {"chunk", "look"} <= {key for line in film for key in line}
    assert all((tmp_path / "film" / line["picture"]).is_file() for line in film if line["picture"])
