"""Runs the commands of `done_when` in the workspace, contained like the run, with a time limit."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

from ..core import pin_programs, verified
from ..journal_records import CommandResult
from ..redact import redact_text

POLL_S = 0.5
"""How often to check whether the run has ended while a command runs."""

SHELL = "/bin/sh"
SHOWN = 4_000
"""Characters of output to keep: the end, where test runners print a summary."""

SandboxBuilder = Callable[[], tuple[tuple[str, ...], tuple[int, ...]]]
"""Returns the sandbox command to put before a command, and the descriptors that it needs."""


def no_sandbox() -> tuple[tuple[str, ...], tuple[int, ...]]:
    """A SandboxBuilder that adds no sandbox."""
    return (), ()


class CheckRunner:
    """For one run. `enclose` returns the run's sandbox; commands are ended with the run."""

    def __init__(self, folder: str | None, timeout_s: float, has_ended: Callable[[], bool] = lambda: False) -> None:
        self.folder, self.timeout_s, self._has_ended = folder, timeout_s, has_ended
        self.enclose: SandboxBuilder = no_sandbox
        pin_programs(SHELL)

    def run(self, commands: Iterable[str]) -> tuple[CommandResult, ...]:
        """Run the commands, stopping at the first failure."""
        results = []
        for command in commands:
            results.append(self._run(command))
            if not results[-1].passed:
                break
        return tuple(results)

    def _run(self, command: str) -> CommandResult:
        words, fds = self.enclose()
        begin = time.monotonic()
        # Compiled files next to the sources may come from the agent: Python would run them instead of the sources.
        import tempfile

        with tempfile.TemporaryFile() as output, tempfile.TemporaryDirectory(prefix="interlock-check-") as caches:
            try:
                verified(SHELL)
                process = subprocess.Popen(
                    [*words, SHELL, "-c", command],
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "PYTHONPYCACHEPREFIX": caches},
                    pass_fds=fds,
                    start_new_session=True,
                )
            except OSError as error:
                return CommandResult(command, why=f"could not be started: {error.strerror}")
            finally:
                for fd in fds:
                    os.close(fd)
            status, why = self._wait(process, begin + self.timeout_s)
            # Processes that it left running could write to files that were just checked.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            text = _tail(output)
            if status == 0:
                from ..proof import why_not_passed

                why = why_not_passed(command, text)
            return CommandResult(command, status, round(time.monotonic() - begin, 3), text, why)

    def _wait(self, process: subprocess.Popen[bytes], deadline: float) -> tuple[int | None, str]:
        """The exit status, or why there is none."""
        while not self._has_ended():
            left = deadline - time.monotonic()
            if left <= 0:
                return None, f"took longer than {self.timeout_s:g} s (contract.timeout_seconds)"
            with suppress(subprocess.TimeoutExpired):
                return process.wait(min(left, POLL_S)), ""
        return None, "ended together with the run"


def missing_program(program: str, folder: Path) -> bool:
    """Whether a program does not exist."""
    import shutil

    if "/" in program:
        path = Path(program).expanduser()
        return not os.access(path if path.is_absolute() else folder / path, os.X_OK)
    return shutil.which(program) is None


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 4 * SHOWN))
    text = redact_text(file.read().decode("utf-8", "replace")).strip()
    return text if len(text) <= SHOWN else f"…{text[-SHOWN:]}"
