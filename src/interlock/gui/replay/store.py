"""SessionStore: the state of a replay on disk, so that it can continue after a crash; and the result of a replay."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
import platformdirs
from msgspec import Struct

from ...core import BadInput, from_json, read_small
from ...journal import write_durably
from ...journal_records import VerificationResult
from ..session import ReplaySession, inside
from .plan import Chunk

KEEP_SNAPSHOTS = 5


class Beginning(Struct, frozen=True):
    """The session and the files as they were; None for one that did not exist."""

    session: ReplaySession
    before: dict[str, str | None]

    def texts(self) -> dict[str, str]:
        return {path: text or "" for path, text in self.before.items()}


class SessionStore:
    """The folder of one session on one workspace."""

    def __init__(self, workspace: Path, session_id: str, root: Path | None = None) -> None:
        self.workspace = workspace.resolve()
        where = hashlib.sha256(str(self.workspace).encode()).hexdigest()[:10]
        name = re.sub(r"[^\w.-]+", "-", session_id)[:60]
        self.folder = (root or default_root()) / f"{name}-{where}"
        self._progress = self.folder / "progress.jsonl"

    def begin(self, session: ReplaySession) -> Beginning:
        """Record the files as they are now; discards what an earlier run left."""
        beginning = Beginning(session, {path: self._read(path) for path in session.merged()})
        self.folder.mkdir(parents=True, exist_ok=True)
        self._progress.unlink(missing_ok=True)
        write_durably(self.folder / "beginning.json", msgspec.json.encode(beginning))
        return beginning

    def resume(self, session: ReplaySession) -> tuple[Beginning, int] | None:
        """The beginning of an interrupted run and how many chunks it had done; None if there was none."""
        beginning = self._beginning()
        if beginning is None:
            return None
        if msgspec.json.encode(beginning.session) != msgspec.json.encode(session):
            raise BadInput(
                f"the session {session.session_id!r} has changed since the interrupted run",
                todo="Start again without --resume.",
            )
        return beginning, self._done()

    def originals(self) -> dict[str, str] | None:
        """The files before the last run; None if there was none."""
        beginning = self._beginning()
        return beginning.texts() if beginning is not None else None

    def done(self, chunk: Chunk, time: float) -> None:
        """Record that a chunk is on disk; durable when this returns."""
        line = msgspec.json.encode({"chunk": chunk.index, "path": chunk.path, "sha256": chunk.expected, "time": time})
        with self._progress.open("ab") as file:
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def rewind(self, done: int) -> None:
        """Discard the progress after this many chunks: the replay continues from there."""
        lines = self._lines()[:done]
        write_durably(self._progress, b"".join(line + b"\n" for line in lines))

    def snapshot(self, paths: tuple[str, ...]) -> Path:
        """Copy the files before a recovery touches the editor."""
        kept = sorted(self.folder.glob("snapshot-*"))
        number = int(kept[-1].name.rpartition("-")[2]) + 1 if kept else 1
        for old in kept[: max(0, len(kept) + 1 - KEEP_SNAPSHOTS)]:
            shutil.rmtree(old, ignore_errors=True)
        target = self.folder / f"snapshot-{number:05d}"
        for path in paths:
            source = inside(self.workspace, path)
            if source.is_file():
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target / path)
        return target

    def _beginning(self) -> Beginning | None:
        try:
            return from_json((self.folder / "beginning.json").read_bytes(), Beginning)
        except OSError:
            return None

    def _done(self) -> int:
        """Chunks done, as far as the lines are complete and in order: a crash may have truncated the last one."""
        count = 0
        for line in self._lines():
            try:
                if from_json(line)["chunk"] != count:
                    break
            except (msgspec.DecodeError, KeyError, TypeError):
                break
            count += 1
        return count

    def _lines(self) -> list[bytes]:
        try:
            return self._progress.read_bytes().splitlines()
        except OSError:
            return []

    def _read(self, path: str) -> str | None:
        try:
            return read_small(inside(self.workspace, path)).decode("utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"the file cannot be edited ({error})", where=path) from None


def default_root() -> Path:
    return Path(platformdirs.user_state_dir("interlock")) / "gui"


class ReplayResult(Struct, frozen=True):
    """`completed`: every chunk was typed; `success`: the files are also right, if that was verified."""

    completed: bool
    chunks_done: int
    chunks: int
    seconds: float
    reason: str = ""
    verification: VerificationResult | None = None
    troubles: Sequence[str] = ()
    repaired: bool = False

    @property
    def success(self) -> bool:
        return self.completed and (self.verification is None or self.verification.success)
