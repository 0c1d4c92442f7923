"""A system call fails, whichever: what was called durable is there, and nothing that is there is wrong."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from interlock.core import RunSpec
from interlock.journal import JournalReader, RunFolder, Store
from interlock.journal.verify import verify_journal
from interlock.link.gate_file import read_gate

HERE = Path(__file__).parent


@pytest.fixture
def library(tmp_path: Path) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    made = tmp_path / "io_errors.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, HERE / "io_errors.c", "-ldl"], check=True)
    return made


def fail_at(library: Path, root: Path, number: int, code: int) -> tuple[int, bool]:
    """Let one call fail; how many promises were kept, and whether there was such a call."""
    folder = Store(root).create(RunSpec(run_id=f"r{number}-{code}"))
    env = {
        **os.environ, "LD_PRELOAD": str(library), "FAIL_UNDER": str(folder.path), "FAIL_AT": str(number),
        "FAIL_WITH": str(code),
    }  # fmt: skip
    child = [sys.executable, "-m", "tests.journal.io_child", str(folder.path)]
    said = subprocess.run(child, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert said.returncode == 0, f"call {number}: {said.stderr}"
    promised = {int(line.split()[1]) for line in said.stdout.splitlines() if line.startswith("durable")}
    gates = [int(line.split()[1]) for line in said.stdout.splitlines() if line.startswith("gate")]
    check(folder, promised, gates, number)
    return len(promised), len(promised) < 12 or len(gates) < 3


def check(folder: RunFolder, promised: set[int], gates: list[int], number: int) -> None:
    with JournalReader.open(folder) as reader:
        kept = {msgspec.json.decode(record.body)["n"] for record in reader.read(kinds={"result"})}
    assert promised <= kept, f"call {number}: {promised - kept} were promised and are gone"
    found = verify_journal(folder)
    assert found.intact, f"call {number}: {found.words}"
    gate = read_gate(folder.gate) if gates else None
    assert not gates or (gate is not None and gate.shut and gate.revision >= gates[-1])


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_a_call_that_fails_breaks_no_promise(library: Path, tmp_path: Path, code: int) -> None:
    assert fail_at(library, tmp_path / "runs", 10_000, code)[0] == 12, "without a failure all is kept"
    failed = [fail_at(library, tmp_path / "runs", number, code)[1] for number in (3, 17, 30)]
    assert any(failed), "a failure is noticed by somebody who waits"


@pytest.mark.torture
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_whichever_call_fails_no_promise_is_broken(library: Path, tmp_path: Path, code: int) -> None:
    for number in range(1, 120):
        fail_at(library, tmp_path / "runs", number, code)
