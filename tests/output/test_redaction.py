"""No secret is kept, however its bytes are divided over writes; everything else stays as it is."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.output.plain_text import RedactedLines
from interlock.output.reading import readable
from interlock.output.terminal_text import TerminalText

KEY = "sk-ant-api03-" + "Ab3dEf6hIj" * 9
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq9\n" * 3 + "-----END RSA PRIVATE KEY-----\n"
SECRETS = [
    (f"the key is {KEY} and more\n", KEY),
    ("export DB_PASSWORD=hunter2isverylong9\n", "hunter2isverylong9"),
    (f"before\n{PEM}after\n", "MIIEpAIBAAKCAQEA7bq9"),
    ("Authorization: Bearer abcdefghijklmnop1234567890ABCDEF\n", "abcdefghijklmnop1234567890ABCDEF"),
]


def fed(data: bytes, cuts: list[int]) -> bytes:
    lines, out = RedactedLines(), b""
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        out += lines.feed(data[start:end])
    return out + lines.finish()


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_that_is_split_over_two_writes_is_redacted_at_every_place(text: str, secret: str) -> None:
    data = text.encode()
    for cut in range(1, len(data)):
        kept = fed(data, [cut])
        assert secret.encode() not in kept
        assert kept == fed(data, [])


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_half_a_secret_is_not_shown_while_the_line_is_unfinished(text: str, secret: str) -> None:
    for cut in range(1, len(text)):
        lines = RedactedLines()
        lines.feed(text[:cut].encode())
        assert secret[: len(secret) // 2 + 8] not in lines.unfinished()


@given(st.binary(max_size=3000), st.lists(st.integers(0, 3000), max_size=8))
@settings(max_examples=60, deadline=None)
def test_bytes_without_secrets_stay_exact(data: bytes, cuts: list[int]) -> None:
    from interlock.redact.text import redactor

    if not redactor().suspects(data):
        assert fed(data, sorted(min(cut, len(data)) for cut in cuts)) == data


def test_a_line_without_end_is_kept_within_bounds() -> None:
    lines = RedactedLines()
    data = random.Random(1).randbytes(3_000_000).replace(b"\n", b" ")
    out = b"".join(lines.feed(data[at : at + 65536]) for at in range(0, len(data), 65536))
    assert len(out) > 2_000_000
    assert len(out + lines.finish()) >= len(data) - 10_000


def test_a_prompt_is_shown_before_its_line_ends() -> None:
    lines = RedactedLines()
    assert lines.feed(b"Do you want to proceed? [y/N] ") == b""
    assert lines.unfinished() == "Do you want to proceed? [y/N] "


def text_of(pieces: list[tuple[str, bytes]]) -> str:
    return b"".join(data for _, data in pieces).decode()


def test_colours_and_progress_bars_become_lines() -> None:
    terminal = TerminalText(80, 24)
    got = terminal.feed(b"\x1b[31mred\x1b[0m\r\n10%\r 50%\r100% done\x1b[K\r\n\x1b]0;title\x07plain\r\n")
    assert text_of(got) == "red\n100% done\nplain\n"
    assert terminal.screen() == ()


def test_a_full_screen_client_is_kept_as_it_was_drawn() -> None:
    terminal = TerminalText(40, 5)
    out = terminal.feed(b"\x1b[2J\x1b[H")
    for n in range(12):
        # Draws a status line below, and draws over it with the next line: the way that chat clients print.
        out += terminal.feed(f"\x1b[2Kmessage {n}\r\n\x1b[2Kworking...\x1b[1G".encode())
    assert text_of(out).splitlines() == [f"message {n}" for n in range(8)]
    assert terminal.screen() == ("message 8", "message 9", "message 10", "message 11", "working...")


def test_an_escape_that_is_split_over_two_writes_is_understood() -> None:
    whole = b"one\r\n\x1b[2J\x1b[3;4Hword\x1b[0m\x1b]0;t\x07"
    for cut in range(1, len(whole)):
        terminal = TerminalText(40, 6)
        got = terminal.feed(whole[:cut]) + terminal.feed(whole[cut:])
        assert text_of(got) == "one\n"
        assert terminal.screen() == ("", "", "   word")


def test_a_secret_that_wraps_at_the_edge_of_the_screen_is_redacted() -> None:
    terminal = TerminalText(40, 4)
    out = terminal.feed(b"\x1b[H" + KEY.encode() + b"\r\n")
    screen = "".join(terminal.screen())
    out += terminal.feed(b"\r\n" * 10) + terminal.finish()
    assert KEY[:40] not in screen + text_of(out)
    assert "redacted" in screen


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_nothing_that_steers_a_terminal_reaches_the_reader(text: str) -> None:
    shown = readable(text)
    assert not any(ord(char) < 32 and char not in "\n\t" for char in shown)
    assert not any(0x7F <= ord(char) <= 0x9F for char in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def test_plain_text_stays_exact_for_the_reader() -> None:
    text = "naïve ✓ 日本語 👩‍🚀\tindented\n\nend"
    assert readable(text) == text
