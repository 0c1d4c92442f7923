"""Under guard an agent writes to its workspace and what its tools need; a plain command writes everywhere."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.adapters.command.containment_choice import decide_containment, unlimited_because
from interlock.adapters.command.launch import Launch
from interlock.adapters.hooks import recognise
from interlock.config import Config
from interlock.config.schema import Contain
from interlock.contain import why_not
from interlock.contain.write_limits import limit_writes, make_state, remove_unused, repository_paths
from interlock.core import Context, RunSpec
from interlock.process import landlock

from ..e2e.running import Place

guarded = pytest.mark.skipif(bool(why_not()), reason=f"no guard here: {why_not()}")

USERS = {
    "as we are": (),
    "ordinary user": ("unshare", "--user", "--map-user=1000", "--map-group=1000"),
}


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that is in no temporary folder, as those are writable, with a project in it."""
    made = Path(os.environ.get("HOME", "/root")) / f".interlock-test-{os.getpid()}"
    for name in (".ssh/authorized_keys", ".config/interlock/interlock.yaml", ".bashrc", "Documents/thesis", "p/a/mine"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text("")
    yield made
    shutil.rmtree(made)


class Home:
    """Runs commands of an agent whose home this is."""

    def __init__(self, home: Path, place: Place) -> None:
        self.home, self.place = home, place
        self.workspace = place.workspace = home / "p"
        # In a home, as most are: what is below a temporary folder is writable anyway.
        self.environment = {name: value for name, value in place.environment.items() if not name.startswith("XDG")}
        self.environment |= {"HOME": str(home), "INTERLOCK_STORE__DIR": str(home / ".local/state/interlock/runs")}

    def run(self, script: str, *options: str, files: str = "workspace", user: str = "as we are") -> tuple[int, str]:
        words = [sys.executable, "-m", "interlock", "run", "--no-checkpoints", *options, "--", "sh", "-c", script]
        run = self.place.begin(
            [*USERS[user], *words],
            env={**self.environment, "INTERLOCK_CONTAIN__FILES": files},
            stderr=subprocess.STDOUT,
        )
        out, _ = run.communicate(timeout=150)
        return run.returncode, out.decode()


@pytest.fixture
def agent(home: Path, place: Place) -> Home:
    return Home(home, place)


OUTSIDE = (
    "rm -rf ~/Documents", "echo x >> ~/.bashrc", "ln -s /tmp/x ~/.zshenv", "mv ~/Documents ~/D", "touch ~/.vimrc",
    "chmod 700 ~/Documents/thesis", "mkdir ~/.local/bin", "truncate -s 0 ~/Documents/thesis", "touch ~/new",
)  # fmt: skip


@guarded
@pytest.mark.parametrize("user", USERS)
def test_an_agent_writes_nothing_outside(agent: Home, user: str) -> None:
    def seen() -> list[tuple[str, int]]:
        found = (path for path in agent.home.rglob("*") if ".local" not in path.parts and ".cache" not in path.parts)
        return sorted((str(path), path.lstat().st_mode) for path in found)

    before = seen()
    status, out = agent.run("\n".join(f"({one}) && echo WORKED: '{one}'" for one in OUTSIDE) + "\ntrue", user=user)
    assert status == 0 and "WORKED" not in out, out
    assert seen() == before


@guarded
@pytest.mark.parametrize("user", USERS)
def test_an_agent_writes_its_workspace_caches_and_temporary_folders(agent: Home, user: str) -> None:
    name = agent.home.name
    script = f"""set -e; touch new a/mine; mkdir -p ~/.cache/tool/x; touch ~/.cache/tool/x/y /tmp/{name} /dev/shm/{name}
        rm /tmp/{name} /dev/shm/{name}; echo '{{"a": 1}}' > ~/.claude.json"""
    (agent.home / ".claude.json").write_text("{}")
    status, out = agent.run(script, user=user)
    assert status == 0, out
    assert (agent.home / ".cache/tool/x/y").exists() and (agent.workspace / "new").exists()


@guarded
def test_a_plain_command_writes_everywhere(agent: Home) -> None:
    status, out = agent.run("touch ~/Documents/new && rm -r ~/Documents", files="auto")
    assert status == 0 and "may write everywhere" in out.splitlines()[0]
    assert not (agent.home / "Documents").exists()


@guarded
def test_what_a_person_names_is_writable(agent: Home) -> None:
    given = agent.home / "out"
    status, out = agent.run(f"touch {given}/made ~/Documents/made", "--write", str(given))
    assert status != 0 and (given / "made").exists() and not (agent.home / "Documents/made").exists(), out
    status, out = agent.run("touch x", "--write", str(agent.home / "no.json"))
    assert status == 2 and "does not exist" in out


RENAMES = (
    "mv ~/.ssh ~/.ssh.old", "mv ~/.config ~/.config.old", "mv ~/.config/interlock ~/.config/i", "mv ~/.cache ~/.c",
    "mv ~/.cache/interlock ~/.cache/i", "mv ~/.local ~/.l", "mv ~/.local/state ~/.s", "mv ~ ~/../moved-$$",
    "ln -s ~ l && mv l/.ssh l/.ssh.old", "mv /proc/self/cwd/../.ssh ~/.ssh.old", "mv /proc/self/root$HOME/.config ~/.c",
    "python3 -c \"import os,sys; h=os.environ['HOME']; os.rename(h+'/.ssh', h+'/p/.ssh')\"",
)  # fmt: skip


@guarded
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("files", ["workspace", "everything"])
def test_no_folder_above_what_is_protected_can_be_renamed(agent: Home, user: str, files: str) -> None:
    # `mv` falls back to copying and removing, which loses nothing that is protected: a marker tells the folders apart.
    for name in (".ssh", ".config/interlock", ".cache/interlock", ".local/state/interlock"):
        (agent.home / name).mkdir(parents=True, exist_ok=True)
    before = {
        name: (agent.home / name).stat().st_ino for name in (".ssh", ".config", ".cache", ".local", ".local/state")
    }
    _, out = agent.run(
        "\n".join(f"({one}) && echo WORKED: '{one}'" for one in RENAMES) + "\ntrue", files=files, user=user
    )
    assert "WORKED" not in out, out
    assert {name: (agent.home / name).stat().st_ino for name in before} == before
    assert (agent.home / ".ssh/authorized_keys").exists() and (agent.home / ".config/interlock/interlock.yaml").exists()


@guarded
def test_files_of_the_workspace_that_run_later_are_read_only_where_they_exist(agent: Home) -> None:
    subprocess.run(["git", "init", "-q", agent.workspace], check=True)
    (agent.workspace / ".envrc").write_text("")
    tries = ("touch .git/hooks/pre-commit", "echo x > .envrc", "rm .envrc", "mv .git .g", "mv .git/hooks .git/h")
    _, out = agent.run(
        "\n".join(f"({one}) && echo WORKED: '{one}'" for one in tries) + "\ngit config a.b c && touch .mcp.json"
    )
    assert "WORKED" not in out and (agent.workspace / ".mcp.json").exists(), out


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    subprocess.run(["git", "-C", folder, *name, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "repository"
    (made / "inner").mkdir(parents=True)
    git(made, "init", "-q")
    git(made, "commit", "-q", "--allow-empty", "-m", "first")
    return made


def test_a_run_in_a_subfolder_writes_the_repository_from_its_top(repository: Path) -> None:
    assert repository_paths(repository / "inner") == (repository,)


def test_a_worktree_and_a_submodule_write_the_git_folder_that_they_use(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert repository_paths(tmp_path / "tree") == (tmp_path / "tree", repository / ".git")
    assert repository / ".git/hooks" in limit_writes((tmp_path / "tree",), ()).fixed
    git(repository, "submodule", "add", str(repository), "sub")
    assert repository_paths(repository / "sub") == (repository / "sub", repository / ".git/modules/sub")
    assert repository / ".git/modules/sub/hooks" in limit_writes((repository,), ()).fixed


def test_a_git_folder_that_does_not_name_the_work_tree_is_not_opened(repository: Path, tmp_path: Path) -> None:
    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {repository / '.git'}\n")
    assert repository_paths(forged) == (forged,)


def test_a_home_that_is_a_repository_stays_closed(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(repository))
    assert repository_paths(repository / "inner") == ()


def test_bare_repositories_that_it_pushes_to_are_open_without_their_hooks(repository: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "bare.git"], check=True)
    git(repository, "remote", "add", "origin", str(tmp_path / "bare.git"))
    git(repository, "remote", "add", "other", f"file://{tmp_path}")
    limits = limit_writes((repository,), ())
    assert tmp_path / "bare.git" in limits.write and tmp_path not in limits.write
    assert {tmp_path / "bare.git/hooks", tmp_path / "bare.git/config"} <= {*limits.fixed}


def test_folders_that_no_tool_used_are_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home/.aws").mkdir(parents=True)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("aws", "npm", "claude"):
        (tools / name).touch(mode=0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tools))
    made = make_state(("claude",))
    assert (tmp_path / "home/.aws/cli/cache").is_dir() and (tmp_path / "home/.claude.json").is_file()
    (tmp_path / "home/.npm/used").touch()
    remove_unused(made)
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == [".aws", ".npm"]


def launch(*argv: str, task: str = "") -> Launch:
    spec = RunSpec(run_id="r", name="", task=task, workspace=None, argv=argv, cwd="/", adapter="process")
    return Launch(spec=spec, config=Config(), context=Context(), store=Path(), wiring=recognise(argv))


@pytest.mark.parametrize(
    "argv",
    [("claude", "-p", "hi"), ("npx", "claude"), ("npx", "-y", "@openai/codex@latest"), ("bash", "-c", "claude -p 'a b'"),
     ("sh", "-c", "exec gemini -p hi"), ("uvx", "aider-chat"), ("aider",), ("env", "A=b", "codex", "exec", "hi")],
)  # fmt: skip
def test_agents_are_recognised(argv: tuple[str, ...]) -> None:
    assert launch(*argv).agent


@pytest.mark.parametrize(
    "argv",
    [("make", "install"), ("make", "agent"), ("./deploy.sh",), ("apt-get", "download", "x"), ("claude", "--version"),
     ("bash", "-c", "make && claude"), ("bash", "-c", "A=$B claude"), ("npx", "prettier", ".")],
)  # fmt: skip
def test_plain_commands_are_not_and_their_run_says_so(argv: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert launch(*argv).agent == "" and launch(*argv, task="Do it.").agent
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    if not why_not():
        assert "may write everywhere (not a known agent" in decide_containment(Config()).line


def test_root_in_a_container_or_ci_writes_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REMOTE_CONTAINERS", "CODESPACES", "DEVCONTAINER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert unlimited_because(Config(), "codex") == "root in CI"
    assert unlimited_because(Config(contain=Contain(files="workspace")), "codex") == ""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert unlimited_because(Config(), "codex") == ""


TELLING = """
import json, subprocess, sys
sys.path[:0] = sys.argv[1].split(":")
from interlock.adapters.command import Steps
steps = Steps()
for command in json.loads(sys.argv[2]):
    answer = steps.before("bash", {"command": command})
    if answer["action"] == "proceed":
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
        answer = steps.after(done.stderr, exit_code=done.returncode)
    print(json.dumps([command, answer.get("action"), answer.get("reason", ""), [one["content"] for one in answer.get("messages", ())]]))
"""


def told(agent: Home, *commands: str) -> tuple[list[tuple[str, str, str, list[str]]], str]:
    """What an agent that runs these commands gets as answers; and all output."""
    (agent.workspace / "agent.py").write_text(TELLING)
    words = [sys.executable, "agent.py", agent.environment["PYTHONPATH"], json.dumps(commands)]
    status, out = agent.run(shlex.join(words), "--task", "Tidy up.")
    assert status == 0, out
    return [tuple(json.loads(line)) for line in out.splitlines() if line.startswith('["')], out  # type: ignore[misc]


@guarded
def test_a_call_that_plainly_writes_outside_is_refused_before_it_runs_in_words_that_lead_on(agent: Home) -> None:
    (agent.home / ".config/foo").mkdir()
    answers, out = told(
        agent,
        "echo x > ~/.config/foo/a.conf",
        "echo x > ../outside.txt",
        "git config --global a.b c",
        "echo x > inside",
    )
    assert [action for _, action, _, _ in answers] == ["deny", "deny", "proceed", "proceed"], answers
    assert "keeps writes inside ~/p;" in answers[0][2] and "--write ~/.config/foo" in answers[0][2]
    assert "without --global" in "".join(answers[2][3])
    assert "refused outside the workspace: " in out and "~/.config/foo (once)" in out and "--write ~/.config/foo" in out
    assert (agent.workspace / "inside").exists() and not (agent.home / "outside.txt").exists()


@guarded
def test_what_the_kernel_refuses_is_explained_once_for_each_place_and_counted(agent: Home) -> None:
    hidden = "python3 -c \"import os; open(os.environ['HO' + 'ME'] + '/Documents/{}', 'w')\""
    answers, out = told(agent, hidden.format("a"), hidden.format("b"), "python3 -c \"open('fine', 'w')\"")
    said = [messages for _, _, _, messages in answers]
    assert "~/Documents/a is outside" in "".join(said[0]) and "--write ~/Documents" in "".join(said[0])
    assert not any("is outside" in one for one in said[1] + said[2])
    assert "~/Documents (2 times); allow: --write ~/Documents" in out


@guarded
def test_a_cache_is_written_whether_its_folder_is_there_or_not(agent: Home) -> None:
    answers, _ = told(
        agent, "echo x > ~/.cache/t/x", "mkdir -p ~/.cache/t", "echo x > ~/.cache/t/x", "echo y > ~/.cache/t/x"
    )
    assert [action for _, action, _, _ in answers] == ["proceed"] * 4, answers


@guarded
def test_what_was_in_a_temporary_folder_before_is_not_deleted(agent: Home, tmp_path: Path) -> None:
    theirs = Path(f"/tmp/{agent.home.name}-theirs")
    theirs.mkdir()
    mine = f"/tmp/{agent.home.name}-mine"
    answers, _ = told(agent, f"rm -rf {theirs}", f"mkdir {mine} && touch {mine}/x", f"rm -r {mine}")
    assert [action for _, action, _, _ in answers] == ["deny", "proceed", "proceed"], answers
    assert theirs.exists() and not Path(mine).exists()
    theirs.rmdir()


@guarded
def test_secrets_that_no_tool_of_the_run_needs_are_hidden_unless_shown(agent: Home) -> None:
    for name in (".mozilla/logins.json", "other/.env"):
        (agent.home / name).parent.mkdir(exist_ok=True)
        (agent.home / name).write_text("SECRET")
    assert "SECRET" not in agent.run("cat ~/.mozilla/logins.json ~/other/.env")[1]
    agent.environment["INTERLOCK_CONTAIN__SHOW"] = "[~/.mozilla, ~/other/.env]"
    assert agent.run("cat ~/.mozilla/logins.json ~/other/.env")[1].count("SECRET") == 2


@guarded
def test_sockets_of_editors_and_kept_ssh_connections_are_hidden(agent: Home) -> None:
    listeners = []
    for path in (agent.home / ".ssh/control", agent.home / "vscode.sock"):
        listeners.append(socket.socket(socket.AF_UNIX))
        listeners[-1].bind(str(path))
        listeners[-1].listen()
    agent.environment["VSCODE_IPC_HOOK_CLI"] = str(agent.home / "vscode.sock")
    _, out = agent.run(
        "test -S ~/.ssh/control && echo FOUND; test -S ~/vscode.sock && echo FOUND; env | grep VSCODE_IPC"
    )
    assert "FOUND" not in out and "VSCODE_IPC" not in out
    for listener in listeners:
        listener.close()


@guarded
def test_histories_are_refused_quietly(agent: Home) -> None:
    (agent.home / ".bash_history").touch()
    answers, out = told(agent, "python3 -c \"import os; open(os.environ['HO' + 'ME'] + '/.bash_history', 'a')\"")
    assert not answers[0][3] and "refused" not in out


@pytest.fixture
def no_namespaces(agent: Home) -> Home:
    """A machine whose bubblewrap may not make namespaces."""
    tools = agent.place.root / "tools"
    tools.mkdir()
    (tools / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    (tools / "bwrap").chmod(0o755)
    agent.environment["PATH"] = f"{tools}:{agent.environment['PATH']}"
    return agent


@pytest.mark.skipif(landlock.version() < 3, reason="this kernel has no Landlock that refuses emptying files")
@pytest.mark.parametrize("user", USERS)
def test_landlock_alone_holds_the_limits_where_there_are_no_namespaces(no_namespaces: Home, user: str) -> None:
    agent, kept = no_namespaces, OUTSIDE[:5] + OUTSIDE[6:]  # it does not limit modes
    script = "\n".join(f"({one}) && echo WORKED: '{one}'" for one in kept) + "\ntouch inside /tmp/$$ && rm /tmp/$$"
    status, out = agent.run(script, user=user)
    assert status == 0 and "WORKED" not in out and (agent.workspace / "inside").exists(), out
    assert "writes only to its workspace" in out.splitlines()[0] and "No permissions to create" in out.splitlines()[0]
    assert (agent.home / "Documents/thesis").exists()
