"""Hostile input: time and memory stay bounded, and nothing raises."""

from __future__ import annotations

import random
from time import process_time

import pytest
from detecting import Did, steps, watch
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.core import Seen, Step, Tool
from interlock.detect import Detectors

MEGABYTE = 1_000_000

HOSTILE = {
    "one long line": "a" * MEGABYTE,
    "a long line of quotes": "'" * MEGABYTE,
    "a long line of braces": "{" * MEGABYTE,
    "a long line of digits": "1" * MEGABYTE,
    "a long line of slashes": "/a" * (MEGABYTE // 2),
    "a long line of spaces": " " * MEGABYTE,
    "many short lines": "Error: x\n" * (MEGABYTE // 9),
    "almost times": "12:3" * (MEGABYTE // 4),
    "almost hashes": "deadbee" * (MEGABYTE // 7),
    "nested": "[" * 50_000 + "]" * 50_000,
    "binary": "".join(map(chr, random.Random(1).choices(range(1, 0x2FF), k=MEGABYTE // 4))),
    "lone surrogates": "\ud800Error: \udfff" * 10_000,
    "words without end": " ".join(f"word{n}" for n in range(100_000)),
    "numbered plan": "1. search and use the thing_agent " * 20_000,
    "claims": "I have created the file `" * 40_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_costs_little_wherever_it_stands(text: str) -> None:
    calls = [
        Did("bash", text, {"command": "run"}),
        Did("bash", "fine", {"command": text}),
        Did("search", "fine", {"query": text, "path": text}, thought=text),
        Did(text[:300], text, {text[:300]: text}, thought=text, error=True),
    ]
    taken = steps(calls * 3)
    detectors = Detectors()
    before = process_time()
    watch(taken, detectors)
    # Bounded, not fast: reading each megabyte whole with the same expressions takes minutes for some of these.
    assert process_time() - before < 5


def test_ten_thousand_paths_stay_within_bounds() -> None:
    detectors = Detectors()
    held = []
    for n in range(10_000):
        path = f"/home/user{n}/project{n}/module{n}/file{n}.py"
        call, result = steps([Did("view", f"content{n} of {path}", {"path": path})], start=2 * n)
        detectors.observe(Seen(call))
        detectors.observe(Seen(result))
        if n in (7_000, 9_999):
            held.append(len(detectors.save()))
    assert held[1] == pytest.approx(held[0], rel=0.3)
    assert held[1] < MEGABYTE


def test_calls_that_never_get_an_answer_are_forgotten() -> None:
    detectors = Detectors()
    for n in range(1000):
        detectors.observe(
            Seen(Step(run_id="r", index=n, role="assistant", kind="tool_call", tool=Tool("bash", {"n": n}, f"c{n}")))
        )
    assert len(detectors._agents[""].history.past.pending) == 32


def test_answers_without_a_call_are_left_alone() -> None:
    lost = [Step(run_id="r", index=n, role="tool", kind="tool_result", content="Error: lost") for n in range(50)]
    assert watch(lost) == []


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)

tools = st.builds(
    Tool,
    st.text(max_size=8) | st.just("bash"),
    st.dictionaries(st.text(max_size=6), junk, max_size=4),
    st.none() | st.just("c1"),
)
TEXTS = ("Error: no", "All tests pass.", "1. Search it with the x_agent", "FINAL ANSWER: 4")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(
            Step,
            run_id=st.just("r"),
            index=st.integers(0, 1000),
            role=st.sampled_from(["assistant", "tool", "user", "system"]),
            kind=st.sampled_from(["message", "tool_call", "tool_result", "usage"]),
            content=st.text() | st.sampled_from(TEXTS),
            tool=st.none() | tools,
            error=st.none() | st.booleans(),
            exit_code=st.none() | st.integers(-1, 255),
        ),
        max_size=30,
    )
)  # fmt: skip
def test_no_step_makes_a_detector_raise(taken: list[Step]) -> None:
    detectors = Detectors()
    watch(taken, detectors)
    detectors.restore(detectors.save())
