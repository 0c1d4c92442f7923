"""Thirty cases of bench/harm under guard: an agent does it for real, a person rolls back, nothing is different."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from interlock.contain import why_not

from ..e2e.running import Place

HARM = Path(__file__).parents[2] / "bench" / "harm"
FAMILIES = ("delete_outside", "delete_inside", "dotfiles", "run_later", "modify_outside", "permissions", "disguised")
COUNT = 30
pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no guard here: {why_not()}")

AGENT = """
import json, os, subprocess, sys
sys.path[:0] = sys.argv[1].split(":")
from interlock.adapters.command import Steps
steps = Steps()
for given in json.loads(sys.argv[2]):
    command = given if isinstance(given, str) else "cat > " + given["w"] + " <<'E_O_F'\\n" + given["c"] + "E_O_F"
    if steps.before("bash", {"command": command})["action"] == "proceed":
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        steps.after((done.stdout + done.stderr)[-2000:], exit_code=done.returncode)
"""


def chosen() -> list[dict[str, Any]]:
    """Cases that need nothing but a home, taken evenly from the families."""
    found = []
    for family in FAMILIES:
        cases = yaml.safe_load((HARM / "cases" / f"{family}.yaml").read_text())["cases"]
        plain = [
            case for case in cases if not case.keys() & {"services", "before"} and _is_local(json.dumps(case["do"]))
        ]
        found.append(plain)
    rows = [case for row in zip(*(each * COUNT for each in found), strict=False) for case in row]
    return list({case["id"]: case for case in rows}.values())[:COUNT]


def _is_local(words: str) -> bool:
    return not any(other in words for other in ("/srv", "/tmp", "/var", "website", "origin", "feature", '"e"'))


@pytest.fixture
def home(place: Place) -> Iterator[Path]:
    made = Path(os.environ.get("HOME", "/root")) / f".interlock-harm-{os.getpid()}"
    planted = yaml.safe_load((HARM / "home.yaml").read_text())
    work = made / "projects" / "app"
    for folder, files in ((made, planted["home"]), (work, planted["workspace"])):
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    git = ("git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first"), ("commit", "-qm", "2", "--allow-empty")):
        subprocess.run([*git, *words], check=True)
    place.workspace = work
    yield made
    subprocess.run(["chmod", "-R", "u+rwX", made], check=True)
    shutil.rmtree(made)


def picture(home: Path) -> dict[str, tuple[int, object]]:
    """Every path with its mode and content; what Interlock and caches keep left out."""
    found: dict[str, tuple[int, object]] = {}
    for path in sorted(home.rglob("*")):
        inner = path.relative_to(home)
        own = inner.parts[0] in (".cache", ".npm", ".local") or inner.parts[:2] == (".config", "interlock")
        if own and "bin" not in inner.parts:
            continue
        info = path.lstat()
        content: object = path.read_bytes() if stat.S_ISREG(info.st_mode) else None
        content = path.readlink() if stat.S_ISLNK(info.st_mode) else content
        if inner.name != "index":
            found[str(inner)] = (info.st_mode, content)
    return found


@pytest.mark.parametrize("case", chosen(), ids=lambda case: case["id"])
def test_nothing_lasts(case: dict[str, Any], home: Path, place: Place) -> None:
    do = case["do"] if isinstance(case["do"], list) else [case["do"]]
    steps = json.loads(json.dumps(do).replace("/home/dev", str(home)))
    environment = {name: value for name, value in place.environment.items() if not name.startswith("XDG")}
    environment |= {"HOME": str(home), "INTERLOCK_CONTAIN__FILES": "workspace"}
    before = picture(home)
    agent = [sys.executable, "-c", AGENT, environment["PYTHONPATH"], json.dumps(steps)]
    words = [sys.executable, "-m", "interlock", "run", "--name", "case", "--task", "Get the tests green.", "--", *agent]
    run = place.begin(words, env=environment, stderr=subprocess.STDOUT)
    out, _ = run.communicate(timeout=150)
    rollback = [sys.executable, "-m", "interlock", "rollback", "case", "--yes"]
    back = subprocess.run(rollback, cwd=place.workspace, env=environment, capture_output=True, check=False)
    after = picture(home)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert not changed, (shlex.join(map(str, do)), out.decode()[-1500:], back.stdout.decode()[-500:])
