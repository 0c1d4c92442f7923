"""Landlock alone, without mounts: what it refuses by itself, as the second wall around a contained command."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.process import landlock

INSIDE = """
import os, socket, sys
sys.path.append(sys.argv[1])
import landlock
version = landlock.restrict([sys.argv[2], "/dev"], True)
free, shut = sys.argv[2], sys.argv[3]
def attempt(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    return "done"
connect = lambda: socket.socket(socket.AF_UNIX).connect("\\0" + sys.argv[4])
for what in (
    lambda: open(free + "/made", "w"), lambda: os.rename(free + "/made", free + "/moved"),
    lambda: open(shut + "/made", "w"), lambda: os.mkdir(shut + "/folder"), lambda: os.unlink(shut + "/there"),
    lambda: os.rename(shut + "/there", shut + "/gone"), lambda: os.truncate(shut + "/there", 0),
    lambda: os.symlink("x", shut + "/link"), lambda: os.link(shut + "/there", free + "/there"),
    lambda: os.mkfifo(shut + "/pipe"), lambda: open(shut + "/there").read(), connect,
):
    print(attempt(what))
print(version)
"""


def test_landlock_alone_refuses_every_write_outside_and_abstract_sockets(tmp_path: Path) -> None:
    free, shut = tmp_path / "free", tmp_path / "shut"
    free.mkdir()
    shut.mkdir()
    (shut / "there").write_text("words")
    outside = socket.socket(socket.AF_UNIX)
    outside.bind(f"\0{tmp_path}")
    outside.listen()
    words = [sys.executable, "-I", "-S", "-c", INSIDE, str(Path(landlock.__file__).parent), str(free), str(shut)]
    # Restricting itself needs no privileges but this.
    unprivileged = ["setpriv", "--no-new-privs", *words, str(tmp_path)]
    *said, version = subprocess.check_output(unprivileged, text=True).split()
    outside.close()
    if version == "0":
        pytest.skip("this kernel has no Landlock")
    written, read, connected = said[:10], said[10], said[11]
    assert written[:2] == ["done", "done"] and read == "done"
    assert set(written[2:6]) | {written[7], written[9]} == {"PermissionError"}
    if int(version) >= 3:
        assert written[6] == "PermissionError", "truncate"
    assert written[8] in ("PermissionError", "OSError"), "a link across the border"
    if int(version) >= 6:
        assert connected == "PermissionError"
    assert (shut / "there").read_text() == "words" and [path.name for path in shut.iterdir()] == ["there"]
