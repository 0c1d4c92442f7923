"""PunctualProtocol: uvicorn's HTTP, for clients that send what they have begun."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.auto import AutoHTTPProtocol

REQUEST_S = 20.0
"""How long a request may take from the connection, or from its first byte, to its last."""

MOST_CONNECTIONS = 4096
"""Connections at one time; further ones are rejected at once."""


class PunctualProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Closes a connection whose request does not arrive. Answers, as streams of events, take as long as they do."""

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._expect()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete or self.cycle.more_body:
            self._expect()
        else:
            self._forget()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(REQUEST_S, self.transport.abort)

    def _forget(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
