"""Zones: what a path or an address belongs to."""

from __future__ import annotations

import posixpath

from ..core import late_pattern
from .model import Extent, Zone

TEMP = (
    "/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/folders", "$TMPDIR", "$TMP", "$TEMP", "$RUNNER_TEMP",
)  # fmt: skip
CACHES = (
    ".cache", ".npm", ".yarn", ".bun", ".gradle", ".m2", ".ivy2", ".sbt", ".cargo/registry", ".cargo/git",
    ".rustup/tmp", ".pnpm-store", ".nuget", ".ccache", "go/pkg", ".local/share/pnpm", ".local/share/uv",
    ".local/share/virtualenv", "Library/Caches", "Library/Developer/Xcode/DerivedData", ".conda/pkgs",
    ".composer/cache", ".pub-cache", ".terraform.d/plugin-cache", ".hex/packages", ".cabal/packages",
)  # fmt: skip
"""Folders of a home that programs fill and can fill again."""
SYSTEM = (
    "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/var", "/dev", "/proc", "/sys", "/run", "/System",
    "/Library",
)  # fmt: skip
DEVICES = frozenset(
    ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/urandom", "/dev/random")
)
LOOPBACK = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]")
ADDRESS = late_pattern(r"(?i)[a-z][a-z0-9+.-]*://([^/?#]*)|(?:[\w.-]+@)?[\w.-]+:(?!//)(?:[\w./~*-]|\Z)")
LOCAL = late_pattern(r"(?:[^@/]*@)?(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1\])(?::\d+)?\Z")
USUAL = ("/workspace", "/testbed", "/app", "/repo", "/code", "/github/workspace", "/builds")
"""Where agents work in containers; the workspace if none is known."""
HOME = late_pattern(r"(/home/[^/]+|/Users/[^/]+|~[\w-]*|/root|\$HOME|\$\{HOME\})(?=/|\Z)")


def resolve(path: str, cwd: str) -> str:
    """A path as an absolute one where the working directory is known; otherwise as written."""
    path = path.removeprefix("file://")
    if path[:1] in ("/", "~", "$", "") or not cwd:
        return _normal(path) if path and "$" not in path and "/" in path else path
    return _normal(f"{cwd}/{path}")


def _normal(path: str) -> str:
    plain = posixpath.normpath(path)
    return plain[1:] if plain[:2] == "//" else plain


def is_address(target: str) -> bool:
    """Whether a word names something on another machine: a URL, or `host:path`."""
    return ":" in target and target[:1] not in ("/", "~", "$", ".") and ADDRESS.match(target) is not None


def zone_of(target: str, workspace: str) -> Zone:
    """The zone of a resolved path or an address; a relative path is in the workspace."""
    if target[:1] not in ("/", "~", "$", "."):
        address = ADDRESS.match(target) if ":" in target else None
        if address is not None:
            return "host" if address[1] is not None and LOCAL.match(address[1]) else "service"
        return "unknown" if "$" in target[:2] else "workspace"
    if is_below(target, workspace) if workspace else any(is_below(target, place) for place in USUAL):
        return "workspace"
    if any(is_below(target, place) for place in TEMP):
        return "temp"
    home = HOME.match(target)
    if home is not None:
        rest = target[home.end() + 1 :]
        return "caches" if any(is_below(rest, place) for place in CACHES) else "home"
    if target[:1] == "$":
        return "unknown"
    if target[:1] == ".":
        return "host" if target[:3] in ("..", "../") else "workspace"
    if target in ("/", "/*") or any(is_below(target, place) for place in SYSTEM):
        return "system"
    return "home" if target in ("/home", "/Users", "/home/*") else "host"


def is_below(path: str, place: str) -> bool:
    """Whether a path is a place or something in it."""
    return path == place or path.startswith(f"{place.rstrip('/')}/")


def extent_of(target: str, zone: Zone, workspace: str, many: bool) -> Extent:
    """How much of its zone a target is; `many`: whole folders are meant."""
    glob = "*" in target or "?" in target
    if not many and not glob and "$" not in target[1:]:
        return "one"
    if "/**/" in target:
        return "many"
    bare = target.rstrip("*").rstrip("/") or "/"
    top = bare in ("/", ".", "..", workspace, "/home", "/Users", *SYSTEM) or HOME.fullmatch(bare) is not None
    return "all" if top and (many or target.endswith("*")) and "*." not in target else "many"
