"""The system call filter, run by a small interpreter of BPF: which ioctl calls get through."""

from __future__ import annotations

import struct

import pytest

from interlock.contain.seccomp import ALLOW, IOCTL, REFUSE, TIOCLINUX, TIOCSTI, program

X86, I386, ARM = 0xC000003E, 0x40000003, 0xC00000B7


def judge(code: bytes, arch: int, number: int, request: int) -> int:
    data = {0: number, 4: arch, 24: request}
    operations = list(struct.iter_unpack("=HBBI", code))
    value, at = 0, 0
    while True:
        kind, if_true, if_false, operand = operations[at]
        at += 1
        if kind == 0x20:
            value = data[operand]
        elif kind == 0x06:
            return operand
        else:
            holds = value == operand if kind == 0x15 else value >= operand
            at += if_true if holds else if_false


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_typing_into_a_terminal_is_refused_and_all_else_allowed(machine: str) -> None:
    code = program(IOCTL[machine])
    for arch, ioctl in IOCTL[machine]:
        for request in (TIOCSTI, TIOCLINUX):
            assert judge(code, arch, ioctl, request) == REFUSE
        assert judge(code, arch, ioctl, 0x5401) == ALLOW
        assert judge(code, arch, ioctl + 1, TIOCSTI) == ALLOW


def test_another_architecture_and_the_x32_numbers_are_refused() -> None:
    code = program(IOCTL["x86_64"])
    assert judge(code, ARM, 29, 0) == REFUSE
    assert judge(code, X86, 0x40000000 + 514, TIOCSTI) == REFUSE
    assert judge(code, I386, 54, 0x5401) == ALLOW
