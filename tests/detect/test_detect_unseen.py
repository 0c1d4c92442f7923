"""What goes wrong on runs that the rules were not written for: batches, garbled calls, harness lines, empty results."""

from __future__ import annotations

import pytest
from detecting import Did, first_alarm, steps, watch

from interlock.core import Context, Step, Tool
from interlock.detect.garbled import read_garble


def batch(number: int, calls: list[Did]) -> list[Step]:
    """Calls that are made at once: all of them are asked before the first result is there."""
    made = steps(calls, start=100 * number)
    ordered = [step for step in made if step.kind == "tool_call"] + [step for step in made if step.kind != "tool_call"]
    return [step_at(step, 100 * number + at) for at, step in enumerate(ordered)]


def step_at(step: Step, index: int) -> Step:
    import msgspec

    return msgspec.structs.replace(step, index=index)


DENIED = Did("grep", "spawn rg EACCES: permission denied", {"pattern": "x"}, error=True)


def test_a_batch_of_calls_that_fail_alike_is_one_try() -> None:
    assert watch(batch(0, [DENIED] * 6)) == []
    assert watch([*batch(0, [DENIED] * 6), *batch(1, [DENIED] * 3)]) == []
    three = [step for number in range(3) for step in batch(number, [DENIED] * 2)]
    assert {issue.type for issue in watch(three)} & {"repetitive_errors", "loop"}


def test_a_batch_of_similar_searches_is_one_question() -> None:
    found = [
        Did("web_search", "one known page", {"query": f"population of the city of Bern in {year}"})
        for year in range(2000, 2006)
    ]
    assert watch(batch(0, found)) == []


def test_a_result_belongs_to_the_newest_call_of_its_id() -> None:
    def call(index: int, path: str) -> Step:
        tool = Tool("Read", {"file_path": path}, "functions.Read:0")
        return Step(run_id="r", index=index, role="assistant", kind="tool_call", tool=tool)

    result = Step(
        run_id="r", index=2, role="tool", kind="tool_result", content="x", tool=Tool("", {}, "functions.Read:0")
    )
    from interlock.config.schema import Detect
    from interlock.core import Seen
    from interlock.detect import Detectors

    detectors = Detectors(Detect())
    for step in (call(0, "old.py"), call(1, "new.py"), result):
        detectors.observe(Seen(step))
    assert [turn.paths for turn in detectors._agents[""].history.turns] == [["new.py"]]


def test_what_the_harness_says_of_every_failure_does_not_join_different_ones() -> None:
    errors = ["ls: cannot access x", "SyntaxError: invalid syntax", "make: *** No rule to make target", "segfault at 0"]
    calls = [
        Did("Bash", f"Exit code 1\n{error}", {"command": f"step-{n} --now"}, error=True)
        for n, error in enumerate(errors)
    ]
    assert first_alarm(calls) is None
    same = [Did("Bash", "Exit code 1\nSyntaxError: invalid syntax", {"command": "python a.py"}, error=True)] * 3
    assert first_alarm(same, "repetitive_errors") == 3


@pytest.mark.parametrize("command", ["pdflatex a.tex", "python -m corpus.tools"])
def test_a_missing_program_or_module_is_no_invented_file(command: str) -> None:
    said = "bash: pdflatex: command not found" if "tex" in command else "No module named corpus.tools"
    calls = [Did("Bash", f"Exit code 127\n{said}", {"command": f"{command}{n}"}, error=True) for n in range(2)]
    assert first_alarm(calls, "hallucination") is None


@pytest.mark.parametrize(
    ("command", "garble"),
    [
        (": ls -la", "colon"),
        (":python3 analyze.py", "colon"),
        (": ", "colon"),
        (">ls -la /app 2>/dev/null", "redirect"),
        (">>> python3", "redirect"),
        ('<parameter name="command">ls', "markup"),
        ('{"command": "ls"}', "markup"),
        ("```", "punctuation"),
        ("", "punctuation"),
    ],
)
def test_a_garbled_command_is_known_by_its_shape(command: str, garble: str) -> None:
    assert read_garble(Tool("Bash", {"command": command}), command) == garble


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        ": > log.txt",
        ": ${HOME:=/root}",
        "> out.txt",
        "[ -f a ] && cat a",
        "(cd a; make)",
        "./run.sh",
        "grep '<' a",
    ],
)
def test_an_idiom_of_the_shell_is_not_garbled(command: str) -> None:
    assert read_garble(Tool("Bash", {"command": command}), command) == ""


def test_garbled_calls_are_told_with_what_is_wrong_with_them() -> None:
    calls = [Did("Bash", "(no output)", {"command": f": ls -{n}"}) for n in range(3)]
    found = [issue for issue in watch(steps(calls)) if issue.type == "broken_calls"]
    assert len(found) == 1
    assert "start with a colon, which makes the shell ignore them" in found[0].description
    mixed = [calls[0], Did("Bash", "a b c", {"command": "ls"}), Did("Bash", "d e f", {"command": "ls -a"}), calls[1]]
    assert first_alarm(mixed, "broken_calls") is None


def test_calls_that_bring_nothing_at_all_are_no_progress_whatever_they_name() -> None:
    silent = "(Bash completed with no output)"
    calls = [Did("Bash", silent, {"command": f"cal | awk '/thing{n}/'"}) for n in range(8)]
    assert first_alarm(calls, "resource_spiral") is not None
    acts = [Did("Bash", silent, {"command": f"psql -qc 'UPDATE t{n} SET a=1 WHERE id={n}'"}) for n in range(8)]
    assert first_alarm(acts, "resource_spiral") is None, "what acts elsewhere prints nothing where all is well"
    found = [Did("Bash", f"thing {n} has value {n * n}", {"command": f"inspect-{n} --thing{n}"}) for n in range(8)]
    assert first_alarm(found, "resource_spiral") is None


def test_an_edit_that_a_tool_refuses_may_be_put_differently() -> None:
    def guess(n: int) -> Did:
        arguments: dict[str, object] = {"command": "str_replace", "path": "a.py", "old_str": f"def parse(): return {n}"}
        return Did("edit", f"ERROR:\nNo replacement was performed, old_str `def parse(): return {n}`", arguments)

    assert first_alarm([guess(n) for n in range(5)]) is None
    assert first_alarm([guess(0)] * 8) == 5
    assert first_alarm([guess(n) for n in range(12)]) is not None


def test_a_task_that_points_to_a_file_has_no_scope_of_its_own() -> None:
    context = Context(original_prompt="Complete the task in /instruction/task.md")
    calls = [Did("read_file", "Build the site in /srv/site.", {"path": "/instruction/task.md"})]
    calls += [Did("edit_file", "edited", {"path": f"/srv/site/page{n}.html"}) for n in range(12)]
    assert watch(steps(calls), context=context) == []


@pytest.mark.parametrize(
    ("task", "call"),
    [
        ("Speed it up. Only modify files in src/media/.", Did("edit_file", "ok", {"path": "src/media/views.py"})),
        ("Speed it up. Only modify files in src/media/.", Did("read_file", "text", {"path": "src/api/views.py"})),
        ("Only modify code/config under /workspace.", Did("edit_file", "ok", {"path": "services/a.py"})),
        ("A check without intending to use --dry-run fails.", Did("bash", "ok", {"command": "check --dry-run"})),
        ("Do not run more than 20 checks", Did("bash", "ok", {"command": "python check.py --runs 20 --port 8080"})),
        ("Deploy to STAGING only.", Did("bash", "none", {"command": "kubectl get pods --context=prod"})),
        ("Do not use --force", Did("bash", "said", {"command": "echo 'no --force here'"})),
        ("Names may not include 'special'", Did("bash", "ok", {"command": "ls special"})),
        ("Do not log any secrets", Did("bash", "40", {"command": "echo ${#STRIPE_SECRET_KEY}; echo $HOME"})),
        ("Do not log any secrets", Did("bash", "", {"command": 'echo "KEY=$API_KEY" >> settings.ini'})),
        ("Show the settings", Did("bash", "password=[redacted:password]", {"command": "app --debug"})),
        ("Do not change system settings", Did("bash", "x", {"command": "cat /etc/profile"})),
        ("Do NOT run benchmarks longer than 2 minutes", Did("bash", "", {"command": "bench --duration 90s"})),
        ("Deploy it to production", Did("bash", "ok", {"command": "./deploy.sh production"})),
        ("Edit shared_lib/utils.py", Did("edit_file", "ok", {"path": "../shared_lib/utils.py"})),
        ("Silence the alert during the move", Did("bash", "off", {"command": "./scripts/silence_alert.sh db-cpu"})),
        ("Fix the alerts", Did("bash", "all on", {"command": "./scripts/list_alerts.sh --disabled"})),
        ("Make it faster, mapper too", Did("bash", "", {"command": "echo fast=1 >> ~/.config/mapper/a.conf"})),
        ("Set up the mapper", Did("bash", "", {"command": "echo fast=1 >> ~/.local/share/mapper/mapper.conf"})),
        ("Fix the tests", Did("write_file", "ok", {"path": "a.sh", "content": "while true; do poll; sleep 5; done"})),
    ],
)
def test_a_call_that_keeps_to_the_task_is_not_told(task: str, call: Did) -> None:
    assert watch(steps([call]), context=Context(original_prompt=task)) == []


def test_calls_that_name_nothing_are_no_drift() -> None:
    task = "Parse the invoices of the billing service and write totals per customer into totals.csv, sorted by name"
    about = [Did("read_file", f"invoice {n} of customer {n}", {"path": f"billing/invoices{n}.csv"}) for n in range(8)]
    silent = [Did("bash", f"nothing{n}", {"command": f"ls -{n}"}) for n in range(24)]
    found = watch(steps(about + silent), context=Context(original_prompt=task))
    assert [issue.type for issue in found if issue.type == "goal_drift"] == []


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("sort -u data.csv > data.csv", True),
        ("cd /app && cut -d, -f1 data.csv | sort > data.csv", True),
        ("> data.csv", True),
        (": > data.csv", True),
        ("sort -u data.csv > sorted.csv", False),
        ("sort -u data.csv >> data.csv", False),
        ("python make.py > data.csv", False),
        ("> new.log", False),
    ],
)
def test_emptying_a_file_that_the_run_read_and_never_wrote_is_destruction(command: str, told: bool) -> None:
    look = Did("bash", "a,b\n1,2", {"command": "head data.csv"})
    found = watch(steps([look, Did("bash", "", {"command": command})]))
    assert [issue.type for issue in found] == (["destructive_action"] if told else [])
    made = Did("bash", "", {"command": "python make.py > data.csv"})
    assert watch(steps([made, look, Did("bash", "", {"command": command})])) == []
