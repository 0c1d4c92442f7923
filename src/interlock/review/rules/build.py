"""Build: the rules from YAML as JSON, which loads in a hundredth of the time.

Run `python -m interlock.review.rules.build` after a change to `rules.yaml`; a test compares the two.
"""

from __future__ import annotations

import msgspec

from .load import SHIPPED, SOURCE, read_file
from .model import Rule


def build() -> bytes:
    """The shipped rules without their cases, one rule per line."""
    lines = b",\n".join(msgspec.json.encode(_without_cases(rule)) for rule in read_file(SOURCE).rules)
    return b'{"rules": [\n' + lines + b"\n]}\n"


def _without_cases(rule: Rule) -> Rule:
    return msgspec.structs.replace(rule, matches=(), passes=())


if __name__ == "__main__":
    SHIPPED.write_bytes(build())
