"""Records the picture of README.md, docs/images/first-run.svg: the commands of its first supervised run, on a terminal.

The commands are read from README.md, so the picture shows what a reader of it can repeat.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
IMAGE = ROOT / "docs" / "images" / "first-run.svg"
SECTION = "## Your first supervised run"
COLUMNS, ROWS = 88, 24
NOT_SHOWN = re.compile(r"^(?:interlock: (?:guard: |saving )|.*━).*\n", re.MULTILINE)
"""What depends on the machine: how the agent is contained and how fast files are saved."""


def commands() -> list[str]:
    """The commands of the section, in order."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split(SECTION)[1]
    block = section.split("```console\n")[1].split("```")[0]
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def run_on_terminal(command: str, folder: Path, environment: dict[str, str]) -> str:
    """What a command prints on a terminal, colours included."""
    master, slave = pty.openpty()
    os.set_blocking(master, True)
    process = subprocess.Popen(
        ["/bin/bash", "-c", f"stty rows {ROWS} cols {COLUMNS}; {command}"],
        cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    printed = b""
    while chunk := read(master):
        printed += chunk
    os.close(master)
    if process.wait(timeout=60):
        sys.exit(f"{command}: exit status {process.returncode}\n{printed.decode()}")
    return printed.decode().replace("\r\n", "\n")


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # every process has closed the terminal
        return b""


def record() -> str:
    """The whole session as an SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    with tempfile.TemporaryDirectory(prefix="interlock-picture-") as scratch:
        folder = Path(scratch)
        environment = {
            **os.environ,
            "HOME": scratch,
            "TERM": "xterm-256color",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "XDG_STATE_HOME": f"{scratch}/state",
            "XDG_CONFIG_HOME": f"{scratch}/config",
        }
        for command in commands():
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            if command.startswith("cd "):
                folder /= command.removeprefix("cd ")
                continue
            printed = NOT_SHOWN.sub("", run_on_terminal(command, folder, environment)).strip("\n")
            if printed:
                console.print(Text.from_ansi(printed))
    svg = console.export_svg(title="interlock", unique_id="first-run")
    # The font is the reader's own: nothing is fetched from elsewhere.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    IMAGE.write_text(record())
