"""The numbers of the specification, at their borders."""

from __future__ import annotations

import pytest
from detecting import Did, batched, steps, watch

from interlock.core import Context, Issue, Seen, Step, Tool, Usage
from interlock.detect import Detectors, Tuning
from interlock.detect.agent_detectors import Alarms
from interlock.detect.patterns.exploration_wandering import _directory

FAILS = Did("bash", "Error: connection refused", {"command": "curl localhost"}, error=True)
LOOKS = Did("read_file", "def main(): ...", {"path": "src/app.py"})


def told(calls: list[Did], kind: str) -> list[tuple[int, str, float]]:
    return [
        (issue.step // 2 + 1, str(issue.severity), float(issue.confidence or 0))
        for issue in watch(steps(calls))
        if issue.type == kind
    ]


@pytest.mark.parametrize(("call", "kind"), [(FAILS, "repetitive_errors"), (LOOKS, "loop")])
def test_three_are_medium_five_high_and_eight_critical(call: Did, kind: str) -> None:
    assert told([call] * 12, kind) == [(3, "medium", 0.6), (5, "high", 1.0), (8, "critical", 1.0)]


@pytest.mark.parametrize(("call", "kind"), [(FAILS, "repetitive_errors"), (LOOKS, "loop")])
def test_two_are_not_told(call: Did, kind: str) -> None:
    assert told([call] * 2, kind) == []


def test_the_same_error_counts_within_ten_turns() -> None:
    filler = [Did("think", "", {"thought": f"thought {n}"}) for n in range(9)]
    near = [FAILS, *filler[:3], FAILS, *filler[3:7], FAILS]
    far = [FAILS, *filler[:4], FAILS, *filler[4:9], FAILS]
    assert [at for at, *_ in told(near, "repetitive_errors")] == [10]
    assert told(far, "repetitive_errors") == []


def test_confidence_is_a_fifth_for_each_time_and_at_most_one() -> None:
    tuning = Tuning()
    assert [tuning.confidence(count) for count in (1, 3, 4, 5, 9)] == [0.2, 0.6, 0.8, 1.0, 1.0]


def test_severity_has_its_borders_where_the_specification_says() -> None:
    tuning = Tuning()
    found = {count: tuning.severity(count) for count in (2, 3, 4, 5, 7, 8)}
    assert found == {2: None, 3: "medium", 4: "medium", 5: "high", 7: "high", 8: "critical"}


def test_sensitivity_moves_the_first_alarm_by_one() -> None:
    after = [Tuning.for_sensitivity(name).medium_after for name in ("low", "medium", "high")]  # type: ignore[arg-type]
    assert after == [4, 3, 2]


def issue(kind: str, confidence: float = 0.4, step: int = 10) -> Issue:
    return Issue(id=f"{kind}:1", type=kind, step=step, description="", severity="medium", confidence=confidence)


@pytest.mark.parametrize(
    ("one", "other", "factor"),
    [
        ("repetitive_errors", "exploration_wandering", 1.5),
        ("resource_spiral", "goal_drift", 2.0),
        ("hallucination", "scope_creep", 1.8),
    ],
)
def test_patterns_that_come_together_raise_confidence(one: str, other: str, factor: float) -> None:
    rose = Alarms().rise([issue(one), issue(other)])
    assert [found.confidence for found in rose] == [pytest.approx(0.4 * factor)] * 2


def test_raised_confidence_is_clamped() -> None:
    rose = Alarms().rise([issue("resource_spiral", 0.9), issue("goal_drift", 0.9)])
    assert [found.confidence for found in rose] == [1.0, 1.0]


def test_patterns_that_have_nothing_to_do_with_each_other_do_not() -> None:
    rose = Alarms().rise([issue("loop"), issue("goal_drift")])
    assert [found.confidence for found in rose] == [0.4, 0.4]


def test_a_combination_needs_both_within_reach_of_each_other() -> None:
    alarms = Alarms()
    alarms.rise([issue("resource_spiral", step=10)])
    assert alarms.rise([issue("goal_drift", step=31)])[0].confidence == 0.4


def files(inside: int, outside: int) -> list[Did]:
    paths = [f"/srv/app/src/part{n}.py" for n in range(inside)] + [f"/home/other/part{n}.py" for n in range(outside)]
    return [Did("read_file", f"content of {path}", {"path": path}) for path in paths]


def scope(calls: list[Did]) -> list[Issue]:
    context = Context(original_prompt="Tidy the application", workspace="/srv/app")
    return [found for found in watch(steps(calls), context=context) if found.type == "scope_creep"]


@pytest.mark.parametrize("path", ["/srv/app/.env.example", "/srv/app/.gitignore", "/home/me/.ssh/id_rsa.pub"])
def test_what_only_looks_critical_is_not_told(path: str) -> None:
    assert scope([Did("read_file", "...", {"path": path})]) == []


def test_a_critical_path_that_the_task_names_is_not_told() -> None:
    context = Context(original_prompt="Add the new key to the .env file", workspace="/srv/app")
    assert watch(steps([Did("read_file", "A=1", {"path": "/srv/app/.env"})]), context=context) == []


GOAL = Context(
    original_prompt="Repair the invoice calculation: discount, rounding, currency conversion and taxes in billing"
)


def growing(factor: float) -> list[Issue]:
    """Ten turns to warm up, then samples of five turns, each `factor` times as dear as the one before."""
    detectors, found = Detectors(), []
    for turn in range(35):
        spend = 1000 * factor ** max(0, turn // 5 - 2)
        tool = Tool("read", {"path": f"file{turn}.py"}, f"c{turn}")
        asked = Step(run_id="r", index=2 * turn, role="assistant", kind="tool_call", tool=tool)
        got = Step(
            run_id="r", index=2 * turn + 1, role="tool", kind="tool_result", content=f"content{turn} of file{turn}",
            tool=tool, usage=Usage(input_tokens=int(spend)),
        )  # fmt: skip
        found += detectors.observe(Seen(asked)) + detectors.observe(Seen(got))
    return [one for one in found if one.type == "resource_spiral"]


def spiral(calls: list[Did]) -> list[Issue]:
    return [found for found in watch(steps(calls)) if found.type == "resource_spiral"]


def asks(words: int, answer: str, tool: str = "web_search") -> Did:
    return Did(tool, answer, {"query": " ".join(f"topic{chr(97 + n)}" for n in range(words))})


def test_questions_that_share_four_fifths_of_their_words_are_the_same_question() -> None:
    assert [found.step for found in spiral([asks(7, "an old answer"), asks(9, "an old answer")])] == [3]
    assert spiral([asks(7, "an old answer"), asks(10, "an old answer")]) == []
    assert spiral([asks(7, "an old answer", "wiki_search"), asks(9, "an old answer")]) == [], "of another tool"
    assert watch(batched([asks(7, "an old answer"), asks(9, "an old answer")])) == [], "asked at once"


def test_an_answer_with_more_than_seven_tenths_of_new_words_was_worth_asking_for() -> None:
    known = [asks(7, "one two three"), asks(10, "red green blue white black grey")]

    def third(new: int) -> Did:
        texts = [*("one", "two", "three")[: 10 - new], *(f"word{chr(97 + n)}" for n in range(new))]
        return asks(8, " ".join(texts))

    assert [found.step for found in spiral([*known, third(7)])] == [5]
    assert spiral([*known, third(8)]) == []


def rejected(*names: str) -> list[Did]:
    return [Did("create", "Error: missing required argument", {"name": name}, error=True) for name in names]


def test_rejected_calls_are_idle_if_they_come_again_and_tries_if_each_is_another() -> None:
    assert spiral(rejected(*"abcdefghij")) == []
    assert [found.step for found in spiral(rejected(*"abababab"))] == [15]
    assert [found.step for found in spiral(rejected(*"abcabcabc"))] == [17]


def wandering(places: int, stay: int = 1) -> list[Issue]:
    detectors = Detectors(context=GOAL)
    calls = [
        Did("view", f"listing {n} {k}", {"path": f"/srv/area{n}/sub{n}/thing{k}.txt"})
        for n in range(places)
        for k in range(stay)
    ]
    found = [issue for step in steps(calls) for issue in detectors.observe(Seen(step))]
    return [issue for issue in found if issue.type == "exploration_wandering"]


def test_directory_after_directory_is_a_note_about_wandering() -> None:
    assert [issue.severity for issue in wandering(12)] == ["low"]
    assert wandering(11) == []


def test_looking_around_in_one_place_is_not() -> None:
    assert wandering(4, stay=6) == []


@pytest.mark.parametrize(
    ("path", "directory"),
    [("src/a.py", "src"), ("src/app/", "src/app"), ("src/app", "src/app"), ("docs/LATEX", "docs/LATEX"), ("a.py", "")],
)
def test_the_place_of_a_file_is_its_directory_and_that_of_a_directory_itself(path: str, directory: str) -> None:
    assert _directory(path) == directory
