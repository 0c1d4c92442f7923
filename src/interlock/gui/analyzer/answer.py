"""The answer of a model as a verdict, whatever it wraps around it."""

from __future__ import annotations

import json
from typing import Any

from .result import AnalysisResult, ReplayStatus, ScreenSituation, clamp_confidence, parse_status, unknown

MAX_RAW = 100_000
"""Characters of a raw answer that are kept."""


def read_answer(text: str, situation: ScreenSituation) -> AnalysisResult:
    """The verdict in a model's text; UNKNOWN with the reason if there is none."""
    raw = text[:MAX_RAW]
    found = find_object(raw)
    if found is None:
        return unknown("the answer has no JSON object", raw)
    status = parse_status(found.get("status"))
    if status is ReplayStatus.UNKNOWN:
        reason = str(found.get("description") or f"status {str(found.get('status'))[:50]!r}")
        return unknown(reason, raw)
    expected = _text(found.get("expected_file")) or situation.expected_file
    actual = _text(found.get("actual_file"))
    actions = [str(action) for action in _list(found.get("recovery_actions"))]
    if status is ReplayStatus.WRONG_FILE:
        actual = actual or "unknown"
    return AnalysisResult(
        status,
        clamp_confidence(found.get("confidence")),
        str(found.get("description") or ""),
        tuple(actions or default_steps(status, expected)),
        expected,
        actual,
        raw,
    )


def default_steps(status: ReplayStatus, expected_file: str | None) -> list[str]:
    """Steps for a verdict that came without any."""
    if status is ReplayStatus.DIALOG_BLOCKING:
        return ["close_dialog"]
    if status is ReplayStatus.WRONG_FILE:
        return [f"open_file {expected_file}"] if expected_file else ["focus_vscode"]
    return []


def find_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text that has a status, else the first at all; fences and prefixes do not matter."""
    decoder = json.JSONDecoder()
    first = None
    place = text.find("{")
    while place >= 0:
        try:
            value, _ = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            if "status" in value:
                return value
            first = first or value
        place = text.find("{", place + 1)
    return first


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _list(value: object) -> list[object]:
    if isinstance(value, str):
        return [value]
    return list(value) if isinstance(value, list) else []
