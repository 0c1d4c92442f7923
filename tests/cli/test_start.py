"""The command starts lean, and says clearly what it does not know."""

import os
import re
import subprocess
import sys

import pytest
import typer
from scripts.cli_reference import MANUAL, ROOT, commands, manual, page

import interlock as package
from interlock.cli.main import ALIASES, COMMANDS, LOCATIONS, leave_question
from tests.cli.calling import interlock

CAPITALS = re.compile(r"[A-Z:=|]+(\.\.\.)?|[a-z_]+(\|[a-z_]+)+")

HEAVY = (
    "msgspec",
    "apsw",
    "typer",
    "rich",
    "yaml",
    "re2",
    "rapidfuzz",
    "psutil",
    "zstandard",
    "asyncio",
)


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_interlock_imports_nothing_heavy():
    loaded = modules_after("import interlock") - modules_after("pass")
    assert not loaded & set(HEAVY)
    assert {name for name in loaded if name.startswith("interlock")} == {
        "interlock",
        "interlock._lazy",
        "interlock._version",
    }


def test_every_public_name_is_there():
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_the_version_imports_no_command_line_library():
    code = "import sys; sys.argv = ['interlock', '--version']\nfrom interlock.__main__ import main; main()"
    assert not modules_after(code) & set(HEAVY)


def test_the_version_imports_no_patterns():
    code = """
import sys
sys.argv = ["interlock", "--version"]
from interlock.__main__ import main
main()"""
    loaded = modules_after(code)
    assert "interlock.__main__" in loaded
    assert "re" not in loaded - modules_after("pass")


def test_an_unknown_command_names_the_nearest(tmp_path):
    done = interlock("scann", home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'scan'?" in done.stderr


def test_a_word_that_is_like_no_command_names_none(tmp_path):
    done = interlock("frobnicate", home=tmp_path)
    assert (done.returncode, done.stderr) == (2, "interlock: there is no command 'frobnicate'. See interlock --help.\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("show", "interlock show: missing argument RUN. See interlock show --help."),
        ("run", "interlock run: missing argument COMMAND. See interlock run --help."),
        ("show a b", "interlock show: got unexpected extra argument(s) (b). See interlock show --help."),
        ("run --max-steps x -- y", "interlock run: invalid value for '--max-steps': 'x' is not a whole number"),
        ("run --max-cost nan -- true", "interlock: --max-cost nan is not a limit. Use a number, or leave it out."),
        (
            "run --max-minutes inf -- true",
            "interlock: --max-minutes inf is not a limit. Use a number, or leave it out.",
        ),
        ("run --name b\udcff -- true", "interlock: 'b\\udcff': the name is not UTF-8. Give it as UTF-8 text."),
        ("run -- echo b\udcff", "interlock: 'echo b\\udcff': the command is not UTF-8. Give it as UTF-8 text."),
        ("checkpoint create --label b\udcff", "interlock: 'b\\udcff': the label is not UTF-8. Give it as UTF-8 text."),
        ("serve --http 70000", "interlock serve: invalid value for '--http': 70000 is not in the range 0<=x<=65535."),
        ("ps --frob", "interlock ps: no such option: --frob. See interlock ps --help."),
        ("checkpoint frob", "interlock checkpoint: no such command 'frob'. See interlock checkpoint --help."),
    ],
)
def test_wrong_usage_is_one_line(words, line, tmp_path):
    done = interlock(*words.split(), home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(line) and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("status --json", "ps --json"),
        ("kill nosuch", "cancel nosuch"),
        ("help ps", "ps --help"),
        ("checkpoint list --json", "checkpoints --json"),
        ("incident list --all", "incidents --all"),
    ],
)
def test_words_that_people_try_mean_a_command(words, meant, tmp_path):
    tried, known = (interlock(*each.split(), home=tmp_path) for each in (words, meant))
    assert (tried.returncode, tried.stdout, tried.stderr) == (known.returncode, known.stdout, known.stderr)
    assert set(ALIASES.values()) <= set(COMMANDS) and not set(ALIASES) & set(COMMANDS)


def test_a_no_to_a_question_is_confirmed(capsys):
    assert leave_question(typer.Abort()) == 1
    assert capsys.readouterr().err == "interlock: nothing was changed\n"


def test_a_group_without_a_command_shows_its_help(tmp_path):
    done = interlock("checkpoint", home=tmp_path)
    assert done.returncode == 2
    assert "Commands:" in done.stderr


def test_the_shell_completes_commands(tmp_path):
    done = interlock(home=tmp_path, _INTERLOCK_COMPLETE="complete_bash", COMP_WORDS="interlock roll", COMP_CWORD="1")
    assert (done.returncode, done.stdout) == (0, "rollback\n")


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("msgspec", []),
        ("interlock.cli.run_start", []),
        ("interlock.adapters.command.front", []),
        ("typer", ["--name=x"]),
        ("interlock.cli.run", ["--name=x"]),
    ],
)
def test_ctrl_c_while_modules_are_imported_starts_nothing_and_says_nothing(module, options, tmp_path):
    code = f"""
import os, signal, sys
class Interrupted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            Interrupted()  # as in a callback of the import system, where Python loses a KeyboardInterrupt
sys.meta_path.insert(0, Finder())
sys.argv = ["interlock", "run", *{options!r}, "--", "touch", "made"]
from interlock.__main__ import main
main()
"""
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=os.environ | state, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert list(tmp_path.iterdir()) == []


def test_every_command_has_help_in_one_style_and_is_in_the_reference():
    reference = (ROOT / "docs" / "cli.md").read_text()
    for path, command, context in commands():
        text = command.get_help(context)
        assert "Example: interlock" in text or hasattr(command, "commands") or path.count(" ") > 1, path
        assert "-h, --help" in text, path
        shown = [each.make_metavar(ctx=context) for each in command.params if not getattr(each, "is_flag", False)]
        assert all(CAPITALS.fullmatch(name) for name in shown), (path, shown)
        assert path == "interlock" or f"# {path}\n" in reference, path
    assert (ROOT / "docs" / "cli.md").read_text() == page(), "run make cli"
    assert MANUAL.read_text() == manual(), "run make cli"


def test_the_list_of_commands_imports_none_of_them():
    code = "import sys; sys.argv = ['interlock', '--help']\nfrom interlock.__main__ import main\ntry: main()\nexcept SystemExit: pass"
    loaded = modules_after(code)
    modules = {LOCATIONS.get(command, command).partition(".")[0] for command in COMMANDS}
    assert not any(f"interlock.cli.{module}" in loaded for module in modules)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["--version", "--help", "ps", "config show", "schema"])
def test_a_stream_that_was_closed_is_no_trouble(tmp_path, words, closed):
    command = f"exec {sys.executable} -m interlock {words} {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) is (">&-" not in closed.replace("2>&-", ""))
