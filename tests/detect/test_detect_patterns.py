"""What each detector finds beyond the twelve shapes, and what it leaves alone."""

from __future__ import annotations

import msgspec
import pytest
from detecting import Did, batched, first_alarm, steps, watch

from interlock.core import Context, Issue, Review, Seen, Step, Stuck
from interlock.detect import Detectors


def kinds(taken: list[Step], context: Context | None = None) -> list[str]:
    return [issue.type for issue in watch(taken, context=context)]


def said(index: int, text: str, role: str = "assistant") -> Step:
    return Step(run_id="run", index=index, role=role, content=text)  # type: ignore[arg-type]


PLAN = "1. Use the search_agent to find the record.\n2. Read the year from it.\n3. Give the answer."


def test_an_answer_from_what_the_tool_brought_is_not() -> None:
    calls = [
        Did("python", "The record says 1987, first edition, printed in Leeds", {"code": "search_agent(task='record')"}),
        Did("final_answer", "1987", {"answer": "1987"}),
    ]
    assert kinds([said(0, PLAN), *steps(calls, start=2)]) == []


def test_an_answer_that_needs_no_look_up_is_left_alone() -> None:
    plan = said(0, "1. Reverse the text.\n2. Read the instruction.\n3. Answer.")
    assert kinds([plan, *steps([Did("final_answer", "right", {"answer": "right"})], start=2)]) == []


FAILING = Did("bash", "1 failed, 3 passed", {"command": "pytest -q"}, exit_code=1)
PASSING = Did("bash", "4 passed", {"command": "pytest -q"}, exit_code=0)


def absent(claims: list[Step], *, before: list[Step] = []) -> list[str]:  # noqa: B006
    """The findings where none of the files that the agent says it wrote are on the disk."""
    detectors = Detectors()
    found = [issue for step in before for issue in detectors.observe(Seen(step))]
    for step, path in zip(claims, ("report.md", "notes.md"), strict=True):
        found += detectors.observe(Seen(step, absent=(path,)))
    return [issue.type for issue in found]


def test_files_said_to_be_written_that_are_not_on_the_disk_are_contradictions() -> None:
    claims = [said(10, "I have created the file `report.md`."), said(12, "I've updated `notes.md` too.")]
    wrote = [Did("write_file", "ok", {"path": "out/report.md"}), Did("write_file", "ok", {"path": "out/notes.md"})]
    assert absent(claims) == ["hallucination"]
    assert absent(claims, before=steps(wrote)) == [], "a call named them: they may have been removed again"
    assert absent(claims, before=steps(wrote, agent="helper")) == [], "a subagent wrote them"
    assert kinds(claims) == [], "nobody looked at the disk"


def test_a_script_that_is_run_again_while_its_import_is_mended_makes_nothing_up() -> None:
    tries = []
    for n in range(3):
        tries.append(Did("edit_file", "edited", {"path": "settings.py", "new": f"INSTALLED = ['part{n}']"}))
        run = {"command": "python repro.py"}
        tries.append(Did("bash", "ModuleNotFoundError: No module named 'shop.settings'", run, error=True))
    assert "hallucination" not in kinds(steps(tries))


def test_one_missing_module_after_the_other_is_trial_and_error() -> None:
    calls = [
        Did("bash", f"ModuleNotFoundError: No module named 'dep{n}'", {"command": "python app.py"}, error=True)
        for n in range(6)
    ]
    assert kinds(steps(calls)) == []


def test_the_disk_bears_out_what_the_trace_does_not_show() -> None:
    claims = [said(10, "I have created the file `report.md`."), said(12, "I've updated `notes.md` too.")]
    detectors = Detectors()
    assert [detectors.observe(Seen(claim, absent=())) for claim in claims] == [[], []]
    detectors = Detectors()
    absent = ("report.md", "notes.md")
    assert [issue.type for claim in claims for issue in detectors.observe(Seen(claim, absent=absent))] == [
        "hallucination"
    ]


def test_what_the_reviewer_would_block_is_told_once_it_happened() -> None:
    step = steps([Did("bash", "", {"command": "rm -rf /"})])[0]
    review = Review("block", 1.0, 1.0, ("fs.recursive-delete",), "it deletes everything.", "Name the files.")
    found = Detectors().observe(Seen(step, review))
    assert [(issue.type, issue.severity) for issue in found] == [("destructive_action", "critical")]
    assert "it deletes everything." in found[0].description
    assert "Name the files." in found[0].description
    assert ".." not in found[0].description


@pytest.mark.parametrize("review", [None, Review("warn", 0.7), Review("allow")])
def test_what_the_reviewer_lets_pass_is_not(review: Review | None) -> None:
    step = steps([Did("bash", "", {"command": "rm -rf build"})])[0]
    assert Detectors().observe(Seen(step, review)) == []


def test_the_same_sentence_before_call_after_call_is_told() -> None:
    thought = "The issue appears to be in how the ordering is handled for inherited models. Look at number {n}."
    calls = [Did("view", f"text{n} of part{n}", {"path": f"part{n}.py"}, thought.format(n=n)) for n in range(6)]
    assert first_alarm(calls, "loop") == 3


def test_a_sentence_that_is_said_again_after_a_change_is_said_of_something_new() -> None:
    thought = "The change has been applied, so now let us run the reproduction script once more to see what it does."
    calls = [
        call
        for n in range(6)
        for call in (
            Did("edit_file", f"edited part{n}", {"path": "app.py", "text": f"version{n}"}),
            Did("bash", f"value{n} came out", {"command": "python repro.py"}, thought),
        )
    ]
    assert first_alarm(calls) is None


def test_a_change_by_the_first_call_counts_and_an_earlier_one_does_not() -> None:
    thought = "The issue appears to be in how the ordering is handled for inherited models of the shop."
    looks = [Did("view", f"text{n} of part{n}", {"path": f"part{n}.py"}, thought) for n in range(3)]
    edit = {"path": "app.py", "text": "x = 1"}
    assert first_alarm([Did("edit_file", "edited", edit, thought), *looks[:2]]) is None
    assert first_alarm([looks[0], Did("edit_file", "edited", edit), *looks[1:]]) is None
    assert first_alarm([Did("edit_file", "edited", edit), *looks]) == 4


def test_a_sentence_before_calls_that_a_tool_rejects_is_told_if_a_call_comes_again() -> None:
    thought = "The order of the arguments has to be changed so that the call is accepted by the tool now."

    def tries(names: str, error: str = "Error: missing required argument") -> list[Did]:
        return [Did("create", error, {"name": name}, thought, error=True) for name in names]

    assert first_alarm(tries("abcd")) is None
    assert first_alarm(tries("aba")) == 3
    assert first_alarm(tries("abc", "Error: the disk is full"), "loop") == 3, "that is not about the form of the call"


def test_turns_of_phrase_may_come_again() -> None:
    calls = [Did("view", f"text{n}", {"path": f"part{n}.py"}, "Let's look at the next file.") for n in range(20)]
    assert first_alarm(calls) is None


def test_an_agent_that_repeats_itself_without_calling_anything_is_told() -> None:
    text = "I am now going to think about the best way to solve this task before I do anything else."
    assert kinds([said(n, text) for n in range(6)]) == ["loop"]


def test_a_new_word_from_the_user_begins_anew() -> None:
    look = Did("get_order", '{"status": "pending"}', {"id": "17"})
    taken: list[Step] = []
    for n in range(8):
        taken += [said(4 * n, f"Customer says something new, number {n}", "user"), *steps([look], start=4 * n + 1)]
    assert kinds(taken) == []


def test_the_same_prompt_again_is_no_news() -> None:
    look = Did("get_order", '{"status": "pending"}', {"id": "17"})
    taken: list[Step] = []
    for n in range(8):
        taken += [said(4 * n, "Please continue.", "user"), *steps([look], start=4 * n + 1)]
    assert "loop" in kinds(taken)


def test_the_same_question_in_other_words_with_stale_answers_is_a_spiral() -> None:
    answer = "Result one about reference works. Result two about life sciences counts. Result three, a report."
    queries = (
        "reference works counts life sciences report",
        "life sciences reference works counts 2022 report",
        "counts of reference works life sciences report 2022 dataset",
    )
    calls = [Did("web_search", f"{answer} Hit {n}.", {"query": query}) for n, query in enumerate(queries)]
    assert "resource_spiral" in kinds(steps(calls))


def test_nearly_the_same_request_with_the_same_result_is_a_loop_by_the_third() -> None:
    def page(n: int, result: str = "a b c") -> Did:
        return Did("list_items", result, {"filter": "alpha beta gamma delta", "page": n})

    (found,) = [issue for issue in watch(steps([page(n) for n in range(3)])) if issue.type == "loop"]
    assert (found.severity, found.confidence, found.evidence) == ("medium", 0.6, (1, 3, 5))
    assert found.details["count"] == 3 and found.stuck == Stuck(
        kind="pattern", key="near list_items", tool="list_items"
    )
    assert first_alarm([page(0), page(1)], "loop") is None
    assert first_alarm([page(n, f"item{n} of many") for n in range(4)], "loop") is None
    write = Did("edit_file", "edited", {"path": "a.py", "text": "x"})
    assert first_alarm([page(0), page(1), write, page(2), page(3)], "loop") is None
    noise = [Did("read_file", f"text{n}", {"path": f"p{n}.py"}) for n in range(2)]
    assert first_alarm([page(0), noise[0], page(1), page(2)], "loop") == 4
    assert first_alarm([page(0), noise[0], page(1), noise[1], page(2)], "loop") is None
    assert "loop" not in kinds(batched([page(0), page(1)], [page(2)])), "calls of one batch are one attempt"
    assert "loop" in kinds(batched([page(0), page(1)], [page(2)], [page(3)]))
    detectors = Detectors()
    watch(steps([page(0), page(1)]), detectors)
    for kind in ("loop", "resource_spiral"):
        detectors.restart(kind)
    assert watch(steps([page(2)], start=10), detectors) == [], "counted anew"


def test_answers_that_are_nearly_the_same_are_not_a_loop() -> None:
    answers = [Did("final_answer", "sent", {"answer": f"alpha beta gamma delta {n}"}) for n in range(4)]
    assert first_alarm(answers, "loop") is None


def test_different_questions_are_not() -> None:
    queries = (
        "capital of France and its mayor",
        "tallest bridge in the world today",
        "who wrote the old man and the sea",
    )
    calls = [Did("web_search", f"answer {n} about {q}", {"query": q}) for n, q in enumerate(queries)]
    assert "resource_spiral" not in kinds(steps(calls))


def test_sums_with_the_same_numbers_are_no_questions() -> None:
    sums = {"(158 + 161) * 3 + 3 * 0": "957.0", "(158 + 161) * 3 + 3 * 5": "972.0", "(158 + 161) * 3 + 15": "972.0"}
    assert kinds(steps([Did("calculate", result, {"expression": one}) for one, result in sums.items()])) == []


def test_six_calls_in_a_row_that_bring_nothing_are_a_spiral() -> None:
    pair = [Did("view", "", {"path": "a.py"}), Did("view", "", {"path": "b.py"})]
    found = [issue for issue in watch(steps(pair * 6)) if issue.type == "resource_spiral"]
    assert [issue.severity for issue in found][:2] == ["medium", "high"]
    assert found[0].step == 2 * 7 + 1  # the first two were new


def test_a_failing_test_looked_into_between_edits_is_not_a_loop() -> None:
    calls: list[Did] = []
    for n in range(8):
        calls += [
            Did("read_file", f"def helper{n}(): return value{n} + offset{n}", {"path": f"src/helper{n}.py"}),
            Did("edit_file", "edited", {"path": "src/app.py", "text": f"try{n}"}),
            FAILING,
        ]
    assert first_alarm(calls) is None


def test_an_edit_that_is_undone_and_made_again_changes_nothing() -> None:
    there = Did("edit_file", "edited", {"path": "app.py", "text": "a = 1"})
    back = Did("edit_file", "edited", {"path": "app.py", "text": "a = 2"})
    run = Did("bash", "wrong value printed", {"command": "python app.py"}, exit_code=0)
    assert first_alarm([there, run, back, run] * 6, "loop") is not None


def test_a_passing_test_after_each_edit_is_never_told() -> None:
    calls: list[Did] = []
    for n in range(15):
        calls += [Did("edit_file", "edited", {"path": "app.py", "text": f"part {n}"}), PASSING]
    assert first_alarm(calls) is None


def test_waiting_on_purpose_is_given_more_time() -> None:
    wait = Did("bash", "still building", {"command": "sleep 60; tail -1 build.log"}, exit_code=0)
    assert first_alarm([wait] * 40) is None


def test_waiting_for_a_server_that_refuses_at_first_is_given_more_time_too() -> None:
    refused = "curl: (7) Failed to connect to localhost port 8000: Connection refused"
    wait = Did("bash", refused, {"command": "sleep 5; curl -sf localhost:8000/health"}, exit_code=7)
    assert first_alarm([wait] * 40) is None
    hurry = Did("bash", refused, {"command": "curl -sf localhost:8000/health"}, exit_code=7)
    assert first_alarm([hurry] * 40) == 31


def test_a_status_that_is_asked_for_without_a_pause_is_a_busy_loop_by_the_thirty_first() -> None:
    asked = Did("bash", "NAME READY STATUS\nweb-0 0/1 Pending", {"command": "kubectl get pods -n shop"}, exit_code=0)
    assert first_alarm([asked] * 30) is None
    assert first_alarm([asked] * 40) == 31


def test_an_edit_of_code_that_waits_is_not_waiting() -> None:
    edit = Did("edit", "Error: no replacement", {"path": "app.py", "old_str": "lock.wait()"}, error=True)
    assert first_alarm([edit] * 12) == 3


def test_a_result_that_another_agent_gives_belongs_to_the_caller() -> None:
    asked = steps([Did("ask_surfer", "nothing found", {"request": "the page"})] * 3, agent="boss")
    taken = [step if step.kind == "tool_call" else msgspec.structs.replace(step, agent="surfer") for step in asked]
    assert [(issue.type, issue.evidence) for issue in watch(taken)] == [("loop", (1, 3, 5))]


def test_garbled_calls_of_one_batch_are_one_attempt() -> None:
    one, two, three = ([Did("bash", "", {"command": f": {name}"})] for name in ("ls", "pwd", "id"))
    assert kinds(batched(one + two + three)) == []
    assert kinds(batched(one + two, three)) == ["broken_calls"]


def test_every_issue_says_what_proves_it_and_what_to_do() -> None:
    found: list[Issue] = watch(steps([FAILING] * 9)) + watch(steps([Did("view", "x", {"path": "a"})] * 9))
    assert found
    for issue in found:
        assert issue.evidence
        assert issue.started_step == min(issue.evidence)
        assert issue.evidence[-1] <= issue.step
        assert issue.description.endswith(".")
        assert "\n" not in issue.description


def guess(n: int, error: str = "Could not apply the change `{text}` to app.py.") -> Did:
    text = f"def parse(self, source, options, strict, depth, limit): return {n}"
    arguments: dict[str, object] = {"command": "str_replace", "path": "app.py", "old_str": text}
    return Did("edit", "ERROR:\n" + error.format(text=text), arguments, error=True)


def test_another_guess_with_another_answer_is_told_by_the_fourth() -> None:
    assert first_alarm([guess(n) for n in range(8)]) == 4


def test_nearly_the_same_guess_with_the_very_same_answer_is_told_by_the_third() -> None:
    assert first_alarm([guess(n, "Could not apply the change.") for n in range(8)]) == 3


def test_a_look_into_the_file_makes_the_next_try_an_informed_one() -> None:
    look = Did("view", " ".join(f"word{n}" for n in range(40)), {"path": "app.py"})
    assert first_alarm([guess(0), guess(1), look, guess(2), guess(3), guess(4)]) is None
    assert first_alarm([guess(0), guess(1), guess(2), guess(3), guess(4)]) == 4
