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
    from .adapters.command.owner_spawn import discard_early, spawn_early
    from .cli.plain_run import read_plain

    plain = read_plain(sys.argv[1:])
    spawn_early(sys.argv[1:], forks=plain is not None)
    try:
        _run(sys.argv[1:], plain)
    finally:
        discard_early()
        if sys.argv[1:2] in (["run"], ["scan"]):
            _leave_at_once()


def _leave_at_once() -> None:
    try:
        from .cli.fast_exit import leave_at_once
    except ImportError:
        # We were removed meanwhile: the status that is being raised is still the command's.
        return
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


def _run(arguments: list[str], plain: "dict[str, object] | None") -> None:
    if arguments[:1] == ["run"]:
        _spare_typing_extensions()
    if plain is None:
        from .cli.main import run

        run()
    else:
        _run_plain(plain)


def _run_plain(options: "dict[str, object]") -> None:
    """Start a run with these options; its owner is a fork of ours, once there is nothing left to import."""
    import gc

    # What is imported stays: looking through it for garbage takes a tenth of the time.
    gc.disable()
    from .adapters.command.owner_spawn import fork_early
    from .contain import try_early

    if options.get("contain") != "off":
        try_early(fenced=options.get("contain") == "fence")
    from .cli.exit_status import exit_with
    from .cli.run_start import RunOptions, start_run

    if fork_early():
        from .adapters.command.owner import main as own_run

        gc.freeze()
        gc.enable()
        own_run()
        return
    gc.enable()
    exit_with(lambda: start_run(RunOptions(**options)))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
