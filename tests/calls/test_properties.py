"""Whatever the text, a call is read without an error and within bounds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.calls import read_call, read_script
from interlock.calls.syntax import parse

PIECES = st.sampled_from(
    [
        "rm",
        "-rf",
        "/",
        "$(",
        ")",
        "`",
        '"',
        "'",
        "\\",
        "|",
        "||",
        "&&",
        ";",
        "&",
        "{",
        "}",
        "((",
        "))",
        "[[",
        "]]",
        "<<E",
        "E",
        ">",
        ">>",
        "<",
        "<(",
        ">(",
        "$a",
        "${a}",
        "${a:-b}",
        "${a[0]}",
        "${!a}",
        "if",
        "then",
        "else",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "while",
        "case",
        "esac",
        "function",
        "f()",
        "a=b",
        "a=$a$a",
        "eval",
        "bash",
        "-c",
        "python",
        "sudo",
        "xargs",
        "find",
        "-exec",
        "{}",
        "+",
        "git",
        "push",
        "cd",
        "..",
        "~",
        "*",
        "?",
        "#",
        "$'\\x41'",
        "{a,b}",
        "<<<",
        "2>&1",
        "!",
    ]
) | st.sampled_from(["\n", " ", "\0", "é", "\ud800", "\r\n"])


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=60).map(" ".join) | st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    reading = read_script(text, "/w", "/w")
    assert all(0 <= program.start <= program.end <= len(text) for program in reading.programs)
    assert parse(text).body is not None


@settings(max_examples=100, deadline=None)
@given(
    st.text(max_size=30),
    st.dictionaries(
        st.sampled_from(["command", "code", "path", "content", "edits", "args", "url", "input", "cwd"]),
        st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=50), st.lists, max_leaves=4),
    ),
)
def test_any_arguments_are_read(name: str, arguments: dict[str, object]) -> None:
    assert len(read_call(name, arguments).key) == 16
