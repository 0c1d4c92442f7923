"""Typed values from any thread: the first use of a type by many threads at once harms nobody."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from interlock.core import RunSpec
from interlock.core.decoding import from_json, from_msgpack, from_plain, json_decoder

MANY_THREADS = """
import sys, threading, types
from interlock.core.decoding import from_json, from_plain
sys.setswitchinterval(1e-6)
SHAPE = '''
from __future__ import annotations
from msgspec import Struct
class Inner(Struct):
    number: int = 0
''' + "".join(f"    text{i}: str | None = None\\n" for i in range(20)) + '''
class Outer(Struct):
    one: Inner
    many: list[Inner]
''' + "".join(f"    named{i}: dict[str, Inner] | None = None\\n" for i in range(20))
for turn in range(60):
    module = types.ModuleType(f"shape{turn}")
    sys.modules[module.__name__] = module
    exec(SHAPE, module.__dict__)
    start, seen = threading.Barrier(4), []
    def read():
        start.wait()
        seen.append(from_json(b'{"one": {"number": 1}, "many": [{"number": 2}]}', module.Outer).many[0].number)
        seen.append(from_plain({"number": 3}, module.Inner).number)
    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert sorted(seen) == [2] * 4 + [3] * 4, seen
print("whole")
"""


def test_many_threads_may_be_the_first_to_use_a_type() -> None:
    done = subprocess.run([sys.executable, "-c", MANY_THREADS], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        from_json(b'{"run_id": 1}', RunSpec)
    with pytest.raises(msgspec.DecodeError):
        from_msgpack(b"", dict[str, int])
    with pytest.raises(msgspec.ValidationError):
        from_plain({"run_id": 1}, RunSpec)


def test_a_kind_has_one_decoder() -> None:
    assert json_decoder(RunSpec) is json_decoder(RunSpec)
    assert from_json('{"a": [1]}') == {"a": [1]}
