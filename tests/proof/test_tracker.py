"""A claim gets the verdict that the checks of its run bear out, on the tree as it is."""

from __future__ import annotations

import pytest

from interlock.core import Step, Tool
from interlock.proof import ProofTracker


class Played:
    """A run, step by step."""

    def __init__(self) -> None:
        self.tracker = ProofTracker()
        self.index = 0

    def _step(self, **fields: object) -> None:
        self.tracker.observe(Step(run_id="r", index=self.index, **fields))  # type: ignore[arg-type]
        self.index += 1

    def run(self, command: str, output: str = "", exit_code: int | None = 0) -> Played:
        tool = Tool("Bash", {"command": command}, f"c{self.index}")
        self._step(role="assistant", kind="tool_call", tool=tool)
        self._step(role="tool", kind="tool_result", tool=tool, content=output, exit_code=exit_code)
        return self

    def write(self, path: str) -> Played:
        tool = Tool("Write", {"file_path": path, "content": "x = 1\n"}, f"c{self.index}")
        self._step(role="assistant", kind="tool_call", tool=tool)
        self._step(role="tool", kind="tool_result", tool=tool, content="ok")
        return self

    def say(self, text: str) -> Played:
        self._step(role="assistant", kind="message", content=text)
        return self

    @property
    def verdicts(self) -> list[tuple[str, str]]:
        return [(found.claim.kind, found.verdict) for found in self.tracker.verdicts()]


def test_a_run_whose_last_word_is_a_call_ends_without_a_final_message() -> None:
    said = Played().say("I will look.").run("make")
    assert said.tracker.ending.endswith("was to call Bash")
    assert said.say("It builds.").tracker.ending == ""
    assert Played().run("make").tracker.ending == "", "where no message is ever seen, its absence says nothing"
    handed = Played().say("I will look.")
    handed._step(role="assistant", kind="tool_call", tool=Tool("submit", {"message": "done"}, "s"))
    assert handed.tracker.ending == ""


def test_a_claim_is_proven_by_a_check_on_the_same_tree() -> None:
    assert Played().run("pytest -q", "3 passed in 0.1s").say("All tests pass.").verdicts == [("tests", "proven")]


def test_a_claim_without_any_check_is_unproven() -> None:
    assert Played().write("a.py").say("All tests pass.").verdicts == [("tests", "unproven")]


def test_a_claim_after_a_failing_check_is_contradicted() -> None:
    played = Played().run("pytest -q", "1 failed, 2 passed in 0.1s", 1).say("All tests pass now.")
    assert played.verdicts == [("tests", "contradicted")]
    assert "1 failed, 2 passed" in played.tracker.verdicts()[0].why


def test_a_change_afterwards_makes_it_stale_and_is_named() -> None:
    played = Played().run("pytest -q", "3 passed in 0.1s").write("src/a.py").say("All tests pass.")
    (found,) = played.tracker.verdicts()
    assert (found.verdict, found.changed) == ("stale", ("src/a.py",))


def test_a_change_of_a_document_does_not_make_tests_stale() -> None:
    played = Played().run("pytest -q", "3 passed in 0.1s").write("README.md").say("All tests pass.")
    assert played.verdicts == [("tests", "proven")]


def test_a_hidden_exit_status_is_not_a_pass() -> None:
    assert Played().run("pytest -q || true", "").say("All tests pass.").verdicts == [("tests", "unproven")]


def test_what_the_agent_takes_back_is_not_held_against_it() -> None:
    played = (
        Played().run("pytest -q", "1 failed in 0.1s", 1).say("All tests pass.").say("Wait, 1 test is still failing.")
    )
    assert played.verdicts == []


def test_the_tree_of_a_checkpoint_decides_where_there_is_one() -> None:
    played = Played()
    played.tracker.mark("c1", after=False)
    played.run("pytest -q", "3 passed in 0.1s")
    played.tracker.mark("c2", after=True)
    played.say("All tests pass.")
    asked: list[str] = []

    def changed(tree: str) -> list[str]:
        asked.append(tree)
        return ["src/a.py", ".pytest_cache/x", "docs/a.md"]

    (found,) = played.tracker.verdicts(changed)
    assert (found.verdict, found.changed, asked) == ("stale", ("src/a.py",), ["c2"])
    assert played.tracker.verdicts(lambda tree: ())[0].verdict == "proven"


def test_what_is_stored_goes_on_where_it_stopped() -> None:
    played = Played().run("pytest -q", "3 passed in 0.1s").say("All tests pass.")
    other = ProofTracker()
    other.restore(played.tracker.save())
    assert other.verdicts() == played.tracker.verdicts()


PASSED = "===== 5 passed in 0.03s ====="


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (f'pytest() {{ echo "{PASSED}"; }}; pytest -q', PASSED),
        ("alias pytest=true\npytest -q", ""),
        (f'pytest -q > /dev/null 2>&1; echo "{PASSED}"', PASSED),
        (f'false && pytest -q; echo "{PASSED}"', PASSED),
        (f"if false; then pytest -q; fi; printf '{PASSED}'", PASSED),
        (f"python -c \"print('{PASSED}')\"", PASSED),
        (f"cat <<EOF\npytest -q\n{PASSED}\nEOF", PASSED),
        ("true || pytest -q", ""),
        ("pytest --collect-only -q", "5 tests collected in 0.01s"),
        ("cargo test --no-run", "Finished test"),
        ("mvn -q test -DskipTests", ""),
        ("gradle build -x test", "BUILD SUCCESSFUL in 1s"),
        ("make -n test", "pytest -q"),
        ("make -i test", "make: [Makefile:2: test] Error 1 (ignored)"),
        ("nohup pytest -q > out.log 2>&1 &", ""),
    ],
)
def test_what_only_looks_like_a_test_run_proves_nothing(command: str, output: str) -> None:
    assert ("tests", "proven") not in Played().run(command, output).say("All tests pass.").verdicts


def test_a_runner_that_the_agent_wrote_itself_proves_nothing() -> None:
    assert Played().run("PATH=bin:$PATH pytest -q", PASSED).say("All tests pass.").verdicts == [("tests", "proven")]
    faked = Played().write("bin/pytest").run("PATH=bin:$PATH pytest -q", PASSED).say("All tests pass.")
    assert faked.verdicts == [("tests", "own_check")]
