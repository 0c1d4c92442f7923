"""The words for what a GUI session records: chunks, looks at the screen, questions to a model, the comparison."""

from __future__ import annotations

from .words import DETAIL, Body, Level, Tell, Told, cut, one_line, plain

OUTCOME_LEVEL: dict[str, Level] = {"none": "quiet", "recovered": "notice", "failed": "warning"}


def tell_look(body: Body) -> Told:
    """A look at the screen: how it was, what was done, with its picture if there is one."""
    status, outcome = plain(str(body.get("status", "screen"))), str(body.get("outcome", "none"))
    confidence = body.get("confidence")
    sure = f" ({confidence:.0%} sure)" if isinstance(confidence, int | float) and confidence else ""
    done = ", ".join(str(each) for each in body.get("actions_taken") or ())
    said = f"; {plain(outcome)}" if outcome not in ("none", "") else ""
    words = " ".join(filter(None, (str(body.get("description") or ""), str(body.get("reason") or ""), done)))
    level = OUTCOME_LEVEL.get(outcome, "notice")
    kind = "picture" if find_pictures(body) else "note"
    return Told(kind, level, one_line(f"screen: {status}{sure}{said}"), cut(words, DETAIL))  # type: ignore[arg-type]


def tell_chunk(body: Body) -> Told:
    return Told("step", "info", one_line(f"chunk {body['chunk']}: {body.get('path', '')}"), "", body["chunk"])


def tell_session(body: Body) -> Told:
    return Told("note", "info", f"session {body.get('session_id', '')}: {body.get('chunks', 0)} chunks")


def tell_trouble(body: Body) -> Told:
    return Told("note", "warning", one_line(f"trouble: {body['trouble']}"), "", body.get("chunk"))


def tell_question(body: Body) -> Told:
    tokens = int(body.get("input_tokens") or 0) + int(body.get("output_tokens") or 0)
    return Told(
        "note", "quiet", f"asked {body.get('model', 'a model')}: {tokens:,} tokens", str(body.get("outcome", ""))
    )


def tell_verification(body: Body) -> Told:
    good = bool(body["success"])
    return Told("note", "notice" if good else "warning", f"verification: {'success' if good else 'failure'}",
                cut(str(body.get("summary", "")), DETAIL))  # fmt: skip


def tell_result(body: Body) -> Told:
    good = bool(body.get("completed"))
    return Told("note", "info" if good else "warning", f"session {'completed' if good else 'not completed'}",
                cut(str(body.get("reason") or ""), DETAIL))  # fmt: skip


def find_pictures(body: Body) -> list[tuple[str, str]]:
    """The names of the pictures that a record speaks of, each with what to say beside its title."""
    named = (("screenshot_path", ""), ("picture", ""), ("screenshot_after", ", afterwards"))
    return [(word, name) for key, word in named if isinstance(name := body.get(key), str) and name]


GUI_TOLD: dict[str, Tell] = {
    "gui_event": tell_look,
    "gui_chunk": tell_chunk,
    "gui_session": tell_session,
    "gui_trouble": tell_trouble,
    "gui_model_call": tell_question,
    "gui_verification": tell_verification,
    "gui_result": tell_result,
}
