"""What redaction and bounding cost a step, beside a JSON round trip of the same step."""

from __future__ import annotations

import gzip
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from interlock.core import Step, Tool
from interlock.redact import StepRedactor

NOTES = """Generated steps of ordinary messages, code and command output, or recorded traces from a given folder.
The last rows are worst-case texts."""

PROSE = [
    "I will look at the failing test first, then change the parser and run everything again.",
    "def parse(self, text: str) -> list[Token]:\n    tokens = self.lexer.run(text)\n    return list(tokens)",
    "E       AssertionError: assert 'a' == 'b'\ntests/test_parser.py:17: AssertionError\n1 failed, 41 passed in 2.31s",
    "https://docs.example.com/guide/start?page=2#install and the sha is 3f786850e387550fdab836ed7e6dc881de23001b",
    "total 48\n-rw-r--r-- 1 me me  2463 Nov 15 08:01 Makefile\n-rw-r--r-- 1 me me  3076 Nov 15 08:01 pyproject.toml",
]


def measure(quick: bool = False, steps: list[Step] | None = None) -> tuple[str, list[str], list[list[str]]]:
    """Microseconds of CPU time per step: median, mean, 99th percentile."""
    redactor = StepRedactor()
    steps = steps or list(_made_up(500 if quick else 4000))
    encode, decode = msgspec.json.Encoder().encode, msgspec.json.Decoder(Step).decode
    calls: dict[str, Callable[[Step], object]] = {
        "JSON round trip of the step": lambda step: decode(encode(step)),
        "redactor": redactor.redact,
    }
    rows = []
    base = 0.0
    for name, call in calls.items():
        for step in steps[:200]:
            call(step)
        spent = [_time(call, step) for step in steps]
        median = statistics.median(spent)
        base = base or median
        rows.append(_row(name, spent, f"{median / base:.2f}"))
    for name, text in (
        ("1 KB without secrets", (PROSE[0] * 20)[:1024]),
        ("1 KB with two secrets", (PROSE[0] * 20)[:900] + "\nDB_PASSWORD=hunter2\npostgres://a:bcd1@host/db\n"),
        ("64 KB without secrets", (PROSE[1] * 2000)[:65_000]),
        ("64 KB of secret settings", ("API_PASSWORD=hunter2 " * 4000)[:65_000]),
        ("5 MB, adversarial", "password=" * 560_000),
    ):
        step = Step(run_id="bench", index=1, role="tool", content=text)
        rows.append(_row(name, [_time(redactor.redact, step) for _ in range(5 if len(text) > 60_000 else 200)], ""))
    return "Redaction: cost per step", ["measurement", "median us", "mean us", "p99 us", "x round trip"], rows


def main() -> None:
    steps = list(_recorded(Path(sys.argv[1]))) if len(sys.argv) > 1 else None
    title, header, rows = measure(steps=steps)
    print(title, f"({len(steps)} recorded steps)" if steps else "")
    for row in [header, *rows]:
        print(f"{row[0]:36}" + "".join(f"{cell:>14}" for cell in row[1:]))


def _time(call: Callable[[Step], object], step: Step) -> float:
    start = time.thread_time()
    call(step)
    return time.thread_time() - start


def _row(name: str, spent: list[float], ratio: str) -> list[str]:
    high = sorted(spent)[int(len(spent) * 0.99)]
    return [name, *(f"{each * 1e6:,.1f}" for each in (statistics.median(spent), statistics.mean(spent), high)), ratio]


def _made_up(count: int) -> Iterator[Step]:
    chance = random.Random(1)
    for index in range(count):
        content = "\n".join(chance.choice(PROSE) for _ in range(chance.randint(1, 12)))
        tool = Tool("bash", {"command": chance.choice(PROSE)[:120], "timeout": 60}) if index % 2 else None
        yield Step(run_id="bench", index=index, role="assistant", content=content, tool=tool)


def _recorded(folder: Path) -> Iterator[Step]:
    for file in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                for raw in json.loads(line).get("steps", ()):
                    tool = raw.get("tool")
                    made = (
                        Tool(tool["name"], tool["arguments"]) if tool and isinstance(tool["arguments"], dict) else None
                    )
                    yield Step(run_id="t", index=raw["index"], role=raw["role"], content=raw["content"], tool=made)


if __name__ == "__main__":
    main()
