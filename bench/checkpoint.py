"""Checkpoints beside git in a shadow repository, cp -a, and a plain walk with stat as the floor."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from interlock.checkpoint import Checkpoints
from interlock.checkpoint.rollback import Rollback
from interlock.config.schema import Checkpoints as Settings
from interlock.core import SystemClock

NOTES = """\
Milliseconds, the best of the rounds, everything in one run on one machine and in turns; `x git` and `x walk` are
ratios to default git and to the plain walk (`scandir` and `stat` of everything, in Python).
git: `add -A` and `write-tree` in a shadow repository. Its restore: `read-tree --reset -u` (apply), preceded by `add -A`
and `write-tree` (whole; without them files that were created would stay). tuned: `add -A -f`, compression 0, index
version 4, untracked cache. Ours: a warm process; the whole restore has a safety checkpoint by a full walk, is durable
before the first file moves, and ends with verification by another, independent walk.
git saves no empty folders and loses modes (both), and ignored files (default); ours is exact."""

ROWS = 6
"""Of each workspace."""

HEADER = ["workspace", "operation", "interlock", "git", "x git", "git tuned", "cp -a", "plain walk", "x walk"]


def measure(quick: bool = False, only: str = "") -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows of the comparison; of those workspaces whose name begins so."""
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory(prefix="bench-checkpoint-") as folder:
        for name, make in _workspaces(quick):
            if not name.startswith(only):
                continue
            work = Path(folder) / "work"
            _say(f"{name}: making it")
            make(work)
            rows += Comparison(name, work, Path(folder), rounds=4 if quick else 5).run()
            for row in rows[-ROWS:]:
                _say("  ".join(cell or "-" for cell in row))
            for left in Path(folder).iterdir():
                shutil.rmtree(left)
    return "Checkpoints: first, increment, restore, size", HEADER, rows


class Comparison:
    """One workspace, every contender."""

    def __init__(self, name: str, work: Path, folder: Path, rounds: int) -> None:
        self._name, self._work, self._folder, self._rounds = name, work, folder, rounds
        self._files = sorted(
            path for path in work.rglob("*") if path.is_file() and not path.is_symlink() and path.stat().st_size < 10**6
        )
        self._draw = random.Random(1)

    def run(self) -> list[list[str]]:
        _say(f"{self._name}: everything for the first time")
        firsts = [self._first() for _ in range(2)]
        _say(f"{self._name}: increments and restores")
        first = [min(times) for times in zip(*firsts, strict=True)]
        folders = [self._folder / name for name in ("store", "git", "tuned", "copy")]
        sizes = [size_of(folder) for folder in folders]
        default, tuned = Git(self._work, folders[1], tuned=False), Git(self._work, folders[2], tuned=True)
        with Checkpoints.open(
            self._work, folders[0], config=Settings(), clock=SystemClock(), watch=True
        ) as checkpoints:
            checkpoints.create()
            ours, hinted, git, git_tuned, walk = self._increments(checkpoints, default, tuned)
            apply, whole = self._restores(checkpoints, default, tuned)
        return [
            self._row("first", *first),
            self._row("increment, 5 changes", ours, git, git_tuned, None, walk),
            self._row("the same with hints", hinted, None, None, None, walk),
            self._row("restore 50, apply", *apply, None, walk),
            self._row("restore 50, whole", *whole, None, walk),
            [
                self._name,
                "store, MB",
                f"{sizes[0] / 1e6:.0f}",
                f"{sizes[1] / 1e6:.0f}",
                f"{sizes[0] / sizes[1]:.2f}",
                *(f"{size / 1e6:.0f}" for size in sizes[2:]),
                "",
                "",
            ],
        ]

    def _first(self) -> list[float]:
        """Everything saved for the first time: ours, git, tuned git, cp -a; and the plain walk."""
        for name in ("store", "git", "tuned", "copy"):
            shutil.rmtree(self._folder / name, ignore_errors=True)
        default = Git(self._work, self._folder / "git", tuned=False)
        tuned = Git(self._work, self._folder / "tuned", tuned=True)
        copy = ["cp", "-a", self._work, self._folder / "copy"]
        with Checkpoints.open(
            self._work, self._folder / "store", config=Settings(), clock=SystemClock()
        ) as checkpoints:
            ours = _timed(checkpoints.create)
        return [
            ours,
            _timed(default.save),
            _timed(tuned.save),
            _timed(lambda: subprocess.run(copy, check=True)),
            _timed(lambda: bare_walk(self._work)),
        ]

    def _increments(self, checkpoints: Checkpoints, default: Git, tuned: Git) -> list[float]:
        """Ours, ours with hints, git, tuned git, plain walk."""
        times: list[list[float]] = [[], [], [], [], []]
        for _ in range(self._rounds):
            self._change_five()
            times[0].append(_timed(lambda: checkpoints.create(walk=True)))
            times[2].append(_timed(default.save))
            times[3].append(_timed(tuned.save))
            times[4].append(_timed(lambda: bare_walk(self._work)))
            self._change_five()
            times[1].append(_timed(checkpoints.create))
        return [min(series) for series in times]

    def _restores(self, checkpoints: Checkpoints, default: Git, tuned: Git) -> tuple[list[float], list[float]]:
        """Applying alone, and the whole: ours, git, tuned git."""
        apply: list[list[float]] = [[], [], []]
        whole: list[list[float]] = [[], [], []]
        for _ in range(self._rounds):
            for number, git in enumerate((default, tuned), 1):
                tree = git.save()
                self._change_fifty()
                whole[number].append(_timed(git.save))
                apply[number].append(_timed(lambda git=git, tree=tree: git.restore(tree)))
                whole[number][-1] += apply[number][-1]
            saved = checkpoints.create()
            self._change_fifty()
            with _Applying() as applying:
                whole[0].append(_timed(lambda saved=saved: _restore(checkpoints, saved.id)))
            apply[0].append(applying.seconds)
        return [min(series) for series in apply], [min(series) for series in whole]

    def _change_five(self) -> None:
        """Three edits, a new file, a deletion."""
        chosen = self._draw.sample(self._files, 5)
        for path in chosen[:3]:
            path.write_bytes(self._draw.randbytes(500))
        new = chosen[3].with_name(f"new{self._draw.randrange(10**9)}")
        new.write_text("new\n" * 50)
        chosen[4].unlink()
        self._files.remove(chosen[4])

    def _change_fifty(self) -> None:
        """28 edits, 12 deletions, 2 modes, a file that becomes a folder, and creations."""
        chosen = self._draw.sample(self._files, 50)
        for path in chosen[:28]:
            path.write_bytes(self._draw.randbytes(3000))
        for path in chosen[28:40]:
            path.unlink()
        for path in chosen[40:42]:
            path.chmod(0o755)
        chosen[42].unlink()
        chosen[42].mkdir()
        (chosen[42] / "inside").write_text("x\n")
        for path in chosen[43:]:
            path.with_name(f"created{self._draw.randrange(10**9)}").write_text("x\n" * 100)

    def _row(
        self, what: str, ours: float, git: float | None, tuned: float | None, copy: float | None, walk: float
    ) -> list[str]:
        times = [_ms(value) for value in (git, tuned, copy, walk)]
        to_git = f"{ours / git:.2f}" if git is not None else ""
        return [self._name, what, _ms(ours), times[0], to_git, *times[1:], f"{ours / walk:.2f}"]


class Git:
    """A shadow repository beside the workspace."""

    def __init__(self, work: Path, repository: Path, *, tuned: bool) -> None:
        self._command = ["git", f"--git-dir={repository}", f"--work-tree={work}"]
        self._add = ["add", "-A", "-f"] if tuned else ["add", "-A"]
        self._run("init", "-q")
        if tuned:
            for key, value in (
                ("core.compression", "0"),
                ("core.looseCompression", "0"),
                ("index.version", "4"),
                ("core.untrackedCache", "true"),
            ):
                self._run("config", key, value)

    def save(self) -> str:
        self._run(*self._add)
        return self._run("write-tree")

    def restore(self, tree: str) -> None:
        self._run("read-tree", "--reset", "-u", tree)

    def _run(self, *words: str) -> str:
        done = subprocess.run([*self._command, *words], check=True, capture_output=True, text=True)
        return done.stdout.strip()


class _Applying:
    """The part of a restore between the plan and the verification."""

    seconds = 0.0

    def __enter__(self) -> _Applying:
        self._really = Rollback._carry_out
        timer = self

        def timed(self: Rollback, *args: object) -> object:
            start = time.perf_counter()
            try:
                return timer._really(self, *args)  # type: ignore[arg-type]
            finally:
                timer.seconds = time.perf_counter() - start

        Rollback._carry_out = timed  # type: ignore[method-assign, assignment]
        return self

    def __exit__(self, *_: object) -> None:
        Rollback._carry_out = self._really  # type: ignore[method-assign]


def bare_walk(root: Path) -> int:
    """The floor: every name and its stat, nothing else."""
    count = 0
    waiting = [str(root)]
    while waiting:
        with os.scandir(waiting.pop()) as listing:
            for item in listing:
                item.stat(follow_symlinks=False)
                count += 1
                if item.is_dir(follow_symlinks=False):
                    waiting.append(item.path)
    return count


def size_of(folder: Path) -> int:
    """Bytes that the files of a folder have allocated."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def make_workspace(root: Path, files: int, size: int) -> None:
    """Texts like source code, a tenth random, some large files, links, modes, empty and ignored folders."""
    draw = random.Random(files)
    root.mkdir()
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz_", k=draw.randint(2, 11))) for _ in range(4000)]
    texts = [_text(draw, words, 60_000) for _ in range(50)]
    large = [size * 15 // 100, size * 7 // 100, size * 3 // 100]
    folders = [root]
    for number in range(files // 12):
        above = draw.choice(folders[-200:])
        folder = (above if len(above.relative_to(root).parts) < 7 else root) / f"d{number}"
        folder.mkdir()
        folders.append(folder)
    average = (size - sum(large)) / files
    for number in range(files):
        length = max(1, int(draw.lognormvariate(0, 1) * average * 0.6))
        path = draw.choice(folders) / f"f{number}.{draw.choice(('py', 'txt', 'js', 'c'))}"
        if number % 10 == 0:
            path.write_bytes(draw.randbytes(length))
        else:
            start = draw.randrange(30_000)
            content = texts[number % 50][start:] + _text(draw, words, min(length, 3000))
            path.write_bytes((content * (length // len(content) + 1))[:length])
        if number % 23 == 0:
            path.chmod(draw.choice((0o755, 0o600, 0o444)))
    for number, length in enumerate(large):
        (root / f"large{number}").write_bytes(draw.randbytes(length))
    for number in range(20):
        (root / f"link{number}").symlink_to(f"nowhere{number}")
        (root / f"empty{number}").mkdir()
    (root / ".gitignore").write_text("ignored/\n")
    (root / "ignored").mkdir()
    (root / "ignored" / "file").write_text("x\n")


def _workspaces(quick: bool) -> list[tuple[str, Callable[[Path], None]]]:
    packages = Path(sysconfig.get_paths()["purelib"])
    if quick:
        return [
            ("1,000 files, 20 MB", lambda root: make_workspace(root, 1000, 20_000_000)),
            ("installed package", lambda root: _copy(packages / "pip", root)),
        ]
    return [
        ("10,000 files, 200 MB", lambda root: make_workspace(root, 10_000, 200_000_000)),
        ("50,000 files, 400 MB", lambda root: make_workspace(root, 50_000, 400_000_000)),
        ("installed packages", lambda root: _copy(packages, root)),
    ]


def _copy(source: Path, root: Path) -> None:
    subprocess.run(["cp", "-rL", source, root], check=True)


def _text(draw: random.Random, words: list[str], length: int) -> bytes:
    lines: list[str] = []
    left = length
    while left > 0:
        lines.append("    " * draw.randint(0, 4) + " ".join(draw.choices(words, k=draw.randint(3, 12))))
        left -= len(lines[-1]) + 1
    return "\n".join(lines).encode()[:length]


def _restore(checkpoints: Checkpoints, wanted: str) -> None:
    done = checkpoints.restore(wanted)
    assert done.verified and not done.left_alone


def _timed(act: Callable[[], object]) -> float:
    os.sync()
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def _say(what: str) -> None:
    """It takes minutes: say where it is."""
    print(what, file=sys.stderr, flush=True)


def _ms(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1000:,.1f}" if seconds < 0.1 else f"{seconds * 1000:,.0f}"


def main() -> None:
    from rich.console import Console
    from rich.table import Table

    title, header, rows = measure("--quick" in sys.argv, next((word for word in sys.argv[1:] if word != "--quick"), ""))
    table = Table(*header, title=title)
    for row in rows:
        table.add_row(*row)
    console = Console(width=140)
    console.print(table)
    console.print(NOTES)


if __name__ == "__main__":
    main()
