"""Steps: reports steps to a run's owner, from any Python script. Standard library only, so that it can be copied.

steps = Steps()
answer = steps.before("bash", {"command": "make test"})
if answer["action"] == "proceed":
    ...
    answer = steps.after("2 failed", exit_code=1)
"""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from typing import Any

GATE_POLL_S = 0.1


class Steps:
    """One connection to the run that this process belongs to. Outside a run, everything may proceed.

    Waits `patience_s` for an owner that does not answer; then the gate file decides: if it is shut, wait until it
    opens; if it is open, proceed (or deny if INTERLOCK_FAIL is closed).
    """

    def __init__(self, path: str | None = None, gate: str | None = None, patience_s: float = 10.0) -> None:
        self._path = path or os.environ.get("INTERLOCK_SOCKET", "")
        self._gate = gate or os.environ.get("INTERLOCK_GATE", "")
        self._closed = os.environ.get("INTERLOCK_FAIL", "open") == "closed"
        self._patience_s = patience_s
        self._sock: socket.socket | None = None
        self._received = b""
        self._call: dict[str, str] = {"name": "", "call_id": uuid.uuid4().hex}

    def before(
        self, tool: str, arguments: dict[str, object], *, call_id: str | None = None, **more: object
    ) -> dict[str, Any]:
        """Ask whether this call may run, waiting if needed: returns action proceed, deny, rewrite or stop."""
        self._call = {"name": tool, "call_id": call_id or uuid.uuid4().hex}
        return self._tell({"before": {"tool": {**self._call, "arguments": arguments}, **more}})

    def after(self, content: str, *, call_id: str | None = None, **more: object) -> dict[str, Any]:
        """Report the result of the last call, or of `call_id`: its output, `exit_code` or `error`."""
        call = self._call if call_id is None else {"name": "", "call_id": call_id}
        return self._tell({"after": {"content": content, "tool": call, **more}})

    def say(self, content: str, *, role: str = "assistant", **more: object) -> dict[str, Any]:
        """Report a message."""
        return self._tell({"after": {"content": content, "role": role, **more}})

    def close(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tell(self, line: dict[str, Any]) -> dict[str, Any]:
        if not self._path:
            return {"action": "proceed", "reason": "not under interlock run"}
        data = json.dumps(line).encode() + b"\n"
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                return self._exchange(data)
            except (OSError, EOFError):
                self.close()
            if self._is_shut():
                deadline = time.monotonic() + self._patience_s
            elif time.monotonic() > deadline:
                action = "deny" if self._closed and "before" in line else "proceed"
                return {"action": action, "reason": "this run is not supervised right now"}
            time.sleep(GATE_POLL_S)

    def _exchange(self, data: bytes) -> dict[str, Any]:
        if self._sock is None:
            self._sock, self._received = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), b""
            self._sock.connect(self._path)
        self._sock.sendall(data)
        while b"\n" not in self._received:
            part = self._sock.recv(65_536)
            if not part:
                raise EOFError
            self._received += part
        line, self._received = self._received.split(b"\n", 1)
        answer = json.loads(line)
        if "error" in answer:
            raise ValueError(answer["error"])
        return dict(answer)

    def _is_shut(self) -> bool:
        """Whether the gate file is shut; an unreadable file counts as shut, a missing one does not."""
        try:
            with open(self._gate, encoding="utf-8") as file:
                return bool(json.load(file)["shut"])
        except FileNotFoundError:
            return False
        except (OSError, ValueError, KeyError):
            return True
