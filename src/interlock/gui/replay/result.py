"""ReplayResult: how a replay went."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ..verifier import VerificationResult


class ReplayResult(Struct, frozen=True):
    """`completed` says that every chunk was typed; `success` that the files came out right too, if that was checked."""

    completed: bool
    chunks_done: int
    chunks: int
    seconds: float
    reason: str = ""
    verification: VerificationResult | None = None
    troubles: Sequence[str] = ()
    repaired: bool = False

    @property
    def success(self) -> bool:
        return self.completed and (self.verification is None or self.verification.success)
