"""A real run whose command asks something, on its terminal or through a pipe: shown with its text wherever runs are."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from interlock.adapters.command.liveness_monitor import AGAIN_S
from interlock.journal import RunSummary
from interlock.web.serve import make_app
from interlock.web.source import Source
from tests.tui.terminal import top

from .running import ON_TERMINAL, Place, until

EPOLL = """
import select, sys
print("package name: (shop) ", end="", flush=True)
epoll = select.epoll()
epoll.register(0, select.EPOLLIN)
epoll.poll()
"""
TOOL = """
import subprocess, sys
from interlock.adapters.command import Steps
steps = Steps()
steps.before("bash", {"command": "npm init"})
subprocess.run([sys.executable, "-c", sys.argv[1]])
"""
PIPED_TOOL = """
import subprocess
from interlock.adapters.command import Steps
Steps().before("bash", {"command": "deploy"})
subprocess.Popen(["sh", "-c", "printf 'Overwrite (y/n)? '; read answer"], stdin=subprocess.PIPE).wait()
"""
IN_REPOSITORY = (
    "git init -q -b main . && git config user.email a@b.c && git config user.name a &&"
    " git commit -q --allow-empty -m one && git checkout -q -b side && git commit -q --allow-empty -m two &&"
    " git checkout -q main && git commit -q --allow-empty -m three && "
)
PROMPTS: dict[str, tuple[tuple[str, ...], str]] = {
    "password": ((sys.executable, "-c", "import getpass; getpass.getpass('Password for deploy@host: ')"),
                 "Password for deploy@host:"),
    "yes or no": (("sh", "-c", "printf 'Do you want to continue? [Y/n] '; read answer"), "continue? [Y/n]"),
    "host key": (("sh", "-c", "printf 'Are you sure you want to continue connecting (yes/no)? '; read answer"),
                 "continue connecting (yes/no)?"),
    "licence": ((sys.executable, "-c", "input('Do you accept the licence terms? ')"), "accept the licence terms?"),
    "git password": (("sh", "-c", "printf 'protocol=https\\nhost=example.org\\n\\n' | git credential fill"),
                     "git credential fill asks for input on its terminal"),
    "passphrase": (("ssh-keygen", "-q", "-t", "ed25519", "-f", "key"), "ssh-keygen -q -t ed25519 -f key asks for a password on its terminal"),
    "overwrite": (("sh", "-c", "touch key; exec ssh-keygen -q -t ed25519 -N '' -f key"), "Overwrite (y/n)?"),
    "removal": (("sh", "-c", "touch kept; exec rm -i kept"), "'kept'?"),
    "pager": (("sh", "-c", "seq 1 500 > pages; exec less pages"), "less shows pages and waits for a key"),
    "editor": (("sh", "-c", "touch notes.txt; exec vi notes.txt"), "waits for somebody to edit notes.txt"),
    "merge message": (("sh", "-c", f"{IN_REPOSITORY} GIT_EDITOR=vi git merge --edit side"),
                      "waits for somebody to edit MERGE_MSG"),
    "npm of an agent": ((sys.executable, "-c", TOOL, EPOLL), "package name: (shop)"),
    "npm": (("sh", "-c", "mkdir -p shop && cd shop && exec npm init"), "package name: (shop)"),
    "any key": (("bash", "-c", "read -rsn1 -p 'Press any key to continue . . . '"), "Press any key to continue"),
    "pinentry": (("sh", "-c", "touch file; mkdir -m 700 gpg; GPG_TTY=$(tty) GNUPGHOME=$PWD/gpg exec gpg --symmetric file"),
                 "shows a dialog and waits for an answer"),
}  # fmt: skip
PIPED: dict[str, tuple[tuple[str, ...], str]] = {
    "yes or no": (("sh", "-c", "printf 'Do you want to continue? [Y/n] '; read answer"), "continue? [Y/n]"),
    "input": ((sys.executable, "-c", "input('Do you accept the licence terms? ')"), "accept the licence terms?"),
    "removal": (("sh", "-c", "touch kept; rm -i kept"), "'kept'?"),
    "npm": (("sh", "-c", "mkdir -p shop && cd shop && exec npm init"), "package name: (shop)"),
    "polled": ((sys.executable, "-c", "import select; print('User name: ', end='', flush=True); select.select([0], [], [])"),
               "User name:"),
    "of an agent": ((sys.executable, "-c", PIPED_TOOL), "Overwrite (y/n)?"),
}  # fmt: skip


NEED_TERMINAL = ("git password", "passphrase", "pager", "editor", "merge message", "pinentry", "npm", "any key")
"""Those that need a terminal of their own; three of them write their question to it, past all that we can see."""


class Asking:
    """A run whose command asks something on a real terminal or through a pipe, with an alert channel that we hear."""

    def __init__(self, root: Path, name: str, *, piped: bool = False) -> None:
        root.mkdir()
        self.name, self.heard, self._piped = name, [], piped
        self._server = HTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        channel = f"json://127.0.0.1:{self._server.server_address[1]}"
        self.place = Place(root, {"notifications": {"channels": {"ops": channel}}})
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))
        command, self.text = (PIPED if piped else PROMPTS)[name]
        words = self.place.command(*command)
        streams = {"stdin": subprocess.PIPE} if piped else {"stdin": slave, "stdout": slave, "stderr": slave}
        leads = name in NEED_TERMINAL and not piped
        self.place.begin(
            [*ON_TERMINAL, *words] if leads else words, start_new_session=not leads, **streams,
            env={**self.place.environment, "TERM": "xterm", "GIT_TERMINAL_PROMPT": "1", "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        os.close(slave)
        self.drawn: list[bytes] = []
        threading.Thread(target=read_all, args=(self.master, self.drawn), daemon=True).start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        heard = self.heard

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                heard.append(self.rfile.read(int(self.headers["content-length"])).decode())
                self.send_response(200)
                self.end_headers()

            def log_message(self, *words: object) -> None:
                return

        return Handler

    def check(self) -> None:
        """It is shown everywhere, with its text."""
        place, text = self.place, self.text
        told = lambda: question_of(runs[0]) if (runs := place.store.runs()) else "no run"  # noqa: E731
        try:
            until(f"{self.name} is told", lambda: text in told())
        except AssertionError as error:
            raise AssertionError(f"{error}, but {told()!r}; {b''.join(self.drawn)[-500:]!r}") from None
        run = place.store.runs()[0]
        assert run.liveness is not None and run.liveness.word == "waiting for a person"
        assert ("reads its standard input" if self._piped else "reads the terminal") in run.liveness.evidence
        # A pipe into the run has somebody at its other end: only an agent's own tool is a hang.
        kind = "tool waits for input" if self.name.endswith("of an agent") and self._piped else None
        assert run.liveness.wedged == kind or not self._piped
        _, shown, _ = place.interlock("ps")
        assert b"waiting for a person" in shown and text.encode() in shown, shown
        inbox = place.interlock("inbox")[1]
        assert b"Asks a question" in inbox
        assert not re.search(rb"interlock inbox \S+ answer", inbox), inbox
        assert (b"to its standard input" if self._piped else b"in the terminal of the run") in inbox
        if shutil.which("tmux"):
            terminal = top(place, columns=200)
            try:
                terminal.sees("? needs you: ", text)
            finally:
                terminal.close()
        with TestClient(make_app(Source(place.store), TOKEN), base_url="http://127.0.0.1:7717") as client:
            told = client.get("/api/runs", headers={"authorization": f"Bearer {TOKEN}"}).json()
        assert text in json.dumps(told, ensure_ascii=False), told
        until("the alert has come", lambda: any(text in json.loads(each)["message"] for each in self.heard))

    def close(self) -> None:
        self.place.close()
        self._server.shutdown()
        self._server.server_close()
        os.close(self.master)


TOKEN = "a-token-that-only-these-tests-know-0123456789"


@pytest.mark.parametrize(("name", "piped"), [("password", False), ("pager", False), ("yes or no", True)])
def test_a_prompt_is_shown_as_waiting_for_a_person_with_its_text(tmp_path, name, piped, request):
    asking = Asking(tmp_path / "one", name, piped=piped)
    request.addfinalizer(asking.close)
    asking.check()


def test_a_question_is_recorded_once_although_another_owner_takes_over(tmp_path, request):
    asking = Asking(tmp_path / "one", "yes or no")
    request.addfinalizer(asking.close)
    place = asking.place
    until("it is told", lambda: (runs := place.store.runs()) and asking.text in question_of(runs[0]))
    os.kill(place.folder.owner().pid, signal.SIGKILL)
    until("another owner has taken over", lambda: any(each.get("successor") for each in place.records("started")))
    time.sleep(4 * AGAIN_S)
    assert asking.text in question_of(place.store.runs()[0])
    assert [asking.text in each.get("question", "") for each in place.records("liveness")] == [True]


@pytest.mark.torture
@pytest.mark.parametrize("piped", [False, True])
def test_every_prompt_is_shown_as_waiting_for_a_person_with_its_text(tmp_path, piped, request):
    all_of_them = []
    for name, (command, _) in (PIPED if piped else PROMPTS).items():
        if shutil.which(command[0]) is None or (name.startswith("npm") and shutil.which("npm") is None):
            continue
        if name == "pinentry" and shutil.which("pinentry-curses") is None:
            continue
        all_of_them.append(Asking(tmp_path / name.replace(" ", "-"), name, piped=piped))
        request.addfinalizer(all_of_them[-1].close)
    print([asking.name for asking in all_of_them])
    for asking in all_of_them:
        asking.check()


def question_of(run: RunSummary) -> str:
    return run.liveness.question or "" if run.liveness is not None else ""


def read_all(master: int, drawn: list[bytes]) -> None:
    try:
        while data := os.read(master, 65_536):
            drawn.append(data)
    except OSError:
        return
