"""Runs the commands of `done_when`, contained like the run, with a time limit, in the workspace or a copy of it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from ..core import LINUX, pin_programs, verified
from ..journal_records import CommandResult
from ..process import isolated_words
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


class PrivateCopy:
    """A layer over the workspace: its upper folder, a work folder, and files outside that are hidden.

    `prepared` are the paths that were put into the layer; `mounted` says whether a command has seen it.
    """

    def __init__(self, upper: Path, work: Path, hidden: tuple[str, ...]) -> None:
        self.upper, self.work, self.hidden = upper, work, hidden
        self.prepared: frozenset[str] = frozenset()
        self.usable, self.mounted = LINUX, False


class CheckRunner:
    """For one run. `enclose` returns the run's sandbox; commands are ended with the run."""

    def __init__(self, folder: str | None, timeout_s: float, has_ended: Callable[[], bool] = lambda: False) -> None:
        self.folder, self.timeout_s, self._has_ended = folder, timeout_s, has_ended
        self.enclose: SandboxBuilder = no_sandbox
        pin_programs(SHELL, "find")

    def run(self, commands: Iterable[str], copy: PrivateCopy | None = None) -> Iterator[CommandResult]:
        """Run the commands, stopping at the first failure; in a copy, until one cannot see it."""
        for command in commands:
            if copy is not None and not copy.usable:
                return
            result = self._run(command, copy)
            if copy is not None and not copy.mounted:
                return
            yield result
            if not result.passed:
                return

    def _run(self, command: str, copy: PrivateCopy | None) -> CommandResult:
        words, fds = self.enclose()
        begin = time.monotonic()
        reading, report = os.pipe()
        words = (*words, SHELL, "-c", command)
        if copy is not None and self.folder is not None:
            above = (str(report), self.folder, str(copy.upper), str(copy.work))
            words = (*isolated_words("private_mount"), *above, str(len(copy.hidden)), *copy.hidden, *words)
        import tempfile

        with tempfile.TemporaryFile() as output, os.fdopen(reading, "rb") as said:
            try:
                verified(SHELL)
                process = subprocess.Popen(
                    words,
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    pass_fds=(*fds, *((report,) if copy is not None else ())),
                    start_new_session=True,
                )
            except OSError as error:
                return CommandResult(command, why=f"could not be started: {error.strerror}")
            finally:
                for fd in (*fds, report):
                    os.close(fd)
            if copy is not None:
                copy.mounted = said.readline() == b"mounted\n"
                copy.usable = copy.mounted
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
