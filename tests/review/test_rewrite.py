"""A command in its safe form."""

from __future__ import annotations

import pytest

from interlock.review import review_command


@pytest.mark.parametrize(
    ("command", "safe"),
    [
        ("chmod 777 x", "chmod 755 x"),
        ("chmod -R 0777 x y", "chmod -R 0755 x y"),
        ("ls && chmod 777 'a b' # 777", "ls && chmod 755 'a b' # 777"),
        ("echo é; chmod 777 é", "echo é; chmod 755 é"),
        ("chmod 777 a; chmod 777 b", "chmod 755 a; chmod 755 b"),
        ("scp -o StrictHostKeyChecking=no a web:", "scp -o StrictHostKeyChecking=accept-new a web:"),
    ],
)
def test_the_dangerous_word_is_replaced_and_nothing_else(command: str, safe: str) -> None:
    review = review_command(command)
    assert review.verdict == "modify"
    assert review.rewrite == {"command": safe}


@pytest.mark.parametrize("command", ["bash -c 'chmod 777 x'", "find . -exec chmod 777 {} +", "M=777; chmod $M x"])
def test_what_does_not_stand_in_the_text_itself_is_not_rewritten(command: str) -> None:
    review = review_command(command)
    assert (review.verdict, review.rewrite) == ("modify", None)


def test_a_blocked_command_is_not_rewritten() -> None:
    review = review_command("chmod 777 x; rm -rf /")
    assert (review.verdict, review.rewrite) == ("block", None)
