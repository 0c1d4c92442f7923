"""Closed loop: scripted agents under the real supervisor and under its peers; writes CLOSED_LOOP.md."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from loop.games import PACES, UNDER, attended, examples, pairings, play_all
from loop.judge import ATTENDED, EXAMPLE, OURS
from loop.report import missed_goals, report, shown
from loop.script import AGENTS


def main() -> int:
    """Play, print what missed its goal, write the tables; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this agent; may be repeated")
    parser.add_argument("--kind", action="append", default=[], help="agents of this kind; may be repeated")
    parser.add_argument("--under", action="append", default=[], help=f"one of {', '.join((*UNDER, EXAMPLE, ATTENDED))}")
    parser.add_argument("--pace", action="append", type=float, default=[], help=f"one of {PACES}")
    parser.add_argument("--json", action="store_true", help="every game as a line of JSON")
    parser.add_argument("--workers", type=int, help="processes; default two")
    options = parser.parse_args()
    for name in options.only:
        if name not in AGENTS:
            parser.error(f"unknown agent {name!r}; known: {', '.join(AGENTS)}")
    names = options.only or [name for name, agent in AGENTS.items() if agent.kind in options.kind]
    partial = bool(names or options.under or options.pace)
    under = options.under or ((OURS,) if names else UNDER)
    wanted = pairings(names, [one for one in under if one in UNDER], options.pace or PACES)
    if EXAMPLE in under or not partial:
        wanted += examples(names, options.pace or PACES)
    if ATTENDED in under or not partial:
        wanted += attended(names)
    begin = time.monotonic()
    verdicts = list(play_all(wanted, options.workers))
    missed = missed_goals(verdicts, whole=not partial)
    if options.json:
        for verdict in verdicts:
            print(json.dumps(dataclasses.asdict(verdict)))
    elif partial:
        for verdict in verdicts:
            print(shown(verdict))
    if not partial:
        (Path(__file__).parent / "CLOSED_LOOP.md").write_text(report(verdicts, missed))
    print(f"{len(verdicts)} games in {time.monotonic() - begin:.0f} s", file=sys.stderr)
    for goal in missed:
        print(f"missed: {goal}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
