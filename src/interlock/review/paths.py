"""Paths: the zones of a path, in the terms that rules use."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache

from ..core import late_pattern
from .file_kinds import any_of, kinds_of

ZONES: dict[str, str] = {
    "root": "the root of the file system, or everything in it",
    "system": "what the operating system owns: /etc, /usr, /var, /boot and the like",
    "vital": "the part of system that a machine does not start without",
    "home": "a home directory as a whole, or all home directories",
    "under_home": "something in a home directory",
    "parent": "above the place where the command runs",
    "everything": "the whole workspace or working directory",
    "inside": "in the workspace, or relative to the working directory where no workspace is known",
    "relative": "relative to the working directory, where no workspace is known",
    "cache": "a cache that a program can rebuild",
    "temp": "a temporary directory or something in it",
    "outside": "outside the workspace, where one is known",
    "elsewhere": "an absolute path, where no workspace is known",
    "unset": "starts with a variable that may be empty, so that the rest counts from the root",
    "unknown": "depends on a variable or substitution whose value is not known",
    "device": "a disk or partition",
    "credential": "private keys, passwords, tokens",
    "dotenv": "a .env file",
    "history": "the history of a shell or client",
    "log": "system logs and mailboxes",
    "startup": "what runs at log-in or start: shell profiles, crontabs, units, authorized keys",
    "autostart": "what exists only to run something or let somebody in: crontabs, units, log-in items, sudoers",
    "trust": "what the machine trusts: host names, certificates, keys of packages and hosts",
    "agent": "the settings of an agent: what it may do, and what it starts",
    "repository": "a repository's own folder: .git, .hg, .svn",
    "remote": "on another machine (host:path)",
    "remote_root": "the root of another machine's file system",
    "remote_system": "what the operating system of another machine owns",
    "remote_service": "where another machine keeps what its services use: /srv, /opt, /var/www",
    "remote_home": "a home directory on another machine",
}
"""Every zone that a rule may name. A path can be in several."""

SYSTEM = late_pattern(
    any_of(
        "/",
        """
        etc usr bin sbin lib lib32 lib64 libx32 boot dev proc sys var opt run srv snap root nix System Library
        Applications Windows private/etc private/var
        """,
        r"(?:/|\Z)",
    )
)
VITAL = late_pattern(
    any_of(
        "/",
        """
        etc bin sbin lib lib32 lib64 boot dev proc sys root System usr/bin usr/sbin usr/lib usr/lib32 usr/lib64
        usr/libexec usr/share usr/include var/lib var/run var/spool
        """,
        r"(?:/|\Z)|/(?:usr|var)(?:/[*{]|/?\Z)",
    )
)
TEMP = late_pattern(
    r"/(?:tmp|var/tmp|private/tmp|private/var/tmp|var/folders|dev/shm)(?:/|\Z)|/dev/(?:null|stdout|stderr|tty|fd|tcp|udp)\b"
)
CACHE = late_pattern(
    r"(?:~|/home/[^/]+|/Users/[^/]+|/root)/(?:(?:\.cache|Library/Caches)/."
    r"|(?:\.npm/_cacache|\.npm/_npx|\.gradle/caches|\.cargo/registry|\.cargo/git|\.yarn/cache|\.bun/install/cache|go/pkg/mod"
    r"|\.m2/repository|\.ivy2/cache|\.sbt/boot|\.nuget/packages|\.composer/cache|\.pub-cache|\.pnpm-store|\.local/share/pnpm/store"
    r"|\.conda/pkgs|\.terraform\.d/plugin-cache|\.cocoapods/repos|\.hex/packages|\.cabal/packages|\.stack/pantry|\.julia/compiled"
    r"|\.opam/download-cache|Library/Developer/Xcode/DerivedData)(?:/|\Z))"
)
HOME = late_pattern(
    r"(?:~\w*|/home|/home/[^/]+|/Users|/Users/[^/]+|/root|C:/Users|C:/Users/[^/]+)(?:/(?:\.?\*|\.\[.*))?\Z"
)
UNDER_HOME = late_pattern(r"(?:~\w*|/home/[^/]+|/Users/[^/]+|/root)/.")
REMOTE = late_pattern(r"(?:[\w.-]+@)?[\w.-]{2,}:(?!//)(/.*|~.*|\.\..*)\Z|\[[0-9a-fA-F:]+\]:(/.*)\Z")
SERVED = late_pattern(r"/(?:srv|opt|var/www)(?:/|\Z)")
USUAL_WORKSPACES = late_pattern(
    r"/(?:workspaces?|testbed|repo|repos|app|code|project|projects|builds|github/workspace|content|src|sandbox)/."
)
"""Where agents' containers keep their work, for reviews without a workspace."""

EVERYTHING = frozenset((".", "*", "./*", "./.*", ".*", "**", "./**", "{.,}*", "*.*"))


MAX_PATH = 1_024
"""Characters; a longer text is not a path."""


def zones(path: str, cwd: str | None = None, workspace: str | None = None) -> frozenset[str]:
    """The zones of a path."""
    if len(path) > MAX_PATH:
        return frozenset(("unknown",))
    return zones_of(path, cwd, workspace) if path else frozenset()


@lru_cache(4096)
def zones_of(path: str, cwd: str | None, workspace: str | None) -> frozenset[str]:
    """As `zones`, cached: a run uses the same paths repeatedly."""
    remote = REMOTE.match(path) if ":" in path else None
    if remote is not None and path[1:3] not in (":/", ":\\"):
        there = resolve(remote[1] or remote[2], None)
        if SERVED.match(there):
            return frozenset(("remote", "remote_service"))
        return frozenset(("remote", *(f"remote_{zone}" for zone in fixed(there) if zone in ("root", "system", "home"))))
    if path[1:3] == ":\\" or path[1:3] == ":/":
        path = windows(path)
    return frozenset((*place(path, cwd, workspace), *kinds_of(path if path[:1] == "$" else resolve(path, cwd))))


def place(path: str, cwd: str | None, workspace: str | None) -> set[str]:
    """The zones of a path on this machine."""
    if path.startswith("$"):
        return {"unknown", "unset"} if re.match(r"\$\w+/+[*.]*\Z", path) else {"unknown"}
    full = resolve(path, cwd)
    base = full.rstrip("/") or "/"
    if workspace is not None and workspace not in ("/", "~"):
        root = workspace.rstrip("/")
        bare = base.removesuffix("/*").removesuffix("/.*")
        if bare == root:
            return {"everything"}
        if base.startswith(f"{root}/"):
            return {"inside"}
        if root.startswith(f"{bare}/") and not is_root(base):
            return {"parent", "outside", *fixed(base)}
    if not full.startswith(("/", "~")):
        return relative(full, cwd)
    found = fixed(base)
    if "temp" not in found and "cache" not in found:
        if workspace is not None:
            found.add("outside")
        elif cwd is not None and cwd.startswith("/") and (base.startswith(f"{cwd.rstrip('/')}/") and not is_root(cwd)):
            # Relative to the working directory, however it was written.
            found.add("inside" if not path.startswith(("/", "~")) else "elsewhere")
        elif USUAL_WORKSPACES.match(base):
            found.add("inside")
        elif path in EVERYTHING and cwd is not None:
            found.add("everything")
        else:
            found.add("elsewhere")
    return found


def relative(path: str, cwd: str | None) -> set[str]:
    """The zones of a path whose base directory is unknown."""
    if path == ".." or path.startswith("../"):
        return {"parent"}
    if path in EVERYTHING or path in ("./", "./{}/.."):
        return {"everything"}
    return {"inside", "relative"}


def fixed(base: str) -> set[str]:
    """The zones that do not depend on the workspace."""
    if is_root(base):
        # `find / ...` acts only on what it matches, so it is not 'vital'.
        return {"root", "system"} if base == "/{}" else {"root", "system", "vital"}
    if TEMP.match(base):
        return {"temp"}
    found = set()
    if HOME.match(base) and not base.endswith("/{}"):
        found.add("home")
    elif UNDER_HOME.match(base):
        found.add("under_home")
        if CACHE.match(base):
            found.add("cache")
    if SYSTEM.match(base) and not ("under_home" in found or "home" in found):
        found.add("system")
        if VITAL.match(base):
            found.add("vital")
    return found


def is_root(path: str) -> bool:
    return path in ("/", "/*", "/.*", "/{}", "/**", "/.", "//", "C:", "C:/", "C:/*")


def resolve(path: str, cwd: str | None) -> str:
    """The path joined with its working directory, without `.` and `..`; `~` stays."""
    joined = path if path.startswith(("/", "~")) or cwd is None else f"{cwd.rstrip('/')}/{path}"
    if "//" not in joined and "/." not in joined and not joined.startswith("."):
        return joined
    clean = posixpath.normpath(joined)
    return "/" + clean.lstrip("/") if clean.startswith("/") else clean


def windows(path: str) -> str:
    """`C:\\Windows\\x` with forward slashes."""
    clean = path.replace("\\", "/")
    return f"C:{clean[2:]}"
