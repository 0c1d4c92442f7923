"""The session of these tests: three files with every kind of edit, non-ASCII text, tabs and 300 lines."""

from __future__ import annotations

import json
from pathlib import Path

LONG = "".join(f"if v{n} <= {{{n}}}:\n\tf('é', [{n}])\n" for n in range(150))

BEFORE = {
    "notes.md": "# Notes\n\nfirst\nsecond\nthird\n",
    "src/data.yaml": "name: old\nitems:\n  - a\n  - b\n",
}

AFTER = {
    "notes.md": "# Notes\n\nfirst\nzweitens: äöü ß → ✓ 日本語 €\n\tindented\nthe end",
    "src/data.yaml": '# made by a script\nname: "new {value}"\nitems:\n  - b\n  - c: [1, 2, (3)]\n',
    "src/long.py": "#!/usr/bin/env python3\n" + LONG.replace("if v3 <= {3}:", "if (v3):"),
}


def session(session_id: str, chunk_chars: int = 400) -> dict[str, object]:
    """The session that makes AFTER from BEFORE."""
    return {
        "session_id": session_id,
        "title": "A demonstration",
        "replay_config": {"chunk_chars": chunk_chars},
        "files": [
            {
                "path": "notes.md",
                "operations": [
                    {"type": "navigate", "line": 4},
                    {"type": "delete", "line": 4, "line_end": 5},
                    {"type": "insert", "line": 4, "content": "zweitens: äöü ß → ✓ 日本語 €\n\tindented\n"},
                    {"type": "insert", "line": 6, "content": "the end"},
                ],
            },
            {
                "path": "src/data.yaml",
                "operations": [
                    {"type": "delete", "line": 3},
                    {"type": "insert", "line": 4, "content": "  - c: [1, 2, (3)]\n"},
                    {"type": "delete", "line": 1},
                    {"type": "insert", "line": 1, "content": '# made by a script\nname: "new {value}"\n'},
                ],
            },
            {
                "path": "src/long.py",
                "operations": [
                    {"type": "insert", "line": 1, "content": LONG},
                    {"type": "navigate", "line": 7},
                    {"type": "delete", "line": 7},
                    {"type": "insert", "line": 7, "content": "if (v3):\n"},
                    {"type": "insert", "line": 1, "content": "#!/usr/bin/env python3\n"},
                ],
            },
        ],
    }


def make_workspace(folder: Path) -> Path:
    """A workspace as it is before the session."""
    for path, text in BEFORE.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def write_session(file: Path, session_id: str, chunk_chars: int = 400) -> Path:
    file.write_text(json.dumps(session(session_id, chunk_chars)))
    return file


def assert_exact(workspace: Path) -> None:
    """Every file is what the script meant, byte for byte."""
    for path, text in AFTER.items():
        assert (workspace / path).read_bytes() == text.encode(), path
