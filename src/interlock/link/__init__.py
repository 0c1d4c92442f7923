"""How processes talk: unix sockets, the NATS hub."""

from .accept_threads import AcceptedConnection, AcceptThreads
from .control_server import ControlServer
from .endpoint import Actuator, Endpoint, Log, Reply
from .gate_file import FileGate, GateState, read_gate
from .inbox import collect_requests, leave_request
from .journal_log import JournalLog
from .line_server import LineHandler, LineServer, listen
from .owner_client import ask_owner, look_up
from .peer import Peer
from .socket_paths import gates_folder, is_served, noted_socket, runtime_dir, serve_socket, socket_path
from .threaded_line_server import LineClient, ThreadedLineServer

__all__ = [
    "AcceptThreads", "AcceptedConnection", "Actuator", "ControlServer", "Endpoint", "FileGate", "GateState",
    "JournalLog", "LineClient", "LineHandler", "LineServer", "Log", "Peer", "Reply", "ThreadedLineServer", "ask_owner",
    "collect_requests", "gates_folder", "is_served", "leave_request", "listen", "look_up", "noted_socket", "read_gate",
    "runtime_dir", "serve_socket", "socket_path",
]  # fmt: skip
