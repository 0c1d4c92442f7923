"""No detector is worse than linear in a text, and none looks back further the longer a run is: work is counted."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import pytest
from tests.detect.detecting import Did, steps

from interlock.config.schema import Detect
from interlock.core import Issue, Seen
from interlock.detect import Asked, Detectors

TEXTS = {
    "one word": "a",
    "words": "error in line ",
    "lines": "src/a.py:3: error: no\n",
    "paths": "/srv/project/a.py ",
    "brackets": "[{(",
    "numbers": "1234567 ",
    "a trace": 'Traceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: no\n',
    "assignments": "password=a ",
}
SMALL, LARGE = 20_000, 60_000
"""Characters of a result."""

SHORT, LONG, WINDOW = 150, 600, 40
"""Calls of a run, and those at its end that are counted."""

SLACK = 400
"""Calls that do not count: what is made at some steps only."""


class Counting:
    """Counts the calls that each detector makes."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def ask(self, asked: Sequence[Asked], seen: Seen) -> list[Issue]:
        found: list[Issue] = []
        for name, observe in asked:

            def counted(frame: object, event: str, argument: object, name: str = name) -> None:
                self.calls[name] += event in ("call", "c_call")

            sys.setprofile(counted)
            try:
                found += observe(seen) or ()
            finally:
                sys.setprofile(None)
        return found


def calls_of(run: list[Did], last: int) -> Counter[str]:
    counting = Counting()
    detectors = Detectors(Detect(), guard=counting.ask)
    taken = steps(run)
    for at, step in enumerate(taken):
        if at == len(taken) - 2 * last:
            counting.calls.clear()
        detectors.observe(Seen(step))
    return counting.calls


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_work_grows_no_faster_than_a_result(text: str) -> None:
    def run(length: int) -> list[Did]:
        long = text * (length // len(text))
        return [Did("bash", long, {"command": f"make {at}\n{long}"}, thought=long, error=True) for at in range(4)]

    small, large = calls_of(run(SMALL), 4), calls_of(run(LARGE), 4)
    assert set(large) == set(small)
    assert {name: (small[name], n) for name, n in large.items() if n > 1.6 * 3 * small[name] + SLACK} == {}


@pytest.mark.parametrize("kind", ["all alike", "all different", "all failing"])
def test_work_for_a_step_does_not_grow_with_the_run(kind: str) -> None:
    def did(at: int) -> Did:
        if kind == "all alike":
            return Did("bash", "ok", {"command": "ls"})
        if kind == "all different":
            return Did("read_file", f"line {at}", {"path": f"src/m{at}.py"}, thought=f"now file {at}")
        return Did("bash", f"error {at % 7}: no", {"command": f"make t{at % 5}"}, error=True, exit_code=2)

    short, long = (calls_of([did(at) for at in range(length)], WINDOW) for length in (SHORT, LONG))
    assert {name: (short[name], n) for name, n in long.items() if n > 1.6 * short[name] + SLACK} == {}
