"""How a module of ours is run in a bare interpreter, which takes a third of the memory. Imports next to nothing."""

from __future__ import annotations

import os
import sys

START = """\
import sys
sys.path[:] = eval(sys.argv[2])
__import__(sys.argv[1], fromlist=["main"]).main(sys.argv[3:])
"""


def bare_command(module: str, arguments: list[str]) -> list[str]:
    """The command that calls the module's `main` with these arguments; it finds modules where we do."""
    # As with -P: nothing from the workspace may be imported in place of our own modules.
    places = sys.path if sys.flags.safe_path else sys.path[1:]
    # Ours last: an installation may find us in another way, which a bare interpreter does not have.
    places = [*places, os.path.dirname(os.path.dirname(os.path.dirname(__file__)))]  # noqa: PTH120  no imports
    return [sys.executable or "python3", "-I", "-S", "-c", START, module, ascii(places), *arguments]
