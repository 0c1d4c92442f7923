"""The command `interlock`: the version answers before anything is imported."""

import os
import sys


def main() -> None:
    """Run the command line."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        from .cli.streams import fill_closed

        fill_closed()
    if sys.argv[1:] == ["--version"]:
        from ._version import __version__

        sys.stdout.write(f"interlock {__version__}\n")
        return
    from .cli.interrupt import leave_quietly

    leave_quietly()
    from .adapters.process.owner_spawn import discard_early, spawn_early

    spawn_early(sys.argv[1:])
    from .cli.main import run

    try:
        run()
    finally:
        discard_early()
        if sys.argv[1:2] == ["scan"]:
            leave_at_once()


def leave_at_once() -> None:
    """End here with the status that is being raised, if everything is said: to free all that was read takes a while."""
    left = sys.exc_info()[1]
    if not isinstance(left, SystemExit) or not isinstance(left.code, int):
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        # Python says so in its own way.
        return
    os._exit(left.code)


if __name__ == "__main__":
    main()
