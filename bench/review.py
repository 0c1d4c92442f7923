"""What a review costs per command, beside a bare parse and the standard library's splitter.

Example: python bench/review.py [--traces DIR]
"""

from __future__ import annotations

import argparse
import gzip
import json
import shlex
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from interlock.calls.syntax import parse
from interlock.config.schema import Review as ReviewConfig
from interlock.core import Context, Step, Tool
from interlock.review import Reviewer, review_command
from interlock.review.rules.load import SOURCE, read_file

NOTES = (
    "Median over commands of the fastest of several passes, so that other work on the machine counts less. "
    "The commands are the test cases of the rules; at most 60 µs per review is the target."
)

PASSES = 7
LONG = 65_536


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    return table(cases(), 3 if quick else PASSES)


def table(commands: list[str], passes: int) -> tuple[str, list[str], list[list[str]]]:
    reviewer = Reviewer(ReviewConfig(), Context(original_prompt="Fix the tests"), "/home/me/project")
    calls: dict[str, Callable[[str], object]] = {
        "plain parse": parse,
        "shlex.split": split,
        "review_command": review_command,
        "Reviewer.review of a step, with context": lambda command: reviewer.review(as_step(command)),
    }
    costs = {name: cost(call, commands, passes) for name, call in calls.items()}
    floor = statistics.median(costs["plain parse"])
    rows = [
        [
            name,
            f"{statistics.median(found):.1f}",
            f"{percentile(found, 0.9):.1f}",
            f"{statistics.median(found) / floor:.1f}",
        ]
        for name, found in costs.items()
    ]
    worst = max(crafted_cost(case) for case in commands[:: 4 if passes > 3 else 40])
    rows.append(["worst 64 KB input, CPU time (goal 20,000)", f"{worst:.1f}", "", ""])
    return "Review of commands", ["measurement", "µs (median)", "µs (90%)", "times a plain parse"], rows


def cases() -> list[str]:
    """The cases beside the shipped rules."""
    return [case for rule in read_file(SOURCE).rules for case in (*rule.matches, *rule.passes)]


def cost(call: Callable[[str], object], commands: list[str], passes: int) -> list[float]:
    """Microseconds per command, sorted."""
    best = [float("inf")] * len(commands)
    for _ in range(passes + 1):
        for at, command in enumerate(commands):
            begin = time.perf_counter_ns()
            call(command)
            best[at] = min(best[at], (time.perf_counter_ns() - begin) / 1000)
    return sorted(best)


def crafted_cost(case: str) -> float:
    """Microseconds of CPU time for the worst of some commands of 64 KB that consist of this one."""
    head, _, last = case.rpartition(" ")
    many = LONG // (len(case) + 2) + 1
    texts = ("; ".join([case] * many), "\n".join(f"{case} a{n}" for n in range(many)), f"{head} " + f"{last} " * many)
    return max(min(processor_time(text[:LONG]) for _ in range(2)) for text in texts)


def processor_time(text: str) -> float:
    begin = time.thread_time_ns()
    review_command(text)
    return (time.thread_time_ns() - begin) / 1000


def split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def as_step(command: str) -> Step:
    return Step(run_id="r", index=0, role="assistant", kind="tool_call", tool=Tool("bash", {"command": command}, "c"))


def percentile(values: list[float], share: float) -> float:
    return values[int(len(values) * share)]


def main() -> None:
    from table import as_markdown

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--traces", type=Path, help="a folder with commands.jsonl.gz, to measure on those")
    folder = options.parse_args().traces
    if folder is None:
        print(as_markdown(*measure(), NOTES))
        return
    with gzip.open(folder / "commands.jsonl.gz", "rt", encoding="utf-8") as lines:
        print(as_markdown(*table([json.loads(line)["command"] for line in lines], PASSES), ""))


if __name__ == "__main__":
    main()
