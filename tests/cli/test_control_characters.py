"""Whatever an agent names or says: it steers no terminal, in no command."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.text import Text
from typer.testing import CliRunner

import interlock
from interlock.cli.console import Console
from interlock.cli.main import app
from interlock.cli.output import json_text
from interlock.core import RunSpec, Step, Tool
from interlock.core.errors import printable
from interlock.journal import Journal, JournalEntry, Store, new_run_id
from interlock.journal_records import StepRecord

EVIL = "\x1b]0;PWN\x07\x1b[2Jevil\x9b31m\u202egnp.exe\rover"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_control_characters_are_replaced_and_words_stay() -> None:
    assert not STEERING.search(printable(EVIL)) and "evil" in printable(EVIL)
    assert printable("Zürich\n\tline") == "Zürich\n\tline"
    assert printable("\udcff").isprintable()


def test_a_console_prints_its_own_styles_and_nothing_from_outside() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", width=200)
    console.print(Text(EVIL, style="red"))
    console.out(EVIL)
    shown = out.getvalue()
    assert "\x1b[31m" in shown, "our own colour is there"
    assert not STEERING.search(re.sub("\x1b\\[[0-9;]*m", "", shown))


def test_json_is_the_same_value_and_steers_no_terminal() -> None:
    import msgspec

    text = json_text({"name": EVIL})
    assert msgspec.json.decode(text) == {"name": EVIL} and not STEERING.search(text)


def test_every_command_prints_by_way_of_the_one_place() -> None:
    cli = Path(interlock.__file__).parent / "cli"
    direct = [
        f"{file.name}: {found}"
        for file in cli.glob("*.py")
        if file.name not in ("output.py", "console.py")
        for found in re.findall(r"typer\.s?echo\(|from rich\.console import Console\b", file.read_text())
    ]
    assert direct == []


@pytest.mark.parametrize(
    "command", [["show"], ["show", "--json"], ["report", "--format", "md", "-o", "-"], ["ps", "--all"]]
)
def test_commands_on_a_run_with_evil_names_steer_no_terminal(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    run = Store().create(RunSpec(run_id=new_run_id(), name=EVIL, task=EVIL, workspace=f"/{EVIL}"))
    step = Step(
        run_id=run.run_id,
        index=0,
        role="assistant",
        kind="tool_call",
        content=EVIL,
        tool=Tool("bash", {"command": EVIL}),
    )
    with Journal.open(run) as journal:
        journal.append([JournalEntry("step", StepRecord(step)), JournalEntry("strange", {EVIL: EVIL})], durable=True)
    ref = [] if command[0] == "ps" else [run.run_id]
    done = CliRunner().invoke(app, [command[0], *ref, *command[1:]])
    assert done.exit_code == 0, done.output
    assert "evil" in done.output and not STEERING.search(done.output)
