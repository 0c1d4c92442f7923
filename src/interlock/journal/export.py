"""Copy a run out of the store, consistently, also while it is written."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tarfile
from pathlib import Path

import apsw
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..core import BadInput, InterlockError, SigningKey, owner_key
from .database import MIGRATIONS, explain
from .durable_files import FILE_MODE, FOLDER_MODE
from .folder import LAUNCH, RunFolder
from .reader import JournalReader

ARCHIVES = (".tar.gz", ".tgz", ".zip")
OTHERS = (".tar", ".xz", ".bz2", ".zst", ".7z", ".rar", ".gz")
"""Endings of archives that we do not make; a folder of that name would be no good to anybody."""

MANIFEST = "manifest.json"
GZIP_LEVEL = 4
"""Records compress well at any level, and the highest takes ten times as long."""


class Manifest(Struct, frozen=True, kw_only=True):
    """The files of an export with the SHA-256 of each, signed by the owner's key."""

    run_id: str
    files: dict[str, str]
    key: str = ""
    signature: bytes = b""

    def message(self) -> bytes:
        """What is signed."""
        return b"interlock export\0%b\0%b" % (self.run_id.encode(), msgspec.json.encode(self.files, order="sorted"))


def export_run(folder: RunFolder, target: Path) -> Path:
    """Copy to a new folder or archive; the target is whole or not there."""
    import tempfile

    if target.exists():
        raise BadInput(f"{target} already exists", todo="Choose another name.")
    if target.name.endswith(OTHERS) and not target.name.endswith(ARCHIVES):
        raise BadInput(
            f"{target.name}is an unsupported archive type", todo=f"Use a name that ends with {', '.join(ARCHIVES)}."
        )
    try:
        with tempfile.TemporaryDirectory(prefix=".export-", dir=target.parent) as scratch:
            copy = Path(scratch) / folder.run_id
            _copy(folder, copy)
            _sign(copy, owner_key(folder.path.parent))
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
    if form == "zip":
        return Path(shutil.make_archive(str(scratch / "packed"), form, root_dir=scratch, base_dir=copy.name))
    packed = scratch / "packed.tar.gz"
    with tarfile.open(packed, "w:gz", compresslevel=GZIP_LEVEL) as archive:
        archive.add(copy, copy.name)
    return packed


def _copy(folder: RunFolder, copy: Path) -> None:
    copy.mkdir(mode=FOLDER_MODE)
    for place, _, names in os.walk(folder.path):
        into = copy / Path(place).relative_to(folder.path)
        into.mkdir(mode=FOLDER_MODE, exist_ok=True)
        for name in names:
            file = Path(place) / name
            ours = file == folder.lock_file or name.startswith((folder.journal.name, LAUNCH))
            if ours or not file.is_file() or file.is_symlink():
                continue
            # A live run takes files out of its inbox at any time.
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(file, into / name)
                (into / name).chmod(FILE_MODE)
    _copy_journal(folder, copy / folder.journal.name)


def _copy_journal(source: RunFolder, copy: Path) -> None:
    """One snapshot, with every body as plain text: a single file that any SQLite reads."""
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    with JournalReader.open(source) as reader:
        writing = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)
        try:
            writing.create_scalar_function("unpacked", reader.unpacked, 2)
            reader.attach(writing)
            for step in MIGRATIONS[: reader.version]:
                writing.execute(step).fetchall()
            # A copy that breaks off is thrown away: it needs no journal of its own.
            writing.execute("PRAGMA main.synchronous = off")
            writing.execute("PRAGMA main.journal_mode = off")
            with writing:
                chain = ", chain" if reader.is_chained else ""
                writing.execute("DELETE FROM about")
                writing.execute(
                    "INSERT INTO record SELECT seq, v, time, kind, unpacked(seq, CAST(body AS BLOB))"
                    f"{chain} FROM source.record ORDER BY seq"
                )
                for table in ("summary", "about"):
                    writing.execute(f"INSERT INTO {table} SELECT * FROM source.{table}")
                writing.execute(f"PRAGMA main.user_version = {reader.version}")
            writing.execute("PRAGMA main.journal_mode = delete")
        except apsw.Error as error:
            raise explain(error, source.journal) from error
        finally:
            writing.close()


def _sign(copy: Path, key: SigningKey | None) -> None:
    """List every file of an export with its hash, signed, so that the recipient can verify all of it."""
    files = {str(file.relative_to(copy)): _hash(file) for file in sorted(copy.rglob("*")) if file.is_file()}
    manifest = Manifest(run_id=copy.name, files=files)
    if key is not None:
        manifest = replace(manifest, key=key.public, signature=key.sign(manifest.message()))
    (copy / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
    (copy / MANIFEST).chmod(FILE_MODE)


def _hash(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
