"""The command `interlock`: the version answers before anything is imported."""

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
            from .cli.fast_exit import leave_at_once

            leave_at_once()


if __name__ == "__main__":
    main()
