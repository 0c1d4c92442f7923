"""All detectors over one run: whose steps count, how often, and what is kept quiet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import pytest
from detecting import Did, steps, watch

from interlock.config.schema import Detect
from interlock.core import Issue, Seen, Step
from interlock.detect import Asked, DetectorFailed, Detectors, Setting, finding_key
from interlock.detect.patterns.repetitive_errors import RepetitiveErrors

LOOK = Did("view", "same text", {"path": "app.py"})
FAIL = Did("bash", "Error: connection refused", {"command": "curl localhost"}, error=True)


def test_our_own_refusals_and_messages_never_count() -> None:
    ours = [msgspec.structs.replace(step, origin="interlock") for step in steps([FAIL] * 20)]
    assert watch(ours) == []


def test_our_own_steps_in_between_do_not_break_a_count() -> None:
    taken: list[Step] = []
    for n in range(3):
        refusal = Step(run_id="run", index=4 * n + 3, role="user", content=f"Refused {n}", origin="interlock")
        taken += [*steps([FAIL], start=4 * n), refusal]
    assert [issue.step for issue in watch(taken)] == [9]


def test_a_retried_stream_counts_once() -> None:
    twice = [step for step in steps([LOOK] * 2) for _ in range(3)]
    assert watch(twice) == []


def test_a_call_sent_again_under_its_id_counts_once() -> None:
    call, result = steps([LOOK])
    again = [msgspec.structs.replace(call, index=n) for n in range(5)]
    results = [msgspec.structs.replace(result, index=10 + n) for n in range(5)]
    assert watch([*again, *results]) == []


def test_call_ids_that_are_used_for_every_turn_do_not_hide_a_loop() -> None:
    taken = [
        msgspec.structs.replace(step, tool=msgspec.structs.replace(step.tool, call_id="call_0"))  # type: ignore[type-var]
        for step in steps([LOOK] * 4)
    ]
    assert [issue.type for issue in watch(taken)] == ["loop"]


def test_results_find_their_calls_by_id_when_calls_run_side_by_side() -> None:
    pairs = [steps([Did("view", f"text {n}", {"path": f"{n}.py"})], start=10 * n) for n in range(3)]
    calls, results = [call for call, _ in pairs], [result for _, result in pairs]
    detectors = Detectors()
    watch([*calls, *reversed(results)], detectors)
    turns = detectors._agents[""].history.turns
    assert [(turn.asked, turn.step) for turn in turns] == [(20, 21), (10, 11), (0, 1)]


def test_subagents_are_watched_one_by_one() -> None:
    one, other = steps([LOOK] * 2, agent="one"), steps([LOOK] * 2, agent="other", start=100)
    assert watch([*one, *other]) == []
    found = watch(steps([LOOK] * 3, agent="one"))
    assert [issue.agent for issue in found] == ["one"]


def test_the_number_of_agents_is_bounded() -> None:
    detectors = Detectors()
    for n in range(200):
        watch(steps([LOOK], agent=f"agent-{n}", start=2 * n), detectors)
    assert len(detectors._agents) == 32


def test_a_type_that_was_muted_stays_quiet_whatever_the_finding() -> None:
    assert {issue.type for issue in watch(steps([LOOK] * 5))} == {"loop"}
    assert watch(steps([LOOK] * 5), Detectors(muted={"loop"})) == []


def test_a_finding_that_was_muted_stays_quiet_in_the_next_run_too() -> None:
    found = watch(steps([LOOK] * 3))
    assert watch(steps([LOOK] * 5), Detectors(muted={finding_key(found[0])})) == []
    other = Did("view", "other text", {"path": "other.py"})
    assert watch(steps([other] * 3), Detectors(muted={finding_key(found[0])}))


def test_muting_takes_effect_at_once() -> None:
    detectors = Detectors()
    found = watch(steps([LOOK] * 3), detectors)
    detectors.mute(finding_key(found[0]))
    assert watch(steps([LOOK] * 3, start=10), detectors) == []


@pytest.mark.parametrize(
    "exceptions",
    [{"view": ("loop", "resource_spiral")}, {"view": ("*",)}, {"*": ("loop", "resource_spiral")}, {"*": ("*",)}],
)
def test_tools_can_be_excepted(exceptions: dict[str, tuple[str, ...]]) -> None:
    assert watch(steps([LOOK] * 20), Detectors(Detect(exceptions=exceptions))) == []


def test_an_exception_is_for_its_tool_and_type_alone() -> None:
    detect = Detect(exceptions={"gdb": ("*",), "view": ("repetitive_errors",)})
    assert [issue.type for issue in watch(steps([LOOK] * 3), Detectors(detect))] == ["loop"]


def test_a_result_belongs_to_the_newest_call_of_its_id() -> None:
    first, result = steps([LOOK])
    assert first.tool is not None
    elsewhere = msgspec.structs.replace(first.tool, arguments={"path": "other.py"})
    again = msgspec.structs.replace(first, index=5, tool=elsewhere)
    detectors = Detectors(Detect())
    watch([first, again, msgspec.structs.replace(result, index=6)], detectors)
    history = detectors._agents[""].history
    assert [turn.asked for turn in history.turns] == [5] and history.past.pending == []


def test_an_alarm_is_not_repeated_at_every_step() -> None:
    loops = [issue for issue in watch(steps([LOOK] * 30)) if issue.type == "loop"]
    assert [issue.severity for issue in loops] == ["medium", "high", "critical"]
    assert len({issue.id for issue in loops}) == 1


def test_after_an_intervention_it_is_counted_anew() -> None:
    detectors = Detectors(only=[RepetitiveErrors])
    assert [issue.severity for issue in watch(steps([FAIL] * 4), detectors)] == ["medium"]
    detectors.restart("repetitive_errors")
    assert watch(steps([FAIL] * 2, start=100), detectors) == []
    assert [issue.severity for issue in watch(steps([FAIL], start=200), detectors)] == ["medium"]


def test_counting_anew_leaves_other_types_and_agents_alone() -> None:
    detectors = Detectors()
    watch(steps([FAIL] * 4, agent="one"), detectors)
    watch(steps([FAIL] * 4, agent="two", start=100), detectors)
    detectors.restart("loop")
    detectors.restart("repetitive_errors", agent="two")
    found = watch(steps([FAIL] * 2, agent="one", start=200), detectors)
    assert [issue.severity for issue in found if issue.type == "repetitive_errors"] == ["high"]
    assert watch(steps([FAIL] * 2, agent="two", start=300), detectors) == []


def test_a_loop_that_ended_and_begins_again_is_told_again() -> None:
    fresh = [Did("view", f"text {n} of {n}", {"path": f"part{n}.py"}) for n in range(15)]
    loops = [issue for issue in watch(steps([LOOK] * 3 + fresh + [LOOK] * 3)) if issue.type == "loop"]
    assert [issue.severity for issue in loops] == ["medium", "medium"]


def test_progress_follows_the_outcome() -> None:
    detectors = Detectors()
    watch(steps([LOOK]), detectors)
    assert detectors.progress()
    watch(steps([LOOK], start=10), detectors)
    assert not detectors.progress()
    watch(steps([Did("view", "changed text", {"path": "app.py"})], start=20), detectors)
    assert detectors.progress()


class Broken:
    type = "broken"

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def observe(self, seen: Seen) -> Iterable[Issue]:
        raise ValueError("no such luck")

    def save(self) -> bytes:
        return b""

    def restore(self, state: bytes) -> None:
        return None


def test_a_detector_that_raises_is_named() -> None:
    detectors = Detectors(extra=[Broken])
    with pytest.raises(DetectorFailed, match="broken failed: ValueError: no such luck") as raised:
        detectors.observe(Seen(steps([LOOK])[0]))
    assert raised.value.detector == "broken"


def test_a_detector_that_was_dropped_is_asked_no_more_and_the_others_go_on() -> None:
    detectors = Detectors(extra=[Broken])
    detectors.drop("broken")
    assert [issue.type for issue in watch(steps([LOOK] * 3), detectors)] == ["loop"]


class OnlyCalls(Broken):
    type = "only_calls"
    kinds = frozenset(("tool_call",))


def test_a_detector_is_asked_about_the_kinds_of_step_that_it_looks_at() -> None:
    detectors = Detectors(only=[OnlyCalls])
    asked, answered = steps([LOOK])
    assert detectors.observe(Seen(answered)) == []
    with pytest.raises(DetectorFailed):
        detectors.observe(Seen(asked))


def test_a_guard_can_isolate_one_detector() -> None:
    failed = []

    def guard(asked: Sequence[Asked], seen: Seen) -> list[Issue]:
        found: list[Issue] = []
        for name, observe in asked:
            try:
                found += observe(seen)
            except ValueError:
                failed.append(name)
        return found

    found = watch(steps([LOOK] * 3), Detectors(extra=[Broken], guard=guard))
    assert [issue.type for issue in found] == ["loop"]
    assert set(failed) == {"broken"}
