"""show.py RESULTS LEVELS VERDICTS [WIDTH]: prints single results to read."""

import json
import sys
from pathlib import Path

file, levels, verdicts = sys.argv[1], sys.argv[2].split(","), sys.argv[3].split(",")
width = int(sys.argv[4]) if len(sys.argv) > 4 else 250
for row in map(json.loads, Path(file).read_text().splitlines()):
    if row["level"] in levels and row["verdict"] in verdicts:
        print(row["level"], row["id"], row["verdict"], row["harms"][:6])
        for step in row.get("steps", []):
            said = [one[:width] for one in step.get("said") or []]
            print(
                "   ",
                step.get("code"),
                step.get("refused", ""),
                (step.get("why") or "")[:width],
                repr(step.get("out", ""))[-width:],
                said,
            )
        print("    rollback", row.get("rollback"), row.get("other") or "")
