"""Three real NATS servers as one cluster, and everything that can happen to them."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import socket
import subprocess
import threading
import time
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from interlock.config.schema import Hub

from .broker import find_server, keep_port

SIZE = 3


class Wire:
    """A TCP proxy. Cut, it takes connections and bytes and passes nothing on."""

    def __init__(self, target: int) -> None:
        self.port, self._target, self.cut = 0, target, False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def heal(self) -> None:
        """Pass bytes on again. What was swallowed is gone, so the old connections are closed."""
        self.cut = False
        pairs, self._pairs = self._pairs, []
        for sock in (sock for pair in pairs for sock in pair):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        self.heal()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self._target), 2)
                except OSError:
                    near.close()
                    continue
                self._pairs.append((near, far))
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if not self.cut:
                    sink.sendall(data)
        for sock in (source, sink):
            with contextlib.suppress(OSError):
                sock.close()


class Cluster:
    """Start it with `with`. Faults come in pairs: what is done to a server, and `heal`."""

    def __init__(self, place: Path, at_first: int = SIZE) -> None:
        self.place, self._at_first = place, at_first
        self._kept = [keep_port() for _ in range(3 * SIZE)]
        ports: list[int] = [sock.getsockname()[1] for sock in self._kept]
        self.ports, self._routes, self._monitors = ports[:SIZE], ports[SIZE : 2 * SIZE], ports[2 * SIZE :]
        self.wires = {(i, j): Wire(self._routes[j]) for i in range(SIZE) for j in range(SIZE) if i != j}
        self.processes: list[subprocess.Popen[bytes] | None] = [None] * SIZE
        self._mounted: set[int] = set()
        for index in range(SIZE):
            self.store(index).mkdir(parents=True)

    @property
    def settings(self) -> Hub:
        return Hub(url=",".join(f"nats://127.0.0.1:{port}" for port in self.ports), unsigned=True)

    def store(self, index: int) -> Path:
        return self.place / f"server-{index}"

    def start(self, index: int) -> None:
        routes = ", ".join(f'"nats://127.0.0.1:{self.wires[index, j].port}"' for j in range(SIZE) if j != index)
        config = self.place / f"server-{index}.conf"
        config.write_text(
            f"server_name: s{index}\nlisten: 127.0.0.1:{self.ports[index]}\nhttp: 127.0.0.1:{self._monitors[index]}\n"
            f'jetstream {{ store_dir: "{self.store(index)}", sync_interval: always }}\n'
            f"cluster {{ name: c, listen: 127.0.0.1:{self._routes[index]}, no_advertise: true, pool_size: -1, "
            f"routes: [{routes}] }}\n"
        )
        with (self.place / f"server-{index}.log").open("ab") as log:
            self.processes[index] = subprocess.Popen([find_server(), "-c", str(config)], stdout=log, stderr=log)

    def kill(self, index: int) -> None:
        process = self.processes[index]
        if process is not None:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
            self.processes[index] = None

    def signal(self, index: int, number: int) -> None:
        process = self.processes[index]
        if process is not None:
            process.send_signal(number)

    def cut_off(self, index: int) -> None:
        """From the other servers. Clients still reach it."""
        for (i, j), wire in self.wires.items():
            if index in (i, j):
                wire.cut = True

    def heal(self, index: int) -> None:
        for (i, j), wire in self.wires.items():
            if index in (i, j):
                wire.heal()

    def lose_data(self, index: int) -> None:
        self.kill(index)
        for path in self.store(index).iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.start(index)

    def fill_disk(self, index: int) -> None:
        """Leave no room in the file system of one server, which has one of its own."""
        with contextlib.suppress(OSError), (self.store(index) / "filler").open("wb") as filler:
            while True:
                filler.write(b"\0" * 65536)

    def empty_disk(self, index: int) -> None:
        (self.store(index) / "filler").unlink(missing_ok=True)
        # A server that could not write stops its streams until it is started again.
        self.kill(index)
        self.start(index)

    def mount_small_disk(self, index: int, size: str = "512m") -> bool:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.store(index)], capture_output=True
        )
        if done.returncode == 0:
            self._mounted.add(index)
        return done.returncode == 0

    def is_whole(self) -> bool:
        """Whether every server has caught up with every stream, by what each says of itself."""
        time.sleep(0.1)
        return all(self._is_current(monitor) for monitor in self._monitors)

    @staticmethod
    def _is_current(monitor: int) -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{monitor}/jsz", timeout=5) as answer:
                has_streams = json.load(answer)["streams"] == 2
            with urlopen(f"http://127.0.0.1:{monitor}/healthz", timeout=5) as answer:
                return has_streams and json.load(answer)["status"] == "ok"
        except (OSError, ValueError, HTTPException):
            return False

    def leader(self) -> int | None:
        """Which server leads the stream, by what a server says of itself."""
        import asyncio

        from interlock.link.hub_connect import open_session

        async def ask() -> str:
            session = await open_session(self.settings, "leader")
            try:
                info = await session.api("STREAM.INFO.INTERLOCK", {})
            finally:
                await session.close()
            return str(info.get("cluster", {}).get("leader", ""))

        with contextlib.suppress(Exception):
            name = asyncio.run(asyncio.wait_for(ask(), 10))
            return int(name[1:]) if name.startswith("s") else None
        return None

    def __enter__(self) -> Cluster:
        for index in range(self._at_first):
            self.start(index)
        deadline = time.monotonic() + 60
        while self.leader() is None:
            assert time.monotonic() < deadline, "the cluster has no leader"
            time.sleep(0.2)
        return self

    def __exit__(self, *_: object) -> None:
        for index in range(SIZE):
            self.kill(index)
        for wire in self.wires.values():
            wire.close()
        for index in self._mounted:
            subprocess.run(["umount", "-l", self.store(index)], check=False)
        for sock in self._kept:
            sock.close()
