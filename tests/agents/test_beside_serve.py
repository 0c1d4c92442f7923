"""The ladder with real clients whose runs are forks of `interlock serve`: nothing is different for the agent."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import finish, owners

from .clients import ClaudeCode, Client, Codex, shown, until
from .ladder import LADDER_S, QUICK, LadderPlace, Stubborn, version_of
from .test_ladder_stubborn import climbs

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]

FRONT = b"interlock.adapters.command.front"
"""The name of a front that was forked, which no front has that was started by `interlock run` itself."""


class ServedPlace(LadderPlace):
    """The same beside `interlock serve`."""

    def __init__(self, *given: Any) -> None:
        # A socket's path is short, and that of a test's folder may be too long for it.
        self._sockets = tempfile.TemporaryDirectory(prefix="il-", dir="/tmp")
        super().__init__(*given)
        self._serve = self.begin([sys.executable, "-m", "interlock", "serve", "--config", str(self.config)])
        until("a warm start is there", (Path(self._sockets.name) / "interlock" / "warm.sock").exists)

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "XDG_RUNTIME_DIR": self._sockets.name}

    def start(self, *argv: str, options: tuple[str, ...] = (), **more: Any) -> subprocess.Popen[bytes]:
        # The front of a run with a terminal is a process of its own.
        return super().start(*argv, options=options, start_new_session=True, **more)

    def close(self) -> None:
        self._serve.terminate()
        finish(self._serve)
        super().close()
        self._sockets.cleanup()


@pytest.fixture(params=(ClaudeCode(), Codex()), ids=lambda client: client.name)
def served(
    request: pytest.FixtureRequest, agents_folder: Path, tmp_path: Path, record_property: Callable[..., None]
) -> Iterator[LadderPlace]:
    client: Client = request.param
    record_property("agent", client.name)
    record_property("version", version_of(client, agents_folder, tmp_path))
    yield from ServedPlace.opened(tmp_path, client, Stubborn(), agents_folder, QUICK)


def test_a_stuck_loop_climbs_to_a_rollback_and_to_a_stop(served: LadderPlace) -> None:
    process = served.begin_task(options=("--proxy",))
    until("its front is a fork of the warm start", lambda: owners(served, FRONT))
    out, err = process.communicate(timeout=LADDER_S)
    assert process.returncode == 125, (out, err)
    told = served.told()
    assert told["reason"] == "EMERGENCY_STOP", shown(told)
    climbs(served, "emergency_stop")
    assert not owners(served, FRONT)
