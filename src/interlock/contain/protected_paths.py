"""The paths that every contained run protects, and sockets and code that it keeps away."""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import sys
from collections.abc import Iterable
from pathlib import Path

from ..core import user_folder
from ..process import read_mounts

SHELL_FILES = (".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile",
               ".zlogin", ".config/fish/config.fish", ".xprofile", ".xsessionrc", ".pam_environment")  # fmt: skip
START_UP = (".config/autostart", ".config/environment.d")
SYSTEM_START_UP = ("/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/zsh", "/etc/environment",
                   "/etc/rc.local", "/etc/ld.so.preload")  # fmt: skip
CRON = ("/etc/crontab", "/etc/cron.d", "/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly",
        "/var/spool/cron/crontabs", "/etc/anacrontab")  # fmt: skip
AT = ("/var/spool/cron/atjobs", "/var/spool/cron/atspool", "/var/spool/at")
EDITORS = ("SWAYSOCK", "I3SOCK", "VSCODE_IPC_HOOK_CLI", "WSL_INTEROP")
"""Variables that name a socket of a program that starts others."""

UNITS = ("/etc/systemd", "/usr/lib/systemd", "/lib/systemd", "/run/systemd", "/usr/local/lib/systemd")


def homes() -> tuple[Path, ...]:
    """The user's home according to the environment and to the system."""
    known = [Path(os.environ["HOME"])] if os.environ.get("HOME") else []
    with contextlib.suppress(KeyError):
        known.append(Path(pwd.getpwuid(os.geteuid()).pw_dir))
    return tuple(dict.fromkeys(path for path in known if path.is_absolute()))


def every_home() -> tuple[Path, ...]:
    """All homes that we can read: as root, everybody's."""
    others = [Path(user.pw_dir) for user in pwd.getpwall() if user.pw_dir.startswith("/")] if os.geteuid() == 0 else []
    return tuple(dict.fromkeys((*homes(), *others)))


def own_folders() -> tuple[Path, ...]:
    """Our configuration and cache, which contains the hook client: read-only inside."""
    return user_folder("config"), user_folder("cache")


@functools.cache
def code_paths() -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Where our own code is; and folders inside of it that are not ours and may be written."""
    package = Path(__file__).parents[1]
    # Without sysconfig, which takes a tenth of a megabyte.
    standard, interpreter = Path(os.__file__).parent, Path(os.path.realpath(sys.executable or "python3"))
    read = {Path(entry).resolve() for entry in sys.path if entry}
    kept = [package, standard, interpreter, *interpreter.parents[1].glob("lib/libpython3*")]
    if sys.prefix != sys.base_prefix:
        kept.append(Path(sys.prefix))
    kept += [path for path in read if path.is_dir() and path.name in ("site-packages", "dist-packages")]
    free = [standard / name for name in ("site-packages", "dist-packages") if (standard / name).resolve() not in read]
    return tuple(kept), tuple(free)


def protected_paths(allow: tuple[str, ...]) -> list[Path]:
    """Files and folders through which something runs outside, now or later: read-only inside."""
    found: list[Path] = []
    for home in homes():
        if "shell-files" not in allow:
            found += [home / name for name in (*SHELL_FILES, *START_UP)]
        if "ssh-keys" not in allow:
            found += [home / ".ssh" / name for name in ("authorized_keys", "authorized_keys2", "rc")]
        if "systemd" not in allow:
            found += [home / ".config/systemd", home / ".local/share/systemd"]
    found += map(Path, SYSTEM_START_UP)
    found += map(Path, CRON if "cron" not in allow else ())
    found += map(Path, AT if "at" not in allow else ())
    found += map(Path, UNITS if "systemd" not in allow else ())
    return found


def missing_paths(allow: tuple[str, ...]) -> tuple[Path, ...]:
    """Protected paths that do not exist yet: they cannot be mounted over, so their creation is monitored."""
    return tuple(path for path in protected_paths(allow) if not is_there(path) and _may_make(path))


def command_paths() -> tuple[Path, ...]:
    """Where the user's shell finds `interlock`, and where it would find another one first."""
    found: list[Path] = []
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder.startswith("/"):
            found.append(Path(folder, "interlock"))
            if os.access(found[-1], os.X_OK):
                break
    return tuple(found)


def hidden_sockets(allow: tuple[str, ...]) -> tuple[list[Path], list[Path]]:
    """Folders (emptied inside) and sockets (hidden) through which a process could escape from its parent."""
    uid = os.geteuid()
    name = _user_name(uid)
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{uid}")
    folders: list[Path] = []
    files: list[Path] = []
    if "tmux" not in allow:
        folders.append(Path(os.environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{uid}")
    if "screen" not in allow:
        folders += [Path(f"/run/screen/S-{name}"), Path(f"/tmp/screens/S-{name}"), *(h / ".screen" for h in homes())]
    if "dbus" not in allow:
        files += [runtime / "bus", Path("/run/dbus/system_bus_socket")]
        files += _bus_in_environment()
    if "systemd" not in allow:
        folders += [runtime / "systemd"]
        files += [Path("/run/systemd/private")]
    if "docker" not in allow:
        files += [Path("/run/docker.sock"), runtime / "docker.sock", Path("/run/containerd/containerd.sock")]
    if "podman" not in allow:
        folders += [runtime / "podman", Path("/run/podman")]
    folders.append(runtime / "emacs")
    files += [Path(value) for key in EDITORS if (value := os.environ.get(key, "")).startswith("/")]
    files += [*runtime.glob("sway-ipc.*.sock"), *runtime.glob("vscode-ipc-*.sock")]
    # Connections that ssh keeps open: whoever reaches one is logged in.
    files += [path for home in homes() for path in (home / ".ssh").glob("*") if path.is_socket()]
    return [path for path in folders if path.is_dir()], [path for path in files if is_there(path)]


def bound_sockets() -> list[Path]:
    """All outside sockets with a path: connecting needs neither write permission nor network."""
    lines = Path("/proc/net/unix").read_text(errors="surrogateescape").splitlines()
    paths = {Path(fields[7]) for line in lines if len(fields := line.split(maxsplit=7)) == 8 and fields[7][0] == "/"}
    return sorted(path for path in paths if is_there(path) and path.is_socket())


def hidden_variables(allow: tuple[str, ...]) -> tuple[str, ...]:
    """Variables that refer to what is hidden inside."""
    names = [*EDITORS]
    for what, variables in (("tmux", ("TMUX", "TMUX_PANE")), ("screen", ("STY",)), ("docker", ("DOCKER_HOST",)),
                            ("dbus", ("DBUS_SESSION_BUS_ADDRESS",))):  # fmt: skip
        names += variables if what not in allow else ()
    return tuple(names)


def cgroup_mounts() -> list[Path]:
    """Cgroup hierarchies that are mounted outside /sys."""
    mounts = read_mounts(Path("/proc/self/mountinfo").read_text())
    return [Path(mount.point) for mount in mounts if not mount.point.startswith("/sys/")]


class RealPaths(dict[str, str]):
    """Cached os.path.realpath, which on its own checks every folder on the way again for each path."""

    def __missing__(self, path: str) -> str:
        folder, name = os.path.split(path)
        if name in ("", ".", ".."):
            real = os.path.realpath(path)
        else:
            real = os.path.join(self[folder], name)  # noqa: PTH118  a hundred, while somebody waits
            real = os.path.realpath(real) if os.path.islink(real) else real  # noqa: PTH114  as above
        self[path] = real
        return real

    def resolve(self, paths: Iterable[Path]) -> list[Path]:
        """The targets of existing paths, without duplicates, outer ones first: mounts go onto targets, not links."""
        found = {self[str(path)] for path in paths if is_there(path)}
        return sorted(map(Path, found), key=lambda path: len(path.parts))

    def is_below(self, path: Path, others: Iterable[Path]) -> bool:
        """Whether a path is one of these, or inside one of them."""
        inner = f"{self[str(path)]}/"
        return any(inner.startswith(f"{self[str(other)].rstrip('/')}/") for other in others)


def is_there(path: Path) -> bool:
    """Whether a path exists for us; what we cannot access, the agent cannot either."""
    try:
        return path.exists()
    except PermissionError:
        return False


def _may_make(path: Path) -> bool:
    parent = path.parent
    while not is_there(parent):
        parent = parent.parent
    return os.access(parent, os.W_OK)


def _bus_in_environment() -> list[Path]:
    address = os.environ.get("DBUS_SESSION_BUS_ADDRESS", "")
    return [Path(part.removeprefix("unix:path=")) for part in address.split(",") if part.startswith("unix:path=")]


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
