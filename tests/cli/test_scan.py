"""Scan answers every trace on one line, and names what it cannot read."""

import gzip
import json

import pytest

from tests.cli.calling import interlock, lines_of


def trace(name, repeats, secret=""):
    steps = []
    for _ in range(repeats):
        call = {"name": "bash", "arguments": {"command": f"pytest -q {secret}"}}
        steps += [
            {"role": "assistant", "content": "again", "tool": call},
            {"role": "tool", "content": "E assert 1 == 2\n1 failed", "error": True},
        ]
    return {"trace_id": name, "task": "fix it", "steps": steps}


def write(path, *traces):
    path.write_text("".join(json.dumps(one) + "\n" for one in traces))
    return str(path)


def test_a_healthy_trace_exits_0_and_a_looping_one_1(tmp_path):
    assert interlock("scan", "--json", write(tmp_path / "a", trace("a", 1)), home=tmp_path).returncode == 0
    done = interlock("scan", "--json", write(tmp_path / "b", trace("a", 1), trace("b", 6)), home=tmp_path)
    assert done.returncode == 1
    first, second = lines_of(done.stdout)
    assert (first["trace_id"], first["steps"], first["issues"]) == ("a", 2, [])
    issue = second["issues"][0]
    assert set(issue) == {"id", "type", "step", "severity", "confidence", "description", "details", "evidence"}
    assert issue["type"] in ("loop", "repetitive_errors")
    assert second["interventions"][0] == {"step": issue["step"], "type": "soft_correction", "issue": issue["type"]}


def test_standard_input_is_read_once(tmp_path):
    done = interlock("scan", "--json", "-", "-", home=tmp_path, stdin=json.dumps(trace("t", 1)))
    assert (done.returncode, len(done.stdout.splitlines())) == (2, 1)
    assert done.stderr == "interlock: -: standard input was already read. Name - once\n"


def test_standard_input_is_read_too(tmp_path):
    done = interlock("scan", "--json", "-", home=tmp_path, stdin=json.dumps(trace("t", 6)))
    assert lines_of(done.stdout)[0]["trace_id"] == "t"


def test_people_get_a_table_and_a_last_line(tmp_path):
    done = interlock("scan", write(tmp_path / "b", trace("b", 6)), home=tmp_path)
    assert "1 trace, 12 steps: 1 of them went wrong" in done.stdout
    assert "repetitive errors (medium)" in done.stdout and "→ hint" in done.stdout


def test_a_note_is_shown_only_when_asked_for_and_nothing_went_wrong(tmp_path):
    edit = {"role": "assistant", "tool": {"name": "edit_file", "arguments": {"path": "docs/a.md", "content": "x"}}}
    lines = [{"index": 0, **edit}, {"index": 1, "role": "tool", "content": "Permission denied", "error": True}]
    name = write(tmp_path / "b", {"trace_id": "beside", "task": "Only modify files in src/.", "steps": lines})
    plain = interlock("scan", name, home=tmp_path)
    assert plain.returncode == 0 and plain.stdout == "1 trace, 2 steps: nothing found\n"
    done = interlock("scan", "--notes", name, home=tmp_path)
    assert done.returncode == 0 and "note: scope creep" in done.stdout and "nothing found" in done.stdout
    assert "notes" not in lines_of(interlock("scan", "--json", name, home=tmp_path).stdout)[0]
    found = lines_of(interlock("scan", "--json", "--notes", name, home=tmp_path).stdout)[0]
    assert found["issues"] == [] and [note["type"] for note in found["notes"]] == ["scope_creep"]


def test_a_trace_that_breaks_off_is_shown_but_is_no_finding(tmp_path):
    call = {"role": "assistant", "tool": {"name": "bash", "arguments": {"command": "make"}}}
    steps = [{"role": "assistant", "content": "I will build it."}, call, {"role": "tool", "content": "ok"}]
    lines = [{"index": at, **step} for at, step in enumerate(steps)]
    name = write(tmp_path / "b", {"trace_id": "cut", "steps": lines})
    done = interlock("scan", name, home=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "cut" in done.stdout and "nothing found; 1 ended without a final message" in done.stdout


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty", b""),
        ("binary", bytes(range(256)) * 4),
        ("latin1", b'{"role": "user", "content": "\xe9"}\n'),
        ("cut.gz", gzip.compress(json.dumps(trace("t", 400)).encode())[:-40]),
        ("words", b"not json\n"),
        ("norole", b'{"content": "x"}\n'),
        ("long", b'{"role": "user", "content": "' + b"x" * (32 * 1024 * 1024 + 10) + b'"}\n'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_one_clear_line_and_the_other_files_are_still_done(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    good = write(tmp_path / "good", trace("good", 1))
    done = interlock("scan", "--json", str(tmp_path / name), good, home=tmp_path)
    assert done.returncode == 2
    assert [line["trace_id"] for line in lines_of(done.stdout)] == ["good"]
    (line,) = done.stderr.splitlines()
    assert f"{tmp_path / name}:1" in line
    assert line.count(". ") >= 1, "it says what to do"


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_missing_file_and_a_directory_are_one_clear_line(tmp_path, name):
    good = write(tmp_path / "good", trace("good", 1))
    done = interlock("scan", "--json", str(tmp_path / name), good, home=tmp_path)
    assert done.returncode == 2
    assert len(lines_of(done.stdout)) == 1
    assert len(done.stderr.splitlines()) == 1


def test_where_no_trace_could_be_read_nothing_is_said_of_findings(tmp_path):
    done = interlock("scan", str(tmp_path / "missing"), home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")


def test_a_secret_in_a_trace_is_never_printed(tmp_path):
    secret = "sk-ant-api03-" + "A1b2C3d4" * 8
    done = interlock("scan", "--json", write(tmp_path / "s", trace("s", 6, secret)), home=tmp_path)
    assert lines_of(done.stdout)[0]["issues"]
    assert secret not in done.stdout + done.stderr


def test_a_wrong_sensitivity_is_refused(tmp_path):
    done = interlock("scan", "--sensitivity", "huge", write(tmp_path / "a", trace("a", 1)), home=tmp_path)
    assert done.returncode == 2
    assert "low, medium, high" in done.stderr


def test_a_muted_finding_stays_quiet_in_its_project_alone(tmp_path):
    name = write(tmp_path / "b", trace("b", 6))
    (found,) = lines_of(interlock("scan", "--json", name, home=tmp_path).stdout)
    keys = {issue["details"]["key"] for issue in found["issues"]}
    for key in keys:
        assert interlock("mute", key, home=tmp_path).returncode == 0
    (quiet,) = lines_of(interlock("scan", "--json", name, home=tmp_path).stdout)
    assert not keys & {issue["details"]["key"] for issue in quiet["issues"]}
    other = tmp_path / "elsewhere"
    other.mkdir()
    (loud,) = lines_of(interlock("scan", "--json", name, home=tmp_path, cwd=other).stdout)
    assert loud["issues"]
    interlock("mute", keys.pop(), "--remove", home=tmp_path)
    assert lines_of(interlock("scan", "--json", name, home=tmp_path).stdout)[0]["issues"]


def test_several_processes_print_what_one_prints(tmp_path):
    names = [write(tmp_path / f"{n}.jsonl", *(trace(f"{n}-{i}", i % 7) for i in range(1, 8))) for n in "ab"]
    one, three = (interlock("scan", "--json", "--jobs", jobs, *names, home=tmp_path) for jobs in ("1", "3"))
    assert (three.returncode, three.stdout) == (one.returncode, one.stdout)
    assert len(lines_of(three.stdout)) == 14
