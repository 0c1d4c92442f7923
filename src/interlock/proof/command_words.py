"""Command words: a command without assignments and without the programs that only run another."""

from __future__ import annotations

import re

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_WRAPPERS = frozenset((
    "sudo", "env", "time", "nice", "nohup", "npx", "command", "exec", "stdbuf", "xvfb-run", "bundle", "setsid",
))  # fmt: skip
RUNNERS = frozenset(("uv", "poetry", "pipenv", "hatch", "pdm", "rye"))
"""Programs whose `run` runs another."""
INTERPRETERS = frozenset(("python", "python3", "node", "bash", "sh", "ruby", "perl", "deno", "ts-node", "php"))


def unwrapped(words: list[str]) -> list[str]:
    """The words of a command without assignments and without programs that only run another."""
    at = 0
    while at < len(words):
        word = words[at].rpartition("/")[2] if "/" in words[at] else words[at]
        if ("=" in words[at] and _ASSIGNMENT.match(words[at])) or word in _WRAPPERS or word in ("(", "{", "!"):
            at += 1
            while at < len(words) and words[at].startswith("-"):
                at += 1
        elif word == "timeout":
            at += 1
            while at < len(words) and (words[at].startswith("-") or words[at][:1].isdigit()):
                at += 1
        elif (word in RUNNERS and at + 1 < len(words) and words[at + 1] == "run") or (
            word in INTERPRETERS and at + 2 < len(words) and words[at + 1] == "-m"
        ):
            at += 2
        else:
            break
    return words[at:]
