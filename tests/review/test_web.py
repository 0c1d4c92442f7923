"""The request that a command line would send."""

from __future__ import annotations

import pytest

from interlock.review.shell import read_script
from interlock.review.web import WebRequest, request_of


@pytest.mark.parametrize(
    ("text", "method", "url"),
    [
        ("curl https://a.example", "GET", "https://a.example"),
        ("curl -X DELETE https://a.example", "DELETE", "https://a.example"),
        ("curl -XDELETE https://a.example", "DELETE", "https://a.example"),
        ("curl -sXDELETE https://a.example", "DELETE", "https://a.example"),
        ("curl --request=DELETE https://a.example", "DELETE", "https://a.example"),
        ("curl https://a.example -H 'A: b' --request delete", "DELETE", "https://a.example"),
        ("curl -d x=1 https://a.example", "POST", "https://a.example"),
        ("curl -u a:b -o out https://a.example", "GET", "https://a.example"),
        ("http DELETE :9200/x", "DELETE", ":9200/x"),
        ("http :9200/x", "GET", ":9200/x"),
        ("wget --method=DELETE https://a.example", "DELETE", "https://a.example"),
        ("gh api -X DELETE repos/a/b", "DELETE", "repos/a/b"),
        ("glab api projects/1 --method DELETE", "DELETE", "projects/1"),
    ],
)
def test_method_and_address_are_read(text: str, method: str, url: str) -> None:
    request = request_of(read_script(text).commands[-1])
    assert request is not None
    assert (request.method, request.url) == (method, url)


def test_the_body_is_read() -> None:
    request = request_of(read_script("""curl https://a.example -d '{"a": 1}'""").commands[-1])
    assert request == WebRequest("POST", "https://a.example", '{"a": 1}')


def test_another_subcommand_sends_nothing_that_is_known() -> None:
    assert request_of(read_script("gh pr list").commands[-1]) is None
