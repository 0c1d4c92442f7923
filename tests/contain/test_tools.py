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
WHEEL = """import zipfile
with zipfile.ZipFile("m-1-py3-none-any.whl", "w") as wheel:
    wheel.writestr("m.py", "")
    wheel.writestr("m-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: m\\nVersion: 1\\n")
    wheel.writestr("m-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("m-1.dist-info/RECORD", "")
"""
PIP = f"""{sys.executable} -m venv env && {sys.executable} -c '{WHEEL}' &&
env/bin/pip install -q --no-index --disable-pip-version-check ./m-1-py3-none-any.whl && env/bin/python -c 'import m'"""
CARGO = "cargo init -q --vcs none --name x . && cargo build -q --offline && ./target/debug/x"
XDIST = f"""printf 'import pytest\\n@pytest.mark.parametrize("n", range(6))\\ndef test_x(n): pass\\n' > test_x.py &&
{sys.executable} -m pytest -q -p no:cacheprovider -n 2 test_x.py"""
SERVER = f""": > log
{sys.executable} -u -m http.server 0 --bind 127.0.0.1 > log 2>&1 & pid=$!
for i in $(seq 1000); do port=$(sed -n 's/.*port \\([0-9]*\\) .*/\\1/p' log); test -n "$port" && break; sleep 0.1; done
{sys.executable} -c "import urllib.request as u; print(u.urlopen('http://127.0.0.1:$port/log').status)" && kill $pid"""
WINDOW = "xvfb-run -a xdpyinfo > shown || xvfb-run -a xterm -e true"
JOBS = "(sleep 0.1; echo a) & (sleep 0.2; echo b) & wait; mkfifo f; echo c > f & cat f; flock lock true"

LONG = pytest.mark.torture


@pytest.mark.parametrize(
    ("needs", "script"),
    [
        pytest.param("git", GIT, id="git"),
        pytest.param("npm", NPM, id="npm", marks=LONG),
        pytest.param("sh", PIP, id="pip", marks=LONG),
        pytest.param("cargo", CARGO, id="cargo", marks=LONG),
        pytest.param("sh", XDIST, id="pytest-xdist"),
        pytest.param("sh", SERVER, id="server"),
        pytest.param("xvfb-run", WINDOW, id="window", marks=LONG),
        pytest.param("flock", JOBS, id="jobs"),
    ],
)
def test_a_tool_works_under_guard(place: Place, needs: str, script: str) -> None:
    if shutil.which(needs) is None:
        pytest.skip(f"{needs} is not installed")
    status, out, err = place.run("sh", "-ec", script, options=("--contain", "guard", "--no-checkpoints"))
    assert status == 0, (out, err)
