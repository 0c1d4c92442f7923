"""interlock schema: the JSON Schemas of messages and journal records."""

from __future__ import annotations

from typing import Annotated, Union

import msgspec
from typer import Argument

from ..core import BadInput
from .app import new_app
from .output import print_json

app = new_app()


@app.command()
def schema(name: Annotated[str | None, Argument(help="One schema; default: all, by name.")] = None) -> None:
    """Print JSON Schema (2020-12) of the journal's records, by kind, and of their parts.

    Example: interlock schema step
    """
    types = schema_types()
    if name is None:
        print_json({"schemas": {key: json_schema(each) for key, each in types.items()}})
    elif name in types:
        print_json(json_schema(types[name]))
    else:
        raise BadInput(f"there is no schema {name!r}", todo=f"Known: {', '.join(types)}")


def schema_types() -> dict[str, object]:
    """A whole record, the body of each kind, then other types."""
    from ..config import Config
    from ..control import Abort, AnswerPayload, Done, EscalatePayload, RollbackPayload
    from ..core import Decision, Directive, Limits, Review, RunState
    from ..journal_records import KINDS

    facts = [("seq", int), ("time", float)]
    records = [
        msgspec.defstruct(f"record_{kind}", [*facts, ("body", body)], tag_field="kind", tag=kind)
        for kind, body in KINDS.items()
    ]
    return {
        "record": Union[tuple(records)],  # noqa: UP007  made of a list
        **KINDS,
        "review": Review,
        "decision": Decision,
        "directive": Directive,
        "limits": Limits,
        "run_state": RunState,
        "config": Config,
        "escalate_payload": EscalatePayload,
        "answer_payload": AnswerPayload,
        "rollback_payload": RollbackPayload,
        "abort": Abort,
        "done": Done,
    }


def json_schema(kind: object) -> dict[str, object]:
    """The schema of one type; untyped values may be any JSON value."""
    made = msgspec.json.schema(kind, schema_hook=lambda _: {"description": "any JSON value"})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
