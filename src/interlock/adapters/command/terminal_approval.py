"""TerminalApproval: asks the person at the terminal whether a step may run, or prints how to answer."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import sys
import termios
import threading
import uuid

from ...core import printable
from ...journal import RunFolder
from .owner_messages import ApprovalAsked
from .terminal_foreground import Foreground

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...control import Command

POLL_S = 0.3
"""How often to check whether the step was answered elsewhere."""

YES, NO = ("y", "yes"), ("n", "no")


class TerminalApproval:
    """Asks one question after another, in its own thread."""

    def __init__(self, folder: RunFolder, foreground: Foreground | None = None) -> None:
        self._folder, self._foreground = folder, foreground
        self._questions: queue.SimpleQueue[ApprovalAsked] = queue.SimpleQueue()
        self._asked: set[tuple[int, str]] = set()
        self._deferred: list[str] = []
        self._thread = threading.Thread(target=self._work, name="interlock-person", daemon=True)

    def ask(self, question: ApprovalAsked) -> None:
        """Ask a question, once."""
        if (question.step, question.digest) in self._asked:
            return
        self._asked.add((question.step, question.digest))
        self._questions.put(question)
        if self._thread.ident is None:
            self._thread.start()

    def print_message(self, words: str) -> None:
        """Print a message, or defer it to the end while a full-screen program uses the terminal."""
        terminal = open_line_terminal(self._foreground)
        if terminal is not None:
            os.close(terminal)
        elif sys.stderr is not None and sys.stderr.isatty():
            self._deferred.append(words)
            return
        write_stderr(f"interlock: {words}\n")

    def print_deferred(self) -> None:
        """Print the deferred messages, after the command has ended."""
        for words in self._deferred:
            write_stderr(f"interlock: {words}\n")
        self._deferred.clear()

    def _work(self) -> None:
        while True:
            question = self._questions.get()
            terminal = open_line_terminal(self._foreground)
            if terminal is None:
                write_stderr(f"interlock: step {question.step} needs approval: {question.what}\n")
                write_stderr(f"  interlock approve {self._folder.run_id} --step {question.step}, or interlock reject\n")
                continue
            try:
                with self._foreground.borrowed() if self._foreground is not None else contextlib.nullcontext():
                    self._put(terminal, question)
            finally:
                os.close(terminal)

    def _put(self, terminal: int, question: ApprovalAsked) -> None:
        words = f"\ninterlock: step {question.step} wants to run: {question.what}\n  Allow? [y/n, or n REASON] "
        _write(terminal, words)
        while True:
            line = self._read(terminal, question)
            if line is None:
                _write(terminal, "(answered elsewhere)\n")
                return
            said, _, why = line.strip().partition(" ")
            if said.lower() in YES + NO:
                problem = self._answer("approve" if said.lower() in YES else "reject", question, why)
                if not problem:
                    return
                _write(terminal, f"  Not delivered: {problem}\n")
            _write(terminal, "  y or n: ")

    def _read(self, terminal: int, question: ApprovalAsked) -> str | None:
        """The next line; None if the step is no longer waiting."""
        while self._is_waiting(question):
            if select.select([terminal], [], [], POLL_S)[0]:
                return os.read(terminal, 4096).decode("utf-8", "replace") or None
        return None

    def _is_waiting(self, question: ApprovalAsked) -> bool:
        from ...journal import summarize

        summary = summarize(self._folder)
        return summary is None or summary.status == "unreadable" or summary.waiting == question.what

    def _answer(self, command: Command, question: ApprovalAsked, why: str) -> str:
        """Send the answer; returns the problem, or an empty text if there was none."""
        from ...control import new_request
        from ...link import ask_owner

        given = {"step": question.step, "digest": question.digest, "reason": why}
        payload: dict[str, object] = {key: value for key, value in given.items() if value != ""}
        request = new_request(str(uuid.uuid4()), command, self._folder.run_id, payload, actor="terminal")
        answer = ask_owner(self._folder, request, timeout=10.0)
        return "" if answer.outcome == "success" else answer.message or answer.outcome


def open_line_terminal(foreground: Foreground | None = None) -> int | None:
    """The terminal, if it is in line mode and we or the command are in its foreground; None otherwise."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None
    try:
        ours = (os.getpgrp(), foreground.group if foreground is not None else None)
        if termios.tcgetattr(terminal)[3] & termios.ICANON and os.tcgetpgrp(terminal) in ours:
            return terminal
    except (OSError, termios.error):
        pass
    os.close(terminal)
    return None


def _write(terminal: int, words: str) -> None:
    os.write(terminal, printable(words).encode())


def write_stderr(words: str) -> None:
    """Print a message for the person who started the run, if stderr is open."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(printable(words))
            sys.stderr.flush()
