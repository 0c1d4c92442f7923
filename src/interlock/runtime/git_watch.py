"""GitWatch: the commits and pushes of a run that its contract forbids, read from the repository of its workspace.

Restoring a file does not undo a commit: what a contract undoes in the files may still be there.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable

from ..contract import broken_by
from ..core import Clause, Contract

TIMEOUT_S = 20.0
MOST_REFS = 500
"""A repository with more refs is followed by its HEAD alone."""
MOST_COMMITS = 50
"""New commits that are looked into."""
SHORT = 9

SAFE = (
    "git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "log.showSignature=false",
)  # fmt: skip
ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}  # fmt: skip
"""The repository's settings are the agent's: reading it must start no program of theirs."""

Refs = dict[str, str]
Breaches = dict[Clause, tuple[str, ...]]


class GitWatch:
    """For one run. `start` are the refs as they were when the contract first said anything about them."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self.start: Refs | None = None

    def begin(self, contract: Contract) -> Refs:
        """Remember the repository as it is, once, where the contract has a use for that."""
        if self.start is None and _counts(contract):
            self.start = self._refs()
        return self.start or {}

    def breaches(self, contract: Contract) -> Breaches:
        """What in the repository violates each clause, in words."""
        if self.start is None or not _counts(contract):
            return {}
        now = self._refs(everything=len(self.start) != 1)
        changed = {name: commit for name, commit in now.items() if self.start.get(name) != commit}
        remote = {name for name in now if name.startswith("refs/remotes/")}
        pushed = sorted(name for name in remote & changed.keys() if self._was_pushed(name))
        tips = {name: commit for name, commit in changed.items() if name not in remote or name in pushed}
        tips.pop("refs/stash", None)
        elsewhere = [now[name] for name in remote - set(pushed)]
        commits = self._new_commits(tips.values(), [*self.start.values(), *elsewhere]) if tips else []
        found: Breaches = {}
        for clause in contract.clauses:
            if clause.key == "may_not" and clause.value == "commit" and commits:
                more = f" and {len(commits) - 3} more" if len(commits) > 3 else ""
                found[clause] = (f"committed {', '.join(commit[:SHORT] for commit in commits[:3])}{more}",)
            elif clause.key == "may_not" and clause.value == "push" and pushed:
                found[clause] = tuple(f"pushed to {name.removeprefix('refs/remotes/')}" for name in pushed)
        for commit in commits if contract.guards_files else ():
            for path in self._paths(commit):
                broken = broken_by(contract, path)
                if broken is not None and self._stands(path, tips.values()):
                    found[broken] = (*found.get(broken, ()), f"commit {commit[:SHORT]} changes {path}")
        return found

    def _refs(self, *, everything: bool = False) -> Refs:
        head = self._git("rev-parse", "-q", "--verify", "HEAD^{commit}")
        lines = self._git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        if len(lines) > MOST_REFS and not everything:
            lines = []
        refs = dict(line.split(" ", 1) for line in lines)
        return {"HEAD": head.strip(), **refs} if head.strip() else refs

    def _was_pushed(self, name: str) -> bool:
        """Whether a remote branch moved because we pushed to it; a fetch says otherwise."""
        said = self._git("reflog", "show", "-1", "--format=%gs", name).strip()
        return "push" in said

    def _new_commits(self, tips: Iterable[str], known: Iterable[str]) -> list[str]:
        wanted = "\n".join([*tips, *(f"^{commit}" for commit in known)])
        options = ("--ignore-missing", f"--max-count={MOST_COMMITS}", "--stdin")
        return self._git("rev-list", *options, said=f"{wanted}\n").split()

    def _paths(self, commit: str) -> list[str]:
        """The files below the workspace that a commit changes; of a merge, those that it changes by itself."""
        options = ("-r", "-c", "--root", "--no-commit-id", "--name-only", "--no-ext-diff", "--relative", "-z")
        return [path for path in self._git("diff-tree", *options, commit).split("\0") if path]

    def _stands(self, path: str, tips: Iterable[str]) -> bool:
        """Whether a tip has another version of the file than the workspace, and than the start."""
        same = {self._git("hash-object", "--no-filters", "--", path).strip()}
        if self.start is not None and "HEAD" in self.start:
            same.add(self._blob(self.start["HEAD"], path))
        return any(self._blob(tip, path) not in same for tip in tips)

    def _blob(self, commit: str, path: str) -> str:
        return self._git("rev-parse", "-q", "--verify", f"{commit}:./{path}").strip()

    def _git(self, *words: str, said: str = "") -> str:
        """What git prints; nothing where there is no repository, or it cannot be read."""
        try:
            done = subprocess.run(
                [*SAFE, *words],
                cwd=self._folder,
                env={**os.environ, **ENVIRONMENT},
                input=said.encode(),
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else ""


def _counts(contract: Contract) -> bool:
    return contract.guards_files or "commit" in contract.may_not or "push" in contract.may_not
