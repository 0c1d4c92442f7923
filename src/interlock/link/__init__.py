"""How processes talk: unix sockets, the NATS hub."""

from .counter import Caller, LineCounter
from .desks import Desk, Desks
from .endpoint import Actuator, Endpoint, Log, Reply
from .gatefile import FileGate, Gate, read_gate
from .inbox import collect_requests, leave_request
from .journal_log import JournalLog
from .owner import ask_owner, look_up
from .peer import Peer
from .place import gates_folder, is_served, noted_socket, runtime_dir, serve_socket, socket_path
from .serving import ControlServer
from .unix import LineHandler, LineServer, listen

__all__ = [
    "Actuator", "Caller", "ControlServer", "Desk", "Desks", "Endpoint", "FileGate", "Gate", "JournalLog",
    "LineCounter", "LineHandler", "LineServer", "Log", "Peer", "Reply", "ask_owner", "collect_requests",
    "gates_folder", "is_served", "leave_request", "listen", "look_up", "noted_socket", "read_gate", "runtime_dir",
    "serve_socket", "socket_path",
]  # fmt: skip
