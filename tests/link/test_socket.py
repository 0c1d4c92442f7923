"""The socket: who may talk, what is too long, who has gone, and what waits in the inbox."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from interlock.control import Received, new_request
from interlock.core import InterlockError
from interlock.link import (
    LineHandler,
    LineServer,
    ask_owner,
    collect_requests,
    leave_request,
    listen,
    noted_socket,
    runtime_dir,
    socket_path,
)

from ..control.owner import RUN, make, short
from .owned import Owned, SocketSender


def ask(owned: Owned, command: str, payload: dict[str, object] | None = None, **more: object) -> object:
    request = new_request(f"{command}-1", command, RUN, payload)  # type: ignore[arg-type]
    return ask_owner(owned.folder, request, **more)  # type: ignore[arg-type]


def test_the_socket_is_the_owners_alone_and_its_name_is_short(quick_root: Path) -> None:
    deep = quick_root / ("d" * 90)
    with Owned(deep) as owned:
        path = owned.server.path
        assert len(os.fsencode(path)) < 108
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert noted_socket(owned.folder.path) == path
    assert not path.exists()


def test_a_run_has_its_sockets_however_long_the_runtime_directory_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for length in range(60, 108):
        base = Path("/tmp") / f"il{os.getpid()}".ljust(length - len("/tmp/"), "x")
        base.mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(base))
        try:
            folder = socket_path(tmp_path).with_suffix("")
            folder.mkdir(mode=0o700, exist_ok=True)
            for name in ("steps", "egress"):
                listen(folder / name).close()
            shutil.rmtree(folder)
        finally:
            shutil.rmtree(base)


def test_a_runtime_directory_that_others_can_enter_is_not_used(own_runtime_dir: Path) -> None:
    (own_runtime_dir / "interlock").mkdir(mode=0o755)
    (own_runtime_dir / "interlock").chmod(0o755)
    assert runtime_dir().parent != own_runtime_dir


def test_a_path_that_is_too_long_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InterlockError, match="107 bytes"):
        listen(tmp_path / ("x" * 120))


def test_the_kernel_says_who_asked(quick_root: Path) -> None:
    with Owned(quick_root) as owned:
        ask(owned, "pause")
        request = msgspec.json.decode(owned.records(frozenset({"request"}))[0].body)
    assert f"uid {os.getuid()}, pid {os.getpid()}" in request["actor"]


def test_another_user_is_refused_with_an_audit_row(quick_root: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    with Owned(quick_root) as owned:
        for place in (owned.server.path.parent.parent, owned.server.path.parent):
            place.chmod(0o711)
        owned.server.path.chmod(0o666)
        code = (
            "import os, socket, sys\n"
            "os.setgid(65534); os.setuid(65534)\n"
            "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
            "print(s.makefile().read())\n"
        )
        done = subprocess.run([sys.executable, "-c", code, str(owned.server.path)], capture_output=True, check=True)
        answer = msgspec.json.decode(done.stdout)
        assert answer["request_id"] is None and answer["payload"]["code"] == "bad_request"
        assert "uid 65534" in answer["payload"]["message"]
        assert owned.audits()[-1]["what"] == "refused" and owned.endpoint.state.status == "running"


@pytest.mark.parametrize("is_met", [False, True], ids=["before it is met", "afterwards"])
def test_a_connection_whose_maker_has_ended_is_not_a_persons(quick_root: Path, is_met: bool) -> None:
    """An agent's process can leave its connection to another, and a person's process may have its number by then."""
    with Owned(quick_root) as owned, socket.socket(socket.AF_UNIX) as left, socket.socket(socket.AF_UNIX) as other:
        refused: list[str] = []
        owned.server.authority.why_inside = lambda pid: ""
        owned.server.authority.on_refused = refused.append
        assert ask(owned, "pause")
        here, there = socket.socketpair()
        maker = os.fork()
        if maker == 0:
            here.close()
            left.connect(str(owned.server.path))
            there.send(b"c")
            there.recv(1)
            os._exit(0)
        there.close()
        assert here.recv(1) == b"c"
        if is_met:
            # Connections are accepted in their order.
            other.connect(str(owned.server.path))
            other.sendall(b"not a message\n")
            assert other.recv(1)
        here.close()
        os.waitpid(maker, 0)
        left.sendall(make("resume") + b"\n")
        with left.makefile("rb") as answers:
            assert b"it has ended" in answers.readline()
        assert owned.endpoint.state.status == "paused"
        assert len(refused) == 1 and f"process {maker}" in refused[0]


@pytest.mark.parametrize(
    "data",
    [
        b"not json",
        b"[1,2]",
        make("pause", {"x": "y" * 1_000_000}),
        make("pause", {"x": "y" * 8_000_000}),
        b"\xff" * 1000,
        b'{"type":"REQUEST"}',
    ],
    ids=["not json", "a list", "1 MB", "8 MB", "bytes", "no id"],
)
def test_what_cannot_be_read_gets_an_error_on_the_connection_and_an_audit_row(quick_root: Path, data: bytes) -> None:
    with Owned(quick_root) as owned:
        sender = SocketSender(owned)
        assert sender.say(data, 1) == ["bad_request"]
        assert msgspec.json.decode(sender.last_result())["request_id"] is None
        assert sender.say(make("resume"), 2) == ["ACK", "invalid_state"]
        sender.close()
        assert [row["what"] for row in owned.audits()] == ["unreadable"]


@pytest.mark.parametrize(
    "change",
    [
        (b'"schema":0', b'"schema":9'),
        (b'"command":"pause"', b'"command":"explode"'),
        (b'"payload":{}', b'"payload":7'),
        (b'"target":{"run_id":"run-1"}', b'"target":{}'),
    ],
    ids=["schema", "command", "type", "missing"],
)
def test_a_bad_request_is_answered_and_leaves_an_audit_row(quick_root: Path, change: tuple[bytes, bytes]) -> None:
    with Owned(quick_root) as owned:
        sender = SocketSender(owned)
        assert sender.say(make("pause").replace(*change), 1) == ["bad_request"]
        sender.close()
        assert owned.audits()[-1]["what"] == "bad_request"
        assert owned.endpoint.state.status == "running" and owned.endpoint.counts["", "bad_request"] == 1


def test_two_who_send_the_same_request_both_get_its_result(quick_root: Path) -> None:
    with Owned(quick_root) as owned:
        first, second = SocketSender(owned), SocketSender(owned)
        assert first.say(make("rollback", id="b"), 1) == ["ACK"]
        assert second.say(make("rollback", id="b"), 1) == ["duplicate"]
        assert first.execute() == ["success", "STATE running"]
        assert short(msgspec.json.decode(second.lines.readline())) == "success"
        first.close(), second.close()


def test_a_message_whose_sender_hung_up_is_not_executed(quick_root: Path) -> None:
    with Owned(quick_root) as owned:
        audited = threading.Event()
        owned.endpoint.follow(lambda _, entry: audited.set() if entry.kind == "audit" else None)
        with owned.endpoint._turn:
            # The owner is busy; meanwhile somebody sends and goes.
            holder = SocketSender(owned)
            holder.sock.sendall(make("resume", id="first") + b"\n")
            gone = socket.socket(socket.AF_UNIX)
            gone.connect(str(owned.server.path))
            gone.sendall(make("pause", id="gone") + b"\n")
            gone.close()
        assert holder.say(make("resume", id="last"), 2)[-2:] == ["ACK", "invalid_state"]
        assert audited.wait(150)
        holder.close()
        assert owned.endpoint.state.status == "running"
        assert "disconnected" in str(owned.audits()[-1]["why"])


def test_one_that_sends_and_shuts_only_its_writing_side_is_served(quick_root: Path) -> None:
    with Owned(quick_root) as owned:
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(str(owned.server.path))
        sock.sendall(make("pause") + b"\n")
        sock.shutdown(socket.SHUT_WR)
        lines = sock.makefile("rb").readlines()
        sock.close()
        assert [short(msgspec.json.decode(line)) for line in lines][:2] == ["ACK", "success"]


def test_a_peer_that_does_not_read_is_cut_off_and_harms_nobody(quick_root: Path) -> None:
    with Owned(quick_root) as owned:
        deaf = socket.socket(socket.AF_UNIX)
        deaf.connect(str(owned.server.path))
        deaf.setblocking(False)
        try:
            while True:
                deaf.send(b"x\n" * 1000)
        except BlockingIOError:
            pass
        except BrokenPipeError:
            pass
        sender = SocketSender(owned)
        assert sender.say(make("pause"), 3) == ["ACK", "success", "STATE paused"]
        sender.close(), deaf.close()


def test_a_dead_owner_is_named_at_once_and_finds_the_request_when_it_comes_back(quick_root: Path) -> None:
    owned = Owned(quick_root)
    owned.close()
    heard = threading.Event()
    notices: list[str] = []
    answers: list[object] = []

    def hear(text: str) -> None:
        notices.append(text)
        heard.set()

    asking = threading.Thread(target=lambda: answers.append(ask(owned, "pause", timeout=150, notice=hear)))
    asking.start()
    assert heard.wait(150)
    assert f"process {os.getpid()}" in notices[0] and "dead" in notices[0]
    assert len(list(collect_requests(owned.folder.inbox))) == 1
    owned.start()
    asking.join()
    assert answers[0].outcome == "success"  # type: ignore[attr-defined]
    assert list(collect_requests(owned.folder.inbox)) == []
    assert len(owned.records(frozenset({"result"}))) == 1
    owned.close()


def test_a_request_left_longer_than_30_s_ago_is_an_audit_row(quick_root: Path) -> None:
    owned = Owned(quick_root)
    owned.close()
    old = leave_request(owned.folder.inbox, "old", 1, make("pause", id="old"))
    os.utime(old, (old.stat().st_mtime - 31,) * 2)
    leave_request(owned.folder.inbox, "young", 1, make("escalate", id="young"))
    leave_request(owned.folder.inbox, "junk", 1, b"junk")
    owned.start()
    assert owned.endpoint.state.status == "running" and owned.endpoint.state.model == "claude-opus-4-1"
    assert sorted(str(row["what"]) for row in owned.audits()) == ["expired", "unreadable"]
    assert list(owned.folder.inbox.iterdir()) == []
    owned.close()


def test_a_run_that_has_ended_is_not_found_without_an_owner(quick_root: Path) -> None:
    owned = Owned(quick_root)
    ask(owned, "cancel")
    owned.close()
    again = ask(owned, "cancel")
    other = ask(owned, "pause")
    assert again.outcome == "success"  # type: ignore[attr-defined]
    assert (other.outcome, other.code) == ("failure", "not_found")  # type: ignore[attr-defined]
    assert not list(owned.folder.inbox.iterdir())


def test_nobody_answers_in_time_and_the_outcome_is_unknown(quick_root: Path) -> None:
    owned = Owned(quick_root)
    owned.close()
    answer = ask(owned, "pause", timeout=0.2)
    assert answer.outcome == "unknown" and "running" in answer.message  # type: ignore[attr-defined]


def test_a_command_that_takes_longer_than_the_time_out_is_unknown_and_accepted(quick_root: Path) -> None:
    def accepted_within(seconds: float) -> bool:
        with Owned(quick_root / str(seconds)) as owned:
            answer = ask(owned, "rollback", {"to": "c1"}, timeout=seconds)
            assert answer.outcome == "unknown"  # type: ignore[attr-defined]
            return bool(answer.accepted)  # type: ignore[attr-defined]

    # On a busy machine it may take longer to be accepted.
    assert any(accepted_within(seconds) for seconds in (0.2, 2, 20))


def test_an_owner_that_dies_after_the_commit_is_answered_for_by_its_journal(quick_root: Path) -> None:
    owned = Owned(quick_root)
    owned.endpoint.post(Received(make("pause", id="pause-1")))
    owned.close()
    answer = ask(owned, "pause", timeout=150)
    assert answer.outcome == "success" and answer.result is not None  # type: ignore[attr-defined]


def test_a_server_may_be_closed_before_it_was_started_and_more_than_once(own_runtime_dir: Path) -> None:
    path = own_runtime_dir / "s"
    for started in (False, True):
        server = LineServer(listen(path), LineHandler())
        if started:
            server.start()
        server.close()
        server.close()
        with socket.socket(socket.AF_UNIX) as sock, pytest.raises(OSError, match="refused"):
            sock.connect(str(path))


def test_a_socket_that_outlives_its_owner_is_served_by_the_next(quick_root: Path) -> None:
    owned = Owned(quick_root)
    owned.close()
    kept = listen(socket_path(owned.folder.path))
    heard = threading.Event()
    answers: list[object] = []
    notice = lambda text: heard.set()  # noqa: E731
    asking = threading.Thread(target=lambda: answers.append(ask(owned, "pause", timeout=150, notice=notice)))
    asking.start()
    assert heard.wait(150)
    owned.start(kept.dup())
    asking.join()
    assert answers[0].outcome == "success"  # type: ignore[attr-defined]
    owned.close()
    assert socket_path(owned.folder.path).exists()
    kept.close()


def test_two_runs_have_two_sockets(quick_root: Path) -> None:
    assert socket_path(quick_root / "a") != socket_path(quick_root / "b")


def test_a_mistake_over_one_message_does_not_end_control_of_the_run(
    quick_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Owned(quick_root) as owned:
        receive = owned.endpoint.receive

        def stumble(data: bytes, *rest: object, **more: object) -> None:
            if b"stumble" in data:
                raise ValueError("a mistake of ours")
            receive(data, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(owned.endpoint, "receive", stumble)
        first, second = SocketSender(owned), SocketSender(owned)
        first.sock.sendall(b"stumble\n")
        assert first.lines.readline() == b""
        assert second.say(make("pause", id="p"), 3)
        assert ask(owned, "resume", timeout=150).outcome == "success"  # type: ignore[attr-defined]
        first.close()
        second.close()
