"""Session JSON is checked before anything is typed, and an error names file, operation and field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interlock.core import BadInput
from interlock.gui.session import OperationType, inside, read_session


def session(**operation: object) -> dict[str, object]:
    return {"session_id": "s", "files": [{"path": "src/a.py", "operations": [{"type": "navigate"}, operation]}]}


def test_op_type_is_another_name_for_type() -> None:
    files = [{"path": "a.py", "operations": [{"op_type": "insert", "line": 1, "content": "x"}]}]
    [operation] = read_session({"session_id": "s", "files": files}).files[0].operations
    assert operation.type is operation.op_type is OperationType.INSERT


def test_a_session_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(
        json.dumps(
            {
                "session_id": "demo",
                "title": "A demo",
                "replay_config": {"chunk_chars": 100},
                "files": [{"path": "a.py", "operations": [{"type": "insert", "line": 1, "content": "é\n"}]}],
                "later": "unknown fields are ignored",
            }
        )
    )
    read = read_session(file)
    assert (read.session_id, read.title, read.replay_config) == ("demo", "A demo", {"chunk_chars": 100})
    assert read.files[0].operations[0].type is OperationType.INSERT


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"type": "insert", "line": 0, "content": "x"}, "field 'line' must be at least 1, not 0"),
        ({"type": "insert", "line": "1", "content": "x"}, "field 'line': Expected `int`, got `str`"),
        ({"type": "jump", "line": 1}, "field 'type': Invalid enum value 'jump'"),
        ({"line": 1}, "Object missing required field `type`"),
        ({"type": "insert", "line": 1}, "field 'content' is missing or empty"),
        ({"type": "delete", "line": 5, "line_end": 4}, r"field 'line_end' \(4\) is before 'line' \(5\)"),
        ({"type": "insert", "line": 1, "content": "a\x1bb"}, r".*control character \(U\+001B\)"),
        ({"type": "insert", "line": 1, "content": 7}, "field 'content': Expected `str`, got `int`"),
    ],
)
def test_a_bad_operation_is_named(operation: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=rf"files\[0\] \(src/a.py\), operations\[1\]: {message}"):
        read_session(session(**operation))


@pytest.mark.parametrize("path", ["/etc/passwd", "../a", "a/../../b", "~/x", "", "a\\b", "C:/x", " a", "a\nb", "."])
def test_paths_that_leave_the_workspace_are_refused(path: str) -> None:
    with pytest.raises(BadInput, match=r"files\[0\] .*field 'path' must"):
        read_session({"session_id": "s", "files": [{"path": path, "operations": []}]})


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([], "must be an object"),
        ({"files": []}, "field 'session_id' is missing"),
        ({"session_id": "s"}, "field 'files' is missing"),
        ({"session_id": "s", "files": {}}, "'files' must be a list"),
        ({"session_id": "s", "files": [{"path": "a"}]}, r"files\[0\]: field 'operations' is missing"),
        ({"session_id": 3, "files": []}, "field 'session_id': Expected `str`"),
        ({"session_id": " ", "files": []}, "'session_id' must have 1 to 200 characters"),
    ],
)
def test_a_bad_shape_is_named(raw: object, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_session(raw)  # type: ignore[arg-type]


def test_a_file_that_is_not_json_says_so(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text("{")
    with pytest.raises(BadInput, match="not JSON"):
        read_session(file)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot read the session"):
        read_session(tmp_path / "none.json")


def test_a_symbolic_link_out_of_the_workspace_is_refused(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "out").symlink_to(tmp_path)
    with pytest.raises(BadInput, match="symbolic link leads out"):
        inside(work, "out/file")
    assert inside(work, "in/file") == work / "in" / "file"
