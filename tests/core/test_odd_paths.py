"""Names that agents choose, on one line; files that are written where an agent could have put a link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlock.core import LaterFile, find_program, open_regular, printable_path, read_small, write_whole
from interlock.report.page.element import el


@pytest.mark.parametrize("name", ["a\n  ~ forged", "a\u202eb", "a\x1b[2Jb", "a\rb", "a\udc80b"])
def test_a_name_is_one_line_without_control(name: str) -> None:
    assert printable_path(name).isprintable()
    assert "\u202e" not in el("p", name, title=name)


def test_the_workspace_itself_has_a_name() -> None:
    assert printable_path("") == "."


def test_below_a_folder_no_link_is_followed(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    (inside / "deep").mkdir(parents=True)
    (inside / "deep" / "file").write_bytes(b"yes")
    (inside / "link").symlink_to(inside / "deep")
    (inside / "out").symlink_to("/etc/passwd")
    assert read_small("deep/file", below=inside) == b"yes"
    for path in ("link/file", "out", "../in/deep/file", "/etc/passwd", "deep", ".", "deep/../../x"):
        with pytest.raises(OSError):
            open_regular(path, below=inside)


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    later = LaterFile(tmp_path / "out")
    (tmp_path / "out").symlink_to(precious)
    (tmp_path / f".out.{os.getpid()}.new").symlink_to(precious)
    later.write(b"ours")
    write_whole(tmp_path / "out", b"ours")
    assert (precious.read_bytes(), (tmp_path / "out").read_bytes()) == (b"mine", b"ours")
    assert not (tmp_path / "out").is_symlink()


def test_what_is_no_file_is_written_as_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    LaterFile(tmp_path / "fifo").write(b"ours")
    assert os.read(reader, 10) == b"ours"
    os.close(reader)


def test_a_program_that_changed_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_program("tool")
    assert found is not None
    assert found.verify() == str(program)
    info = program.stat()
    program.write_text("#!/bin/zh\n")
    os.utime(program, ns=(info.st_atime_ns, info.st_mtime_ns))
    with pytest.raises(PermissionError, match="replaced"):
        found.verify()


def test_one_that_the_agent_could_replace_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = tmp_path / "sh"
    planted.write_text("#!/bin/true\n")
    planted.chmod(0o777)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = find_program("sh")
    assert found is not None
    assert not found.path.startswith(str(tmp_path))
