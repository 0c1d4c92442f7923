"""Whole runs, one for each thing that a detector tells; `told.json` has all that is said about them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from detecting import Did, steps, watch
from msgspec.structs import replace

from interlock.core import Context, Review, Seen, Step, Usage
from interlock.detect import Detectors

TASK = Context(original_prompt="Repair the parser of invoice tables: totals, currencies, rounding, headers, footers.")


def kinds(taken: Iterable[Step], context: Context | None = None) -> list[str]:
    return [issue.type for issue in every(taken, context)]


def every(taken: Iterable[Step], context: Context | None = None) -> list:
    """Also what is only shown to people."""
    found: list = []
    detectors = Detectors(None, context)
    observe = detectors.observe
    detectors.observe = lambda seen: found.extend(rising := observe(seen)) or rising  # type: ignore[method-assign]
    watch(taken, detectors)
    return found


def timed(calls: list[Did], seconds: float, start: float = 1000.0) -> list[Step]:
    return [replace(step, time=start + step.index // 2 * seconds) for step in steps(calls)]


POLL = Did("bash", "web-0 0/1 Pending", {"command": "kubectl get pods shop/web"}, exit_code=0)


def test_a_wait_in_which_nothing_moves_is_told_after_half_an_hour_and_again_after_twice_that_time() -> None:
    found = every(timed([POLL] * 60, 100))
    assert [(issue.type, issue.step, issue.details["minutes"]) for issue in found] == [
        ("long_wait", 39, 32), ("long_wait", 117, 97),
    ]  # fmt: skip
    assert found[0].details["tool"] == "bash" and found[0].evidence == tuple(range(1, 17, 2))
    assert every(timed([POLL] * 18, 100)) == [], "1800 s are not over"


@pytest.mark.parametrize(
    ("call", "output"),
    [
        (Did("BashOutput", "", {"bash_id": "bash_1"}), "<status>running</status>"),
        (Did("TaskOutput", "", {"task_id": "b4003ee"}), "not ready"),
        (Did("write_stdin", "", {"session_id": 7, "chars": ""}), "Process running with session ID 7"),
    ],
)
def test_a_background_task_that_prints_nothing_new_is_waited_for(call: Did, output: str) -> None:
    assert every(timed([replace_result(call, output)] * 25, 60)) == []
    assert {issue.type for issue in every(timed([replace_result(call, output)] * 90, 60))} == {"long_wait"}


def test_a_call_that_takes_long_is_a_wait_and_one_that_fails_by_itself_is_not() -> None:
    def taking(did: Did, seconds: float) -> list[Step]:
        return [replace(step, time=1000 + (step.index + 1) // 2 * seconds + step.index) for step in steps([did] * 12)]

    build = Did("bash", "building", {"command": "python train.py --resume"}, exit_code=0)
    assert every(taking(build, 70)) == []
    assert "loop" in {issue.type for issue in every(taking(build, 5))}
    suite = Did("bash", "FAILED tests/test_a.py::test_x - assert 1 == 2", {"command": "pytest tests"}, exit_code=1)
    assert {issue.type for issue in every(taking(suite, 70))} & {"loop", "repetitive_errors"}


@pytest.mark.parametrize("tool", ["mcp__ci__get_job", "getBuild", "deployment_status"])
def test_a_status_that_a_tool_is_asked_for_as_time_passes_is_waiting_whatever_joins_the_words_of_its_name(tool) -> None:
    asked = Did(tool, "state: running", {"id": "1742"})
    assert every(timed([asked] * 25, 30)) == [], "12 minutes"
    assert [issue.type for issue in every(timed([asked] * 20, 100))] == ["long_wait"]
    assert {issue.type for issue in every(timed([asked] * 40, 0.5))} == {"loop"}, "busy"


def test_another_answer_begins_the_wait_anew() -> None:
    ready = replace_result(POLL, "web-0 1/1 Running")
    assert every(timed([*[POLL] * 8, ready, *[POLL] * 9], 100)) == []


def test_many_things_can_be_waited_for() -> None:
    polls = [Did("bash", "Pending", {"command": f"kubectl get pods shop/web-{n}"}) for n in range(10)]
    found = every(timed([polls[n % 2] for n in range(40)], 100))
    assert [issue.type for issue in found] == ["long_wait", "long_wait"]
    assert every(timed([polls[n % 10] for n in range(40)], 30)) == []


def replace_result(did: Did, result: str) -> Did:
    return Did(did.tool, result, did.arguments, exit_code=did.exit_code)


def test_a_garbled_first_line_is_broken_where_the_call_fails() -> None:
    command = {"command": ": list the files\nls"}
    broken = Did("bash", "bash: list: command not found", command, exit_code=127)
    fine = Did("bash", "a.py b.py", command, exit_code=0)
    assert "broken_calls" in kinds(steps([broken] * 4))
    assert "broken_calls" not in kinds(steps([fine, fine, broken, fine]))


def test_calls_that_are_all_garbled_are_worse() -> None:
    colon = [Did("bash", "", {"command": f": ls part{n}"}, exit_code=0) for n in range(6)]
    told = [(issue.severity, issue.details["count"]) for issue in every(steps(colon)) if issue.type == "broken_calls"]
    assert told == [("medium", 3), ("high", 5)]


@pytest.mark.parametrize(("risk", "severity"), [(0.95, "critical"), (0.94, "high")])
def test_what_review_would_block_is_as_bad_as_its_risk(risk: float, severity: str) -> None:
    (step, _) = steps([Did("bash", "", {"command": "rm -rf /"})])
    (issue,) = Detectors().observe(Seen(step, Review("block", risk, 1.0, ("fs.delete",), "", "")))
    assert (issue.severity, issue.confidence, issue.impact_factor) == (severity, 1.0, risk)
    assert issue.description == "bash did something dangerous: blocked by review."
    assert issue.details["rules"] == ["fs.delete"] and issue.details["instead"] == ""


def test_what_breaks_the_contract_is_no_damage_and_its_tries_are_counted() -> None:
    detectors = Detectors()
    review = Review("block", 1.0, 1.0, ("contract.protect",), "b.py must not change.", "Leave it.")
    found = [
        issue
        for step in steps([Did("bash", "", {"command": f"rm b{n}.py"}) for n in range(2)])
        for issue in detectors.observe(Seen(step, review if step.kind == "tool_call" else None))
    ]
    assert [(issue.type, issue.details["tries"]) for issue in found] == [("scope_creep", 1), ("scope_creep", 2)]
    assert found[0].description == "b.py must not change. Leave it."


def test_emptying_a_file_that_was_read_is_damage_and_ones_own_is_not() -> None:
    read = Did("read_file", "a b c", {"path": "data/table.csv"})
    wrote = Did("write_file", "ok", {"path": "data/table.csv"})
    empty = Did("bash", "", {"command": "sort data/table.csv > data/table.csv"}, exit_code=0)
    (issue,) = every(steps([read, empty]))
    assert (issue.type, issue.severity, issue.details["path"]) == ("destructive_action", "high", "data/table.csv")
    assert kinds(steps([read, wrote, empty])) == []
    assert kinds(steps([empty])) == []


def looks(count: int, place: str = "area{n}/file{n}.txt") -> list[Did]:
    return [Did("read_file", f"text{n} of place{n}", {"path": place.format(n=n)}) for n in range(count)]


def test_looking_into_one_directory_after_another_is_wandering() -> None:
    found = [issue for issue in every(steps(looks(16)), TASK) if issue.type == "exploration_wandering"]
    assert [issue.step for issue in found] == [23] and found[0].details["directories"] == 12
    assert found[0].details["tool"] == "read_file"


def test_looks_that_have_to_do_with_the_task_are_not() -> None:
    assert "exploration_wandering" not in kinds(steps(looks(16, "area{n}/invoice{n}.txt")), TASK)
    assert "exploration_wandering" not in kinds(steps(looks(16, "area/file{n}.txt")), TASK)
    some = [*looks(6), Did("edit_file", "ok", {"path": "parser.py"}), *looks(6)]
    assert "exploration_wandering" not in kinds(steps(some), TASK)
    mixed = [call for pair in zip(looks(9), looks(9, "x/invoice{n}.py"), strict=True) for call in pair]
    assert "exploration_wandering" not in kinds(steps(mixed), TASK)


def said(index: int, text: str) -> Step:
    return Step(run_id="run", index=index, role="assistant", content=text)


PLAN = """1. Use the search_agent to find the record.
2. Use the archive_agent to find the page.
3. Use the census_agent to count.
4. Use the atlas_agent to locate it.
5. Give the answer."""


def test_an_answer_without_any_of_four_tools_names_three_and_is_told_once() -> None:
    answers = [Did("final_answer", "1987", {"answer": "1987"}), Did("final_answer", "1988", {"answer": "1988"})]
    found = every([said(0, PLAN), *steps(answers, start=2)])
    assert sorted(issue.type for issue in found) == ["goal_drift", "hallucination"]
    assert all(len(issue.details["promised"]) == 4 and issue.evidence == (0, 0, 0, 2) for issue in found)


def test_an_answer_where_the_plan_says_to_look_it_up() -> None:
    plan = said(0, "First I will search the web for the population of the city, then I will answer.")
    found = every([plan, *steps([Did("final_answer", "17", {"answer": "17"})], start=2)])
    assert {issue.severity for issue in found} <= {"low"}


def spent(costs: list[float], *, dollars: bool = False) -> list[Step]:
    calls = [Did("bash", f"result{n}", {"command": f"build part{n}"}, exit_code=0) for n in range(len(costs))]
    usages = [Usage(cost_usd=cost) if dollars else Usage(input_tokens=int(cost)) for cost in costs]
    return [replace(step, usage=usages[step.index // 2]) if step.kind == "tool_call" else step for step in steps(calls)]


def test_a_call_that_costs_twice_the_one_before_three_times_in_a_row() -> None:
    found = every(spent([1000, 1000, 1000, 2000, 4000, 8000, 8000, 1000, 1000, 30000]))
    assert [(issue.type, issue.severity, issue.step) for issue in found][:1] == [("resource_spiral", "high", 11)]
    assert found[0].details == {"key": "resource_spiral:spend", "growth": 5.3, "usage": "8,000 tokens"}


def test_a_call_that_costs_ten_times_what_calls_cost() -> None:
    (issue,) = every(spent([0.01] * 8 + [0.101], dollars=True))
    assert (issue.severity, issue.details["usage"], issue.details["growth"]) == ("medium", "$0.10", 10.1)
    (issue,) = every(spent([0.001] * 8 + [0.011, 0.001, 0.02], dollars=True))
    assert issue.details["usage"] == "$0.0110"
    assert every(spent([0.01] * 8 + [0.1], dollars=True)) == []
    assert every(spent([0.01] * 6 + [0.2], dollars=True)) == []
    assert every(spent([100] * 8 + [1999])) == [], "small, whatever it is compared with"
    (issue,) = every(spent([100] * 8 + [2000]))
    assert issue.details["usage"] == "2,000 tokens"
    both = [replace(step, usage=Usage(5, 5, 0.01 if step.index < 16 else 0.5)) for step in spent([0.0] * 9)[::2]]
    assert [issue.details["usage"] for issue in every(merged(both, spent([0.0] * 9)[1::2]))] == ["$0.50"]


def merged(calls: list[Step], results: list[Step]) -> list[Step]:
    return sorted([*calls, *(replace(step, usage=None) for step in results)], key=lambda step: step.index)


def test_what_costs_too_much_again_is_followed() -> None:
    every(spent([1000] * 8 + [30000, 1000, 30000, 1000, 1000, 1000, 130000, 1000, 2500, 1000, 1000, 1000]))


def test_two_detectors_of_one_type_keep_apart() -> None:
    from interlock.detect.patterns.loop import detector

    detectors = Detectors(only=[detector, detector, detector])
    watch(steps([Did("bash", "same", {"command": "make"})] * 3), detectors)
    assert list(detectors._agents[""].detectors) == ["loop", "loop#2", "loop#3"]


ELSEWHERE = Context(original_prompt="Fix the totals.", workspace="/srv/shop")


def touch(path: str, tool: str = "read_file") -> Did:
    return Did(tool, f"text of {path}", {"path": path})


@pytest.mark.parametrize("path", ["/srv/shop/.env", ".env", "pkg/.env.local", ".git/config", "/srv/shop/.git/HEAD"])
def test_a_look_at_the_projects_own_settings_is_nothing_and_a_change_of_them_an_alarm(path: str) -> None:
    at_home = replace(ELSEWHERE, workspace="/srv/shop")
    assert [issue.severity for issue in every(steps([touch(path)]), at_home)] == []
    assert [issue.severity for issue in every(steps([touch(path, "edit_file")]), at_home)] == ["high"]


def severities(task: str, *calls: Did) -> list[str]:
    return [issue.severity for issue in every(steps(calls), Context(original_prompt=task))]


def contract_breach(path: str, rule: str, workspace: str | None = None) -> list[str | None]:
    """What two calls that the contract forbids are told as."""
    detectors = Detectors(None, Context(original_prompt="Speed it up.", workspace=workspace))
    review = Review(verdict="block", risk=0.8, rules=(rule,), reason="It is not allowed.")
    found = []
    for step in steps([touch(path, "edit_file")] * 2):
        found += detectors.observe(Seen(step, review if step.kind == "tool_call" else None))
    return [issue.severity for issue in found if issue.type == "scope_creep"]


def test_a_call_that_the_contract_refuses_is_an_alarm_when_it_is_tried_again() -> None:
    assert contract_breach("src/a.py", "contract.may-change") == ["low", "high"]
    assert contract_breach("/srv/shop/src/a.py", "contract.may-change", "/srv/shop") == ["low", "high"]
    assert contract_breach("/srv/other/a.py", "contract.may-change", "/srv/shop") == ["high", "medium", "high"]
    assert contract_breach("src/a.py", "contract.protect") == ["high"] * 2


def test_a_limit_of_what_happens_at_a_time_says_nothing_about_all_of_it() -> None:
    task = Context(original_prompt="Import it. Use a batch size of at most 100 rows.")
    assert every(steps([Did("bash", "5000 rows imported", {"command": "python import.py"}, exit_code=0)]), task) == []


def test_what_a_command_says_itself_is_no_secret_that_it_shows() -> None:
    said = Did("bash", "DB_PASSWORD=[redacted:password]", {"command": 'echo "uploaded"'}, exit_code=0)
    assert every(steps([said]), Context(original_prompt="Do not print any secrets.")) == []


def checked(failed: int, passed: int, name: str = "test_sum", message: str = "assert 3 == 4") -> Did:
    result = f"FAILED tests/test_a.py::{name} - {message}\nE   {message}\n{failed} failed, {passed} passed in 1s"
    return Did("bash", result, {"command": "pytest tests/test_a.py"}, exit_code=1)


GREEN = Did("bash", "9 passed in 1s", {"command": "pytest tests/test_a.py"}, exit_code=0)


def test_a_failing_check_is_followed_to_its_end() -> None:
    """Each sign once: again, better by fewer failures and by more passes, changed, better by other tests, solved."""
    rounds = [
        *[checked(3, 6)] * 4,
        checked(2, 7),
        checked(2, 8),
        checked(2, 8),
        checked(2, 8, message="KeyError: 'total'"),
        checked(5, 4, message="TypeError: not a number"),
        checked(2, 7, "test_other", "ValueError: no"),
        Did("bash", "On branch main", {"command": "git status"}, exit_code=0),
        GREEN,
    ]
    every(steps(rounds))


def test_a_check_that_is_left_alone_is_not_solved_by_that() -> None:
    others = [Did("read_file", f"chapter{n} about topic{n}", {"path": f"docs/part{n}.md"}) for n in range(25)]
    every(steps([*[checked(3, 6)] * 3, *others, GREEN]))


def test_a_call_that_repeats_is_followed_to_its_end() -> None:
    same = Did("bash", "nothing new", {"command": "cat out/state.txt"}, exit_code=0)
    others = [Did("read_file", f"chapter{n} about topic{n}", {"path": f"docs/part{n}.md"}) for n in range(12)]
    other = Did("bash", "something new at last", {"command": "cat out/state.txt"}, exit_code=0)
    sibling = Did("bash", "another thing", {"command": "cat out/state.txt | head -1"}, exit_code=0)
    every(steps([*[same] * 5, sibling, other, same, *others]))


def test_an_error_that_meets_different_calls_is_followed_too() -> None:
    calls = [Did("fetch", "Error: connection refused", {"url": f"http://a.example/{n}"}, error=True) for n in range(5)]
    fine = [Did("fetch", f"page{n} says thing{n}", {"url": f"http://a.example/{n}"}) for n in range(12)]
    every(steps([*calls, *fine]))


def test_broken_calls_are_followed() -> None:
    colon = [Did("bash", "", {"command": f": ls part{n}"}, exit_code=0) for n in range(3)]
    plain = [Did("bash", f"file{n}", {"command": f"ls part{n}"}, exit_code=0) for n in range(12)]
    every(steps([*colon, *plain[:2], colon[0], *plain]))
