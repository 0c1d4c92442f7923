"""Build dist/ and check it: `make dist`.

An sdist, a pure wheel, and a wheel for each Linux platform whose compiler is here, with the compiled hook client in it.
Everything is built twice and must be the same to the byte; then twine looks at it, the contents are compared with the
sources, and the wheel is installed into a bare environment of each Python that is here, where the demo must run.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
CLIENT = ROOT / "src" / "interlock" / "adapters" / "hooks" / "hookclient.c"
PYTHONS = ("3.11", "3.12", "3.13")
COMPILERS = {"x86_64": "x86_64-linux-gnu-gcc", "aarch64": "aarch64-linux-gnu-gcc"}
"""Machine to its compiler; the client is linked statically, so that the wheel fits every distribution."""

FLAGS = ("-O2", "-s", "-static", "-Wl,--build-id=none", f"-ffile-prefix-map={ROOT}=.")
LARGEST_MB = 120
"""What the dependencies may take on the disk."""


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first"), Path(folder, "second")
        for target in (first, second):
            build(target)
        same(first, second)
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(first, DIST)
    check_contents()
    twine()
    for version in PYTHONS:
        try_python(version)
    for path in sorted(DIST.iterdir()):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e6:.2f} MB  sha256 {digest(path)[:16]}")
    return 0


def build(target: Path) -> None:
    """Everything for one folder, from the committed time on: SOURCE_DATE_EPOCH, or that of the last commit."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct").strip()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    for name in ("INTERLOCK_HOOK_CLIENT", "INTERLOCK_WHEEL_TAG"):
        environment.pop(name, None)
    hatch = (sys.executable, "-m", "hatchling", "build", "-d", str(target))
    run(*hatch, "-t", "sdist", "-t", "wheel", env=environment)
    for machine, client in clients(target.parent):
        tag = f"py3-none-manylinux_2_17_{machine}.manylinux2014_{machine}"
        more = {"INTERLOCK_HOOK_CLIENT": f"{machine}={client}", "INTERLOCK_WHEEL_TAG": tag}
        run(*hatch, "-t", "wheel", env={**environment, **more})


def clients(folder: Path) -> Iterator[tuple[str, Path]]:
    for machine, compiler in COMPILERS.items():
        found = shutil.which(compiler) or (shutil.which("gcc") if machine == platform.machine() else None)
        if found is None:
            print(f"skipped: a wheel for {machine} ({compiler} is not installed)")
            continue
        client = folder / f"hookclient-{machine}"
        run(found, *FLAGS, "-o", str(client), str(CLIENT))
        client.chmod(0o755)
        yield machine, client


def same(first: Path, second: Path) -> None:
    """Both builds have the same files with the same bytes."""
    built = [{path.name: digest(path) for path in folder.iterdir()} for folder in (first, second)]
    if built[0] != built[1]:
        raise SystemExit(f"not reproducible: {sorted(set(built[0].items()) ^ set(built[1].items()))}")
    print(f"reproducible: {len(built[0])} files, built twice, are the same to the byte")


def check_contents() -> None:
    """A wheel has the committed files of src/interlock, and nothing else but the client, the man page and metadata."""
    tracked = run("git", "ls-files", "src/interlock").splitlines()
    wanted = {name.removeprefix("src/") for name in tracked}
    for wheel in DIST.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            names = {name for name in archive.namelist() if not name.endswith("/")}
        inside = {name for name in names if name.startswith("interlock/")}
        extra = {name for name in inside - wanted if "/hookclient-" not in name}
        rest = {name.partition("/")[2] for name in names - inside}
        more = {"data/share/man/man1/interlock.1", "scripts/interlock", "licenses/LICENSE", "METADATA"}
        if wanted - inside or extra or not more <= rest:
            raise SystemExit(
                f"{wheel.name}: missing {sorted(wanted - inside)[:5]}, unexpected {sorted(extra)[:5]}, {rest}"
            )
        if ("manylinux" in wheel.name) != any("/hookclient-" in name for name in inside):
            raise SystemExit(f"{wheel.name}: the compiled hook client is not where it belongs")
    with tarfile.open(next(DIST.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    absent = [
        name for name in run("git", "ls-files", "src", "tests", "docs", "share").splitlines() if name not in names
    ]
    if absent:
        raise SystemExit(f"the sdist lacks {absent[:5]}")
    print(f"contents: {len(wanted)} files of the package, man page, licence; the sdist has sources, tests and docs")


def twine() -> None:
    tools = ROOT / "build" / "tools"
    if not (tools / "bin" / "twine").exists():
        run(sys.executable, "-m", "venv", str(tools))
        run(str(tools / "bin" / "pip"), "install", "--quiet", "twine")
    run(str(tools / "bin" / "twine"), "check", "--strict", *map(str, sorted(DIST.iterdir())))
    print("twine check: passed")


def try_python(version: str) -> None:
    """Install the wheel as a user would, and try it."""
    python = find_python(version)
    if python is None:
        print(f"Python {version}: skipped, not installed")
        return
    machine = platform.machine()
    wheel = next(iter(DIST.glob(f"*manylinux*{machine}.whl")), None) or next(DIST.glob("*-none-any.whl"))
    with tempfile.TemporaryDirectory(prefix="interlock-") as folder:
        home, place = Path(folder), Path(folder, "venv")
        run(python, "-m", "venv", str(place))
        empty = size_of(place)
        run(str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel))
        package = size_of(next(place.glob("lib/python*/site-packages/interlock")))
        places = {f"XDG_{name}_HOME": str(home / name) for name in ("STATE", "CONFIG", "CACHE", "DATA")}
        environment = {"PATH": f"{place / 'bin'}:/usr/bin:/bin", "HOME": folder, **places}
        for words in ("--version", "demo --fast", "review ls", "ps --json", "schema"):
            run("interlock", *words.split(), env=environment, cwd=home)
        dependencies = (size_of(place) - empty - package) / 1e6
    print(f"Python {version}: {wheel.name}: demo runs; {package / 1e6:.0f} MB and dependencies {dependencies:.0f} MB")
    if dependencies > LARGEST_MB:
        raise SystemExit(f"the dependencies take more than {LARGEST_MB} MB")


def find_python(version: str) -> str | None:
    """An interpreter of this version that starts: from the path, or one that pyenv keeps."""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    for name in (shutil.which(f"python{version}"), *map(str, kept)):
        if name and subprocess.run([name, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0:
            return name
    return None


def size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def run(*words: str, env: dict[str, str] | None = None, cwd: Path = ROOT) -> str:
    program = shutil.which(words[0], path=env.get("PATH") if env else None) or words[0]
    done = subprocess.run([program, *words[1:]], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
