"""Keeps the current version of modules that are imported later, so that an upgrade in between does not mix versions.

The files are mapped, not read: their pages are shared by all processes that keep them. A file that is replaced or
removed stays available to those that have it mapped. Binary libraries stay open. A file that was modified in
place has changed, and reading its mapping may kill us (SIGBUS): in that case the file on disk is used.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import marshal
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

from .._lazy import stubs
from .platform import LINUX

HEADER = 16
"""Bytes before the code in a compiled file: the format, and the time and size of the source."""


class _Mapped(NamedTuple):
    """A mapped file: its address, path and size, its identity, and its modification time."""

    address: int
    path: str
    size: int
    file: tuple[int, int]
    written: int

    def is_intact(self) -> bool:
        """Whether the mapped file is unmodified; a new file at its path does not affect it."""
        try:
            info = os.stat(self.path)  # noqa: PTH116  hundreds
        except OSError:
            return True
        return (info.st_dev, info.st_ino) != self.file or (info.st_size, info.st_mtime_ns) == (self.size, self.written)

    def read(self) -> bytes:
        import ctypes

        return ctypes.string_at(self.address, self.size)


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module from its mapped code."""

    def __init__(self, name: str, source: str, mapped: _Mapped) -> None:
        super().__init__(name, source)
        self._mapped = mapped

    def get_code(self, fullname: str) -> CodeType:
        code = marshal.loads(self._mapped.read()[HEADER:])
        assert isinstance(code, CodeType)
        return code


class KeptCode:
    """The kept packages and their content; also a module finder."""

    def __init__(self) -> None:
        self._modules: dict[str, tuple[str, _Mapped]] = {}
        self._libraries: dict[str, int] = {}
        self._data: dict[str, _Mapped] = {}

    def keep(self, package: str, folder: Path) -> None:
        """Keep all modules of a package that are not imported; OSError if one has no up-to-date compiled code."""
        for entry in os.scandir(folder):
            stem, dot, kind = entry.name.partition(".")
            name = package if stem == "__init__" else f"{package}.{stem}"
            if kind == "json":
                self._data[entry.path] = _map(entry.path, os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC))
            elif kind == "pyi" and name not in sys.modules:
                stubs[entry.path.removesuffix("i")] = Path(entry.path).read_text(encoding="utf-8")
            elif kind == "py" and name not in sys.modules:
                self._modules[name] = (entry.path, _map(*_open_compiled(entry.path)))
            elif kind.endswith("so") and name not in sys.modules:
                self._libraries[name] = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC)
            elif not dot and stem != "__pycache__" and entry.is_dir():
                self.keep(name, Path(entry.path))

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name in self._libraries:
            held = f"/proc/self/fd/{self._libraries[name]}"
            loader = importlib.machinery.ExtensionFileLoader(name, held)
            return importlib.util.spec_from_file_location(name, held, loader=loader)
        source, mapped = self._modules.get(name, ("", None))
        if mapped is None or not mapped.is_intact():
            return None
        return importlib.util.spec_from_file_location(
            name,
            source,
            loader=_Loader(name, source, mapped),
            submodule_search_locations=[str(Path(source).parent)] if source.endswith("__init__.py") else None,
        )

    def names_in(self, package: ModuleType) -> list[str]:
        """The modules of a package, sorted."""
        inside = f"{package.__name__}."
        import pkgutil

        kept = [name.removeprefix(inside) for name in self._modules if name.startswith(inside)]
        return sorted(name for name in kept if "." not in name) or sorted(
            module.name for module in pkgutil.iter_modules(package.__path__)
        )

    def read(self, path: Path) -> bytes:
        """The content of a data file, as kept."""
        mapped = self._data.get(str(path))
        return path.read_bytes() if mapped is None or not mapped.is_intact() else mapped.read()


KEPT = KeptCode()
"""The packages that this process keeps."""


def keep_packages(packages: Sequence[str], libraries: Sequence[str] = ()) -> bool:
    """Keep these packages of ours and these libraries; returns False if they must be imported now."""
    root = Path(__file__).parent.parent
    try:
        for package in packages:
            KEPT.keep(f"{root.name}.{package}", root / package)
        for library in libraries:
            found = importlib.util.find_spec(library)
            if found is None or not found.origin or not LINUX:
                return False
            KEPT.keep(library, Path(found.origin).parent)
    except OSError:
        return False
    sys.meta_path.insert(0, KEPT)
    return True


def _open_compiled(source: str) -> tuple[str, int]:
    """Open the compiled file of a source; OSError if there is none for the current source."""
    path = importlib.util.cache_from_source(source)
    compiled = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    info = os.stat(source)  # noqa: PTH116  hundreds
    made = (0).to_bytes(4, "little"), *(int(n).to_bytes(8, "little")[:4] for n in (info.st_mtime, info.st_size))
    if os.pread(compiled, HEADER, 0) != b"".join((importlib.util.MAGIC_NUMBER, *made)):
        os.close(compiled)
        raise FileNotFoundError(source)
    return path, compiled


def _map(path: str, descriptor: int) -> _Mapped:
    """Map a file into memory; closes the descriptor, which Python's `mmap` would keep open."""
    import ctypes
    import mmap

    try:
        call, info = ctypes.CDLL(None, use_errno=True).mmap, os.fstat(descriptor)
        call.restype = ctypes.c_void_p
        call.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
        found = call(None, info.st_size, mmap.PROT_READ, mmap.MAP_PRIVATE, descriptor, 0)
        if found is None or found == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "the file cannot be mapped")
        return _Mapped(found, path, info.st_size, (info.st_dev, info.st_ino), info.st_mtime_ns)
    finally:
        os.close(descriptor)
