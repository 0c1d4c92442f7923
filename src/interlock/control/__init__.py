"""The control protocol: messages, the state machine of a run's endpoint, and a controller's side of it."""

from .client import ACK_WAIT_S, LAST_SEND_S, LookUp, RequestClient, RequestOutcome, Transmit, new_request
from .decoding import (
    MAX_MESSAGE,
    Malformed,
    NotForUs,
    UnreadableMessage,
    decode_control,
    decode_current,
    decode_request,
)
from .effects import CONTROL_KINDS, OUTGOING, Actuate, Audit, Desired, Effect, Execute, LogEntry, Persist, Send
from .events import (
    Actuated,
    ClientRefused,
    Event,
    Executed,
    Held,
    IterationEnded,
    IterationStarted,
    ModelSeen,
    OwnerStarted,
    PersonAnswered,
    Received,
    Released,
    RunEnded,
    Tick,
    TransportNoted,
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
from .recovery import RequestRecord, find_request, recover, status_of
from .state import EXPIRY_S, WINDOW_S, ClockReading, ControlRules, ControlState, may_start, new_state

__all__ = [
    "ACK_WAIT_S", "COMMANDS", "CONTROL_KINDS", "EXPIRY_S", "LAST_SEND_S", "MAX_MESSAGE", "OUTGOING", "WINDOW_S",
    "Abort", "Ack", "Actuate", "Actuated", "Audit", "ClientRefused", "ClockReading", "Command", "ControlMessage",
    "ControlRules", "ControlState", "CurrentMessage", "Desired", "Done", "Effect", "Event", "Execute", "Executed",
    "Frame", "Held", "IterationEnded", "IterationStarted", "LogEntry", "LookUp", "Malformed", "ModelSeen", "NotForUs",
    "OwnerStarted", "Persist", "PersonAnswered", "Received", "Released", "Request", "RequestClient", "RequestOutcome",
    "RequestRecord", "Result", "ResultPayload", "RunEnded", "Send", "State", "Target", "Tick", "Transmit",
    "TransportNoted", "UnreadableMessage", "Waiting", "WaitingForPerson", "decode_control", "decode_current",
    "decode_request", "encode",
    "find_request", "format_time", "handle", "may_start", "new_request", "new_state", "recover", "stamp_seq",
    "status_of",
]  # fmt: skip
