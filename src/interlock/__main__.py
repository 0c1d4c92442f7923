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
    from .adapters.command.thin_run import run_thin

    run_thin(sys.argv[1:])
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
        from .cli.plain_run import run_plain

        run_plain(plain)


if __name__ == "__main__":
    main()
