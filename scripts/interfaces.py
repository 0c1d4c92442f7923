"""Check that packages are used through their interfaces.

The interface of a package is its `__init__.pyi` (or its `__init__.py`, where that has code). A module of another
top-level package imports from it, never from the modules behind it. A name that is also a module's name must be
imported in `__init__.py`: otherwise the module, once loaded, would be found in its place.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "interlock"


def main() -> int:
    """Print each violation; 1 if there is any."""
    packages = {path.parent for path in SOURCE.rglob("__init__.py")} - {SOURCE}
    found = [
        *(problem for path in sorted(SOURCE.rglob("*.py")) for problem in imports_past(path)),
        *(problem for package in sorted(packages) for problem in hidden_names(package)),
    ]
    print("\n".join(found) or f"{len(packages)} packages: every import from outside uses the interface")
    return 1 if found else 0


def imports_past(path: Path) -> Iterator[str]:
    """Imports of another package's modules."""
    own = path.relative_to(SOURCE).parts
    if len(own) == 1:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        above = own[: len(own) - node.level]
        target = (*above, *(node.module.split(".") if node.module else ()))
        if len(own) < node.level or not target or target[0] in (own[0], "_lazy", "_version"):
            continue
        where = f"{path.relative_to(SOURCE.parent.parent)}:{node.lineno}"
        if not SOURCE.joinpath(*target).is_dir():
            yield f"{where}: imports {'.'.join(target)}; import from its package, and export the name there"
            continue
        exported = exports(SOURCE.joinpath(*target))
        for name in node.names:
            if exported is not None and name.name not in exported:
                yield f"{where}: {'.'.join(target)} does not export {name.name}; add it to its __init__.pyi"


def exports(package: Path) -> set[str] | None:
    """The names of a package's stub, or None where its `__init__.py` has code."""
    stub = package / "__init__.pyi"
    if not stub.exists():
        return None
    nodes = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    return {name.name for node in nodes for name in node.names}


def hidden_names(package: Path) -> Iterator[str]:
    """Exported names that a module of the same name would hide."""
    code = ast.parse((package / "__init__.py").read_text())
    eager = {name.name for node in code.body if isinstance(node, ast.ImportFrom) for name in node.names}
    for name in sorted(exports(package) or ()):
        if name not in eager and ((package / f"{name}.py").exists() or (package / name).is_dir()):
            yield f"{package.relative_to(SOURCE.parent.parent)}: {name} is a module too; import it in __init__.py"


if __name__ == "__main__":
    sys.exit(main())
