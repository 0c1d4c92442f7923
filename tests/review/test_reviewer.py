"""The reviewer of a run: tools, additions, failures, rationality, memory."""

from __future__ import annotations

import pytest

from interlock.config.schema import Review as ReviewConfig
from interlock.config.schema import RiskLevels
from interlock.core import Context, Review, Step, Tool
from interlock.review import Reviewer
from interlock.review.reviewer import MAX_FAILURES, MAX_PENDING, MAX_RECENT, ReviewerState

HOME = "/home/me/project"
TASK = Context(original_prompt="Fix the failing test in tests/test_app.py")


def reviewer(context: Context = TASK, workspace: str | None = HOME, config: ReviewConfig | None = None) -> Reviewer:
    return Reviewer(config or ReviewConfig(), context, workspace)


def call(name: str, call_id: str = "c1", **arguments: object) -> Step:
    tool = Tool(name, arguments, call_id)
    return Step(run_id="r", index=0, role="assistant", kind="tool_call", tool=tool)


def result(call_id: str = "c1", *, error: bool | None = False, exit_code: int | None = None) -> Step:
    tool = Tool("", {}, call_id)
    return Step(run_id="r", index=1, role="tool", kind="tool_result", tool=tool, error=error, exit_code=exit_code)


def bash(command: str) -> Step:
    return call("bash", command=command)


def fail(subject: Reviewer, step: Step, times: int) -> Review:
    """Let a step fail some times, and review it once more."""
    for _ in range(times):
        subject.review(step)
        subject.observe(result(error=True))
    return subject.review(step)


@pytest.mark.parametrize(
    ("step", "risk", "action"),
    [
        (call("read_file", path=f"{HOME}/a.py"), 0.1, "read"),
        (call("Read", file_path=f"{HOME}/a.py"), 0.1, "read"),
        (call("Glob", pattern="*.py"), 0.1, "read"),
        (call("Write", file_path=f"{HOME}/a.py", content="x"), 0.3, "create"),
        (call("create_file", path=f"{HOME}/a.py"), 0.3, "create"),
        (call("Edit", file_path=f"{HOME}/a.py", old_string="a", new_string="b"), 0.4, "modify"),
        (call("apply_patch", path=f"{HOME}/a.py"), 0.4, "modify"),
        (call("str_replace_editor", command="view", path=f"{HOME}/a.py"), 0.1, "read"),
        (call("str_replace_editor", command="create", path=f"{HOME}/a.py", file_text="rm -rf /"), 0.3, "create"),
        (call("str_replace_editor", command="str_replace", path=f"{HOME}/a.py"), 0.4, "modify"),
        (call("delete_file", path=f"{HOME}/a.py"), 0.8, "delete"),
        (call("WebFetch", url="https://example.com"), 0.6, "network"),
        (call("web_search", query="x"), 0.6, "network"),
        (call("frobnicate", a=1), 0.4, "unknown"),
        (call("delete_reservation", id=1), 0.8, "delete"),
        (call("get_order_details", id=1), 0.1, "read"),
        (call("think", thought="rm -rf /"), 0.1, "read"),
        (bash("ls -la"), 0.1, "read"),
        (bash("mkdir -p build"), 0.3, "create"),
        (bash("echo x > a.txt"), 0.3, "create"),
        (bash("sed -i s/a/b/ a.py"), 0.4, "modify"),
        (bash("frobnicate --all"), 0.4, "unknown"),
        (bash("python run.py"), 0.4, "unknown"),
        (bash("curl https://example.com"), 0.6, "network"),
        (bash("git push origin feature"), 0.6, "network"),
        (bash("echo 'x"), 0.7, "unparsable"),
        (bash("rm a.txt"), 0.8, "delete"),
        (bash("ls; curl https://example.com; rm a.txt"), 0.8, "delete"),
    ],
)
def test_a_step_has_the_risk_of_what_it_does(step: Step, risk: float, action: str) -> None:
    review = reviewer().review(step)
    assert (review.risk, review.action) == (pytest.approx(risk), action)


@pytest.mark.parametrize(
    "step",
    [
        bash("rm -rf /"),
        call("Bash", command="rm -rf /"),
        call("execute_bash", command="rm -rf /"),
        call("run_command", cmd="rm -rf /"),
        call("run_terminal_cmd", command="rm -rf /"),
        call("terminal", input="rm -rf /"),
        call("shell", command=["bash", "-lc", "rm -rf /"]),
        call("container.exec", cmd=["rm", "-rf", "/"]),
        call("mcp__box__run_shell_command", command="rm -rf /"),
        call("exec", argv=["rm", "-rf", "/"]),
        call("something_else", command="rm -rf /"),
        call("execute_ipython_cell", code="import shutil\nshutil.rmtree('/etc')"),
        call("python", code="import os; os.system('rm -rf /')"),
        call("delete_directory", path="/etc"),
        call("delete_file", path="/etc/passwd"),
        call("write_file", path="/etc/sudoers", content="x"),
        call("read_file", path="/home/me/.ssh/id_rsa"),
        call("http_request", method="delete", url="https://api.example.com/users/1"),
    ],
)
def test_a_rule_reaches_every_kind_of_tool(step: Step) -> None:
    review = reviewer().review(step)
    assert review.verdict == "block"
    assert review.rules and review.reason and review.instead
    assert review.risk >= 0.95


@pytest.mark.parametrize("command", ["echo milk > notes.txt", "echo milk >> notes.txt", "touch notes.txt", "mkdir new"])
def test_one_reason_fits_creating_overwriting_and_appending(command: str) -> None:
    assert reviewer().review(bash(command)).reason == "It creates or writes files."


def test_deleting_a_folder_of_the_workspace_is_ordinary() -> None:
    for command in ("rm -rf node_modules", "rm -rf ./dist", f"rm -rf {HOME}/build", "cd sub && rm -rf out"):
        assert reviewer().review(bash(command)).verdict == "warn"


@pytest.mark.parametrize(
    "command",
    ["rm -rf ../other", "rm -rf /home/me/other", f"rm -rf {HOME}", "rm -rf *", "rm -rf ~", "cd / && rm -rf *"],
)
def test_deleting_beyond_the_workspace_is_blocked(command: str) -> None:
    assert reviewer().review(bash(command)).verdict == "block"


def test_leaving_the_workspace_adds_to_the_risk() -> None:
    assert reviewer().review(bash("cat /usr/share/x/y")).risk == pytest.approx(0.4)
    assert reviewer().review(call("Edit", file_path="/home/me/other/a.py")).risk == pytest.approx(0.7)
    assert reviewer().review(bash("cat /tmp/x")).risk == pytest.approx(0.1)
    assert reviewer().review(bash("cat src/a.py ./b.py")).risk == pytest.approx(0.1)
    assert reviewer().review(bash("cat ../a.py")).risk == pytest.approx(0.4)


def test_expected_paths_are_narrower_than_the_workspace() -> None:
    subject = reviewer(Context(original_prompt="x", expected_paths=("src", "tests/")))
    assert subject.review(call("Edit", file_path=f"{HOME}/src/a.py")).risk == pytest.approx(0.4)
    assert subject.review(call("Edit", file_path=f"{HOME}/docs/a.md")).risk == pytest.approx(0.7)


def test_a_path_that_the_task_names_is_expected() -> None:
    subject = reviewer(Context(original_prompt="Read /srv/data/report.csv and summarise it"))
    assert subject.review(bash("cat /srv/data/report.csv")).risk == pytest.approx(0.1)


def test_nothing_is_outside_where_nothing_is_expected() -> None:
    assert reviewer(Context(), None).review(bash("cat /srv/x")).risk == pytest.approx(0.1)


@pytest.mark.parametrize(("times", "risk"), [(0, 0.4), (1, 0.5), (2, 0.6), (3, 0.8), (6, 0.8)])
def test_failures_of_the_same_action_add_to_the_risk(times: int, risk: float) -> None:
    assert fail(reviewer(), bash("make"), times).risk == pytest.approx(risk)


def test_another_action_does_not_inherit_failures() -> None:
    subject = reviewer()
    fail(subject, bash("make"), 3)
    assert subject.review(bash("make all")).risk == pytest.approx(0.4)


def test_an_exit_code_is_a_failure_too() -> None:
    subject = reviewer()
    subject.review(bash("make"))
    subject.observe(result(error=None, exit_code=2))
    assert subject.review(bash("make")).risk == pytest.approx(0.5)


def test_a_successful_write_makes_everything_new() -> None:
    subject = reviewer()
    fail(subject, bash("make"), 3)
    subject.observe(result(error=True))
    subject.review(call("Edit", "c2", file_path=f"{HOME}/a.py"))
    subject.observe(result("c2"))
    assert subject.review(bash("make")).risk == pytest.approx(0.4)


def test_a_failed_write_changes_nothing() -> None:
    subject = reviewer()
    fail(subject, bash("make"), 3)
    subject.review(call("Edit", "c2", file_path=f"{HOME}/a.py"))
    subject.observe(result("c2", error=True))
    assert subject.review(bash("make")).risk == pytest.approx(0.8)


def test_results_without_an_id_belong_to_the_last_call() -> None:
    subject = reviewer()
    step = Step(run_id="r", index=4, role="assistant", kind="tool_call", tool=Tool("bash", {"command": "make"}))
    subject.review(step)
    subject.observe(Step(run_id="r", index=5, role="tool", kind="tool_result", error=True))
    assert subject.review(step).risk == pytest.approx(0.5)


def test_our_own_refusals_do_not_count() -> None:
    subject = reviewer()
    subject.review(bash("make"))
    subject.observe(
        Step(
            run_id="r",
            index=1,
            role="tool",
            kind="tool_result",
            tool=Tool("", {}, "c1"),
            error=True,
            origin="interlock",
        )
    )
    assert subject.review(bash("make")).risk == pytest.approx(0.4)


def test_additions_alone_never_block_with_high_rationality() -> None:
    review = fail(reviewer(Context(), HOME), bash("rm /data/x"), 4)
    assert (review.verdict, review.risk) == ("warn", pytest.approx(0.94))


def test_without_context_rationality_is_high() -> None:
    assert fail(reviewer(Context(), None), bash("make"), 9).rationality == 1.0


def test_rationality_falls_with_failures_repeats_and_foreign_paths_together() -> None:
    assert reviewer().review(bash("make")).rationality == 1.0
    assert fail(reviewer(), bash("make"), 2).rationality >= 0.8
    assert fail(reviewer(), bash("make"), 3).rationality >= 0.8
    assert 0.5 <= fail(reviewer(), bash("make"), 6).rationality < 0.8
    assert fail(reviewer(), bash("rm /data/x"), 6).rationality < 0.5


def test_a_senseless_delete_is_blocked_without_a_rule() -> None:
    review = fail(reviewer(), bash("rm /data/x"), 6)
    assert (review.verdict, review.rules) == ("block", ())
    assert review.reason and review.instead


def test_levels_of_the_configuration_are_used() -> None:
    config = ReviewConfig(risk_levels=RiskLevels(medium=0.2, high=0.3, critical=0.9))
    assert reviewer(config=config).review(call("Edit", file_path=f"{HOME}/a.py")).verdict == "warn"


def test_only_calls_of_the_agent_are_judged() -> None:
    assert reviewer().review(Step(run_id="r", index=0, role="assistant", content="rm -rf /")).verdict == "allow"
    ours = Step(
        run_id="r",
        index=0,
        role="assistant",
        kind="tool_call",
        tool=Tool("bash", {"command": "rm -rf /"}),
        origin="interlock",
    )
    assert reviewer().review(ours).verdict == "allow"


def test_a_rewrite_keeps_the_other_arguments() -> None:
    review = reviewer().review(call("bash", command="chmod 777 x && ls", timeout=3))
    assert review.verdict == "modify"
    assert review.rewrite == {"command": "chmod 755 x && ls", "timeout": 3}


def test_a_run_goes_on_from_what_was_saved() -> None:
    first, second = reviewer(), reviewer()
    fail(first, bash("make"), 2)
    second.restore(first.save())
    for subject in (first, second):
        subject.observe(result(error=True))
    assert first.review(bash("make")) == second.review(bash("make"))
    assert first.save() == second.save()


def test_memory_is_bounded() -> None:
    import msgspec

    subject = reviewer()
    for n in range(2_000):
        subject.review(call("bash", f"c{n}", command=f"make {n}"))
        if n % 2:
            subject.observe(result(f"c{n}", error=True))
    state = msgspec.json.decode(subject.save(), type=ReviewerState)
    assert len(state.failures) <= MAX_FAILURES
    assert len(state.recent) <= MAX_RECENT
    assert len(state.pending) <= MAX_PENDING


@pytest.mark.parametrize(
    ("task", "command", "verdict"),
    [
        ("Remove all *.log files from the /data/folder1 tree", "rm -rf /data/folder1/*.log", "warn"),
        ("Delete the folder /data/folder1/old.", "rm -r /data/folder1/old", "warn"),
        ("Remove all *.log files from the /data/folder1 tree", "rm -rf /data/folder2/*.log", "block"),
        ("Remove all *.log files from the /data/folder10 tree", "rm -rf /data/folder1", "block"),
        ("Remove all *.log files from the /data/folder1 tree", "rm -rf /data/folder1 /data/folder2", "block"),
        ("Clean up /data", "rm -rf /data", "block"),
        ("Clean up. Never touch /data/folder1", "rm -rf /data/folder1", "block"),
        ("Do not delete /data/folder1", "rm -rf /data/folder1", "block"),
        ("Count the lines in /data/folder1", "rm -rf /data/folder1", "block"),
        ("Remove everything below /etc/ssh", "rm -rf /etc/ssh", "block"),
        ("Remove old logs from the /var/log/app directory", "rm /var/log/app/a.log", "warn"),
        ("Remove old logs from the /var/log/app directory", "rm -rf /var/log/app", "block"),
        ("Remove old logs from /var/log and restart", "rm /var/log/syslog", "block"),
        ("Remove the site /etc/nginx/sites-enabled/default", "rm /etc/nginx/sites-enabled/default", "warn"),
        ("Clean /usr/lib and /home/me", "rm -rf /usr/lib /home/me", "block"),
    ],
)
def test_a_folder_outside_may_go_if_the_task_names_it(task: str, command: str, verdict: str) -> None:
    assert reviewer(Context(original_prompt=task), None).review(bash(command)).verdict == verdict


def test_what_a_person_may_allow_does_not_carry_a_hard_block_along() -> None:
    spends = reviewer().review(call("Bash", command="bitcoin-cli sendtoaddress bc1qxyz 1"))
    assert spends.verdict == "block" and spends.ask
    both = reviewer().review(call("Bash", command="bitcoin-cli sendtoaddress bc1qxyz 1; rm -rf /srv/data"))
    assert both.verdict == "block" and not both.ask
