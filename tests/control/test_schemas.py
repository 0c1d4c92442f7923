"""The published schemas describe what is really sent."""

from __future__ import annotations

import jsonschema
import msgspec
import pytest

from interlock.cli.schema import json_schema, schema_types
from interlock.control import IterationStarted, RunEnded, Waiting, WaitingForPerson

from .owner import Owner, make

MESSAGES = ("request", "ack", "result", "state", "abort", "done")


def every_message() -> list[tuple[str, dict[str, object]]]:
    """One of each, as an owner writes them."""
    commands = ("pause", "resume", "escalate", "approve", "rollback", "cancel")
    asked = [make(command, actor="me", reason="why", batch_id="b") for command in commands]
    found: list[tuple[str, dict[str, object]]] = [("request", msgspec.json.decode(data)) for data in asked]
    owner = Owner()
    owner.do(IterationStarted("i"))
    owner.do(WaitingForPerson(Waiting("approval", 3, "may I?")))
    for number, command in enumerate(("pause", "resume", "escalate", "pause", "explode", "cancel")):
        owner.do_raw(
            make("pause" if command == "explode" else command, id=str(number)).replace(
                b'"pause"', f'"{command}"'.encode()
            )
        )
    other = Owner()
    other.do(RunEnded("COMPLETE"))
    for message in owner.sent + other.sent:
        kind = str(message.get("type", message.get("event"))).lower()
        found.append((kind, message))
    return found


def test_every_message_that_is_sent_fits_its_schema() -> None:
    seen = set()
    for kind, message in every_message():
        jsonschema.Draft202012Validator(json_schema(schema_types()[kind])).validate(message)
        seen.add(kind)
    assert seen == set(MESSAGES)


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_schema_refuses_what_the_decoder_refuses(kind: str) -> None:
    validator = jsonschema.Draft202012Validator(json_schema(schema_types()[kind]))
    message = next(message for found, message in every_message() if found == kind)
    assert not validator.is_valid({**message, "schema": 7})
    assert validator.is_valid({**message, "a later field": 1})
