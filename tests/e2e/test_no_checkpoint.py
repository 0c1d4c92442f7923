"""A checkpoint that is refused, because it would be too large, is named at the end of the run: there is no undo."""

from __future__ import annotations

from collections.abc import Callable

from .running import Place


def test_a_refused_checkpoint_is_named_at_the_end_of_a_run(place_with: Callable[..., Place]) -> None:
    place = place_with({"checkpoints": {"budget_bytes": 1000}})
    (place.workspace / "big").write_bytes(b"x" * 5000)
    status, _, said = place.run("sh", "-c", "echo new > file")
    assert status == 0
    assert b"no undo: the latest changes (" in said
    assert "budget_bytes" in place.told()["checkpoint_problem"]


def test_boundaries_and_examples_come_from_options(place: Place) -> None:
    options = ("--boundary", "only this folder", "--example", "good work")
    status, _, said = place.run("touch", "file", options=options)
    assert status == 0, said
    assert place.told()["checkpoint_problem"] == ""
    context = place.records("checkpoint")[0]["context"]
    assert (context["boundaries"], context["examples"]) == (["only this folder"], ["good work"])
