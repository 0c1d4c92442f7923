"""What is read from a call and from its result: program and targets, files, garbled arguments, counts, places."""

from __future__ import annotations

import pytest
from detecting import Did, steps, watch

from interlock.calls import read_call, read_script
from interlock.config.schema import Detect
from interlock.core import Context, Issue, Paths, Seen, Step, Tool
from interlock.detect import Detectors
from interlock.detect.agent_detectors import Alarms
from interlock.detect.agent_history import FILES, RunActivity, file_name
from interlock.detect.check_commands import main_program, same_check
from interlock.detect.effect import emptied_paths, read_paths, written_paths
from interlock.detect.failure import read_failing, read_failure, read_failures, read_passes, read_place
from interlock.detect.fingerprint import cut
from interlock.detect.garbled import read_garble
from interlock.detect.statements import Statements, called_names, sentences
from interlock.detect.stuck_tracking import got_better
from interlock.detect.tuning import Tuning
from interlock.detect.waiting_calls import read_waits


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("pytest tests/a.py::test_x -q", ("pytest", ("tests/a.py",))),
        ("cd x && pytest tests/", ("pytest", ("tests",))),
        ("cd x", ("cd", ())),
        ("cd x; echo hi", ("cd", ())),
        ("cd x && export CI=1 && mkdir out && pytest tests/a.py", ("pytest", ("tests/a.py",))),
        ("pytest docs/INDEX", ("pytest", ("docs/INDEX",))),
        ("", ("", ())),
        ("python3 -m pytest tests/a.py", ("pytest", ("tests/a.py",))),
        ("python script.py data/in.csv", ("python script.py", ("data/in.csv",))),
        ("python -c 'import a.b'", ("python", ())),
        ("bash -e x.sh", ("bash x.sh", ())),
        ("npm run test ./src/a.ts", ("npm run test", ("./src/a.ts",))),
        ("kubectl get pods ns/x", ("kubectl get pods", ("ns/x",))),
        ("make test", ("make test", ())),
        ("/usr/bin/make -j4 all", ("make all", ())),
        ("go test ./...", ("go test", ("./...",))),
        ("go test ./pkg/a ./pkg/b", ("go test", ("./pkg/a", "./pkg/b"))),
        ("ruff check . src/a.py 2>/dev/null", ("ruff check", ("src/a.py",))),
        ("cat <in.txt >out.txt", ("cat", ())),
        ("pytest ./", ("pytest", ())),
        ("pytest a.py b.py c.py d.py e.py", ("pytest", ("a.py", "b.py", "c.py", "d.py"))),
        ("FOO=1 pytest a.py", ("pytest", ("a.py",))),
        ("git push origin main", ("git push", ())),
        ("docker compose up web.yml", ("docker compose up", ("web.yml",))),
        ("pytest 'tests/a.py'", ("pytest", ("tests/a.py",))),
        ("make", ("make", ())),
        ("echo done | tee a.log", ("tee", ("a.log",))),
        ("sleep 5 && curl localhost/x.json", ("curl", ("localhost/x.json",))),
    ],
)
def test_which_program_a_command_runs_on_which_targets(command, read):
    assert main_program(read_script(command)) == read


@pytest.mark.parametrize(
    ("two", "same"),
    [
        (("pytest", ("a",), "pytest", ("a", "b")), True),
        (("pytest", (), "pytest", ("a",)), True),
        (("pytest", ("a",), "pytest", ()), True),
        (("pytest", ("a",), "pytest", ("b",)), False),
        (("pytest", (), "tox", ()), False),
    ],
)
def test_which_calls_run_the_same_check(two, same):
    assert same_check(*two) is same


@pytest.mark.parametrize(
    ("arguments", "command", "garble"),
    [
        ({"command": ": ls -la"}, ": ls -la", "colon"),
        ({"command": ":"}, ":", "colon"),
        ({"command": ": > x"}, ": > x", ""),
        ({"command": ": foo\nls"}, ": foo\nls", "first line"),
        ({"command": ":\nls"}, ":\nls", ""),
        ({"command": "> out ls"}, "> out ls", "redirect"),
        ({"command": "> out"}, "> out", ""),
        ({"command": "<parameter name=x>ls"}, "<parameter name=x>ls", "markup"),
        ({"command": '{"command": "ls"}'}, '{"command": "ls"}', "markup"),
        ({"command": "cat <in"}, "cat <in", ""),
        ({"command": "..."}, "...", ""),
        ({"command": "!!"}, "!!", "punctuation"),
        ({"command": "."}, ".", ""),
        ({"command": "  "}, "  ", "punctuation"),
        ({}, "", "empty"),
        ({"command": "ls"}, "ls", ""),
        ({"path": ":a.py"}, None, "colon"),
        ({"path": "::a"}, None, ""),
        ({"path": ">a.py"}, None, "redirect"),
        ({"path": "a</parameter>"}, None, "markup"),
        ({"path": "a<b"}, None, ""),
        ({"path": ""}, None, ""),
        ({"content": ": hello"}, None, "colon"),
        ({"content": ": 1"}, None, ""),
        ({"content": "!!!"}, None, "punctuation"),
        ({"content": "!"}, None, ""),
        ({"content": "! "}, None, ""),
        ({"new_string": "!!!"}, None, ""),
        ({"new_string": ": hello"}, None, "colon"),
        ({"content": 5, "path": ":x"}, None, "colon"),
        ({"query": ":x"}, None, ""),
    ],
)
def test_how_a_call_is_garbled(arguments, command, garble):
    assert read_garble(Tool("t", arguments), command) == garble


@pytest.mark.parametrize(
    ("tool", "arguments", "effect", "paths"),
    [
        ("Write", {"file_path": "a.py", "content": "x"}, "write", ("a.py",)),
        ("Read", {"file_path": "a.py"}, "read", ()),
        ("Write", {"path": ""}, "write", ()),
        ("Write", {"path": 3, "content": "b.py"}, "write", ()),
        (
            "Bash",
            {"command": "echo x > out.txt; rm -f a/b c.d plain; sed -i -e x z.py"},
            "write",
            ("out.txt", "a/b", "c.d", "plain", "z.py"),
        ),
        ("Bash", {"command": "sed -i 's/x/y/' src/a.py"}, "write", ("src/a.py",)),
        ("Bash", {"command": "sed -i '' \"s|a b|c/d|; s/e/f/\" a.txt b/c && rm d.e"}, "write", ("a.txt", "b/c", "d.e")),
        ("Bash", {"command": "sed -i.bak -e 's/x/y/' -e 's/z/w/' src/a.py"}, "write", ("src/a.py",)),
        ("Bash", {"command": "sed -i --expression=s/x/y/ a.py"}, "write", ("a.py",)),
        ("Bash", {"command": "sed -i s/it's/its/ a.py"}, "write", ()),
        ("Bash", {"command": "cat a 2>/dev/null >> 'log.txt'"}, "write", ("log.txt",)),
        ("Bash", {"command": "sudo mv old.py new.py && touch x.y <in.z"}, "write", ("old.py", "new.py", "x.y")),
        ("Bash", {"command": "grep -r x src"}, "run", ()),
    ],
)
def test_which_files_a_call_is_to_write(tool, arguments, effect, paths):
    assert written_paths(read_call(tool, arguments)) == paths


def test_what_is_too_long_for_a_path_is_none():
    for length, count in ((400, 1), (401, 0)):
        reading = read_call("Write", {"path": "x" * length})
        assert len(written_paths(reading)) == count
        assert len(read_paths(Step(run_id="r", index=0, role="assistant"), reading)) == count


@pytest.mark.parametrize(
    ("tool", "arguments", "effect", "known", "paths"),
    [
        ("Write", {"file_path": "a.py", "content": "x.py"}, "write", None, ["a.py"]),
        (
            "Bash",
            {"command": "cat src/a.py ./b ~/.x 'c d/e.txt' 3.5 .env; sed -n '/a.b/p' x"},
            "run",
            None,
            ["src/a.py", "b", "~/.x", "3.5", ".env", "x"],
        ),
        (
            "Edit",
            {"path": "z.py"},
            "write",
            Paths(read=("r.py", "w.py"), written=("w.py",), deleted=("d.py",)),
            ["w.py", "d.py", "r.py", "z.py"],
        ),
        (
            "Bash",
            {
                "command": "ls d0/f d1/f d2/f d3/f d4/f d5/f d6/f d7/f d8/f d9/f d10/f d11/f d12/f d13/f d14/f d15/f d16/f d17/f d18/f d19/f"
            },
            "run",
            None,
            [
                "d0/f",
                "d1/f",
                "d2/f",
                "d3/f",
                "d4/f",
                "d5/f",
                "d6/f",
                "d7/f",
                "d8/f",
                "d9/f",
                "d10/f",
                "d11/f",
                "d12/f",
                "d13/f",
                "d14/f",
                "d15/f",
            ],
        ),
    ],
)
def test_which_files_a_call_names(tool, arguments, effect, known, paths):
    step = Step(run_id="r", index=0, role="assistant", kind="tool_call", paths=known)
    assert read_paths(step, read_call(tool, arguments)) == paths


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("> a.txt", ["a.txt"]),
        (": > a.txt", ["a.txt"]),
        ("cat a.txt | sort > a.txt", ["a.txt"]),
        ("sort a.txt > b.txt", []),
        ("echo x > a.txt", []),
        ("true > a; cat /dev/null > b", ["a", "b"]),
        ("echo -n '' > c", ["c"]),
        ('printf "" > d && ls', ["d"]),
        ("ls 2> err", []),
        ("cat < a > a", ["a"]),
    ],
)
def test_which_files_a_command_empties(command, paths):
    assert emptied_paths(read_script(command)) == paths


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        (b"abc", 3, b"abc"),
        (b"abcd", 3, b"abc \xe2\x80\xa6"),
        (b"one two three", 8, b"one two \xe2\x80\xa6"),
        (b"one two, three", 9, b"one two \xe2\x80\xa6"),
        (b"a bcdefgh", 6, b"a bcde \xe2\x80\xa6"),
        (b"abc defgh", 6, b"abc de \xe2\x80\xa6"),
        (b"abcd efgh", 6, b"abcd \xe2\x80\xa6"),
        (b"one two:  three", 10, b"one two \xe2\x80\xa6"),
    ],
)
def test_a_text_is_cut_at_a_blank(text, most, shown):
    assert cut(text, most) == shown


@pytest.mark.parametrize(
    ("result", "failures", "passes"),
    [
        (b"2 failed, 3 passed in 1s", 2, 3),
        (b"FAILED (failures=1, errors=2)", 3, None),
        (b"1 failed\n2 errors", 2, None),
        (b"ok", None, None),
        (b"3 problems (1 error, 2 warnings)", 4, None),
        (b"failing: nothing", None, None),
        (b"5 passing\n1 failing", 1, 5),
        (b"10 ok", None, 10),
        (b"1 passed\n2 passed", None, 2),
    ],
)
def test_how_many_failures_and_passes_a_result_reports(result, failures, passes):
    assert (read_failures(result), read_passes(result)) == (failures, passes)


def test_only_the_end_of_a_result_adds_up():
    assert read_failures(b"1 failed" + b" " * 892) == 1
    assert read_failures(b"1 failed" + b" " * 900) is None


@pytest.mark.parametrize(
    ("result", "place"),
    [
        (b'File "src/a.py", line 12, in f', "src/a.py:12"),
        (b"src/a.ts(3,4): error", "src/a.ts:3"),
        (b"tests/test_a.py:7: E\nsrc/b.go:9: x", "src/b.go:9"),
        (b"a.py", ""),
        (b" .py:3", ""),
        (b"x.unknown:3", ""),
    ],
)
def test_where_a_failure_is(result, place):
    assert read_place(result) == place


@pytest.mark.parametrize(
    ("result", "count"),
    [
        (b"FAILED tests/a.py::test_x - boom\nFAILED tests/a.py::test_y", 2),
        (b"--- FAIL: TestX (0.0s)", 1),
        (b"test a::b ... FAILED", 1),
        (b"not ok 3 - adds", 1),
        (b"all well", 0),
        (b"tests/a.py::test_x FAILED", 1),
    ],
)
def test_how_many_failing_tests_a_result_names(result, count):
    assert len(read_failing(result)) == count


@pytest.mark.parametrize(
    ("result", "told", "failure"),
    [
        (b"all well", {}, None),
        (b"all well", {"exit_code": 1}, b"all well"),
        (b"Error: boom", {"exit_code": 0}, None),
        (b"Error: boom", {}, b"Error: boom"),
        (b"x\nValueError: bad\nmore", {}, b"ValueError: bad"),
        (b"ValueError:\n\n  the reason", {}, b"ValueError: the reason"),
        (b"Traceback (most recent call last):\n  File\nKeyError: 'x'", {}, b"KeyError: 'x'"),
        (b"Traceback (most recent call last):\n  File\nKeyboardInterrupt", {}, b"KeyboardInterrupt"),
        (b"done\nexit code: 0", {}, None),
        (b"done\nexit code: 2", {}, b"exit code: 2"),
        (b"done, exited with code 3", {}, b"done, exited with code 3"),
        (b"collected 3\nFAILED tests/a.py::t - x", {}, b"FAILED tests/a.py::t - x"),
        (b"[12345678]\nsomething went off", {"error": True}, b"something went off"),
        (b"[12345678\nsomething went off", {"error": True}, b"[12345678"),
        (b"12345678]\nsomething went off", {"error": True}, b"12345678]"),
        (b"first line one\nsecond line two\nthird line three", {"error": True}, b"first line one"),
        (b"first line one\nsecond line two\nthird line three\nfourth line four", {"error": True}, b"fourth line four"),
        (b"short\nlonger line that says it", {"error": True}, b"longer line that says it"),
        (b"===== FAILURES =====\npermission denied: x", {"error": True}, b"permission denied: x"),
        (b"Exit code 1\npermission denied", {"error": True}, b"permission denied"),
        (b"Exit code 1\n", {"error": True}, b"Exit code 1"),
        (b"no such file or directory: {'a': 1}", {"error": True}, b"no such file or directory: {'a': 1}"),
        (b"", {"error": True}, b""),
        (b"permission denied", {}, b"permission denied"),
        (b"1 permission denied", {}, None),
        (b"0 errors, all good", {}, None),
        (b"Killed", {"error": True}, b"Killed"),
        (b"error: could not compile:\n   the thing", {"error": True}, b"error: could not compile: the thing"),
        (b"error: could not compile:\n  ---\n", {"error": True}, b"error: could not compile:"),
    ],
)
def test_the_message_of_a_result_that_failed(result, told, failure):
    step = Step(run_id="r", index=1, role="tool", kind="tool_result", **told)
    assert read_failure(step, result, b"bash\0", True) == failure


@pytest.mark.parametrize(
    ("result", "asked", "script", "failure"),
    [
        (b"Error: no file 'a/b.py'", b"read\x00a/b.py", False, b"Error: no file ~"),
        (b"Error: no file 'a/b.py'", b"read\x00other", False, b"Error: no file 'a/b.py'"),
        (b"Error: no name 'foo'", b"read\x00foo", True, b"Error: no name 'foo'"),
        (b"Error: no name 'foo'", b"read\x00foo", False, b"Error: no name ~"),
        (b"Error: no path /x/y", b"read\x00/x/y", True, b"Error: no path ~"),
        (b"Error: read refused 'a long quoted", b"read\x00a long quoted", False, b"Error: ~ refused ~"),
    ],
)
def test_what_a_message_repeats_of_the_call_is_masked(result, asked, script, failure):
    step = Step(run_id="r", index=1, role="tool", kind="tool_result", error=True)
    assert read_failure(step, result, asked, script) == failure


def test_a_long_line_of_punctuation_is_a_content():
    assert read_garble(Tool("t", {"content": "-" * 199}), None) == "punctuation"
    assert read_garble(Tool("t", {"content": "-" * 200}), None) == ""


def found(kind: str, step: int, **changes) -> Issue:
    fields = {"id": kind, "type": kind, "step": step, "description": "d", "severity": "medium", "confidence": 0.5}
    return Issue(**{**fields, **changes})


def test_two_alarms_that_go_together_are_surer_than_each_alone():
    alone, together, unsure = Alarms(), Alarms(), Alarms()
    assert alone.rise([found("repetitive_errors", 5)])[0].confidence == 0.5
    together.rise([found("exploration_wandering", 4)])
    assert together.rise([found("repetitive_errors", 24)])[0].confidence == 0.75
    assert together.rise([found("repetitive_errors", 45, started_step=44)])[0].confidence == 0.5
    unsure.rise([found("repetitive_errors", 4)])
    assert unsure.rise([found("exploration_wandering", 5, confidence=None)])[0].confidence == 1.0


def test_a_type_that_is_counted_anew_is_told_again_and_the_others_are_not():
    alarms = Alarms()
    both = [found("loop", 5, started_step=1), found("goal_drift", 5, started_step=1)]
    assert len(alarms.rise(both)) == 2 and alarms.rise(both) == []
    alarms.forget("loop")
    assert [issue.type for issue in alarms.rise(both)] == ["loop"]


def test_a_step_that_a_retried_stream_shows_again_counts_once():
    call, result = steps([Did("bash", "boom", {"command": "make"}, error=True)])
    detectors = Detectors()
    for step in (call, call, result, result):
        detectors.observe(Seen(step))
    assert len(detectors._agents[""].history.turns) == 1
    again = [Step(**{**_fields(step), "index": step.index + 10}) for step in (call, result)]
    late = Step(**{**_fields(result), "index": 30})
    detectors.observe(Seen(late))
    assert len(detectors._agents[""].history.turns) == 1
    for step in again:
        detectors.observe(Seen(step))
    assert len(detectors._agents[""].history.turns) == 2


def test_a_message_that_a_retried_stream_shows_again_is_not_said_again():
    text = "I am now going to think about the best way to solve this task before I do anything else."
    said = [Step(run_id="run", index=index, role="assistant", content=text) for index in range(3)]
    assert watch([said[0]] * 3) == []
    assert [issue.type for issue in watch(said)] == ["loop"]


def test_a_call_that_a_retried_stream_shows_again_counts_once_also_after_others():
    broken = [Did("bash", "", {"command": ": ls -la"}), Did("bash", "", {"command": ": pwd"})]
    calls = steps(broken)[::2]
    detectors = Detectors()
    for step in (*calls, *calls):
        detectors.observe(Seen(step))
    assert len(detectors._agents[""].detectors["broken_calls"].state.recent) == 2
    other = Step(**{**_fields(calls[0]), "tool": Tool("bash", {"command": "ls -la"}, calls[0].tool.call_id)})
    detectors.observe(Seen(other))
    assert [call.text for call in detectors._agents[""].history.past.pending] == [
        b'bash\x00{"command":": pwd"}', b'bash\x00{"command":"ls -la"}',
    ], "another call under the same id replaces it"  # fmt: skip


def _fields(step: Step) -> dict:
    return {name: getattr(step, name) for name in step.__struct_fields__}


TASK = "Follow the instructions in TASK.md."
READS = Did("read_file", "Do not modify the tests in tests/unit/, whatever happens.", {"path": "TASK.md"})
WRITES = Did("edit_file", "ok", {"path": "tests/unit/test_a.py"})


def test_what_the_file_says_that_a_task_points_to_is_part_of_the_task():
    detectors = Detectors(None, Context(original_prompt=TASK))
    watch(steps([READS]), detectors)
    assert detectors.context.instructions == READS.result
    assert [issue.type for issue in watch(steps([WRITES], start=10), detectors)] == ["scope_creep"]
    fresh = Detectors(None, Context(original_prompt=TASK))
    fresh.restore(detectors.save())
    assert fresh.context.instructions == READS.result
    for unread in (
        Did("read_file", "no such file", {"path": "TASK.md"}, error=True),
        Did("edit_file", "ok", {"path": "TASK.md"}),
        Did("read_file", READS.result, {"path": "OTHER.md"}),
    ):
        detectors = Detectors(None, Context(original_prompt=TASK))
        watch(steps([unread]), detectors)
        assert detectors.context.instructions == ""


def test_a_task_that_was_only_said_may_point_to_a_file_too():
    detectors = Detectors()
    asked = Step(run_id="run", index=0, role="user", content=TASK)
    watch([asked, *steps([READS], start=1)], detectors)
    assert detectors.context.instructions == READS.result


def test_going_back_keeps_the_calls_that_are_under_way():
    detectors = Detectors()
    call, result = steps([Did("bash", "done", {"command": "make"})], start=4)
    watch(steps([Did("bash", "one", {"command": "ls"})]), detectors)
    kept = detectors.save()
    other_call, other_result = steps([Did("bash", "x", {"command": "pwd"})], agent="helper", start=2)
    for step in (other_call, other_result, call):
        detectors.observe(Seen(step))
    detectors.go_back(kept)
    assert list(detectors._agents) == [""]
    detectors.observe(Seen(result))
    assert [turn.program for turn in detectors._agents[""].history.turns] == ["ls", "make"]


def test_after_going_back_a_result_that_another_agent_gives_still_belongs_to_the_caller():
    detectors = Detectors()
    watch(steps([Did("bash", "one", {"command": "ls"})]), detectors)
    kept = detectors.save()
    call, result = steps([Did("ask_surfer", "found", {"request": "the page"})], agent="boss", start=4)
    detectors.observe(Seen(call))
    detectors.go_back(kept)
    detectors.observe(Seen(Step(**{**_fields(result), "agent": "surfer"})))
    assert [turn.tool for turn in detectors._agents["boss"].history.turns] == ["ask_surfer"]


def test_which_names_a_program_calls():
    assert called_names("x = search_agent(q)\nprint(read_page (1), plain(2))") == ["search_agent", "read_page"]
    assert called_names("print(plain(1))") == []
    assert called_names("answer = search_agent(q)") == ["search_agent"]


def test_the_final_answer_is_a_tool_that_nobody_has_to_be_promised():
    said = Statements()
    said.record(
        Step(run_id="r", index=3, role="assistant", content="Use the search_agent, then the final_answer tool."), None
    )
    assert said.promised == {"search_agent": 3, "final_answer": 3}
    plan = said.unfounded(0)
    assert plan is not None and plan.names == ["search_agent"] and said.unfounded(1) is None


@pytest.mark.parametrize(
    ("path", "name"), [("src/a.py", "a.py"), ("a.py", "a.py"), ("src/", "src"), ("docs/INDEX", "INDEX")]
)
def test_the_name_of_a_file_is_the_last_part_of_its_path(path, name):
    assert file_name(path) == name


def test_which_sentences_are_long_enough_to_be_compared():
    sixty = "the order of the parts is what goes wrong in this very place"
    assert len(sixty) == 60 and sentences(sixty) == [sixty.encode()]
    assert sentences(sixty[:-1]) == [] and sentences(f"Short. {sixty[:-1]}. End of it all.") == []
    assert sentences(f"```\n{sixty}\n```\n{sixty} too") == [f"{sixty} too".encode()]
    assert sentences(f"x = {sixty}") == [] and sentences(f"see [1] {sixty}") == [] and sentences(f"1 {sixty}") == []
    assert sentences("a" * 60) == []


def test_what_a_run_has_done():
    done = RunActivity()
    for call in (
        Did("read_file", "text", {"path": "docs/a.md"}),
        Did("read_file", "no such file", {"path": "docs/b.md"}, error=True),
        Did("edit_file", "ok", {"path": "src/c.py/"}),
        Did("edit_file", "ok", {"path": "src/c.py"}),
    ):
        done.record(turn_of(call))
    assert (list(done.read), done.written) == (["a.md"], ["c.py"])
    for number in range(FILES + 2):
        done.record(turn_of(Did("read_file", "text", {"path": f"f{number}"})))
        done.record(turn_of(Did("edit_file", "ok", {"path": f"g{number}"})))
    assert (len(done.read), done.written[0], len(done.written)) == (FILES, "g2", FILES)


def turn_of(call: Did):
    detectors = Detectors()
    for step in steps([call]):
        detectors.observe(Seen(step))
    return detectors._agents[""].history.turns[-1]


def test_a_check_gets_better_by_fewer_failures_or_more_passes():
    turn = turn_of(Did("bash", "2 failed, 5 passed", {"command": "pytest"}, exit_code=1))
    assert (turn.failures, turn.passes) == (2, 5)
    better = [(3, None), (3, 9), (2, 4)]
    assert [pair for pair in (*better, (2, 5), (2, None), (1, 1), (None, 1)) if got_better(turn, *pair)] == better


@pytest.mark.parametrize(
    ("tool", "command", "waits"),
    [
        ("bash", "sleep 5", "sleeps"),
        ("bash", "echo waiting", ""),
        ("bash", "ls", ""),
        ("bash", "kubectl get pods", "asks"),
        ("bash", "aws ecs describe-services", "asks"),
        ("bash", "aws s3 cp a b", ""),
        ("bash", "az vm show -n web", "asks"),
        ("bash", "az vm delete -n web", ""),
        ("bash", "gcloud run deploy web", ""),
        ("bash", "make & wait", "sleeps"),
        ("bash", "helm upgrade --wait web", "sleeps"),
        ("bash", "tail -n 5 -f build.log", "sleeps"),
        ("bash", "tail -n 5 build.log", ""),
        ("bash", "watch ls", "sleeps"),
        ("bash", "squeue -u me", "asks"),
        ("bash", "kubectl rollout status deploy/web", "sleeps"),
        ("bash", "curl localhost/health", "asks"),
        ("bash", "wget -q localhost/ready", "asks"),
        ("bash", "nc -z host/ping", "asks"),
        ("bash", "curl localhost/data", ""),
        ("bash", "cat health", ""),
        ("bash", "python -c 'time.sleep(3)'", "sleeps"),
        ("wait-for", None, "sleeps"),
        ("get-job", None, "asks"),
        ("get-file", None, ""),
        ("start-job", None, ""),
        ("job-status", None, "asks"),
        ("list-pods", None, "asks"),
        ("mcp__ci__get_job", None, "asks"),
        ("getBuildStatus", None, "asks"),
        ("wait_for_deployment", None, "sleeps"),
        ("pollJob", None, "sleeps"),
        ("update_task_status", None, ""),
        ("git_status", None, ""),
        ("runbook_lookup", None, ""),
    ],
)
def test_which_calls_wait_or_ask_how_far_something_is(tool, command, waits):
    assert read_waits(read_call(tool, {"command": command} if command else {})) == waits


def test_the_minutes_of_the_configuration_are_seconds_here():
    assert Tuning.for_config(Detect(waiting_minutes=7)).waiting_seconds == 420
