"""While the first owner gets ready, a person at a terminal is told once what takes so long."""

from __future__ import annotations

import io
import signal
import sys

import pytest

from interlock.adapters.command import owner_process
from interlock.adapters.command.owner_process import OwnerStartup
from interlock.core import RunSpec

SPEC = RunSpec(run_id="r1", workspace="/srv/here")


class Screen(io.StringIO):
    """What a person reads."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("slow_s", "times"), [(0.0, 1), (600.0, 0)])
def test_a_workspace_is_named_once_if_it_takes_long(slow_s: float, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(owner_process, "SLOW_S", slow_s)
    now = OwnerStartup(SPEC, frozenset)
    now.check()
    now.check()
    assert screen.getvalue().count("saving the workspace /srv/here") == times


def test_a_signal_that_came_before_the_command_ends_the_start() -> None:
    with pytest.raises(KeyboardInterrupt):
        OwnerStartup(SPEC, lambda: {signal.SIGINT}).check()
    with pytest.raises(SystemExit) as left:
        OwnerStartup(SPEC, lambda: {signal.SIGTERM}).check()
    assert left.value.code == 128 + signal.SIGTERM
