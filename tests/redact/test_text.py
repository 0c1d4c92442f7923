"""Secrets go, everything else stays."""

from __future__ import annotations

from itertools import product

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.core import RunSpec, Step, Tool
from interlock.redact import StepRedactor, redact_argv
from interlock.redact.assignments import NAMED_SECRETS
from interlock.redact.secret_shapes import FAMILIES
from interlock.redact.text import Redactor, redact_text, redact_tree, redactor
from interlock.runtime.assembly import redact_spec
from tests.runtime.innocent_lines import INNOCENT
from tests.runtime.secret_samples import samples

SAMPLES = samples()


def test_there_are_enough_samples() -> None:
    assert len(SAMPLES) >= 50 and len(INNOCENT) >= 40


@pytest.mark.parametrize(("name", "text", "secret"), SAMPLES, ids=[name for name, _, _ in SAMPLES])
def test_a_secret_is_replaced_wherever_it_stands(name: str, text: str, secret: str) -> None:
    for carrier in (text, f"first line\n{text}\nlast line", f"x = 1\n\n{text}", "é" * 300 + "\n" + text):
        clean = redact_text(carrier)
        assert secret not in clean
        assert "[redacted:" in clean
        assert redact_text(clean) == clean


@pytest.mark.parametrize("line", INNOCENT)
def test_ordinary_lines_stay(line: str) -> None:
    for carrier in (line, f"before\n{line}\nafter", f"    {line}\n"):
        assert redact_text(carrier) == carrier


def test_what_stands_around_a_secret_stays_readable() -> None:
    assert redact_text("postgres://app:" + "hunter2@db:5432/x") == "postgres://app:[redacted:url_password]@db:5432/x"
    assert redact_text("DB_PASSWORD=hunter2 make test") == "DB_PASSWORD=[redacted:password] make test"
    assert redact_text('{"password": "hunter2", "user": "me"}') == '{"password": "[redacted:password]", "user": "me"}'
    assert redact_text("curl -u me:hunter2 https://x") == "curl -u me:[redacted:password] https://x"


def test_several_secrets_in_one_text_all_go() -> None:
    text = "\n".join(text for _, text, _ in SAMPLES)
    clean = redact_text(text)
    assert [name for name, _, secret in SAMPLES if secret in clean] == []


def test_values_under_secret_names_go_whatever_they_look_like() -> None:
    tree = {
        "password": "hunter2",
        "nested": [{"apiKey": "abcd1234efgh", "Authorization": "Bearer opaque-thing", "pin": 4}],
        "pwd": 123456,
        "headers": {"Cookie": "sid=abcdefgh", "X-Auth-Token": "0123456789abcdef"},
        "args": ["--token", "a1b2c3d4e5", "--verbose", "plain"],
        "env": [{"value": "hunter2", "name": "DB_PASSWORD"}, {"name": "DEBUG", "value": "1"}],
        "form": {"selector": "input[name='password']", "text": "hunter2"},
        "login": {"user": "me", "pass": "hunter2"},
        "secret": ["one-of-them", "two2"],
        "max_tokens": 5,
        "token": None,
    }
    clean = redact_tree(tree)
    assert clean == {
        "password": "[redacted:password]",
        "nested": [{"apiKey": "[redacted:key]", "Authorization": "[redacted:authorization]", "pin": 4}],
        "pwd": "[redacted:password]",
        "headers": {"Cookie": "[redacted:cookie]", "X-Auth-Token": "[redacted:token]"},
        "args": ["--token", "[redacted:token]", "--verbose", "plain"],
        "env": [{"value": "[redacted:password]", "name": "DB_PASSWORD"}, {"name": "DEBUG", "value": "1"}],
        "form": {"selector": "input[name='password']", "text": "[redacted:password]"},
        "login": {"user": "me", "pass": "[redacted:password]"},
        "secret": ["[redacted:secret]", "[redacted:secret]"],
        "max_tokens": 5,
        "token": None,
    }
    assert redact_tree(clean) == clean


VALUE = "Zq8vT1nR5k" + "W2xP9b"
WORD = "winter" + "coming"

HOLDERS: list[object] = [
    {"argv": ["mysql", "-p" + VALUE]},
    {"argv": ["mysql", "-u", "root", "-p" + VALUE, "app"]},
    {"argv": ["mysql", "-u", "root", "-p$ '!;" + VALUE]},
    {"argv": ["curl", "-u", "bob:" + VALUE]},
    {"argv": ["sudo", "-n", "sshpass", "-p", VALUE, "ssh", "a b"]},
    {"argv": ["curl", "-H", "X-Api-Key: " + VALUE]},
    {"argv": ["aws", "configure", "set", "aws_secret_access_key", VALUE]},
    {"argv": ["terraform", "apply", "-var", "db_password=" + WORD]},
    {"argv": ["psql", "host=x password=" + WORD]},
    {"command": "mysql", "args": ["-u", "root", "-p" + VALUE]},
    {"args": ["--token", VALUE, 5]},
    {"password": {"value": VALUE}},
    {"password": {"type": "string", "default": VALUE}},
    {"secrets": {"db": VALUE}},
    {"secrets": {"prod": {"db": VALUE}}},
    {"api_keys": [VALUE]},
    {"passwords": {"db": WORD}},
    {"env": {"SECRET_KEY_BASE": VALUE}},
    {"env": [{"Name": "DB_PASSWORD", "Value": VALUE}]},
    {"ParameterKey": "DbPassword", "ParameterValue": VALUE},
    {"key": "password", "value": VALUE},
    {"headers": [["X-Api-Key", VALUE], ["Accept", "*/*"]]},
    {"headers": [["Cookie", "sid=" + VALUE]]},
    {"headers": [["Authorization", VALUE]]},
]

PLAIN: list[object] = [
    {"password": {"type": "string", "description": "Account login credential", "minLength": 8}},
    {"password": {"$ref": "#/definitions/Password1"}},
    {"secrets": {"source": "vault", "path": "kv/data/app1", "version": "v12.3.4.5"}},
    {"secrets": [{"name": "default-token-abc12"}]},
    {"credentials": {"type": "oauth2", "id": "a1b2c3d4e5"}},
    {"tokens": ["abc12345678", "def"]},
    {"tokens": {"input": 1, "output": 2}},
    {"token": {"text": "hello", "start": 1}},
    {"api_keys": ["id", "name"], "passwords": 5},
    {"Name": "PATH", "Value": "/usr/bin1"},
    {"Key": "Environment", "Value": "production1"},
    {"argv": ["ls", "-la", "/tmp/x1"]},
    {"argv": ["docker", "run", "-p", "8080:80", "-u", "root:root", "nginx"]},
    {"argv": ["grep", "-rn", "password", "src"]},
    {"argv": ["curl", "-u", "$USER:$PASS", "https://x"]},
    {"argv": ["bash", "-c", "echo 'it''s | fine' && x"]},
    {"argv": ["git", "commit", "-m", "Fix the --password option"]},
    {"command": "python", "args": ["-p", "8080"]},
    {"fields": ["username", "password", "First Name"]},
    {"fields": ["password", "username"]},
    {"headers": ["Authorization", "Content-Type"]},
    {"headers": [["Content-Type", "application/json1"], ["X-Request-Id", "3f786850e387550f"]]},
    {"new": ["def login(password: str):", "    return password"]},
]


@pytest.mark.parametrize("tree", HOLDERS, ids=str)
def test_a_secret_in_a_tree_goes_and_the_first_look_sees_it(tree: dict[str, object]) -> None:
    admitted = StepRedactor().redact(
        Step(run_id="r", index=1, role="assistant", kind="tool_call", tool=Tool("x", tree))
    )
    assert admitted.tool is not None
    for clean in (redact_tree(tree), admitted.tool.arguments):
        raw = msgspec.json.encode(clean).decode()
        assert VALUE not in raw and WORD not in raw and "[redacted:" in raw
        assert redact_tree(clean) == clean


@pytest.mark.parametrize("tree", PLAIN, ids=str)
def test_an_ordinary_tree_stays(tree: object) -> None:
    # Beside a secret, so that everything is looked at closely.
    assert redact_tree({"a": tree, "password": "hunter2"}) == {"a": tree, "password": "[redacted:password]"}


def test_only_the_secret_goes_from_a_command_in_words() -> None:
    words = ["mysql", "-u", "it's", "-p" + VALUE, "-e", 'select "a;b" | c\\d', "", "x  y\n"]
    assert redact_argv(words) == [*words[:3], "-p[redacted:password]", *words[4:]]
    assert redact_argv(redact_argv(words)) == redact_argv(words)
    assert redact_spec(RunSpec(run_id="r", argv=tuple(words))).argv == tuple(redact_argv(words))


def test_a_secret_within_a_secrets_block_does_not_bring_back_the_rest() -> None:
    text = f"password: |\n  {VALUE}\n  token={VALUE}\n  {VALUE}\nuser: me\n"
    assert redact_text(text) == "password: |\n  [redacted:password]\nuser: me\n"


def test_many_names_of_something_about_secrets_are_read_to_the_end() -> None:
    text = '{"token_id": 5}\n' * 3000
    assert redact_text(text) == text


def test_a_secret_that_is_a_key_goes_too() -> None:
    key = "ghp_" + "a1B2" * 9
    assert redact_tree({key: 1, "x": {key: [key]}}) == {
        "[redacted:github_token]": 1,
        "x": {"[redacted:github_token]": ["[redacted:github_token]"]},
    }


def test_every_shape_is_hinted_at_wherever_it_matches() -> None:
    """The cheap look must never hide what the careful one would find."""
    import re2

    for shape in (shape for family in FAMILIES for shape in family):
        pattern, hint = re2.compile(shape.pattern), re2.compile(shape.hint)
        for _, text, _ in SAMPLES:
            if match := pattern.search(text):
                assert hint.search(match.group()) or hint.search(text), shape
    for _, text, _ in SAMPLES:
        assert redactor().suspects(text.encode())


def test_the_first_look_sees_every_name_that_a_rule_takes_for_a_secrets() -> None:
    before = ("", "my", "db_", "--", "-x-", "DB", '{"name": "', "config set ", "\nENV ")
    names = ("pass", "Pass", "_pass", "-pass", "PASS", "password", "pwd", "token", "api_key", "APP_KEY", "-auth", "_pw")
    after = ("", "7", "_PROD", "2_a-b", '"', "']", "**")
    signs = (" ", "=", ": ", " := ", " != ", '", ', ", ", '", "value": ', '","value":', "\n")
    taken = 0
    for parts in product(before, names, after, signs):
        text = f"set {''.join(parts)}hunter2trustno1"
        if any(named._pattern.search(text) for named in NAMED_SECRETS):
            taken += 1
            assert redactor().suspects(text.encode()), text
    assert taken > 1000


def test_a_hint_is_found_at_the_end_of_a_text_that_is_hard_to_search() -> None:
    bits = [text[:20] for _, text, _ in SAMPLES] + [
        "password",
        "token ",
        "://a:b",
        "-----BEGIN ",
        "sk-",
        "eyJ",
        "mysql ",
    ]
    noise = "".join(bits[n * 7919 % len(bits)] for n in range(30_000))
    assert "trustno1" not in redact_text(noise + "\n\nDB_PASSWORD=trustno1\n")
    quiet = "abc password token mysql login zip curl a.b.c sk- AKIA @ " * 20_000
    assert not redactor().suspects(quiet.encode())
    assert redactor().suspects((quiet + "DB_PASSWORD=trustno1").encode())


def test_if_the_quick_search_fails_every_rule_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def Match(self, text: bytes) -> None:
            return None

    monkeypatch.setattr("interlock.redact.text._search_set", lambda patterns: Failing())
    careful = Redactor()
    for _, text, secret in SAMPLES:
        assert secret not in careful.redact(text)


def test_a_text_made_to_keep_us_busy_loses_its_end() -> None:
    text = "password=" * 20_000 + "\nDB_PASSWORD=trustno1\n"
    clean = redact_text(text)
    assert clean.endswith("[redacted:rest]") and "trustno1" not in clean
    assert redact_text(clean) == clean


fragments = st.sampled_from(
    [text for _, text, _ in SAMPLES]
    + INNOCENT
    + [
        "password",
        "=",
        ": ",
        '"',
        "'",
        "[redacted:",
        "[redacted:token]",
        "token=",
        "\n",
        " ",
        "\\",
        "$",
        "--secret ",
        "\x00",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(fragments | st.text(st.characters(exclude_categories=()), max_size=12), max_size=8).map("".join))
def test_redaction_is_idempotent_never_raises_and_hardly_grows(text: str) -> None:
    clean = redact_text(text)
    assert redact_text(clean) == clean
    assert len(clean) <= 8 * len(text) + 32


trees = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.sampled_from([text for _, text, _ in SAMPLES])
    | st.sampled_from(["mysql", "curl", "-u", "bob:x1", "-phunter2", "password", "--token", "X-Api-Key", VALUE, "a b'"])
    | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["password", "token", "name", "value", "text", "x", "api_key", "secrets", "command", "args"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(trees)
def test_redaction_of_values_is_idempotent_and_keeps_their_form(tree: object) -> None:
    clean = redact_tree(tree)
    assert redact_tree(clean) == clean
    raw = msgspec.json.encode(clean).decode()
    assert type(clean) is type(tree) or "[redacted:" in raw


@settings(max_examples=200, deadline=None)
@given(trees)
def test_the_first_look_at_a_tree_sees_whatever_a_careful_one_would_change(tree: object) -> None:
    step = Step(run_id="r", index=1, role="assistant", kind="tool_call", tool=Tool("x", {"a": tree}))
    if StepRedactor()._is_clean(step):
        assert redact_tree({"a": tree}) == {"a": tree}
