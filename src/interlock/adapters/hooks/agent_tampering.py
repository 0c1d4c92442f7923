"""Authority over a run: its control socket learns which processes are the agent's, and what they try is tampering."""

from __future__ import annotations

import threading

from ...contain import Insiders
from ...runtime import RunControl, Supervisor
from .hook_guardian import HookGuardian


def keep_authority(supervisor: Supervisor, insiders: Insiders, guardian: HookGuardian) -> None:
    """From now on the run's own processes may pause and cancel it, and nothing else."""
    steering = supervisor.run.steering
    if not isinstance(steering, RunControl):
        return

    def refused(what: str) -> None:
        # Not in the thread that serves the socket: the answer to it steers the run.
        threading.Thread(target=guardian.notice, args=(what,), name="interlock-tamper", daemon=True).start()

    steering.server.authority.why_inside = insiders.why_inside
    steering.server.authority.on_refused = refused
