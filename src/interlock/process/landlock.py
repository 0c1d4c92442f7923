"""Landlock: a second sandbox around a contained command, if the kernel has it.

init_process.py loads it in an isolated interpreter, so it needs only the standard library.
"""

import os
import sys

sys.path.append(os.path.dirname(__file__))  # noqa: PTH120

from exec_command import call_library  # type: ignore[import-not-found]

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION = 1
"""Flag that queries the version of Landlock."""

WRITES = 0b1_1111_1111_0010
"""Every modifying right of version 1: write, remove and create files of each kind."""

O_PATH = 0o10000000
REFER, TRUNCATE = 1 << 13, 1 << 14
FILE_RIGHTS = 0b10 | TRUNCATE
SCOPE_ABSTRACT_SOCKETS = 1


def version() -> int:
    """The version of Landlock that this kernel has; 0 if none."""
    return max(0, int(call_library("syscall", CREATE_RULESET, None, 0, VERSION)))


def restrict(writable: list[str], scoped: bool) -> int:
    """Restrict writes by this process and its children to these paths, if any are given.

    `scoped` denies them abstract sockets outside. Returns the version of Landlock, 0 if there is none.
    """
    found = version()
    rights = (WRITES | (REFER if found >= 2 else 0) | (TRUNCATE if found >= 3 else 0)) if writable else 0
    scopes = SCOPE_ABSTRACT_SOCKETS if scoped and found >= 6 else 0
    if not found or not (rights or scopes):
        return 0
    attributes = b"".join(part.to_bytes(8, sys.byteorder) for part in (rights, 0, scopes))
    size = 24 if found >= 6 else 16 if found >= 4 else 8
    ruleset = call_library("syscall", CREATE_RULESET, attributes, size, 0)
    if ruleset < 0:
        return 0
    for path in writable:
        allow(ruleset, path, rights)
    done = call_library("syscall", RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return found if done == 0 else 0


def allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, O_PATH | os.O_CLOEXEC)
    except OSError:
        # The path does not exist inside the sandbox, so nothing is below it.
        return
    if not os.path.isdir(path):  # noqa: PTH112
        rights &= FILE_RIGHTS
    # struct landlock_path_beneath_attr is packed: 8 and 4 bytes.
    rule = rights.to_bytes(8, sys.byteorder) + descriptor.to_bytes(4, sys.byteorder)
    call_library("syscall", ADD_RULE, ruleset, 1, rule, 0)
    os.close(descriptor)
