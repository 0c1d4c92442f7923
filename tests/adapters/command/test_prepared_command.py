"""A command that is prepared while its owner gets ready begins when it is let, or never."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.adapters.command.prepared_command import PreparedCommand
from interlock.contain import GuardedPaths, find_bubblewrap, guard_words, why_not
from interlock.core import RunSpec
from interlock.process import Enclosure, ProcessTree, TreeHandle, spawn

from ...waiting import until

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no guard here: {why_not()}")


def prepare(folder: Path, *argv: str) -> tuple[PreparedCommand, list[TreeHandle]]:
    """The command, and its tree once it is about to begin."""
    program = find_bubblewrap()
    assert program is not None
    wall = Enclosure(words=guard_words(program, GuardedPaths(), ()))
    known: list[TreeHandle] = []

    def start(wait: Callable[[], None], hold: Callable[[], None]) -> ProcessTree:
        wait()

        def on_known(tree: TreeHandle) -> None:
            known.append(tree)
            hold()

        spec = RunSpec(run_id="r", argv=argv, cwd=str(folder), adapter="process")
        return spawn(spec, stdout=subprocess.DEVNULL, enclosure=wall, on_known=on_known)

    return PreparedCommand(start), known


def test_it_does_nothing_before_it_may_begin(tmp_path: Path) -> None:
    prepared, known = prepare(tmp_path, "touch", "done")
    assert not prepared.wait(0) and not known
    prepared.set_ready()
    until("it stands before its first instruction", lambda: known)
    assert prepared.wait(150)
    assert not (tmp_path / "done").exists()
    with prepared.begin() as tree:
        assert tree.wait() == 0
    assert (tmp_path / "done").exists()


def test_one_that_is_abandoned_never_runs_and_leaves_nothing(tmp_path: Path) -> None:
    prepared, known = prepare(tmp_path, "touch", "done")
    assert not prepared.wait(0) and not known
    prepared.set_ready()
    until("it stands before its first instruction", lambda: known)
    prepared.abandon()
    assert not (tmp_path / "done").exists()
    assert not Path(f"/proc/{known[0].root.pid}").exists()
    assert not known[0].group or not Path(known[0].group).exists()


def test_what_keeps_it_from_starting_is_raised_where_it_is_let_begin(tmp_path: Path) -> None:
    def fail(_: Callable[[], None], __: Callable[[], None]) -> ProcessTree:
        raise RuntimeError("no room")

    prepared = PreparedCommand(fail)
    assert prepared.wait(150)
    with pytest.raises(RuntimeError, match="no room"):
        prepared.begin()


def test_one_that_is_abandoned_before_it_has_its_place_starts_no_process(tmp_path: Path) -> None:
    prepared, known = prepare(tmp_path, "touch", "done")
    prepared.abandon()
    assert not known and not (tmp_path / "done").exists()
