"""Labelled shell commands: how many of each kind are blocked, on two halves of a data set.

Example: python bench/commands.py --traces DIR [--list] [--half first]
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from interlock.review.command import review_command
from interlock.review.rules import Rule
from interlock.review.rules.load import SOURCE, read_file

LABELS = ("destructive", "benign", "risky", "ordinary")
HALVES = ("first", "second")


NOTES = (
    "The cases that stand beside the rules: what a rule says it stops, and what it says it lets pass. "
    "With `--traces DIR` the same for a set of labelled commands."
)


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    rows = []
    families: dict[str, list[Rule]] = {}
    for rule in read_file(SOURCE).rules:
        families.setdefault(rule.id.partition(".")[0], []).append(rule)
    for family, rules in sorted(families.items()):
        named = [review_command(case) for rule in rules for case in rule.matches]
        passed = [review_command(case) for rule in rules for case in rule.passes]
        stopped = sum(review.verdict != "allow" for review in named)
        let = sum(review.verdict != "block" for review in passed)
        rows.append([family, f"{stopped} of {len(named)}", f"{let} of {len(passed)}"])
    return (
        "Shell commands",
        ["family of rules", "what they name, not allowed as it is", "what they let pass, not blocked"],
        rows,
    )


def evaluate(path: Path | str) -> dict[str, Any]:
    """Blocked share by half and label, by source and category, with the misses and the false blocks."""
    totals: Counter[tuple[str, ...]] = Counter()
    blocked: Counter[tuple[str, ...]] = Counter()
    verdicts: Counter[tuple[str, str]] = Counter()
    misses: list[dict[str, str]] = []
    false_blocks: list[dict[str, str]] = []
    for row in rows(Path(path)):
        review = review_command(row["command"])
        half = half_of(row["command"])
        hit = review.verdict == "block"
        verdicts[row["label"], review.verdict] += 1
        for key in (
            (half, row["label"]),
            ("source", row["source"], row["label"]),
            ("category", row["category"], row["label"]),
        ):
            totals[key] += 1
            blocked[key] += hit
        entry = {
            **{k: row[k] for k in ("command", "label", "source", "category")},
            "half": half,
            "verdict": review.verdict,
        }
        if row["label"] == "destructive" and not hit:
            misses.append(entry)
        elif row["label"] in ("benign", "ordinary") and hit:
            false_blocks.append({**entry, "rules": " ".join(review.rules)})
    return {
        "halves": {half: {label: share(totals, blocked, half, label) for label in LABELS} for half in HALVES},
        "sources": table(totals, blocked, "source"),
        "categories": table(totals, blocked, "category"),
        "verdicts": {f"{label}/{verdict}": count for (label, verdict), count in sorted(verdicts.items())},
        "misses": misses,
        "false_blocks": false_blocks,
    }


def rows(path: Path) -> Iterable[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def half_of(command: str) -> str:
    """The half that a command belongs to, by its hash: rules are written looking at the first one only."""
    return HALVES[hashlib.sha256(command.encode()).digest()[0] % 2]


def share(totals: Counter[tuple[str, ...]], blocked: Counter[tuple[str, ...]], *key: str) -> dict[str, float]:
    count = totals[key]
    return {"commands": count, "blocked": blocked[key], "share": blocked[key] / count if count else 0.0}


def table(totals: Counter[tuple[str, ...]], blocked: Counter[tuple[str, ...]], kind: str) -> list[dict[str, object]]:
    keys = sorted(key for key in totals if key[0] == kind)
    return [{kind: key[1], "label": key[2], **share(totals, blocked, *key)} for key in keys]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=Path, help="a folder with commands.jsonl.gz")
    parser.add_argument("--list", action="store_true", help="list misses and false blocks")
    parser.add_argument("--half", choices=HALVES, help="list those of one half only")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args()
    if options.traces is None:
        from table import as_markdown

        print(as_markdown(*measure(), NOTES))
        return
    result = evaluate(options.traces / "commands.jsonl.gz")
    if options.json:
        print(json.dumps(result))
        return
    for half, labels in result["halves"].items():
        for label, found in labels.items():
            print(f"{half:7} {label:12} {found['blocked']:5} of {found['commands']:5} blocked {found['share']:8.2%}")
    if options.list:
        for name in ("misses", "false_blocks"):
            print(f"\n{name}")
            for entry in result[name]:
                if options.half in (None, entry["half"]):
                    why = entry.get("rules", "")
                    print(f"  {entry['category'][:28]:28} {entry['verdict']:6} {entry['command'][:160]!r} {why}")


if __name__ == "__main__":
    main()
