"""Build: the table of programs from YAML, checked, as JSON that loads in a fraction of the time.

Run `python -m interlock.calls.build` after a change to `programs.yaml`; a test compares the two.
"""

from __future__ import annotations

import msgspec

from .table import BUILT, read_table

SOURCE = BUILT.with_suffix(".yaml")


def build() -> bytes:
    """The table without its examples, one row per line."""
    rows = [(names, without_examples(given)) for names, given in read_table(SOURCE).items()]
    return b"{\n" + b",\n".join(b":".join(map(msgspec.json.encode, row)) for row in rows) + b"\n}\n"


def without_examples(given: object) -> object:
    return {key: value for key, value in given.items() if key != "examples"} if isinstance(given, dict) else given


if __name__ == "__main__":
    BUILT.write_bytes(build())
