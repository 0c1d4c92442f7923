"""The records of a run about itself: its process, its status, its limits, its end, and what interfered with it."""

from __future__ import annotations

from msgspec import Struct

from ..core import Ending, NotDone, Status, WedgedKind


class StartedRecord(Struct, frozen=True, omit_defaults=True):
    """kind `started`: the command runs. `limits` says who enforces each limit on its processes.

    `successor` says that it was already running: its owner died, and the writer of this record took over.
    """

    pid: int
    mechanism: str = ""
    limits: str = ""
    successor: bool = False


class StatusRecord(Struct, frozen=True):
    """kind `status`: the status at a step; a successor needs it to reach the same decisions."""

    status: Status


class LimitRecord(Struct, frozen=True, omit_defaults=True):
    """kind `limit`: a limit that was set, or that delayed or ended the run."""

    what: str
    limit: str = ""
    seconds: float = 0.0


class IncidentRecord(Struct, frozen=True, omit_defaults=True):
    """kind `incident`: an emergency stop, and where its report is saved."""

    id: str
    where: str = ""
    summary: str = ""


class EndRecord(Struct, frozen=True, omit_defaults=True):
    """kind `end`: the run is over, with a reason of the control protocol; how it ended, and what did not happen."""

    status: Status
    reason: str
    message: str = ""
    ending: Ending | None = None
    not_done: tuple[NotDone, ...] = ()


class Fault(Struct, frozen=True):
    """kind `fault`: a part of supervision that failed: which, how, and whether it is switched off now."""

    part: str
    why: str
    dropped: bool = False


class TamperRecord(Struct, frozen=True, omit_defaults=True):
    """kind `tamper`: supervision was interfered with, and what was done about it."""

    what: str
    answer: str = ""
    path: str = ""


class FenceRecord(Struct, frozen=True, omit_defaults=True):
    """kind `fence`: the sandbox refused a host, or without one something that a tool tried (`why`), at this step."""

    why: str
    host: str
    port: int
    step: int


class TranscriptRecord(Struct, frozen=True):
    """kind `transcript`: up to where an agent's transcript has been read."""

    path: str
    offset: int


class ProxiedRecord(Struct, frozen=True):
    """kind `proxied`: an addition to the client's own history, and the item after which it belongs.

    `text` is a message to the agent; `items` an exchange between the model and us, which is never stored. With `until`
    it is a gap instead: what follows up to that item is left out, because the run was rolled back.
    """

    place: str
    index: int
    text: str = ""
    items: tuple[dict[str, object], ...] = ()
    until: str = ""
    until_index: int = 0


class ParkedRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `parked`: a usage limit stopped the run. `number` counts from 1.

    `wake` is when it resumes by itself, None if it waits for a person, and `held_by` says why. `source` is where
    the limit was seen. Runs with the same `quota` wake one after the other.
    """

    number: int
    reason: str
    source: str
    quota: str = ""
    wake: float | None = None
    held_by: str = ""


class WokenRecord(Struct, frozen=True):
    """kind `woken`: the parked run resumes. Written before anything else happens: no park is woken twice."""

    number: int
    by: str
    how: str = ""


class LivenessRecord(Struct, frozen=True, omit_defaults=True):
    """kind `liveness`: the run began or stopped waiting at a prompt, or began or stopped hanging."""

    word: str
    evidence: str = ""
    question: str | None = None
    wedged: WedgedKind | None = None


class UnwedgeRecord(Struct, frozen=True, omit_defaults=True):
    """kind `unwedge`: what was done about a run that hangs, once for each kind of answer."""

    wedged: WedgedKind
    answer: str
    how: str = ""
