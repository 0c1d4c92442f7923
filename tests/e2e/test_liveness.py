"""A real run whose command asks something on its terminal: shown with its text wherever runs are shown."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import sys
import termios
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from interlock.journal import RunSummary
from interlock.report.fleet import Fleet
from interlock.tui.fleet_page import run_words
from interlock.web.app import make_app
from interlock.web.source import Source

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
from interlock.adapters.process import Steps
steps = Steps()
steps.before("bash", {"command": "npm init"})
subprocess.run([sys.executable, "-c", sys.argv[1]])
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
    "npm": ((sys.executable, "-c", TOOL, EPOLL), "package name: (shop)"),
}  # fmt: skip


NEED_TERMINAL = ("git password", "passphrase", "pager", "editor", "merge message")
"""Those that need a terminal of their own; two of them write their question to it, past all that we can see."""


class Asking:
    """A run whose command asks something on a real terminal, with an alert channel that we hear."""

    def __init__(self, root: Path, name: str) -> None:
        root.mkdir()
        self.name, self.heard = name, []
        self._server = HTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        channel = f"json://127.0.0.1:{self._server.server_address[1]}"
        self.place = Place(root, {"notifications": {"channels": {"ops": channel}}})
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))
        command, self.text = PROMPTS[name]
        words = self.place.command(*command)
        self.place.begin(
            [*ON_TERMINAL, *words] if name in NEED_TERMINAL else words,
            stdin=slave, stdout=slave, stderr=slave, start_new_session=name not in NEED_TERMINAL,
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
        assert "reads the terminal" in run.liveness.evidence
        _, shown, _ = place.interlock("ps")
        assert b"waiting for a person" in shown and text.encode() in shown, shown
        assert b"Asks a question" in place.interlock("inbox")[1]
        (row,) = Fleet(place.store).rows()
        assert "".join(words for words, _ in run_words(row, time.time())).startswith("? needs you: ")
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


@pytest.mark.parametrize("name", ["password", "pager"])
def test_a_prompt_on_the_terminal_is_shown_as_waiting_for_a_person_with_its_text(tmp_path, name, request):
    asking = Asking(tmp_path / "one", name)
    request.addfinalizer(asking.close)
    asking.check()


@pytest.mark.torture
def test_twelve_prompts_are_shown_as_waiting_for_a_person_with_their_text(tmp_path, request):
    all_of_them = []
    for name in PROMPTS:
        all_of_them.append(Asking(tmp_path / name.replace(" ", "-"), name))
        request.addfinalizer(all_of_them[-1].close)
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
