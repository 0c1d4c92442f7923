"""Verify an export with nothing but the file: every file in it, and its journal."""

from __future__ import annotations

import hashlib
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec
from msgspec.structs import replace

from ..core import BadInput, from_json, is_signed_by
from .export import MANIFEST, Manifest
from .folder import RunFolder
from .verify import MOST, Damage, Verification, verify_journal

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
            seen[name] = _copy(content, journal if name == JOURNAL else None)
        if not journal.exists():
            raise BadInput(f"{path} is not an export", todo="Specify a file from interlock export, or a journal.")
        return _join(verify_journal(RunFolder(journal.parent)), manifest, seen)


def _join(found: Verification, manifest: bytes | None, seen: dict[str, str]) -> Verification:
    """What the journal says, and what the list of files does."""
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
    """The files of an archive by their names in the run's folder; a journal alone is one."""
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


def _copy(content: IO[bytes], into: Path | None) -> str:
    """The hash of a file that is read once, and a copy of it if one is wanted."""
    hashed = hashlib.sha256()
    with _opened(into) as out:
        while piece := content.read(PIECE):
            hashed.update(piece)
            if out is not None:
                out.write(piece)
    return hashed.hexdigest()


@contextmanager
def _opened(path: Path | None) -> Iterator[IO[bytes] | None]:
    if path is None:
        yield None
        return
    with path.open("xb") as out:
        yield out


def _hash(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
