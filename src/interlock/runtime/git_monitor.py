"""GitMonitor: commits and pushes during a run, by our own reading of refs and by git on an empty repository of ours.

That repository borrows the workspace's objects and has none of its settings, so nothing that the agent writes there is
run or believed. Remotes that are folders of this machine are compared with what they were.
"""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from ..contract import broken_by
from ..core import Clause, Contract, find_program, read_small, run_program, write_whole

TIMEOUT_S = 20.0
"""For all that is asked of a repository at once: the agent may have made it slow."""
MOST_REFS = 20_000
MOST_COMMITS = 5_000
"""The most new commits that are checked."""
SHORT = 9
SHA = frozenset("0123456789abcdef")
MAX_BYTES = 1 << 22
ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C",
}  # fmt: skip
UNKNOWN = "cannot be ruled out"
BEGAN = "began"
"""The time when the refs were read, among them."""

Refs = dict[str, str]
"""Commits by the name of their ref; those of a remote folder are named `FOLDER@REF`."""
Breaches = dict[Clause, tuple[str, ...]]


class Git(Protocol):
    """Runs git in a repository of ours."""

    def __call__(self, own: Path, *words: str, stdin: str = "") -> str: ...


class GitMonitor:
    """For one run. `start` are the refs at the time when the contract first concerned them."""

    def __init__(self, folder: str | None) -> None:
        self._folder = Path(folder) if folder is not None else None
        self._program = find_program("git")
        self._until = 0.0
        self.start: Refs | None = None

    def begin(self, contract: Contract) -> Refs:
        """Record the refs once, if the contract restricts files, commits or pushes."""
        if self.start is None and _concerns_git(contract):
            with tempfile.TemporaryDirectory() as own:
                self.start = self._repository(Path(own)).refs
        return self.start or {}

    def breaches(self, contract: Contract) -> Breaches:
        """Descriptions of the violations of each clause in the repository."""
        if self.start is None or not _concerns_git(contract):
            return {}
        with tempfile.TemporaryDirectory() as own:
            return self._breaches(contract, self._repository(Path(own)), self.start)

    def unknown(self, contract: Contract) -> str:
        """Why pushes cannot be ruled out; empty if they can, or may be."""
        if self.start is None or "push" not in contract.may_not:
            return ""
        with tempfile.TemporaryDirectory() as own:
            remotes = self._repository(Path(own)).remotes
        away = [name for name, place in remotes.items() if place is None]
        return f"pushes to {', '.join(away[:3])} {UNKNOWN}: not on this machine" if away else ""

    def _repository(self, own: Path) -> Repository:
        self._until = time.monotonic() + TIMEOUT_S
        return Repository(self._folder, own, self._git)

    def _breaches(self, contract: Contract, now: Repository, start: Refs) -> Breaches:
        changed = {name: commit for name, commit in now.refs.items() if start.get(name) != commit and name != BEGAN}
        pushed = sorted(
            now.remote_name(name)
            for name, commit in changed.items()
            if "@" in name and self._git(now.own, "cat-file", "-t", commit).strip() in ("commit", "tag")
        )
        tips = [commit for name, commit in changed.items() if "@" not in name and name != "refs/stash"]
        # What a remote had before the run, or a ref that follows one elsewhere shows from before it, was fetched.
        fetched = [commit for name, commit in start.items() if name != BEGAN]
        elsewhere = (commit for name, commit in now.refs.items() if now.follows_elsewhere(name))
        fetched += [commit for commit in elsewhere if self._is_old(now, commit)]
        own_tips = [commit for commit in tips if commit not in fetched]
        commits = self._new_commits(now, own_tips, fetched) if own_tips else []
        found: Breaches = {}
        for clause in contract.clauses:
            if clause.key == "may_not" and clause.value == "commit":
                said = [f"committed {_some([commit[:SHORT] for commit in commits])}"] if commits else []
                said += [f"commits {UNKNOWN}: {odd}" for odd in now.odd[:1]]
            elif clause.key == "may_not" and clause.value == "push":
                said = [f"pushed to {name}" for name in pushed] + [f"pushes {UNKNOWN}: {odd}" for odd in now.odd[:1]]
            else:
                continue
            if said:
                found[clause] = tuple(said)
        for commit, path in self._paths(now, commits) if contract.guards_files else ():
            broken = broken_by(contract, path)
            if broken is not None and self._still_differs(now, path, start.get("HEAD", ""), tips):
                found[broken] = (*found.get(broken, ()), f"commit {commit[:SHORT]} changes {path}")
        return found

    def _is_old(self, now: Repository, commit: str) -> bool:
        """Whether a commit says that it was made before the run."""
        said = self._git(now.own, "log", "-1", "--format=%ct", commit).strip()
        return said.isdigit() and self.start is not None and int(said) < int(self.start.get(BEGAN, "0"))

    def _new_commits(self, now: Repository, tips: Iterable[str], known: Iterable[str]) -> list[str]:
        # A name that is no commit, such as one that is not here, must not end the search.
        wanted = "\n".join([*tips, *(f"^{commit}" for commit in known)])
        options = ("--ignore-missing", f"--max-count={MOST_COMMITS}", "--stdin")
        return self._git(now.own, "rev-list", *options, stdin=f"{wanted}\n").split()

    def _paths(self, now: Repository, commits: list[str]) -> Iterator[tuple[str, str]]:
        """The files below the workspace that commits change; for a merge, those that differ from all parents."""
        options = ("--stdin", "-r", "-c", "--root", "--name-only", "--no-ext-diff", "--no-renames")
        said = self._git(now.own, "-c", "core.quotePath=false", "diff-tree", *options, stdin="\n".join((*commits, "")))
        commit, wanted = "", set(commits)
        for line in said.splitlines():
            if line in wanted:
                commit = line
            elif line.startswith(now.prefix):
                yield commit, line[len(now.prefix) :]

    def _still_differs(self, now: Repository, path: str, head: str, tips: Iterable[str]) -> bool:
        """Whether a tip has a version of the file that differs from both the workspace and the start."""
        assert self._folder is not None
        same = {self._git(now.own, "hash-object", "--no-filters", "--", str(self._folder / path)).strip()}
        same.add(self._blob(now, head, path))
        return any(self._blob(now, tip, path) not in same for tip in tips)

    def _blob(self, now: Repository, commit: str, path: str) -> str:
        return self._git(now.own, "rev-parse", "-q", "--verify", f"{commit}:{now.prefix}{path}").strip()

    def _git(self, own: Path, *words: str, stdin: str = "") -> str:
        """The output of git in a repository of ours; empty if it fails."""
        try:
            done = run_program(
                ["git", "--no-pager", f"--git-dir={own}", *words],
                program=self._program,
                cwd=str(own),
                env=ENVIRONMENT,
                given=stdin.encode("utf-8", "surrogateescape"),
                timeout=max(0.1, self._until - time.monotonic()),
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else ""


class Repository:
    """A workspace's repository as its files show it; `odd` are places that could not be read."""

    def __init__(self, folder: Path | None, own: Path, git: Git) -> None:
        self.own, self.odd = own, list[str]()
        self.refs: Refs = {}
        self.remotes: dict[str, Path | None] = {}
        self.prefix = ""
        top = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None) if folder else None
        if folder is None or top is None:
            return
        self.prefix = "".join(f"{part}/" for part in folder.relative_to(top).parts)
        place, common = _places(top)
        self._lend(common)
        self.refs = {BEGAN: str(int(time.time())), **self._read(common)}
        if place != common:
            self.refs |= self._head(place, self.refs)
        for worktree in _folders(common / "worktrees"):
            self.refs |= {f"{worktree.name}/{name}": commit for name, commit in self._read(worktree).items()}
        self.remotes = _remotes(own, git, common / "config", top)
        for remote in dict.fromkeys(filter(None, self.remotes.values())):
            _, at = _places(remote)
            self.refs |= {f"{remote}@{name}": commit for name, commit in self._read(at).items() if name != "HEAD"}

    def remote_name(self, ref: str) -> str:
        """`origin/main`, for a ref of a remote folder."""
        place, _, name = ref.partition("@")
        remote = next((each for each, at in self.remotes.items() if str(at) == place), place)
        return f"{remote}/{name.removeprefix('refs/heads/')}"

    def follows_elsewhere(self, ref: str) -> bool:
        """Whether a ref follows a branch of a remote that is not on this machine."""
        name = ref.removeprefix("refs/remotes/").partition("/")[0]
        return ref.startswith("refs/remotes/") and self.remotes.get(name, self.own) is None

    def _lend(self, common: Path) -> None:
        """Make an empty repository that borrows the objects."""
        sha256 = b"sha256" in _small(common / "config")
        extensions = "[extensions]\n\tobjectFormat = sha256\n" if sha256 else ""
        for name in ("objects/info", "refs"):
            (self.own / name).mkdir(parents=True)
        lines = {
            "HEAD": "ref: refs/heads/none\n",
            "objects/info/alternates": f"{common / 'objects'}\n",
            "config": f"[core]\n\trepositoryFormatVersion = {int(sha256)}\n\tbare = true\n{extensions}",
        }
        for name, text in lines.items():
            write_whole(self.own / name, text.encode("utf-8", "surrogateescape"))
        if shallow := _small(common / "shallow"):
            write_whole(self.own / "shallow", shallow)

    def _read(self, place: Path) -> Refs:
        """HEAD and the refs of one folder."""
        found: Refs = {}
        for line in _small(place / "packed-refs").decode("utf-8", "surrogateescape").splitlines():
            commit, _, name = line.partition(" ")
            if name.startswith("refs/") and _is_commit(commit):
                found[name] = commit
        for parent, folders, names in os.walk(place / "refs"):
            folders.sort()
            for name in names:
                path = Path(parent, name)
                ref = str(path.relative_to(place))
                if (commit := self._ref(path)) and not ref.startswith("refs/replace/"):
                    found[ref] = commit
            if len(found) > MOST_REFS:
                self.odd.append(f"{place / 'refs'} has more than {MOST_REFS:,} refs")
                break
        return {**found, **self._head(place, found)}

    def _head(self, place: Path, refs: Refs) -> Refs:
        head = _small(place / "HEAD").decode("utf-8", "surrogateescape").strip()
        commit = refs.get(head.removeprefix("ref: "), "") if head.startswith("ref: ") else head
        return {"HEAD": commit} if _is_commit(commit) else {}

    def _ref(self, path: Path) -> str:
        with suppress(OSError):
            if not stat.S_ISREG(path.lstat().st_mode):
                self.odd.append(f"{path} is not a file")
                return ""
            commit = _small(path).decode("utf-8", "surrogateescape").strip()
            return commit if _is_commit(commit) else ""
        return ""


def _places(top: Path) -> tuple[Path, Path]:
    """The git folder of a working tree or a bare repository, and the one that it shares with others."""
    place = top / ".git" if (top / ".git").exists() else top
    if place.is_file():
        place = top / _small(place).decode("utf-8", "surrogateescape").partition("gitdir:")[2].strip()
    shared = _small(place / "commondir").decode("utf-8", "surrogateescape").strip()
    return place, (place / shared if shared else place)


def _remotes(own: Path, git: Git, config: Path, top: Path) -> dict[str, Path | None]:
    """The remotes that a repository's settings name, with their folders on this machine."""
    if not (text := _small(config)):
        return {}
    write_whole(own / "theirs", text)
    said = git(
        own, "config", "--no-includes", "--file", str(own / "theirs"), "--get-regexp", r"^remote\..*\.(push)?url$"
    )
    found: dict[str, Path | None] = {}
    for line in said.splitlines():
        key, _, url = line.partition(" ")
        local = url.removeprefix("file://")
        here = top / local if url.startswith(("file://", "/", ".")) or ":" not in url else None
        found[key.removeprefix("remote.").rpartition(".")[0]] = here
    return found


def _folders(place: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(each for each in place.iterdir() if each.is_dir())
    return []


def _small(path: Path) -> bytes:
    try:
        return read_small(path, MAX_BYTES)
    except OSError:
        return b""


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and SHA.issuperset(text)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _concerns_git(contract: Contract) -> bool:
    return contract.guards_files or "commit" in contract.may_not or "push" in contract.may_not
