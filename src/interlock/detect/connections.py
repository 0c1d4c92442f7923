"""Connections: which changed files have to do with what a task names, by names and symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from .fingerprint import words
from .orders import is_config

LEAST = 4
"""Minimum length of a symbol that connects two files."""
_DEFINES = frozenset(
    (b"def", b"class", b"function", b"func", b"fn", b"struct", b"interface", b"type", b"enum", b"trait", b"module")
)
_USUAL = words(
    b"base build close code common conf config core create data execute file from index init items load main module"
    b" name next open parse print process read reset save self send setup start stop teardown test tests text update"
    b" util utils value values write"
)
"""Symbols and names that say nothing."""
_DEFINED_WITHIN = 4
"""The first words of a line, among which it says that it defines something."""


_AROUND = "`'\"()[]{}<>,;:!?*"
"""Quotes and punctuation around a word."""


class Named(Struct, frozen=True):
    """What a task names: files and folders that exist, symbols, and its other words."""

    files: tuple[str, ...]
    folders: tuple[str, ...]
    symbols: frozenset[bytes]
    words: frozenset[bytes]


def read_named(task: str, kind: Mapping[str, str]) -> Named:
    """What a task names. `kind` says which of its words are a `file` or a `folder` of the workspace."""
    paths = {word: kind[word] for word in path_words(task) if word in kind}
    plain = " ".join(word for word in task.split() if _bare(word) not in paths)
    names = (_bare(word).rpartition(".")[2] for word in plain.split())
    symbols = {name.lower().encode() for name in names if _is_symbol(name)}
    # A folder that a named file is in is no name of its own; a file of settings or words is not what the work is on.
    code = (path for path, what in paths.items() if what == "file" and not is_config(path) and not _is_text(path))
    folders = (path.rstrip("/") for path, what in paths.items() if what == "folder")
    said = frozenset(word for word in words(plain.encode("utf-8", "replace")) if len(word) >= LEAST)
    return Named(tuple(code), tuple(folders), frozenset(symbols), said)


def path_words(task: str) -> list[str]:
    """The words of a task that may be paths, without quotes and punctuation."""
    found = dict.fromkeys(bare for word in task.split() if "/" in (bare := _bare(word)) or "." in bare)
    return [word.removeprefix("./") for word in found if 1 < len(word) < 200 and not word.startswith(("/", "~", "-"))]


def unconnected(named: Named, texts: Mapping[str, bytes], changed: Iterable[str]) -> list[str]:
    """The changed files that nothing connects with what the task names: no name, no symbol, no file between them.

    None where the task names nothing that is there.
    """
    left = {path: _File.of(path, texts.get(path, b""), named.files) for path in changed if path not in named.files}
    reached = [_File.of(path, texts.get(path, b""), named.files) for path in named.files]
    if not (named.files or named.folders or any(not named.symbols.isdisjoint(each.words) for each in left.values())):
        return []
    reached += [left.pop(path) for path, file in tuple(left.items()) if _is_named(path, file, named)]
    while reached and left:
        near = reached.pop()
        reached += [left.pop(path) for path, file in tuple(left.items()) if file.touches(near)]
    return list(left)


class _File(Struct, frozen=True):
    """A file: the words of its name and folders, what it defines, and all of its words."""

    parts: set[bytes]
    own: set[bytes]
    words: set[bytes]

    @classmethod
    def of(cls, path: str, text: bytes, near: tuple[str, ...]) -> _File:
        *folders, name = path.split("/")
        shared = {folder for one in near for folder in one.split("/")[:-1]}
        stem = name.partition(".")[0]
        spelled = " ".join((stem.replace("_", " "), stem, *(one for one in folders if one not in shared)))
        own = {stem.lower().encode("utf-8", "replace"), *_defined(text)}
        return cls(words(spelled.encode("utf-8", "replace")) - _USUAL, _telling(own), words(text))

    def touches(self, other: _File) -> bool:
        return not self.own.isdisjoint(other.words) or not other.own.isdisjoint(self.words)


def _is_named(path: str, file: _File, named: Named) -> bool:
    if any(path.startswith(f"{folder}/") for folder in named.folders):
        return True
    if not named.symbols.isdisjoint(file.words):
        return True
    known = named.words | {word for one in named.files for word in words(one.rpartition("/")[2].encode())}
    return not ({word for word in file.parts | file.own if len(word) >= LEAST} - _USUAL).isdisjoint(known)


def _defined(text: bytes) -> Iterable[bytes]:
    """What the lines of a file define."""
    for line in text.splitlines():
        said = line.split(None, _DEFINED_WITHIN + 1)
        for at, word in enumerate(said[:_DEFINED_WITHIN]):
            if word in _DEFINES and at + 1 < len(said):
                yield from list(words(said[at + 1].partition(b"(")[0]))[:1]


def _telling(names: set[bytes]) -> set[bytes]:
    return {name for name in names if len(name) >= LEAST and not name.startswith(b"__")} - _USUAL


def _bare(word: str) -> str:
    return word.lstrip(_AROUND).rstrip(f"{_AROUND}.")


def _is_symbol(name: str) -> bool:
    """Whether a word of a task is an identifier: with an underscore or a capital within."""
    mixed = not name.isupper() and any(letter.isupper() for letter in name[1:])
    return len(name) >= LEAST and name.isidentifier() and ("_" in name.strip("_") or mixed)


def _is_text(path: str) -> bool:
    return path.rpartition(".")[2].lower() in ("md", "rst", "txt", "json", "lock")
