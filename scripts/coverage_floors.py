"""How much of each pure package its own tests run; the exit status is 1 if a package is below its floor.

make coverage
python scripts/coverage_floors.py decide control    only these
"""

from __future__ import annotations

import sys
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS: dict[str, float] = {}
"""Per cent of the lines. A floor lies just below what was measured when it was set: raise it, never lower it."""


def main() -> int:
    packages = sys.argv[1:] or list(FLOORS)
    source = ROOT / "src" / "interlock"
    measured = coverage.Coverage(data_file=None, config_file=False, source=[str(source / name) for name in packages])
    quiet = ["-q", "--no-header", "-p", "no:xdist", "-p", "no:cov", "-p", "no:cacheprovider"]
    measured.start()
    status = pytest.main([*quiet, "--rootdir", str(ROOT), *(str(ROOT / "tests" / name) for name in packages)])
    measured.stop()
    low = False
    for name in packages:
        lines = missed = 0
        for path in sorted((source / name).rglob("*.py")):
            _, statements, _, missing, _ = measured.analysis2(str(path))
            lines, missed = lines + len(statements), missed + len(missing)
        share = 100 * (1 - missed / lines)
        low = low or share < FLOORS.get(name, 0.0)
        print(f"{name:10} {lines:5} lines  {missed:4} not run  {share:5.1f}%  floor {FLOORS.get(name, 0.0):g}%")
    return int(status) or int(low)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
