"""Copy a run out of the store, consistently, also while it is written."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import apsw

from ..core import BadInput, InterlockError
from .database import explain, open_for_reading
from .durable_files import FILE_MODE, FOLDER_MODE
from .folder import RunFolder

ARCHIVES = (".tar.gz", ".tgz", ".zip")
OTHERS = (".tar", ".xz", ".bz2", ".zst", ".7z", ".rar", ".gz")
"""Endings of archives that we do not make; a folder of that name would be no good to anybody."""


def export_run(folder: RunFolder, target: Path) -> Path:
    """Copy to a new folder or archive; the target is whole or not there."""
    import tempfile

    if target.exists():
        raise BadInput(f"{target} exists already", todo="Choose another name.")
    if target.name.endswith(OTHERS) and not target.name.endswith(ARCHIVES):
        raise BadInput(f"{target.name} is no archive that can be made", todo=f"End it with {', '.join(ARCHIVES)}.")
    try:
        with tempfile.TemporaryDirectory(prefix=".export-", dir=target.parent) as scratch:
            copy = Path(scratch) / folder.run_id
            _copy(folder, copy)
            if target.name.endswith(ARCHIVES):
                packed = _pack(copy, Path(scratch), "zip" if target.name.endswith(".zip") else "gztar")
                packed.chmod(FILE_MODE)
                packed.rename(target)
            else:
                copy.rename(target)
    except OSError as error:
        raise InterlockError(f"the run cannot be exported ({error.strerror})", where=str(target)) from error
    return target


def _pack(copy: Path, scratch: Path, form: str) -> Path:
    return Path(shutil.make_archive(str(scratch / "packed"), form, root_dir=scratch, base_dir=copy.name))


def _copy(folder: RunFolder, copy: Path) -> None:
    copy.mkdir(mode=FOLDER_MODE)
    for place, _, names in os.walk(folder.path):
        into = copy / Path(place).relative_to(folder.path)
        into.mkdir(mode=FOLDER_MODE, exist_ok=True)
        for name in names:
            file = Path(place) / name
            ours = file == folder.lock_file or name.startswith(folder.journal.name)
            if ours or not file.is_file() or file.is_symlink():
                continue
            # A live run takes files out of its inbox at any time.
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(file, into / name)
                (into / name).chmod(FILE_MODE)
    _copy_journal(folder.journal, copy / folder.journal.name)


def _copy_journal(source: Path, copy: Path) -> None:
    """One snapshot, by SQLite's own backup, as a single file that opens anywhere."""
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    reading = open_for_reading(source)
    writing = apsw.Connection(str(copy))
    try:
        with writing.backup("main", reading, "main") as backup:
            while not backup.done:
                backup.step(-1)
        writing.pragma("journal_mode", "delete")
    except apsw.Error as error:
        raise explain(error, source) from error
    finally:
        writing.close()
        reading.close()
