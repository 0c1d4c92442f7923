"""Replaces the process with the command: the last thing that join_cgroups.py and init_process.py do.

They load it in an isolated interpreter, so it needs only the standard library.
"""

import _signal as signal  # type: ignore[import-not-found]  # not `signal`: the names of signals take 1 MB
import os


def handed_over() -> dict[bytes, bytes]:
    """The environment that was passed to us: the interpreter may have added LC_CTYPE to its own."""
    with open("/proc/self/environ", "rb") as file:
        entries = file.read().split(b"\0")
    return dict(entry.split(b"=", 1) for entry in entries if b"=" in entry)


def call_library(name: str, *words: "int | bytes | None") -> int:
    """Call a function of the C library."""
    try:
        # Same as with ctypes, but without its types, which take as long to import as everything else.
        from _ctypes import call_function, dlopen, dlsym
    except ImportError:
        import ctypes

        return int(getattr(ctypes.CDLL(None), name)(*words))
    return int(call_function(dlsym(dlopen(None, 0), name), words))  # type: ignore[arg-type]


def candidate_paths(program: str, environment: dict[bytes, bytes]) -> list[bytes]:
    """The possible paths of a program, in the order of os.execvpe (which would import another module)."""
    name = os.fsencode(program)
    if b"/" in name:
        return [name]
    folders = environment.get(b"PATH", os.fsencode(os.defpath)).split(b":")
    return [os.path.join(folder, name) for folder in folders]  # noqa: PTH118


def become(report: int, paths: list[bytes], command: list[str], environment: dict[bytes, bytes]) -> None:
    """Replace this process with the command, from the first path that works, with default signal handling."""
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    missing: OSError | None = None
    refused: OSError | ValueError | None = None
    for path in paths:
        try:
            os.execve(path, command, environment)
        except (FileNotFoundError, NotADirectoryError) as error:
            missing = error
        except (OSError, ValueError) as error:
            refused = refused or error
    give_up(report, "exec", refused or missing or FileNotFoundError())


def give_up(report: int, what: str, error: Exception) -> None:
    """Report what failed and its errno, and exit."""
    number = error.errno if isinstance(error, OSError) else 22
    os.write(report, b"%s %d\n" % (what.encode(), number or 0))
    os._exit(127)
