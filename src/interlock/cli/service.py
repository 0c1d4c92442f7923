"""The systemd user unit of `interlock serve`: parked runs resume after a reboot, and hooks have a supervisor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ..core import InterlockError

UNIT = "interlock.service"

TEMPLATE = """\
[Unit]
Description=Interlock: the resident supervisor, which resumes parked runs
Documentation=man:systemd.service(5)
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
ExecStart={command}
Restart=on-failure
RestartSec=5
# What it supervises survives a restart.
KillMode=process

[Install]
WantedBy=default.target
"""


def unit_text(config: Path | None = None) -> str:
    """The unit, for the interpreter that runs now."""
    words = [sys.executable, "-m", "interlock", "serve", *(("--config", str(config.resolve())) if config else ())]
    return TEMPLATE.format(command=" ".join(map(_quoted, words)))


def unit_path() -> Path:
    """Where a user's units are."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    return Path(home) / "systemd" / "user" / UNIT


def install_service(config: Path | None = None) -> list[str]:
    """Write the unit, and start it where a systemd of this user answers; what was done, in words."""
    path = unit_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(unit_text(config))
    except OSError as error:
        raise InterlockError(f"the unit cannot be written ({error.strerror})", where=str(path)) from None
    done = [f"wrote {path}"]
    control = shutil.which("systemctl")
    for words in (("daemon-reload",), ("enable", "--now", UNIT)):
        command = ["systemctl", "--user", *words]
        if control is None or subprocess.run(command, capture_output=True, check=False).returncode:
            return [*done, f"systemd did not respond; once it does: systemctl --user enable --now {UNIT}"]
    done.append(f"enabled and started {UNIT}")
    return [*done, "to keep it running while you are logged out: loginctl enable-linger"]


def _quoted(word: str) -> str:
    """A word of ExecStart: systemd reads % and $ in it."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{plain}"' if any(char in plain for char in " \t\"'\\;") else plain
