"""Packed bodies: each record is compressed by itself, with earlier records as a dictionary.

A body is stored as its JSON text, or packed: a zero byte, the length of the text in three bytes, and a Zstandard frame.
The dictionary of a record is the newest one in the file that begins at or before its number; the first is built in.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable

import zstandard as zstd

PACKED = 0
"""The first byte of a packed body; no JSON text begins with it."""

LEAST = 64
"""Bytes below which packing is not worth it."""

DICTIONARY_BYTES = 32 * 1024
EACH = 4 * 1024
"""The most bytes of one record that a dictionary contains."""

RENEWED = 256
"""Records after which the dictionary is rebuilt: an agent's records resemble the latest ones most."""

KEPT = 4
"""Dictionaries that a reader keeps in memory."""

MAX_LENGTH = 1 << 24
LEVEL = 3

FIRST = (
    b'{"request_id":"","command":"pause","target":{"run_id":""},"payload":{"status":"success","message":"",'
    b'"run_status":"running"}}{"schema":0,"type":"STATE","revision":1,"status":"paused","waiting":{"kind":"approval"}}'
    b'{"id":"","time":17,"step":1,"cause":"before","label":"","files":1,"bytes":0,"not_covered":[]}{"intervention":{'
    b'"type":"context_injection","level":1,"issue_type":"tool_loop","outcome":"pending","directives":[{"type":"inject"'
    b'{"step":{"run_id":"","index":1,"role":"tool","kind":"tool_result","content":"\\n","tool":{"name":"bash",'
    b'"arguments":{},"call_id":"call_"},"error":true,"exit_code":1,"time":17'
    b'{"step":{"run_id":"","index":1,"role":"assistant","kind":"tool_call","content":"","tool":{"name":"bash",'
    b'"arguments":{"command":"","file_path":"/","description":""},"call_id":"toolu_"},"usage":{"input_tokens":1,'
    b'"output_tokens":1,"cache_read_tokens":1},"model":"","time":17},"review":{"verdict":"allow","risk":0.1,'
    b'"rationality":1.0,"reason":"It only reads.","action":"read"},"stalled":true,"cost_usd":0.0'
)
"""The dictionary of a journal's first records. It never changes: journals were written with it."""

_PARAMETERS = zstd.ZstdCompressionParameters.from_level(
    LEVEL, write_content_size=0, write_dict_id=0, format=zstd.FORMAT_ZSTD1_MAGICLESS
)


class DamagedBody(ValueError):
    """Raised when a packed body does not unpack."""


class Packer:
    """Packs the bodies of one journal, in order."""

    def __init__(self, dictionary: bytes | None = None) -> None:
        self._recent: deque[bytes] = deque()
        self._bytes = 0
        self._since = 0
        self._use(dictionary or FIRST)

    def pack(self, body: bytes) -> bytes | str:
        """A body as it is stored."""
        if LEAST <= len(body) < MAX_LENGTH:
            packed = self._compressor.compress(body)
            if len(packed) + 4 < len(body):
                return b"\0%b%b" % (len(body).to_bytes(3, "big"), packed)
        return body.decode()

    def remember(self, body: bytes) -> None:
        """Offer a body that is on the disk for the next dictionary."""
        self._since += 1
        self._recent.append(body[:EACH])
        self._bytes += len(self._recent[-1])
        while self._bytes > DICTIONARY_BYTES + EACH:
            self._bytes -= len(self._recent.popleft())

    def next_dictionary(self) -> bytes | None:
        """The dictionary to use from the next record on, if a new one is due."""
        return b"".join(self._recent)[-DICTIONARY_BYTES:] if self._since >= RENEWED else None

    def use(self, dictionary: bytes) -> None:
        """Use this dictionary, which is on the disk, from now on."""
        self._since = 0
        self._use(dictionary)

    def _use(self, dictionary: bytes) -> None:
        known = zstd.ZstdCompressionDict(dictionary, dict_type=zstd.DICT_TYPE_RAWCONTENT)
        known.precompute_compress(compression_params=_PARAMETERS)
        self._compressor = zstd.ZstdCompressor(dict_data=known, compression_params=_PARAMETERS)


Found = tuple[int, int | None, bytes | None]
"""The first record of a dictionary, the first that may have another one (None: the next), and its stored bytes.

None stands for the built-in dictionary. A record that is not written yet may have another dictionary.
"""


class Unpacker:
    """Unpacks bodies, fastest in order; `find` returns the dictionary of a record."""

    def __init__(self, find: Callable[[int], Found]) -> None:
        self._find = find
        self._known: OrderedDict[int, zstd.ZstdDecompressor] = OrderedDict()
        self._from = self._until = 0
        self._current: zstd.ZstdDecompressor | None = None

    def unpack(self, seq: int, stored: bytes) -> bytes:
        """The JSON text of a record's body."""
        if not stored or stored[0] != PACKED:
            return stored
        length = int.from_bytes(stored[1:4], "big")
        try:
            body = self._decompressor(seq).decompress(stored[4:], max_output_size=length)
        except (zstd.ZstdError, MemoryError) as error:
            raise DamagedBody(f"its content cannot be unpacked ({error})") from None
        if len(body) != length:
            raise DamagedBody("its content is incomplete")
        return body

    def _decompressor(self, seq: int) -> zstd.ZstdDecompressor:
        if self._current is not None and self._from <= seq < self._until:
            return self._current
        first, until, stored = self._find(seq)
        known = self._known.pop(first, None)
        if known is None:
            raw = FIRST if stored is None else unpack_dictionary(stored)
            known = zstd.ZstdDecompressor(
                dict_data=zstd.ZstdCompressionDict(raw, dict_type=zstd.DICT_TYPE_RAWCONTENT),
                format=zstd.FORMAT_ZSTD1_MAGICLESS,
            )
        self._known[first] = known
        if len(self._known) > KEPT:
            self._known.popitem(last=False)
        self._from, self._until, self._current = first, seq + 1 if until is None else until, known
        return known


def pack_dictionary(dictionary: bytes) -> bytes:
    """A dictionary as it is stored."""
    return zstd.ZstdCompressor(level=9).compress(dictionary)


def unpack_dictionary(stored: bytes) -> bytes:
    """A stored dictionary."""
    try:
        if not 0 < zstd.frame_content_size(stored) <= DICTIONARY_BYTES:
            raise DamagedBody("a dictionary is damaged")
        return zstd.ZstdDecompressor().decompress(stored)
    except zstd.ZstdError as error:
        raise DamagedBody(f"a dictionary cannot be unpacked ({error})") from None
