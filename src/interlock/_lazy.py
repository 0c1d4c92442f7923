"""Public names of a package that are imported when they are first used: `__getattr__ = lazy(__name__, {...})`.

Imports nothing itself, so that `import interlock` costs nothing.
"""

TYPE_CHECKING = False
"""Type checkers take this for true; importing `typing` for it would double the time of an import."""

if TYPE_CHECKING:
    from collections.abc import Callable


def lazy(package: str, homes: "dict[str, tuple[str, ...]]") -> "Callable[[str], object]":
    """The `__getattr__` of a package; `homes` says which of its modules each name comes from."""
    home_of = {name: home for home, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import sys
        from importlib import import_module

        value = getattr(import_module(f".{home_of[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
