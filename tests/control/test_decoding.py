"""Bad input gets the documented answer and executes nothing; the decoder survives anything."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.control import (
    Abort,
    ControlRules,
    Done,
    Malformed,
    NotForUs,
    Received,
    Request,
    State,
    UnreadableMessage,
    decode_control,
    decode_current,
    decode_request,
)

from .owner import Owner, make

GOOD = json.loads(make("pause", id="r1"))

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Inputs are cheap; a busy machine is not a failure."""


def broken(**changes: object) -> bytes:
    """A good request with fields replaced, or left out where the value is ...."""
    return json.dumps({key: value for key, value in {**GOOD, **changes}.items() if value is not ...}).encode()


@pytest.mark.parametrize(
    "time",
    [
        "2026-01-31T12:00:00Z",
        "2026-01-31T12:00:00+00:00",
        "2026-01-31T12:00:00-00:00",
        "2026-01-31T12:00:00.123456789+05:30",
        "2026-01-31t12:00:00z",
        "2026-01-31 12:00:00Z",
        "2016-12-31T23:59:60Z",
    ],
)
def test_any_rfc_3339_time_is_right(time: str) -> None:
    owner = Owner()
    owner.do(Received(broken(timestamp=time), via="me"))
    assert owner.kinds()[:2] == ["ACK", "success"]


@pytest.mark.parametrize("time", ["yesterday", "2026-13-41T00:00:00Z", "2026-01-01T00:00:00", "2026-01-01"])
def test_a_time_that_is_none_is_named_in_plain_words(time: str) -> None:
    owner = Owner()
    owner.do(Received(broken(timestamp=time), via="me"))
    payload = owner.sent[0]["payload"]
    assert payload["message"] == "timestamp must be a time as in RFC 3339, for example 2026-01-31T12:00:00Z"  # type: ignore[index]


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": 1},
        {"schema": "0"},
        {"schema": ...},
        {"type": ...},
        {"type": "STATE"},
        {"command": "explode"},
        {"command": 7},
        {"command": ...},
        {"target": ...},
        {"target": {}},
        {"target": {"run_id": 5}},
        {"target": "run-1"},
        {"timestamp": ...},
        {"timestamp": 12},
        {"timestamp": "yesterday"},
        {"timestamp": "2026-01-01T00:00:00"},
        {"timestamp": "2026-01-01T00:00:00+25:00"},
        {"timestamp": "2026-13-41T00:00:00Z"},
        {"payload": ...},
        {"payload": []},
        {"payload": None},
        {"attempt": 0},
        {"attempt": "1"},
        {"actor": 5},
        {"batch_id": {}},
        {"command": "approve", "payload": {"step": -1}},
        {"command": "approve", "payload": {"step": "3"}},
        {"command": "rollback", "payload": {}},
        {"command": "rollback", "payload": {"to": "c1", "paths": "a"}},
    ],
)
def test_a_malformed_request_is_answered_with_what_was_readable(changes: dict[str, object]) -> None:
    owner = Owner()
    owner.do(Received(broken(**changes), via="me"))
    assert owner.kinds() == ["bad_request"]
    answer = owner.sent[0]
    assert answer["request_id"] == "r1" and set(answer) == {
        "type", "schema", "request_id", "command", "target", "timestamp", "payload"
    }  # fmt: skip
    command = changes.get("command", "pause")
    assert answer["command"] == (command if isinstance(command, str) else None)
    assert answer["target"] == ({"run_id": "run-1"} if "target" not in changes else None)
    assert owner.audits()[-1]["what"] == "bad_request"
    assert owner.state.status == "running" and owner.transactions == [("audit",)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"pause!",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"request_id":',
        broken(request_id=...),
        broken(request_id=7),
        broken(request_id=""),
        broken(request_id="x" * 129),
        broken(payload={"x": "y" * 1_000_000}),
    ],
)
def test_without_a_request_id_there_is_an_audit_row_and_an_error_on_the_connection_only(data: bytes) -> None:
    owner = Owner()
    effects = owner.do(Received(data, via="me"))
    assert owner.audits()[-1]["what"] == "unreadable"
    assert owner.kinds() == ["bad_request"] and owner.sent[0]["request_id"] is None
    assert effects[-1].direct  # type: ignore[union-attr]
    assert owner.transactions == [("audit",)]


def test_unknown_fields_are_ignored() -> None:
    data = broken(colour="red", target={"run_id": "run-1", "shape": "round"}, payload={"later": [1, 2]})
    assert isinstance(decode_request(data), Request)


def test_the_longest_request_id_is_accepted() -> None:
    assert isinstance(decode_request(broken(request_id="é" * 128)), Request)


def test_strict_mode_accepts_uuid_4_only() -> None:
    owner = Owner(rules=ControlRules(strict_ids=True))
    owner.ask("pause", id="req-pause-001")
    assert owner.kinds() == ["bad_request"]
    owner.ask("pause", id="0d6a9a5e-6f0b-11f0-8de9-0242ac120002")
    assert owner.kinds() == ["bad_request"]
    owner.ask("pause", id="3F2504E0-4f89-41d3-9a0c-0305e82c3301")
    assert owner.kinds() == ["ACK", "success", "STATE paused"]


def test_older_writers_of_the_state_are_understood() -> None:
    assert isinstance(decode_current(b'{"schema":0,"event":"ABORT","reason":"ERROR","stack":[]}'), Abort)
    assert isinstance(decode_current(b'{"schema":1,"event":"DONE","reason":"COMPLETE","stack":[],"new":1}'), Done)
    state = decode_current(
        b'{"schema":0,"event":"STATE","run_id":"r","updated_at":"2026-01-01T00:00:00Z",'
        b'"stack":[{"id":"f","mode":"loop","iter":1,"max":5,"model":"m"}]}'
    )
    assert isinstance(state, State) and not state.status
    assert decode_current(b'{"schema":2,"event":"DONE","reason":"COMPLETE","stack":[]}') is None


@calm
@given(st.binary(max_size=400))
def test_any_bytes_are_read_without_a_crash(data: bytes) -> None:
    assert decode_request(data) is not None
    decode_control(data)
    decode_current(data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@calm
@given(st.dictionaries(st.sampled_from([*GOOD, "actor", "attempt", "batch_id", "reason", "x"]), json_values), st.data())
def test_any_json_in_any_field_is_read_and_never_executed_by_accident(
    changes: dict[str, object], data: st.DataObject
) -> None:
    message = {**GOOD, **changes}
    for key in data.draw(st.sets(st.sampled_from(sorted(GOOD)), max_size=2)):
        message.pop(key, None)
    raw = json.dumps(message).encode()
    owner = Owner()
    owner.do(Received(raw, via="me"))
    match decode_request(raw):
        case Request():
            assert owner.kinds()[0] in ("ACK", "not_found", "bad_request")
        case Malformed():
            assert owner.kinds() == ["bad_request"]
        case UnreadableMessage():
            assert owner.sent[0]["request_id"] is None
        case NotForUs():
            assert owner.sent == []
    if owner.kinds()[:1] != ["ACK"]:
        assert owner.state.status == "running"


@calm
@given(st.integers(0, 400), st.integers(0, 255))
def test_one_wrong_byte_never_crashes_an_owner(place: int, value: int) -> None:
    raw = bytearray(make("escalate", {"model": "opus", "reason": "x"}, actor="me", batch_id="b"))
    raw[place % len(raw)] = value
    owner = Owner()
    owner.do(Received(bytes(raw), via="me"))
    assert len(owner.sent) <= 3
