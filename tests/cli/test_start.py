"""The command starts lean, and says clearly what it does not know."""

import subprocess
import sys

import interlock as package
from interlock.cli.main import COMMANDS
from tests.cli.calling import interlock

HEAVY = (
    "msgspec",
    "apsw",
    "typer",
    "rich",
    "yaml",
    "tree_sitter",
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
    assert {name for name in loaded if name.startswith("interlock")} == {"interlock", "interlock._version"}


def test_every_public_name_is_there():
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_the_version_imports_no_command_line_library():
    code = "import sys; sys.argv = ['interlock', '--version']\nfrom interlock.__main__ import main; main()"
    assert not modules_after(code) & set(HEAVY)


def test_an_unknown_command_names_the_nearest(tmp_path):
    done = interlock("scann", home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'scan'?" in done.stderr


def test_every_command_has_help_with_an_example(tmp_path):
    for command in COMMANDS:
        done = interlock(command, "--help", home=tmp_path)
        assert done.returncode == 0, command
        assert f"interlock {command}" in done.stdout, command


def test_the_list_of_commands_imports_none_of_them():
    code = "import sys; sys.argv = ['interlock', '--help']\nfrom interlock.__main__ import main\ntry: main()\nexcept SystemExit: pass"
    loaded = modules_after(code)
    assert not any(f"interlock.cli.{command}" in loaded for command in COMMANDS)
