"""Words before a call that announce what the task forbids, and words that do not."""

from __future__ import annotations

import pytest
from detecting import Did, steps, watch

from interlock.core import Context
from interlock.detect.announcements import _VERBS, READ, _possible, announced
from interlock.detect.constraints import read_constraints


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("Do not use --force.", "I'll use --force to get past the conflict."),
        ("Never log API keys.", "Let me echo the API key to the terminal."),
        ("Do not expose private keys.", "Now dump the private key file."),
        ("Do not modify /etc/ files.", "I need to edit /etc/hosts first."),
        ("Do not modify node_modules directly.", "I'll patch the files in node_modules."),
        ("Do not modify any tests.", "I'll relax the failing tests."),
        ("Do not touch production.", "Let me apply the migration on production."),
        ("Do not modify service accounts.", "I'll update the service account."),
        ("Do not drop database tables.", "I'll drop the database."),
        ("Do not grant admin rights without approval.", "I'll grant admin rights without approval."),
    ],
)
def test_words_that_announce_what_the_task_forbids_are_told_with_the_words_of_the_task(task: str, words: str) -> None:
    clause, sentence = announced(read_constraints(task), words)
    assert (clause is not None, sentence) == (True, words)
    (issue,) = watch(steps([Did("do_it", "done", {}, thought=words)]), context=Context(original_prompt=task))
    assert (issue.type, issue.severity) == ("scope_creep", "medium")
    assert task in issue.description
    assert words in issue.description


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("Do not use --force.", "I'll merge without --force."),
        ("Do not use --force.", "The log mentions --force."),
        ("Never log API keys.", "Let me show the API key length only."),
        ("Never log API keys.", "Let me print the masked settings and confirm that no API keys are in them."),
        ("Do not modify /etc/ files.", "I need to read /etc/hosts first."),
        ("Do not modify src/db.py.", "I'll update the loader so that it fits src/db.py."),
        ("Do not modify any tests.", "I'll update the parser so that the tests pass."),
        ("Do not touch production.", "Let me look at the logs of production."),
        ("Do not modify service accounts.", "I'll update the service description."),
        ("Do not grant admin rights without approval.", "Approved: I'll grant admin rights."),
        ("Fix it.", "I'll use --force."),
    ],
)
def test_words_that_keep_to_the_task_are_not_told(task: str, words: str) -> None:
    assert announced(read_constraints(task), words) == (None, "")
    assert watch(steps([Did("do_it", "done", {}, thought=words)]), context=Context(original_prompt=task)) == []


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("secret", "Let me echo it."),
        ("not", "I'll Patch it."),
        ("files", "I'll relax it."),
        ("act", "I'll revoke access."),
        ("production", "Let me apply it on production."),
    ],
)
def test_the_quick_search_finds_every_verb_that_a_clause_needs(kind: str, words: str) -> None:
    _possible.cache_clear()
    assert kind in {_VERBS[at][0] for at in _possible().Match(words.encode())}


def test_what_a_call_does_counts_more_than_what_is_said_of_it() -> None:
    words = "I'll update the tests."
    task = Context(original_prompt="Fix the rounding. Do not modify test files.")

    def edit(new: str) -> Did:
        arguments: dict[str, object] = {"path": "tests/test_a.py", "old_str": "assert f() == 3.3", "new_str": new}
        return Did("edit_file", "ok", arguments, thought=words)

    assert {one.severity for one in watch(steps([edit("assert f() == 3.3  # as rounded")]), context=task)} <= {"low"}
    assert [one.severity for one in watch(steps([edit("assert f() == 3.333")]), context=task)] == ["high"]


def test_only_the_beginning_of_long_words_is_read() -> None:
    clauses, words = read_constraints("Do not use --force."), "I'll use --force."
    assert announced(clauses, "x" * (READ - len(words) - 1) + "\n" + words)[1] == words
    assert announced(clauses, "x" * READ + "\n" + words) == (None, "")
