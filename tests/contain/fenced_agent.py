"""What an agent tries inside a fence; writes what came of it to results.json. Needs the standard library alone."""

import ctypes
import json
import os
import socket
import ssl
import sys
import urllib.error
import urllib.request
from pathlib import Path

outside, tls_port, model_port, http_port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
results: dict[str, object] = {}


def attempt(name: str, what: object) -> None:
    try:
        results[name] = what()  # type: ignore[operator]
    except (OSError, ValueError) as error:
        results[name] = f"{type(error).__name__}: {error}"


def connect(host: str, port: int, family: int = socket.AF_INET) -> str:
    with socket.socket(family) as sock:
        sock.settimeout(5)
        sock.connect((host, port))
    return "connected"


def tunnel(host: str, port: int, name: str) -> str:
    way = urllib.request.getproxies()["https"].rpartition(":")[2]
    with socket.create_connection(("127.0.0.1", int(way)), timeout=150) as sock:
        sock.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
        said = sock.recv(4096).decode()
        if " 200 " not in said:
            return said.splitlines()[0]
        context = ssl._create_unverified_context()
        with context.wrap_socket(sock, server_hostname=name) as tls:
            tls.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            return tls.recv(4096).decode().splitlines()[0]


def call(number: int, *values: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    if (done := int(libc.syscall(number, *values))) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done


def ask_model() -> str:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}
    headers = {"content-type": "application/json", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers
    )
    with urllib.request.urlopen(request, timeout=150) as answer:
        return str(json.load(answer)["content"][0]["text"])


def send_in_plain() -> str:
    with urllib.request.urlopen("http://example.test/", timeout=150) as answer:
        return str(answer.status)


def by_own_proxy() -> str:
    handler = urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{http_port}"})
    with urllib.request.build_opener(handler).open("http://example.test/", timeout=5) as answer:
        return str(answer.status)


home = Path.home()
attempt("write in the workspace", lambda: Path("made").write_text("x"))
attempt("write to the temporary folder", lambda: Path("/tmp/made").write_text("x"))
attempt("write to the home", lambda: (home / "made").write_text("x"))
attempt("write outside", lambda: Path(outside, "made").write_text("x"))
attempt("write to the machine", lambda: Path("/etc/made").write_text("x"))
attempt("write to a given place", lambda: (home / "given" / "made").write_text("x"))
attempt("write the client's settings", lambda: (home / ".claude/settings.json").write_text("{}"))
attempt("write the client's own", lambda: (home / ".claude/history").write_text("x"))
attempt("read a key", lambda: (home / ".ssh/id_ed25519").read_text())
attempt("read credentials", lambda: (home / ".netrc").read_text())
attempt("read what is hidden", lambda: (home / "private/secret").read_text())
attempt("a service outside", lambda: connect("127.0.0.1", tls_port))
attempt("the model outside", lambda: connect("127.0.0.1", model_port))
attempt("an address", lambda: connect("192.0.2.1", 443))
attempt("an address of IPv6", lambda: connect("2001:db8::1", 443, socket.AF_INET6))
attempt("a neighbour of IPv6", lambda: connect("fe80::1%lo", 443, socket.AF_INET6))
attempt("a name server by TCP", lambda: connect("192.0.2.53", 53))
attempt("a name server by UDP", lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"?", ("192.0.2.53", 53)))
attempt("every neighbour", lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"?", ("224.0.0.251", 5353)))
attempt("a name", lambda: str(socket.getaddrinfo("example.com", 443)))
attempt("a host that is not allowed", lambda: tunnel("example.test", 443, "example.test"))
attempt("a plain request", send_in_plain)
attempt("a proxy of its own", by_own_proxy)
attempt("an allowed host", lambda: tunnel("localhost", tls_port, "localhost"))
attempt("another name behind it", lambda: tunnel("localhost", tls_port, "other.test"))
attempt("the model's host directly", lambda: tunnel("127.0.0.1", model_port, "127.0.0.1"))
attempt("a server's unix socket", lambda: socket.socket(socket.AF_UNIX).connect(str(home / "server.sock")))
attempt("a socket to the hypervisor", lambda: str(socket.socket(40, socket.SOCK_STREAM)))
attempt("the kernel's keyrings", lambda: call({"x86_64": 250, "aarch64": 219}[os.uname().machine], 0, -4, 0))
attempt("io_uring", lambda: call(425, 1, 0))
attempt("make settings of the client", lambda: (home / ".claude/settings.local.json").write_text("{}"))
attempt("ask the model", ask_model)
results["key"] = os.environ["ANTHROPIC_API_KEY"]
results["environment"] = "\n".join(f"{name}={value}" for name, value in os.environ.items())
Path("results.json").write_text(json.dumps(results))
