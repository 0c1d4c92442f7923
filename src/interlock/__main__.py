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
    from .cli.interrupt import leave_quietly, see_children_end

    leave_quietly()
    see_children_end()
    from .adapters.command.owner_spawn import discard_early, spawn_early

    spawn_early(sys.argv[1:])
    try:
        from .cli.main import run

        run()
    finally:
        discard_early()


if __name__ == "__main__":
    main()
