"""The table of attacks in docs/security.md, written by the torture run (INTERLOCK_WRITE_TABLE=1)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from .scripts import ATTACKS, Attack

PAGE = Path(__file__).parents[3] / "docs" / "security.md"
BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"
SEEN = Path(tempfile.gettempdir()) / "interlock-attacks.json"
NOT_HERE = 127
"""The exit status of an attack that needs what is not installed."""

COLUMNS = tuple((level, root) for level in ("off", "guard", "fence") for root in (True, False))

Kind = tuple[str, bool, bool]
"""Level, whether as root, and whether with cgroups."""


def render(kind: Kind, statuses: dict[str, int], noticed: list[str]) -> None:
    """Remember what came of one siege, and write the table with everything that is known."""
    _, root, cgroups = kind
    seen = json.loads(SEEN.read_text()) if SEEN.exists() else {}
    without = seen.get(str(("off", root, cgroups)), {})
    seen[str(kind)] = {one.name: outcome(one, kind, statuses, noticed, without.get(one.name)) for one in ATTACKS}
    SEEN.write_text(json.dumps(seen))
    heads = [f"{lvl}, {'root' if who else 'user'}" for lvl, who in COLUMNS]
    head = f"| attack | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}\n"

    def cell(one: Attack, lvl: str, who: bool) -> str:
        """One word, or two where it makes a difference whether there are cgroups."""
        first, second = (seen.get(str((lvl, who, each)), {}).get(one.name, "?") for each in (True, False))
        return first if first == second or second in ("n/a", "?") else f"{first}; without cgroups {second}"

    rows = [f"| {one.name} | {' | '.join(cell(one, *column) for column in COLUMNS)} |\n" for one in ATTACKS]
    text = PAGE.read_text()
    PAGE.write_text(text[: text.index(BEGIN)] + BEGIN + "\n" + head + "".join(rows) + text[text.index(END) :])


def outcome(attack: Attack, kind: Kind, statuses: dict[str, int], noticed: list[str], without: str | None) -> str:
    """In one word; `without` is what came of it at level off. What fails there too shows nothing about guard."""
    level, root, cgroups = kind
    status = statuses.get(attack.name)
    if (attack.root and not root) or (attack.walled and level == "off") or (attack.grouped and not cgroups):
        return "n/a"
    if status is None or status == NOT_HERE:
        return "not tried here"
    if attack.tells and any(attack.tells in one for one in noticed):
        return "noticed"
    if level == "off" and attack.off == "prevented":
        return "prevented" if status else "not held"
    if level == "off":
        return attack.off if status == 0 else "failed"
    if status == 0:
        return "held" if attack.at(level) == "held" else "not held"
    return "failed" if without == "failed" else "prevented"
