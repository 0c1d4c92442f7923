"""CodeServer: VS Code's server on loopback, with its own profile."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from ...core import BadInput, InvalidState
from ..desktop.programs import Programs
from ..wait import wait_until
from .install import Installed
from .profile import write_defaults, write_profile

START_S = 60.0
ANSWER_S = 10.0


class CodeServer:
    """One server for one workspace; can be ended and started again on the same port."""

    def __init__(self, programs: Programs, environment: dict[str, str], installed: Installed, folder: Path) -> None:
        self._programs, self._environment, self._installed = programs, environment, installed
        self.folder = folder
        self.port = free_port()

    def start(self, workspace: Path) -> None:
        self.write_settings()
        self._programs.start(
            "code-server",
            [
                str(self._installed.node), str(self._installed.entry), "--auth", "none",
                "--bind-addr", f"127.0.0.1:{self.port}", "--user-data-dir", str(self.folder / "user-data"),
                "--extensions-dir", str(self.folder / "extensions"), "--disable-telemetry", "--disable-update-check",
                "--disable-getting-started-override", "--config", "/dev/null", str(workspace),
            ],
            self._environment,
        )  # fmt: skip
        if not wait_until(self.answers, START_S, every_s=0.2):
            raise InvalidState(f"the editor's server does not start: {self._programs.log('code-server', 400)!r}")

    def write_settings(self) -> bool:
        """Write the editor's settings; an open window reads them again. False if they are not ours to write."""
        write_profile(self.folder / "user-data")
        return True

    def lose_settings(self) -> None:
        """Leave the editor its defaults, to see what becomes of a session then."""
        write_defaults(self.folder / "user-data")

    def end(self) -> None:
        self._programs.end("code-server")

    def answers(self) -> bool:
        """Whether the server is there."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def address(self, workspace: Path) -> str:
        return f"http://127.0.0.1:{self.port}/?folder={quote(str(workspace))}"


class RunningServer:
    """An editor's server that someone else started, at an address; it is never ended or started by us."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise BadInput(f"{url!r} is not the address of an editor", todo="For example http://127.0.0.1:8080/")
        self._parts = parts

    def start(self, workspace: Path) -> None:
        if not wait_until(self.answers, ANSWER_S, every_s=0.5):
            raise InvalidState("the editor's server does not respond", where=urlunsplit(self._parts))

    def write_settings(self) -> bool:
        return False

    def end(self) -> None:
        return

    def answers(self) -> bool:
        """Whether the server is there; any answer of HTTP will do."""
        try:
            with urllib.request.urlopen(urlunsplit(self._parts), timeout=2):
                return True
        except urllib.error.HTTPError:
            return True
        except (urllib.error.URLError, OSError):
            return False

    def address(self, workspace: Path) -> str:
        query = self._parts.query or f"folder={quote(str(workspace))}"
        return urlunsplit(self._parts._replace(query=query))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
