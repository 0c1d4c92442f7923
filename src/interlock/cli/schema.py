"""interlock schema: the JSON Schemas of everything on the wire and in the journal."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from ..core import BadInput
from .app import new_app
from .output import print_json

app = new_app()


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(help="One schema; without it all, under their names.")] = None,
) -> None:
    """Print JSON Schema (2020-12) of the journal's records, kind by kind, and of what they consist of.

    Example: interlock schema step
    """
    types = schema_types()
    if name is None:
        print_json({"schemas": {"record": record_schema(), **{key: json_schema(each) for key, each in types.items()}}})
    elif name == "record":
        print_json(record_schema())
    elif name in types:
        print_json(json_schema(types[name]))
    else:
        raise BadInput(f"there is no schema {name!r}", todo=f"Known: record, {', '.join(types)}")


def schema_types() -> dict[str, object]:
    """Every kind of record, then what else has a schema."""
    from ..config import Config
    from ..control.messages import Abort, AnswerPayload, Done, EscalatePayload, RollbackPayload
    from ..core import Decision, Directive, Limits, Review, RunState
    from ..records import KINDS

    return {
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
    """The schema of one type; plain JSON values may be anything."""
    made = msgspec.json.schema(kind, schema_hook=_any)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def record_schema() -> dict[str, object]:
    """The schema of a whole record, as `interlock show --json` lists it: its kind says what its body is."""
    from ..records import KINDS

    bodies, defined = msgspec.json.schema_components(KINDS.values(), schema_hook=_any, ref_template="#/$defs/{name}")
    each = [
        {"type": "object", "properties": {"kind": {"const": kind}, "body": body}, "required": ["kind", "body"]}
        for kind, body in zip(KINDS, bodies, strict=True)
    ]
    facts = {"seq": {"type": "integer"}, "time": {"type": "number"}, "kind": {"enum": list(KINDS)}, "body": {}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Record",
        "type": "object",
        "properties": facts,
        "required": list(facts),
        "oneOf": each,
        "$defs": defined,
    }


def _any(_: type) -> dict[str, Any]:
    return {"description": "any JSON value"}
