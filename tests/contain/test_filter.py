"""The system call filter, run by a small interpreter of BPF: which calls get through."""

from __future__ import annotations

import struct

import pytest

from interlock.contain.sandbox_arguments import ABSENT, ALLOW, MACHINES, NO_FAMILY, REFUSE, TIOCLINUX, TIOCSTI, program

X86, I386, ARM = 0xC000003E, 0x40000003, 0xC00000B7


def judge(code: bytes, arch: int, number: int, request: int = 0, family: int = 0) -> int:
    data = {0: number, 4: arch, 16: family, 24: request}
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


@pytest.mark.parametrize("fenced", [False, True])
@pytest.mark.parametrize("machine", MACHINES)
def test_typing_into_a_terminal_is_refused_and_all_else_allowed(machine: str, fenced: bool) -> None:
    code = program(MACHINES[machine], fenced=fenced)
    for known in MACHINES[machine]:
        for request in (TIOCSTI, TIOCLINUX):
            assert judge(code, known.arch, known.ioctl, request) == REFUSE
        assert judge(code, known.arch, known.ioctl, 0x5401) == ALLOW
        assert judge(code, known.arch, known.ioctl + 1, TIOCSTI) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_in_a_fence_only_sockets_that_its_walls_hold_can_be_made(machine: str) -> None:
    guard, fence = (program(MACHINES[machine], fenced=fenced) for fenced in (False, True))
    for known in MACHINES[machine]:
        for family, answer in ((1, ALLOW), (2, ALLOW), (10, ALLOW), (16, ALLOW), (40, NO_FAMILY), (31, NO_FAMILY)):
            assert judge(fence, known.arch, known.socket, family=family) == answer
            assert judge(guard, known.arch, known.socket, family=family) == ALLOW
        for number in known.absent:
            assert judge(fence, known.arch, number) == ABSENT
            assert judge(guard, known.arch, number) == ALLOW


def test_another_architecture_and_the_x32_numbers_are_refused() -> None:
    for fenced in (False, True):
        code = program(MACHINES["x86_64"], fenced=fenced)
        assert judge(code, ARM, 29) == REFUSE
        assert judge(code, X86, 0x40000000 + 514, TIOCSTI) == REFUSE
        assert judge(code, I386, 54, 0x5401) == ALLOW
