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
    try:
        _run(sys.argv[1:])
    finally:
        discard_early()
        if sys.argv[1:2] in (["run"], ["scan"]):
            from .cli.fast_exit import leave_at_once

            leave_at_once()


def _spare_typing_extensions() -> None:
    """Import msgspec without them: it takes them where they are, needs none of them, and they take half of its time."""
    name = "typing_extensions"
    if name in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules[name]


def _run(arguments: list[str]) -> None:
    from .cli.plain_run import read_plain

    if arguments[:1] == ["run"]:
        _spare_typing_extensions()
    options = read_plain(arguments)
    if options is None:
        from .cli.main import run

        run()
    else:
        from .cli.exit_status import exit_with
        from .cli.run_start import start_run

        exit_with(lambda: start_run(options))


if __name__ == "__main__":
    main()
