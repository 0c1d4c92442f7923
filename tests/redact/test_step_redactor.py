"""StepRedactor: steps come in redacted, bounded and fit to be written."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.core import Paths, RunSpec, Step, Tool, Usage
from interlock.journal import Journal, JournalEntry, Store
from interlock.redact import StepRedactor
from interlock.redact.arguments import DEPTH, TEXT, TOTAL
from interlock.redact.bounds import CONTENT, MOST_TOKENS, MOST_USD, cut, one_line
from tests.runtime.innocent_lines import INNOCENT
from tests.runtime.secret_samples import samples

SAMPLES = samples()
redactor = StepRedactor()


def step(content: str = "", **fields: object) -> Step:
    return Step(run_id="r", index=1, role="assistant", content=content, **fields)  # type: ignore[arg-type]


def call(**arguments: object) -> Step:
    return step(kind="tool_call", tool=Tool("bash", arguments, "call_1"))


@pytest.mark.parametrize(("name", "text", "secret"), SAMPLES, ids=[name for name, _, _ in SAMPLES])
def test_a_secret_does_not_pass_in_any_part_of_a_step(name: str, text: str, secret: str) -> None:
    line = text.replace("\n", " ")
    for given_step in (
        step(f"I ran it:\n{text}\n"),
        call(command=f"cd /tmp\n{text}\n"),
        call(edits=[{"path": "a.py", "new": text}], deep={"a": {"b": ["x", text]}}),
        step("ok", kind="tool_result", tool=Tool(name), error=False, agent=line, usage=Usage(1, 2)),
    ):
        admitted = msgspec.json.encode(redactor.redact(given_step)).decode()
        escaped = msgspec.json.encode(secret).decode()[1:-1]
        assert given_step.agent is not None or (secret not in admitted and escaped not in admitted)
        assert redactor.redact(redactor.redact(given_step)) == redactor.redact(given_step)


def test_no_secret_reaches_the_files_of_a_journal(tmp_path: Path) -> None:
    folder = Store(tmp_path).create(RunSpec(run_id="r"))
    with Journal.open(folder) as journal:
        for index, (_, text, _) in enumerate(SAMPLES):
            for raw in (step(text), call(command=text)):
                admitted = redactor.redact(msgspec.structs.replace(raw, index=index))
                journal.append([JournalEntry("step", admitted)], durable=True)
        written = b"".join(path.read_bytes() for path in folder.path.glob("journal.db*"))
    written += folder.journal.read_bytes()
    for name, _, secret in SAMPLES:
        assert secret.encode() not in written, name
        assert msgspec.json.encode(secret)[1:-1] not in written, name


@pytest.mark.parametrize("line", INNOCENT)
def test_an_ordinary_step_passes_as_the_very_same_object_or_an_equal_one(line: str) -> None:
    for given_step in (step(line), call(command=line, cwd="/tmp", timeout=5, flags=[True, None, 1.5])):
        assert redactor.redact(given_step) == given_step


def test_a_step_with_nothing_to_look_at_is_not_copied() -> None:
    given_step = step(
        "All 12 tests passed.",
        kind="tool_call",
        tool=Tool("edit", {"path": "src/a.py", "edits": [{"old": "é", "new": "日本"}], "n": 3}),
        paths=Paths(read=("/a/b.py",), written=("c d.txt",)),
        agent="main",
        model="opus",
    )
    assert redactor.redact(given_step) is given_step


@pytest.mark.parametrize(
    ("told", "counts"),
    [
        (Usage(-5_000_000, -1, -100.0, -2, -3), Usage()),
        (Usage(10, 20, float("nan")), Usage(10, 20)),
        (Usage(10, 20, float("inf")), Usage(10, 20)),
        (Usage(2**70, 0, 1e308), Usage(MOST_TOKENS, 0, MOST_USD)),
    ],
)
def test_a_usage_that_cannot_be_added_up_lowers_no_sum_and_breaks_none(told: Usage, counts: Usage) -> None:
    assert redactor.redact(step("said", usage=told)).usage == counts


def test_long_content_keeps_its_beginning_and_its_end() -> None:
    text = "start " + "x" * 200_000 + " end"
    content = redactor.redact(step(text)).content
    assert len(content) <= CONTENT
    assert content.startswith("start ") and content.endswith(" end")
    missing = len(text) - (len(content) - len(content[content.index("\n[...") : content.index("...]\n") + 5]))
    assert f"[... {missing:,} characters cut ...]" in content


def test_huge_content_is_cut_before_it_is_searched_and_counts_all_that_is_missing() -> None:
    text = "DB_PASSWORD=hunter2\n" + "y" * 5_000_000 + "\nAPI_SECRET=hunter3\n"
    content = redactor.redact(step(text)).content
    assert len(content) <= CONTENT and "hunter" not in content
    kept = len(content.split("\n[...")[0]) + len(content.split("...]\n")[1])
    missing = int(content.split("[... ")[1].split(" ")[0].replace(",", ""))
    assert abs(kept + missing - len(text)) < 40


def test_a_secret_across_the_cut_is_gone_before_the_cut() -> None:
    secret = "ghp_" + "a1B2" * 9
    for at in range(CONTENT * 3 // 4 - 100, CONTENT * 3 // 4 + 1, 3):
        content = redactor.redact(step("x" * at + " " + secret + " " + "y" * CONTENT)).content
        assert "a1B2" not in content and len(content) <= CONTENT


def test_arguments_are_bounded_text_by_text_in_depth_and_in_all() -> None:
    deep: dict[str, object] = {"leaf": 1}
    for _ in range(100):
        deep = {"a": deep}
    arguments = redactor.redact(call(text="x" * 50_000, deep=deep, many=["y" * 10_000] * 50, after="z")).tool
    assert arguments is not None
    raw = msgspec.json.encode(arguments.arguments)
    assert len(str(arguments.arguments["text"])) <= TEXT
    assert len(raw) < TOTAL + 10_000
    assert raw.count(b'{"a"') <= DEPTH
    assert b"more" in raw and arguments.arguments["[cut]"] == "1 more"


def test_a_dictionary_that_holds_itself_comes_to_an_end() -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop
    admitted = redactor.redact(call(loop=loop))
    assert b"[cut]" in msgspec.json.encode(admitted)


def test_values_that_are_no_json_become_text() -> None:
    class Strange:
        pass

    arguments = {
        "bytes": b"password=hunter2\n",
        "time": datetime.datetime(2026, 1, 2),
        "strange": Strange(),
        "set": {1},
        "path": Path("/a"),
        "numbers": {1: "one"},
    }
    admitted = redactor.redact(call(**arguments))
    assert admitted.tool is not None
    assert admitted.tool.arguments == {
        "bytes": "password=[redacted:password]\n",
        "time": "2026-01-02T00:00:00",
        "strange": "<Strange>",
        "set": [1],
        "path": "<PosixPath>",
        "numbers": {"1": "one"},
    }


def test_lone_surrogates_are_replaced_everywhere() -> None:
    bad = os.fsdecode(b"caf\xe9") + "\ud83d\ude00"
    admitted = redactor.redact(
        step(bad, tool=Tool(bad, {bad: [bad]}, bad), agent=bad, model=bad, paths=Paths(read=(bad,)))
    )
    raw = msgspec.json.encode(admitted)
    assert admitted.content == "caf\ufffd😀"
    assert b"\\ud8" not in raw and msgspec.json.decode(raw, type=Step) == admitted


def test_names_stay_on_one_line_and_steer_no_terminal() -> None:
    nasty = "a\x1b[31mb\nc\x07\u202ed\u2028e\x9b"
    admitted = redactor.redact(
        step(nasty, tool=Tool(nasty, {}, nasty), agent=nasty, model=nasty, paths=Paths((nasty,)))
    )
    assert admitted.tool is not None and admitted.paths is not None
    for name in (admitted.tool.name, admitted.tool.call_id, admitted.agent, admitted.model, admitted.paths.read[0]):
        assert name == "a[31mb cde"
    assert admitted.content == nasty


def test_paths_stay_readable() -> None:
    paths = Paths(
        read=("/home/me/secrets/token.txt", "src/password_reset.py"), written=("~/.env",), deleted=("a" * 600,)
    )
    assert redactor.redact(step("x" * 70_000, paths=paths)).paths == paths


def test_a_line_is_cut_to_its_limit() -> None:
    assert one_line("x" * 600, 10) == "x" * 9 + "…"
    assert redactor.redact_line("run with sk-ant-" + "a1" * 20 + "\n") == "run with [redacted:anthropic_key] "
    assert cut("abcdef", 3) == "abc"


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.binary(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=3),
    max_leaves=10,
)
contents = st.lists(
    st.sampled_from([text for _, text, _ in SAMPLES]) | st.text(st.characters(exclude_categories=()), max_size=40),
    max_size=5,
).map("\n".join)


@settings(max_examples=150, deadline=None)
@given(contents, st.dictionaries(st.text(max_size=8), values, max_size=4), st.none() | st.text(max_size=30))
def test_whatever_comes_is_admitted_once_and_for_all(
    content: str, arguments: dict[str, object], agent: str | None
) -> None:
    admitted = redactor.redact(step(content, tool=Tool("t", arguments), agent=agent))
    assert redactor.redact(admitted) == admitted
    assert msgspec.json.decode(msgspec.json.encode(admitted), type=Step) == admitted
    assert len(admitted.content) <= CONTENT


@settings(max_examples=20, deadline=None)
@given(contents.filter(bool), st.integers(10_000, 100_000))
def test_long_steps_are_admitted_once_and_for_all(content: str, length: int) -> None:
    filler = "all is well here, and the tests are green\n" * 20
    text = ((content + filler) * (length // len(filler) + 1))[:length]
    for admitted in (redactor.redact(call(text=text, list=[text] * 9)), redactor.redact(step(text))):
        assert redactor.redact(admitted) == admitted
        assert len(admitted.content) <= CONTENT


def test_numbers_that_json_does_not_know_become_text() -> None:
    admitted = redactor.redact(call(a=float("inf"), b=float("nan"), c=2**70, d=1.5, e=-3, f=1 << 100_000)).tool
    assert admitted is not None
    assert len(str(admitted.arguments.pop("f"))) < 1000
    assert admitted.arguments == {"a": "inf", "b": "nan", "c": hex(2**70), "d": 1.5, "e": -3}
