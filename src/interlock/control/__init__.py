"""The control protocol: messages, the state machine of a run's endpoint, and a controller's side of it."""

from .client import ACK_WAIT_S, LAST_SEND_S, Answer, Controller, LookUp, Transmit, new_request
from .decoding import MAX_MESSAGE, Malformed, NotForUs, Unreadable, decode_control, decode_current, decode_request
from .effects import CONTROL_KINDS, OUTGOING, Actuate, Audit, Desired, Effect, Entry, Execute, Persist, Send
from .events import (
    Actuated,
    Event,
    Executed,
    Held,
    IterationEnded,
    IterationStarted,
    ModelSeen,
    PersonAnswered,
    Received,
    Refused,
    Released,
    RunEnded,
    Started,
    Tick,
    WaitingForPerson,
)
from .machine import handle
from .messages import (
    COMMANDS,
    Abort,
    Ack,
    Command,
    ControlMessage,
    CurrentMessage,
    Done,
    Frame,
    Request,
    Result,
    ResultPayload,
    State,
    Target,
    Waiting,
    encode,
    format_time,
    stamp_seq,
)
from .recovery import Found, find_request, recover, status_of
from .state import EXPIRY_S, WINDOW_S, ControlState, Moment, Rules, may_start, new_state

__all__ = [
    "ACK_WAIT_S", "COMMANDS", "CONTROL_KINDS", "EXPIRY_S", "LAST_SEND_S",
    "MAX_MESSAGE", "OUTGOING", "WINDOW_S", "Abort", "Ack", "Actuate", "Actuated", "Answer", "Audit", "Command",
    "ControlMessage", "ControlState", "Controller", "CurrentMessage", "Desired", "Done", "Effect", "Entry", "Event",
    "Execute", "Executed", "Found", "Frame", "Held", "IterationEnded", "IterationStarted", "LookUp", "Malformed",
    "ModelSeen", "Moment", "NotForUs", "Persist", "PersonAnswered", "Received", "Refused", "Released", "Request",
    "Result", "ResultPayload", "Rules", "RunEnded", "Send", "Started", "State", "Target", "Tick",
    "Transmit", "Unreadable", "Waiting", "WaitingForPerson", "decode_control", "decode_current", "decode_request",
    "encode", "find_request", "format_time", "handle", "may_start", "new_request", "new_state", "recover",
    "stamp_seq", "status_of",
]  # fmt: skip
