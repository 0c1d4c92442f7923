"""Context reinforcement: what the run is for, said again, never twice in the same words."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from interlock.config.schema import ContextReinforcement
from interlock.core import ISSUE_TYPES, Context, Goal, Inject
from interlock.intervene import context_reinforcement, restore_after_compaction
from interlock.intervene.context_reinforcement import context_text

from .intervene_builders import FULL, NOW, issue, run


def reinforce(found, state, **changes):
    return context_reinforcement(found, state, ContextReinforcement(**changes), NOW)


def text_of(answer) -> str:
    (directive,) = answer.directives
    assert isinstance(directive, Inject)
    return directive.message.content


def test_it_repeats_request_constraints_goals_boundaries_and_examples():
    text = text_of(reinforce(issue("goal_drift"), run(context=FULL)))
    for part in (FULL.original_prompt, *FULL.constraints, *FULL.boundaries, *FULL.examples, "Keep the API"):
        assert part in text


def test_the_message_says_where_it_comes_from():
    meta = reinforce(issue("loop"), run(context=FULL)).directives[0].message.meta
    assert (meta.type, meta.intervention, meta.issue) == ("intervention", "context_reinforcement", "loop")
    assert (meta.time, meta.run_id, meta.step) == (NOW, "run-1", 9)


def test_goals_come_by_priority_with_their_progress():
    text = text_of(reinforce(issue("goal_drift"), run(context=replace(FULL, primary_goal=""))))
    order = [text.index(part) for part in ("All tests pass (40% done)", "Keep the API", "Write the changelog")]
    assert order == sorted(order)


def test_constraints_relevant_to_the_issue_come_first_and_are_emphasised():
    text = text_of(reinforce(issue("resource_spiral"), run(context=FULL)))
    assert "IMPORTANT: Keep memory below 1 GB" in text
    assert "IMPORTANT: Do not change the public API" not in text
    assert text.index("Keep memory") < text.index("Do not change the public API")


def test_the_words_of_the_issue_make_a_constraint_relevant():
    found = issue("a_plug_in", description="the migration script was edited")
    text = text_of(reinforce(found, run(context=Context(constraints=("One", "Leave the migration alone")))))
    assert "IMPORTANT: Leave the migration alone" in text and "IMPORTANT: One" not in text


def test_the_strength_decides_how_much_is_repeated():
    many = Context(
        original_prompt="x",
        constraints=tuple(f"constraint number {n} about files" for n in range(10)),
        goals=tuple(Goal(f"goal {n}", n) for n in range(10)),
    )
    shown = {
        strength: text_of(reinforce(issue("scope_creep"), run(context=many), reinforcement_strength=strength))
        for strength in ("light", "medium", "strong")
    }
    assert [text.count("constraint number") for text in shown.values()] == [3, 6, 10]
    assert [text.count("IMPORTANT") for text in shown.values()] == [3, 6, 12]
    assert len(shown["light"]) < len(shown["medium"]) < len(shown["strong"])


def test_examples_only_when_asked_for():
    text = text_of(reinforce(issue("loop"), run(context=FULL), include_examples=False))
    assert "Fix rounding" not in text


@pytest.mark.parametrize(
    ("kind", "added"),
    [
        ("scope_creep", ("only in the given directories", "no system files or configuration outside the project")),
        ("resource_spiral", ("avoid unnecessary operations", "work incrementally")),
    ],
)
def test_some_types_add_constraints_that_stay_in_the_stored_context(kind, added):
    answer = reinforce(issue(kind), run(context=FULL))
    for part in added:
        assert part in text_of(answer).lower()
        assert any(part in line.lower() for line in answer.state.context.constraints)
    again = reinforce(issue(kind, id="other", description="again"), answer.state)
    assert again.state.context.constraints == answer.state.context.constraints


def test_the_same_text_is_never_added_twice():
    first = reinforce(issue("loop"), run(context=FULL))
    second = reinforce(issue("loop"), first.state)
    assert second.directives == () and "not added again" in second.log


def test_a_new_occasion_with_the_same_context_says_only_what_is_new():
    first = reinforce(issue("loop"), run(context=FULL))
    second = reinforce(issue("loop", description="the loop goes on"), first.state)
    text = text_of(second)
    assert "the loop goes on" in text and FULL.original_prompt not in text
    assert reinforce(issue("loop", description="the loop goes on"), second.state).directives == ()


def test_new_progress_is_new_text():
    first = reinforce(issue("loop"), run(context=FULL))
    further = replace(first.state, context=replace(first.state.context, completed_subtasks=("fixed it",)))
    assert "fixed it" in text_of(reinforce(issue("loop"), further))


def test_an_empty_context_gives_the_issue_alone():
    assert "a case of loop" in text_of(reinforce(issue("loop"), run()))


def test_the_context_is_put_back_after_the_agent_compacts_its_own():
    first = reinforce(issue("scope_creep"), run(context=FULL))
    state, message = restore_after_compaction(first.state, NOW + 1)
    assert message is not None and message.meta.intervention == "context_reinforcement"
    assert FULL.original_prompt in message.content
    assert "Work only in the given directories." in message.content
    assert reinforce(issue("scope_creep"), state).directives, "what was said before is gone and may be said again"


def test_without_a_context_there_is_nothing_to_put_back():
    assert restore_after_compaction(run(), NOW) == (run(), None)


@pytest.mark.parametrize("kind", ISSUE_TYPES)
def test_examples_for_the_issue_follow_the_users_own(kind: str) -> None:
    context = Context(original_prompt="fix it", examples=("Do as in tests/a.py.",))
    text = context_text(context, "strong", issue(kind), examples=True)
    shown = text.partition("Examples")[2].splitlines()[1:]
    assert "Do as in tests/a.py." in shown[0]
    assert len(shown) > 1, "built-in ones too"
    assert "Examples" not in context_text(Context(original_prompt="fix it"), "strong", issue(kind), examples=False)
