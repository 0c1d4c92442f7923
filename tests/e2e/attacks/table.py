"""The table of attacks in docs/security.md, written by the torture run (INTERLOCK_WRITE_TABLE=1)."""

from __future__ import annotations

import fcntl
import os
import statistics
import tempfile
from pathlib import Path

import msgspec

from .scripts import ATTACKS, Attack

PAGE = Path(__file__).parents[3] / "docs" / "security.md"
BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"
SEEN = Path(tempfile.gettempdir()) / f"interlock-attacks-{os.getuid()}.json"
NOT_HERE = 127
"""The exit status of an attack that needs what is not installed."""

COLUMNS = tuple((level, root) for level in ("off", "guard", "fence") for root in (True, False))
STEERED = {"answered": "tampering was answered", "paused": "`pause` had returned", "cancelled": "`cancel` had returned"}

Kind = tuple[str, bool, bool]
"""Level, whether as root, and whether with cgroups."""


class Seen(msgspec.Struct):
    """What came of one attack in a run of its own: its exit status, whether it was noticed, and how long things took."""

    status: int
    told: bool
    took: dict[str, float]


def write_down(kind: Kind, attack: Attack, seen: Seen) -> None:
    """Remember what came of one run, and write the table with all that is known; cells not tried stay as they were."""
    with SEEN.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        known = msgspec.json.decode(file.read() or b"{}", type=dict[str, dict[str, Seen]])
        known.setdefault(str(kind), {})[attack.name] = seen
        file.truncate(0)
        file.write(msgspec.json.encode(known))
        file.flush()
        text = PAGE.read_text()
        before = text[text.index(BEGIN) : text.index(END)]
        PAGE.write_text(text[: text.index(BEGIN)] + BEGIN + "\n" + render(known, before) + text[text.index(END) :])


def render(known: dict[str, dict[str, Seen]], before: str) -> str:
    """How long things took, and the table."""
    heads = [f"{level}, {'root' if root else 'user'}" for level, root in COLUMNS]
    lines = [[part.strip() for part in line.strip("|").split("|")] for line in before.splitlines()]
    old = {line[0]: line[1:] for line in lines if len(line) == 1 + len(COLUMNS)}
    rows = []
    for one in ATTACKS:
        cells = [cell(one, *column, known) for column in COLUMNS]
        kept = old.get(one.name, cells)
        words = [before if "?" in now else now for now, before in zip(cells, kept, strict=True)]
        rows.append(f"| {one.name} | {' | '.join(words)} |\n")
    runs = [seen for kind in known.values() for seen in kind.values()]
    times = {name: [seen.took[name] for seen in runs if name in seen.took] for name in STEERED}
    words = [
        f"{STEERED[name]} after {statistics.median(all_):.1f} s (slowest of {len(all_)}: {max(all_):.1f} s)"
        for name, all_ in times.items() if all_
    ]  # fmt: skip
    head = f"| attack | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}\n"
    return f"{len(runs)} runs. Under guard and fence {', '.join(words)}.\n\n{head}{''.join(rows)}"


def cell(attack: Attack, level: str, root: bool, known: dict[str, dict[str, Seen]]) -> str:
    """One word, or two where it makes a difference whether there are cgroups."""
    first, second = (outcome(attack, (level, root, cgroups), known) for cgroups in (True, False))
    return first if first == second or second == "n/a" else f"{first}; without cgroups {second}"


def outcome(attack: Attack, kind: Kind, known: dict[str, dict[str, Seen]]) -> str:
    """In one word. What fails at level off too shows nothing about a wall."""
    level, root, cgroups = kind
    if not attack.applies(*kind):
        return "n/a"
    seen = known.get(str(kind), {}).get(attack.name)
    if seen is None:
        return "?"
    if seen.status == NOT_HERE:
        return "not tried here"
    if seen.told:
        return "noticed"
    if level == "off" and attack.off == "prevented":
        return "prevented" if seen.status else "not held"
    if level == "off":
        return attack.off if seen.status == 0 else "failed"
    if seen.status == 0:
        return "held" if attack.at(level) == "held" else "not held"
    without = outcome(attack, ("off", root, cgroups), known)
    return {"failed": "failed", "?": "?"}.get(without, "prevented")
