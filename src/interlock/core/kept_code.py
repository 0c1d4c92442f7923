"""Modules that are imported late, as they were when they were kept: an upgrade meanwhile does not mix two versions.

Their files are mapped, not read: the pages belong to the files, and are shared by all who keep them. A file that is
replaced or removed stays as it was for those who have it mapped. Libraries of machine code are held open.
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

from .._lazy import stubs
from .platform import LINUX

HEADER = 16
"""Bytes before the code in a compiled file: how it was made, and from which source."""


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module from its mapped code."""

    def __init__(self, name: str, source: str, place: tuple[int, int]) -> None:
        super().__init__(name, source)
        self._place = place

    def get_code(self, fullname: str) -> CodeType:
        code = marshal.loads(_read_mapped(self._place)[HEADER:])
        assert isinstance(code, CodeType)
        return code


class KeptCode:
    """Packages that were kept, with what lies in them: a finder of modules."""

    def __init__(self) -> None:
        self._modules: dict[str, tuple[str, tuple[int, int]]] = {}
        self._libraries: dict[str, int] = {}
        self._data: dict[str, tuple[int, int]] = {}

    def keep(self, package: str, folder: Path) -> None:
        """Keep all of a package that is not imported; OSError where a module has no compiled code of what it is now."""
        for entry in os.scandir(folder):
            stem, dot, kind = entry.name.partition(".")
            name = package if stem == "__init__" else f"{package}.{stem}"
            if kind == "json":
                self._data[entry.path] = _map(os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC))
            elif kind == "pyi" and name not in sys.modules:
                stubs[entry.path.removesuffix("i")] = Path(entry.path).read_text(encoding="utf-8")
            elif kind == "py" and name not in sys.modules:
                self._modules[name] = (entry.path, _map(_open_compiled(entry.path)))
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
        if name not in self._modules:
            return None
        source, place = self._modules[name]
        return importlib.util.spec_from_file_location(
            name,
            source,
            loader=_Loader(name, source, place),
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
        """What is in a file of data."""
        place = self._data.get(str(path))
        return path.read_bytes() if place is None else _read_mapped(place)


KEPT = KeptCode()
"""What this process keeps."""


def keep_packages(packages: Sequence[str], libraries: Sequence[str] = ()) -> bool:
    """Keep these packages of ours, and those of others, from now on; False where they have to be imported now."""
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


def _open_compiled(source: str) -> int:
    """The compiled file of a source; OSError if there is none of the source as it is."""
    compiled = os.open(importlib.util.cache_from_source(source), os.O_RDONLY | os.O_CLOEXEC)
    info = os.stat(source)  # noqa: PTH116  hundreds
    made = (0).to_bytes(4, "little"), *(int(n).to_bytes(8, "little")[:4] for n in (info.st_mtime, info.st_size))
    if os.pread(compiled, HEADER, 0) != b"".join((importlib.util.MAGIC_NUMBER, *made)):
        os.close(compiled)
        raise FileNotFoundError(source)
    return compiled


def _map(descriptor: int) -> tuple[int, int]:
    """Where a file is in memory from now on, and its size; closes the descriptor, which `mmap` would keep."""
    import ctypes
    import mmap

    try:
        call = ctypes.CDLL(None, use_errno=True).mmap
        call.restype, size = ctypes.c_void_p, os.fstat(descriptor).st_size
        call.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
        found = call(None, size, mmap.PROT_READ, mmap.MAP_PRIVATE, descriptor, 0)
        if found is None or found == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "the file cannot be mapped")
        return found, size
    finally:
        os.close(descriptor)


def _read_mapped(place: tuple[int, int]) -> bytes:
    """The bytes that `_map` put there."""
    import ctypes

    return ctypes.string_at(*place)
