"""ReplaySession: a scripted editor session, read from JSON and validated, and the text that its operations produce."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TypeVar

import msgspec
from msgspec import Struct

from ..core import BadInput, from_json, from_plain, read_small

T = TypeVar("T")

EXAMPLE = (
    'A session is {"session_id": "demo", "files": [{"path": "a.py", "operations": '
    '[{"type": "insert", "line": 1, "content": "x = 1\\n"}]}]}'
)


class OperationType(enum.Enum):
    """What an operation does."""

    NAVIGATE = "navigate"
    DELETE = "delete"
    INSERT = "insert"


class Operation(Struct, frozen=True, omit_defaults=True):
    """One edit of the text that the previous operation left.

    `navigate` goes to `line`; `delete` removes the lines `line` to `line_end` (inclusive; only `line` if missing);
    `insert` types `content` at the beginning of `line`, where the number of lines plus one means the end.
    Fields that a type does not use are ignored.
    """

    type: OperationType
    line: int = 1
    line_end: int | None = None
    content: str = ""

    @property
    def op_type(self) -> OperationType:
        """Another name for `type`; JSON may have either."""
        return self.type


class FileOperation(Struct, frozen=True, omit_defaults=True):
    """The operations on one file; `path` is relative to the workspace."""

    path: str
    operations: Sequence[Operation] = ()


class ReplaySession(Struct, frozen=True, omit_defaults=True):
    """A scripted session: files in order, each with its operations in order."""

    session_id: str
    files: Sequence[FileOperation] = ()
    title: str = ""
    replay_config: dict[str, object] = {}

    def merged(self) -> dict[str, tuple[Operation, ...]]:
        """Path to all of its operations, entries of the same path joined, in order of first appearance."""
        together: dict[str, tuple[Operation, ...]] = {}
        for entry in self.files:
            path = clean_path(entry.path)
            together[path] = (*together.get(path, ()), *entry.operations)
        return together


def read_session(source: str | Path | Mapping[str, object] | ReplaySession) -> ReplaySession:
    """A session from a file, from decoded JSON, or as it is; BadInput names the position of an error."""
    if isinstance(source, ReplaySession):
        return _checked(source, f"session {source.session_id!r}")
    if not isinstance(source, str | Path):
        return _checked(_convert(source, "session"), "session")
    path = Path(source).expanduser()
    try:
        raw = from_json(read_small(path, links=True))
    except OSError as error:
        raise BadInput(f"cannot read the session ({error.strerror})", where=str(path)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"not JSON: {error}", where=str(path), todo=EXAMPLE) from None
    return _checked(_convert(raw, str(path)), str(path))


def clean_path(path: str) -> str:
    """The normalised path inside the workspace; ValueError says what is wrong with it."""
    if not path or path.strip() != path or "\0" in path or "\n" in path:
        raise ValueError("must be a file name without leading or trailing spaces, or line breaks")
    if path.startswith(("/", "~")) or "\\" in path or (len(path) > 1 and path[1] == ":"):
        raise ValueError("must be relative to the workspace, with forward slashes")
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts:
        raise ValueError("must stay inside the workspace: no '..'")
    return "/".join(parts)


def inside(workspace: Path, path: str) -> Path:
    """The file on disk; BadInput if a symbolic link leads out of the workspace."""
    root = workspace.resolve()
    try:
        target = root / clean_path(path)
    except ValueError as error:
        raise BadInput(str(error), where=f"path {path!r}") from None
    if not target.resolve().is_relative_to(root):
        raise BadInput("a symbolic link leads out of the workspace", where=f"path {path!r}")
    return target


def read_text(path: Path) -> str | None:
    """A file's text; None if it does not exist or is not UTF-8."""
    try:
        return read_small(path).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _convert(raw: object, where: str) -> ReplaySession:
    """Decoded JSON as a session, entry by entry, so that an error can name the file and the operation."""
    top = _fields(raw, where, ("session_id", "files"))
    if not isinstance(top["files"], list):
        raise BadInput("'files' must be a list", where=where, todo=EXAMPLE)
    files = []
    for number, entry in enumerate(top["files"]):
        at = f"{where}: files[{number}]"
        fields = _fields(entry, at, ("path", "operations"))
        named = f"{at} ({fields['path']})"
        if not isinstance(fields["operations"], list):
            raise BadInput("'operations' must be a list", where=named)
        operations = tuple(
            _to(Operation, _with_type(operation), f"{named}, operations[{index}]")
            for index, operation in enumerate(fields["operations"])
        )
        files.append(FileOperation(_to(FileOperation, {"path": fields["path"]}, at).path, operations))
    head = {key: value for key, value in top.items() if key != "files"}
    return msgspec.structs.replace(_to(ReplaySession, head, where), files=tuple(files))


def _with_type(operation: object) -> object:
    """An operation with `type`, which may be called `op_type`."""
    if not isinstance(operation, Mapping) or "op_type" not in operation or "type" in operation:
        return operation
    return {("type" if key == "op_type" else key): value for key, value in operation.items()}


def _fields(raw: object, where: str, required: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(raw, Mapping):
        raise BadInput("must be an object", where=where, todo=EXAMPLE)
    for name in required:
        if name not in raw:
            raise BadInput(f"field {name!r} is missing", where=where, todo=EXAMPLE)
    return {str(key): value for key, value in raw.items()}


def _to(kind: type[T], raw: object, where: str) -> T:
    try:
        return from_plain(raw, kind)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        field = path.strip("`").removeprefix("$").removeprefix(".")
        raise BadInput(f"field {field!r}: {what}" if field else what, where=where) from None


def _checked(session: ReplaySession, where: str) -> ReplaySession:
    if not session.session_id.strip() or len(session.session_id) > 200:
        raise BadInput("field 'session_id' must have 1 to 200 characters", where=where)
    for number, entry in enumerate(session.files):
        at = f"{where}: files[{number}] ({entry.path if entry.path.isprintable() else ascii(entry.path)})"
        try:
            clean_path(entry.path)
        except ValueError as error:
            raise BadInput(f"field 'path' {error}", where=at) from None
        for index, operation in enumerate(entry.operations):
            wrong = _wrong(operation)
            if wrong:
                raise BadInput(wrong, where=f"{at}, operations[{index}]")
    return session


def _wrong(operation: Operation) -> str | None:
    """What is wrong with an operation, naming the field."""
    if operation.line < 1:
        return f"field 'line' must be at least 1, not {operation.line}"
    if operation.type is OperationType.DELETE and (operation.line_end or operation.line) < operation.line:
        return f"field 'line_end' ({operation.line_end}) is before 'line' ({operation.line})"
    if operation.type is OperationType.INSERT and not operation.content:
        return "field 'content' is missing or empty"
    control = next((c for c in operation.content if _is_control(c)), None)
    if control is not None:
        return f"field 'content' has a control character (U+{ord(control):04X}), which cannot be typed"
    return None


def _is_control(character: str) -> bool:
    code = ord(character)
    return (code < 0x20 and character not in "\t\n\r") or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000


class OutOfText(Exception):
    """Raised when an operation names a line that the text does not have at that point."""


def expected_content(before: str, operations: Iterable[Operation]) -> str:
    """The text after all operations. A line beyond the end means the end; deleting there deletes nothing."""
    text = normalise(before)
    for operation in operations:
        text = apply(text, operation)
    return text


def apply(text: str, operation: Operation, *, strict: bool = False) -> str:
    """The text after one operation; with `strict`, OutOfText if a line does not exist."""
    lines = split_lines(text)
    if operation.type is OperationType.DELETE:
        last = operation.line_end or operation.line
        if strict and last > len(lines):
            raise OutOfText(f"line {last} is beyond the end: the text has {len(lines)} lines at that point")
        return _without(lines, operation.line, last)
    if operation.type is OperationType.INSERT:
        if strict and operation.line > len(lines) + 1:
            raise OutOfText(f"line {operation.line} is beyond the end: the text has {len(lines)} lines at that point")
        lines.insert(operation.line - 1, _opening(lines, operation.line) + normalise(operation.content))
    return "".join(lines)


def split_lines(text: str) -> list[str]:
    """Lines with their ends, as an editor counts them; no empty line after the last line end."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def normalise(text: str) -> str:
    """The text with LF line ends and without byte order mark; editors preserve the file's own."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def text_hash(text: str) -> str:
    """The hash of a text, independent of its line ends."""
    return hashlib.sha256(normalise(text).encode("utf-8", "surrogatepass")).hexdigest()


def _opening(lines: list[str], line: int) -> str:
    """A line end, if the text is appended after a last line without one."""
    return "\n" if lines and line > len(lines) and not lines[-1].endswith("\n") else ""


def _without(lines: list[str], first: int, last: int) -> str:
    """The text without these lines; if the last line had no line end, the one before it goes too."""
    kept = lines[: first - 1] + lines[last:]
    ended = not lines or lines[-1].endswith("\n")
    if kept and first <= len(lines) <= last and not ended:
        kept[-1] = kept[-1].removesuffix("\n")
    return "".join(kept)
