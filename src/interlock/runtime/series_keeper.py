"""SeriesKeeper: a long run is summed up as it goes, so that its charts need not read it from the start."""

from __future__ import annotations

import threading

from ..core import InterlockError
from ..journal import RunFolder

EVERY = 10_000
"""Records between two looks: a reader sums up at most about so many itself."""

BITE = 128
PAUSE_S = 0.001
"""After so many records the thread rests for a moment: calls that are to be judged do not wait for it."""


class SeriesKeeper:
    """Sums up what is in the journal, in a thread that lives for one look. A look that fails leaves it to the next."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._looks: int | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def note(self, seq: int) -> None:
        """The journal has come so far."""
        looks = seq // EVERY
        if self._looks is not None and looks <= self._looks:
            return
        with self._lock:
            # A successor has more urgent things to do than to look at once.
            first, self._looks = self._looks is None, looks
            if first or self._stop.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._look, name=f"series {self._folder.run_id}", daemon=True)
            self._thread.start()

    def close(self) -> None:
        with self._lock:
            self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        # Most runs are short, and do without.
        from ..journal import SERIES_KINDS, JournalReader, load_series, store_series

        try:
            with JournalReader.open(self._folder) as reader:
                tally = load_series(self._folder, reader)
                for number, record in enumerate(reader.bodies(tally.seq, SERIES_KINDS)):
                    tally.add_records((record,))
                    if number % BITE == 0 and self._stop.wait(PAUSE_S):
                        break
                store_series(self._folder, reader, tally)
        except (InterlockError, OSError):
            return
