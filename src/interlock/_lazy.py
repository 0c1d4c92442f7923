"""The interface of a package: its `__init__.pyi` names what others may import, and each name is imported on first use.

Type checkers and editors read the stub; at run time `__getattr__ = lazy(__name__, __file__)` does. Imports nothing
itself, so that a command pays only for the modules that it uses.
"""

TYPE_CHECKING = False
"""Type checkers take this for true; importing `typing` for it would double the time of an import."""

if TYPE_CHECKING:
    from collections.abc import Callable


def lazy(package: str, file: str) -> "Callable[[str], object]":
    """The `__getattr__` of a package: finds a name in the module that the stub beside `file` takes it from.

    The value is not stored in the package, so that a test that replaces it in its module replaces it everywhere.
    """
    homes: dict[str, str] = {}

    def find(name: str) -> object:
        if not homes:
            found = {}
            for line in _read(f"{file}i").splitlines():
                if line.startswith("from ."):
                    _from, home, _import, exported, *_as = line.split()
                    module = home.lstrip(".")
                    found[exported] = f"{package.rsplit('.', len(home) - len(module) - 1)[0]}.{module}"
            # All at once: another thread must not see a part of them.
            homes.update(found)
        if name == "__all__":
            return sorted(homes)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(__import__(homes[name], fromlist=(name,)), name)

    return find


def _read(stub: str) -> str:
    with open(stub, encoding="utf-8") as file:
        return file.read()
