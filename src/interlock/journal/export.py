"""Export a run consistently, also while it is being written; and verify an export from the file alone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

import apsw
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..core import FILE_MODE, BadInput, InterlockError, SigningKey, from_json, is_signed_by, owner_key
from .database import MIGRATIONS, explain
from .durable_files import FOLDER_MODE
from .folder import LAUNCH, RunFolder
from .reader import JournalReader
from .verify import MOST, Damage, Verification, verify_journal

ARCHIVES = (".tar.gz", ".tgz", ".zip")
OTHERS = (".tar", ".xz", ".bz2", ".zst", ".7z", ".rar", ".gz")
"""Suffixes of archive types that are not supported, and that no folder should have."""

MANIFEST = "manifest.json"
GZIP_LEVEL = 4
"""Records compress well at any level; the highest takes ten times as long."""


class Manifest(Struct, frozen=True, kw_only=True):
    """The files of an export with the SHA-256 of each, signed by the owner's key."""

    run_id: str
    files: dict[str, str]
    key: str = ""
    signature: bytes = b""

    def message(self) -> bytes:
        """The bytes that are signed."""
        return b"interlock export\0%b\0%b" % (self.run_id.encode(), msgspec.json.encode(self.files, order="sorted"))


def export_run(folder: RunFolder, target: Path) -> Path:
    """Copy to a new folder or archive; the target is complete or absent."""
    import tempfile

    if target.exists():
        raise BadInput(f"{target} already exists", todo="Choose another name.")
    if target.name.endswith(OTHERS) and not target.name.endswith(ARCHIVES):
        raise BadInput(
            f"{target.name} is an unsupported archive type", todo=f"Use a name that ends with {', '.join(ARCHIVES)}."
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
    for source, _, names in os.walk(folder.path):
        into = copy / Path(source).relative_to(folder.path)
        into.mkdir(mode=FOLDER_MODE, exist_ok=True)
        for name in names:
            file = Path(source) / name
            ours = file == folder.lock_file or name.startswith((folder.journal.name, LAUNCH))
            if ours or not file.is_file() or file.is_symlink():
                continue
            # A live run removes files from its inbox at any time.
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(file, into / name)
                (into / name).chmod(FILE_MODE)
    _copy_journal(folder, copy / folder.journal.name)


def _copy_journal(source: RunFolder, copy: Path) -> None:
    """One snapshot with every body as plain text: a single file that any SQLite can read."""
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    with JournalReader.open(source) as reader:
        writing = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)
        try:
            writing.create_scalar_function("unpacked", reader.unpacked, 2)
            reader.attach(writing)
            for step in MIGRATIONS[: reader.version]:
                writing.execute(step).fetchall()
            # An incomplete copy is thrown away, so it needs no rollback journal.
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


JOURNAL = "journal.db"
MAX_MANIFEST = 16 * 1024 * 1024
PIECE = 1024 * 1024


def verify_export(path: Path) -> Verification:
    """Verify an exported folder or archive, or a journal file by itself."""
    if path.is_dir():
        files = {str(file.relative_to(path)): file for file in path.rglob("*") if file.is_file()}
        if JOURNAL not in files:
            raise BadInput(f"{path} has no {JOURNAL}", todo="Specify an export, a run's folder or its journal.")
        seen = {name: _hash(file) for name, file in files.items()} if MANIFEST in files else {}
        manifest = files[MANIFEST].read_bytes()[:MAX_MANIFEST] if MANIFEST in files else None
        return _join(verify_journal(RunFolder(path.resolve())), manifest, seen)
    with tempfile.TemporaryDirectory() as scratch:
        journal = Path(scratch) / "export" / JOURNAL
        journal.parent.mkdir()
        seen, manifest = {}, None
        for name, content in _members(path):
            if name == MANIFEST:
                manifest = content.read(MAX_MANIFEST)
            seen[name] = _hash_of(content, journal if name == JOURNAL else None)
        if not journal.exists():
            raise BadInput(f"{path} is not an export", todo="Specify a file from interlock export, or a journal.")
        return _join(verify_journal(RunFolder(journal.parent)), manifest, seen)


def _join(found: Verification, manifest: bytes | None, seen: dict[str, str]) -> Verification:
    """The result for the journal, combined with that for the list of files."""
    if manifest is None:
        return found
    damage = [*found.damage, *_check_files(found, manifest, seen)]
    return replace(found, verdict="changed" if damage else found.verdict, damage=tuple(damage[:MOST]))


def _check_files(found: Verification, data: bytes, seen: dict[str, str]) -> list[Damage]:
    try:
        manifest = from_json(data, Manifest)
    except msgspec.DecodeError:
        return [Damage(f"{MANIFEST} cannot be read")]
    if manifest.signature and not is_signed_by(manifest.key, manifest.message(), manifest.signature):
        return [Damage(f"the signature of {MANIFEST} does not match")]
    if found.key and manifest.key != found.key:
        return [Damage(f"{MANIFEST} and the journal are signed by different keys")]
    wanted = manifest.files
    differs = [f"{name} was changed" for name in wanted if name in seen and seen[name] != wanted[name]]
    differs += [f"{name} is missing" for name in wanted if name not in seen]
    differs += [f"{name} was added" for name in seen if name not in wanted and name != MANIFEST]
    return [Damage(each) for each in differs]


def _members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The files of an archive by their names in the run's folder; a lone journal file counts as one."""
    with path.open("rb") as opened:
        begins = opened.read(16)
    try:
        if begins.startswith(b"SQLite format 3\0"):
            with path.open("rb") as journal:
                yield JOURNAL, journal
        elif begins.startswith(b"PK"):
            with zipfile.ZipFile(path) as packed:
                for each in packed.infolist():
                    if not each.is_dir():
                        with packed.open(each) as content:
                            yield _inner(each.filename), content
        else:
            with tarfile.open(path, "r|*") as archive:
                for member in archive:
                    content_of = archive.extractfile(member) if member.isfile() else None
                    if content_of is not None:
                        yield _inner(member.name), content_of
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {error}", todo="It may be truncated.") from None


def _inner(name: str) -> str:
    return str(PurePosixPath(*PurePosixPath(name).parts[1:]))


def _hash_of(content: IO[bytes], into: Path | None) -> str:
    """The hash of a stream, which is also copied to `into` if given."""
    hashed = hashlib.sha256()
    with into.open("xb") if into is not None else contextlib.nullcontext() as out:
        while piece := content.read(PIECE):
            hashed.update(piece)
            if out is not None:
                out.write(piece)
    return hashed.hexdigest()
