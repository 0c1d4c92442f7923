"""The command of the hook client: from the wheel, compiled into the user's cache, or run by Python."""

from __future__ import annotations

import hashlib
import os
import platform
import py_compile
import subprocess
import sys
import tempfile
from pathlib import Path

import platformdirs

from ...core import LINUX, find_program, run_program

HERE = Path(__file__).parent
SOURCE = HERE / "hookclient.c"
FALLBACK = HERE / "hookclient.py"
FLAGS = (("-O2", "-s", "-static"), ("-O2", "-s"), ("-O2",))
"""Tried in this order: static binaries start faster."""

COMPILE_S = 60.0


def hook_command() -> tuple[str, ...]:
    """The words that start the hook client on this machine."""
    compiled = compile_client()
    return (str(compiled),) if compiled is not None else python_command()


def python_command() -> tuple[str, ...]:
    """The client in an isolated interpreter, without site packages and environment variables."""
    interpreter = os.path.realpath(sys.executable or "python3")
    return (interpreter, "-I", "-S", str(_bytecode() or FALLBACK))


def compile_client() -> Path | None:
    """The compiled client, compiled if needed; None if there is no C compiler."""
    shipped = HERE / f"hookclient-{platform.machine()}"
    if LINUX and os.access(shipped, os.X_OK):
        return shipped
    path = client_path()
    if is_ours(path):
        return path
    compiler = next((name for name in ("cc", "gcc", "clang") if find_program(name) is not None), None)
    if compiler is None:
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            draft = Path(folder) / "hookclient"
            if not any(_compile(compiler, flags, draft) for flags in FLAGS):
                return None
            draft.chmod(0o700)
            # Renamed once complete: hooks of other runs may be starting it right now.
            draft.replace(path)
    except OSError:
        return None
    return path


def client_path() -> Path:
    """The path of the compiled client for this source."""
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("interlock")) / "hooks" / f"hookclient-{digest}-{platform.machine()}"


def is_ours(path: Path) -> bool:
    """Whether the file exists and only we can have written it."""
    try:
        info = path.stat()
    except OSError:
        return False
    return info.st_uid == os.geteuid() and not info.st_mode & 0o022 and os.access(path, os.X_OK)


def _bytecode() -> Path | None:
    """The fallback as bytecode: a script on the command line would be compiled at every start."""
    digest = hashlib.sha256(FALLBACK.read_bytes()).hexdigest()[:16]
    path = client_path().with_name(f"hookclient-{digest}.{sys.implementation.cache_tag}.pyc")
    if path.exists():
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        py_compile.compile(str(FALLBACK), str(path), doraise=True)
    except (OSError, py_compile.PyCompileError):
        return None
    return path


def _compile(compiler: str, flags: tuple[str, ...], target: Path) -> bool:
    try:
        done = run_program([compiler, *flags, "-o", str(target), str(SOURCE)], timeout=COMPILE_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
