"""2,000 recorded commands and what each is read as; `python -m tests.calls.test_golden --write` writes the table anew.

A change to the readers shows here as changed rows: look at each before the table is written anew. A row with `wrong` is
known to be read wrongly, and says how."""

import json
import sys
from pathlib import Path

from interlock.calls import CallReading, read_script

TABLE = Path(__file__).with_name("golden.jsonl")
WORKSPACE = "/w"


def rows() -> list[dict[str, str]]:
    return [json.loads(line) for line in TABLE.read_text().splitlines()]


def compact(reading: CallReading) -> str:
    """A reading in one line: effects, texts written, checks, waits, code in other languages, what was not read."""
    said = [
        f"{effect.verb}{'' if effect.extent == 'one' else f'({effect.extent})'}"
        f"{'' if effect.zone == 'workspace' else f'@{effect.zone}'} {effect.target}"
        f"{f' on {effect.server}' if effect.server else ''}"
        for effect in reading.effects
    ]
    said += [f"text[{write.how}] {write.path}={write.text[:30]!r}" for write in reading.writes]
    said += [
        " ".join(("check", check.kind, check.runner, *check.targets)) + ("" if check.decides else " (hidden status)")
        for check in reading.checks
    ]
    said += [f"wait {wait.how} {wait.seconds:g}" for wait in reading.waits]
    said += [f"inline {inline.language}" for inline in reading.inline]
    said += [f"CONCEALED {reading.concealed}"] if reading.concealed else []
    said += [f"UNREAD {reading.unread}"] if reading.unread else []
    return "; ".join(said) or "nothing"


def read(command: str) -> str:
    return compact(read_script(command, WORKSPACE, WORKSPACE))


def test_each_command_is_read_as_the_table_says() -> None:
    table = rows()
    assert len(table) == 2000
    changed = [
        f"{row['command']}\n  table: {row['reading']}\n  read:  {now}"
        for row in table
        if (now := read(row["command"])) != row["reading"]
    ]
    assert not changed, f"{len(changed)} readings differ from the table:\n" + "\n".join(changed)


def write(table: list[dict[str, str]]) -> None:
    """Write the table with what is read now; a row that reads otherwise is no longer known to be wrong."""
    lines = []
    for row in table:
        now = read(row["command"])
        kept = row if now == row["reading"] else {"command": row["command"]}
        lines.append(json.dumps({**kept, "reading": now}, ensure_ascii=False))
    TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    write(rows())
