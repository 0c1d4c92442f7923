"""Under guard people's tools work as before: git, npm, pip, cargo, pytest with xdist, a server, a window."""

from __future__ import annotations

import shutil
import sys

import pytest

from interlock.contain import why_not

from ..e2e.running import Place

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no guard here: {why_not()}")

GIT = "git init -q . && git config user.email a@b && git config user.name a && touch x && git add x && git commit -qm x"
NPM = """mkdir p && echo '{"name": "p", "version": "1.0.0"}' > p/package.json &&
npm install --offline --no-audit --no-fund --cache ./cache ./p && test -e node_modules/p/package.json"""
PIP = f"""mkdir -p pkg/m && touch pkg/m/__init__.py && cat > pkg/pyproject.toml <<'T'
[project]
name = "m"
version = "1"
T
{sys.executable} -m venv --system-site-packages env &&
printf 'Metadata-Version: 2.1\\nName: m\\nVersion: 1\\n' > METADATA && env/bin/pip --version && env/bin/pip list -q"""
CARGO = "cargo init -q --vcs none --name x . && cargo build -q --offline && ./target/debug/x"
XDIST = f"""printf 'import pytest\\n@pytest.mark.parametrize("n", range(6))\\ndef test_x(n): pass\\n' > test_x.py &&
{sys.executable} -m pytest -q -p no:cacheprovider -n 2 test_x.py"""
SERVER = f"""{sys.executable} -m http.server 0 --bind 127.0.0.1 > log 2>&1 & pid=$!
for i in $(seq 200); do port=$(sed -n 's/.*port \\([0-9]*\\) .*/\\1/p' log); test -n "$port" && break; sleep 0.1; done
{sys.executable} -c "import urllib.request as u; print(u.urlopen('http://127.0.0.1:$port/log').status)" && kill $pid"""
WINDOW = "xvfb-run -a xdpyinfo > shown || xvfb-run -a xterm -e true"
JOBS = "(sleep 0.1; echo a) & (sleep 0.2; echo b) & wait; mkfifo f; echo c > f & cat f; flock lock true"


@pytest.mark.parametrize(
    ("needs", "script"),
    [("git", GIT), ("npm", NPM), ("pip3", PIP), ("cargo", CARGO), ("sh", XDIST), ("sh", SERVER), ("xvfb-run", WINDOW),
     ("flock", JOBS)],
    ids=["git", "npm", "pip", "cargo", "pytest-xdist", "server", "window", "jobs"],
)  # fmt: skip
def test_a_tool_works_under_guard(place: Place, needs: str, script: str) -> None:
    if shutil.which(needs) is None:
        pytest.skip(f"{needs} is not installed")
    status, out, err = place.run("sh", "-ec", script, options=("--contain", "guard", "--no-checkpoints"))
    assert status == 0, (out, err)
