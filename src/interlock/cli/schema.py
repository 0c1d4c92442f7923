"""interlock schema: the JSON Schemas of everything on the wire and in the journal."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from ..config import Config
from ..control.messages import (
    Abort,
    Ack,
    AnswerPayload,
    Done,
    EscalatePayload,
    Request,
    Result,
    RollbackPayload,
    State,
)
from ..core import BadInput, CheckpointInfo, Decision, Directive, Issue, Limits, Review, RunSpec, RunState, Step
from .app import new_app
from .output import print_json

app = new_app()

SCHEMAS: dict[str, object] = {
    "step": Step,
    "review": Review,
    "issue": Issue,
    "decision": Decision,
    "directive": Directive,
    "limits": Limits,
    "run_spec": RunSpec,
    "run_state": RunState,
    "checkpoint": CheckpointInfo,
    "config": Config,
    "request": Request,
    "escalate_payload": EscalatePayload,
    "answer_payload": AnswerPayload,
    "rollback_payload": RollbackPayload,
    "ack": Ack,
    "result": Result,
    "state": State,
    "abort": Abort,
    "done": Done,
}


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(help="One schema; without it all, under their names.")] = None,
) -> None:
    """Print JSON Schema (2020-12) of the records.

    Example: interlock schema step
    """
    if name is None:
        print_json({"schemas": {key: json_schema(value) for key, value in SCHEMAS.items()}})
    elif name in SCHEMAS:
        print_json(json_schema(SCHEMAS[name]))
    else:
        raise BadInput(f"there is no schema {name!r}", todo=f"Known: {', '.join(SCHEMAS)}")


def json_schema(kind: object) -> dict[str, object]:
    """The schema of one type; plain JSON values may be anything."""
    made = msgspec.json.schema(kind, schema_hook=lambda _: {"description": "any JSON value"})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
