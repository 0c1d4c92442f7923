"""State: stored and restored at any point, a run goes on with the same alarms; going back takes windows back."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import pytest
from detecting import Did, steps, watch
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.core import Context, Issue, Seen, Step
from interlock.detect import Detectors

CONTEXT = Context(
    original_prompt="Repair the rounding of discounts in /srv/app/billing.py and test it", workspace="/srv/app"
)

CALLS = [
    Did(
        "view", "def total(): ...", {"path": "/srv/app/billing.py"}, "I have to find out where the rounding goes wrong"
    ),
    Did("bash", "1 failed, 3 passed in 0.2s", {"command": "pytest -q"}, exit_code=1),
    Did("bash", "Error: no such file", {"command": "cat /srv/app/missing.py"}, error=True),
    Did(
        "edit_file", "edited", {"path": "/srv/app/billing.py", "text": "round(x)"}, "All tests pass now, I think, yes."
    ),
    Did("edit_file", "edited", {"path": "/srv/app/billing.py", "text": "round(y)"}),
    Did("web_search", "rounding rules of banks and what they mean", {"query": "rounding rules banks python decimal"}),
    Did("web_search", "rounding rules of banks once more", {"query": "python decimal rounding rules banks"}),
    Did("view", "root:x:0:0", {"path": "/home/other/notes.txt"}),
    Did("view", "KEY=1", {"path": "/srv/app/.env"}),
    Did("magic", "Error: unknown tool magic", {}, error=True),
    Did("final_answer", "done", {"answer": "done"}),
]

runs = st.lists(
    st.tuples(st.sampled_from(CALLS), st.sampled_from([None, "one", "two"]), st.integers(1, 4)), min_size=1, max_size=25
)


def unroll(run: list[tuple[Did, str | None, int]]) -> list[Step]:
    taken: list[Step] = []
    for did, agent, times in run:
        for _ in range(times):
            taken += steps([did], agent=agent, start=len(taken))
    return taken


def plain(issues: list[Issue]) -> list[dict[str, object]]:
    return [msgspec.structs.asdict(issue) for issue in issues]


@settings(max_examples=60, deadline=None)
@given(run=runs, cut=st.floats(0, 1))
def test_a_successor_that_restores_the_state_tells_the_same(run: list[tuple[Did, str | None, int]], cut: float) -> None:
    taken = unroll(run)
    at = int(cut * len(taken))
    whole = watch(taken, Detectors(context=CONTEXT))
    first = Detectors(context=CONTEXT)
    before = watch(taken[:at], first)
    second = Detectors(context=CONTEXT)
    second.restore(first.save())
    assert plain(before + watch(taken[at:], second)) == plain(whole)
    assert second.progress() == (first if at == len(taken) else second).progress()


@settings(max_examples=30, deadline=None)
@given(run=runs, more=runs)
def test_going_back_forgets_what_came_after(
    run: list[tuple[Did, str | None, int]], more: list[tuple[Did, str | None, int]]
) -> None:
    taken, astray = unroll(run), unroll(more)
    straight, detectors = Detectors(context=CONTEXT), Detectors(context=CONTEXT)
    watch(taken, straight)
    watch(taken, detectors)
    state = detectors.save()
    watch([msgspec.structs.replace(step, index=step.index + len(taken)) for step in astray], detectors)
    detectors.restore(state)
    after = [msgspec.structs.replace(step, index=step.index + len(taken)) for step in unroll(more[::-1])]
    assert plain(watch(after, detectors)) == plain(watch(after, straight))


def test_the_state_of_a_long_run_stays_small() -> None:
    detectors = Detectors(context=CONTEXT)
    sizes = []
    for n in range(3000):
        text = " ".join(f"word{n}x{k}" for k in range(8))
        did = Did("view", text, {"path": f"/srv/app/f{n}.py", "a": f"p{n}", "b": f"q{n}", "c": f"r{n}", "d": f"s{n}"})
        for step in steps([did], start=2 * n):
            detectors.observe(Seen(step))
        if n in (2499, 2999):
            sizes.append(len(detectors.save()))
    assert sizes[1] == pytest.approx(sizes[0], rel=0.3)
    assert sizes[1] < 600_000


def test_a_state_from_before_a_detector_was_added_can_be_read() -> None:
    class Late:
        type = "late"

        def __init__(self, _: object) -> None:
            self.seen = 0

        def observe(self, seen: Seen) -> list[Issue]:
            self.seen += 1
            return []

        def save(self) -> bytes:
            return str(self.seen).encode()

        def restore(self, state: bytes) -> None:
            self.seen = int(state)

    old = Detectors(context=CONTEXT)
    watch(steps(CALLS[:2] * 2), old)
    new = Detectors(context=CONTEXT, extra=[Late])
    new.restore(old.save())
    assert [issue.type for issue in watch(steps(CALLS[1:2], start=100), new)] == ["repetitive_errors"]


ELSEWHERE = """
import sys
from detecting import Did, steps
from interlock.core import Seen
from interlock.detect import Detectors
detectors = Detectors()
for n in range(1500):
    text = " ".join(f"w{n * 8 + k}" for k in range(9))
    did = Did("search", text, {"query": f"what is {n} and {n + 1} and why {n // 3}"})
    for step in steps([did], start=2 * n):
        for issue in detectors.observe(Seen(step)):
            print(issue.id, issue.step, issue.severity, issue.confidence)
print(len(detectors.save()))
"""


def test_every_process_decides_the_same() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", ELSEWHERE],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert said[0] == said[1] == said[2]
