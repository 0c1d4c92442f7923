"""The table of attacks in docs/security.md, written by the torture run (INTERLOCK_WRITE_TABLE=1)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from .scripts import ATTACKS, Attack

PAGE = Path(__file__).parents[3] / "docs" / "security.md"
BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"
SEEN = Path(tempfile.gettempdir()) / "interlock-attacks.json"
COLUMNS = (("off", True), ("off", False), ("guard", True), ("guard", False))


def render(level: str, root: bool, statuses: dict[str, int], noticed: list[str]) -> None:
    """Remember what came of one siege, and write the table with everything that is known."""
    seen = json.loads(SEEN.read_text()) if SEEN.exists() else {}
    seen[f"{level} {root}"] = {one.name: outcome(one, level, statuses) for one in ATTACKS}
    SEEN.write_text(json.dumps(seen))
    head = "| attack | off, root | off, user | guard, root | guard, user |\n|---|---|---|---|---|\n"
    rows = [
        f"| {one.name} | "
        + " | ".join(seen.get(f"{lvl} {who}", {}).get(one.name, "?") for lvl, who in COLUMNS)
        + " |\n"
        for one in ATTACKS
    ]
    text = PAGE.read_text()
    PAGE.write_text(text[: text.index(BEGIN)] + BEGIN + "\n" + head + "".join(rows) + text[text.index(END) :])


def outcome(attack: Attack, level: str, statuses: dict[str, int]) -> str:
    status = statuses.get(attack.name)
    if status is None:
        return "not tried" if level == "off" and attack.machine else "n/a"
    if level == "guard":
        return attack.guard if status == 0 or attack.guard == "noticed" else "prevented"
    return "not held" if status == 0 else "failed"
