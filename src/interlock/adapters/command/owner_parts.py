"""OwnerParts: how supervision of a run begins: what its owner consists of, built and connected."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ...config import Models, parse_hosts
from ...contain import RunMembers, missing_paths, missing_settings
from ...core import Adapter, refuse_writable_programs
from ...journal import HELD, RunFolder, Store
from ...link import socket_path
from ...output import OutputReader
from ...process import attach
from ...runtime import Approvals, Options, RunControl, Supervisor
from ..hooks.clients import adapter_named, dialect_named, new_dialects
from ..hooks.exchange import HookExchange
from ..hooks.hook_guardian import HookGuardian, keep_authority
from ..hooks.wiring import RESUMPTIONS
from ..proxy import ModelChoice, ProxyAdapter, Rewind, SwitchingAdapter
from ..run_process_tree import RunProcessTree
from ..steps.server import StepServer
from .containment_choice import SandboxPaths, sandbox_words
from .liveness_monitor import LivenessMonitor
from .owner_messages import BeginRun, steps_path
from .refusals import Refusals
from .self_monitor import SelfMonitor
from .usage_limit_parking import UsageLimitParking

if TYPE_CHECKING:
    from ..proxy.egress import Egress
    from ..proxy.proxy import Proxy

LAST_WORDS_S = 600.0
"""Only the client's output of the last this many seconds counts as its last words."""


class OwnerParts:
    """The parts of one run's owner. `listeners` are those of the proxy and of the egress proxy, if there are any."""

    def __init__(
        self, begin: BeginRun, control: socket.socket, steps: socket.socket, *listeners: socket.socket
    ) -> None:
        self._begin = begin
        self._choice = ModelChoice(Models.from_config(begin.config).aliases if begin.proxied is not None else None)
        self._rewind = Rewind()
        self.folder = RunFolder(Path(begin.store) / begin.spec.run_id)
        self.held_file = self.folder.path / HELD
        self.held = RunProcessTree(expected=True, held_by_person=self.held_file.exists)
        self.members = RunMembers()
        if begin.tree is not None:
            # Set before anyone can ask for a pause: a pause reported as effective must be effective.
            self.members.tree = begin.tree
            self.held.attach_running(attach(begin.tree))
        self.supervisor = self._open(control)
        if begin.contained:
            refuse_writable_programs()
            self.supervisor.stop_gate.runner.enclose = self._sandbox_words
        self.steps = StepServer(steps, self.supervisor)
        self.guardian = HookGuardian(
            self.supervisor,
            self.held,
            files=tuple(map(Path, begin.watched)),
            settings=tuple(map(Path, begin.settings)),
            expects_hooks=begin.expects_hooks,
        )
        self.self_monitor = self._make_self_monitor()
        self.hooks = self.steps.hooks = HookExchange(self.steps.numbering, new_dialects(), self.guardian)
        self.parking = UsageLimitParking(
            self.supervisor,
            self.folder,
            begin.config.unattended.resume,
            quota=_quota(begin),
            last_words=self._last_words,
            session=lambda: self.steps.numbering.session,
            continues=begin.spec.adapter in RESUMPTIONS,
            lacks=begin.lacks,
        )
        self.hooks.on_limit, self.hooks.on_answer = self.parking.see_words, self.parking.answered
        limited = begin.config.contain.files == "workspace"
        workspace = begin.context.workspace or begin.spec.cwd or "" if limited else ""
        self.refusals = Refusals(self.supervisor, fenced=begin.fenced, workspace=workspace)
        self.proxy = self._make_proxy(listeners[0] if begin.proxied is not None and listeners else None)
        if begin.contained or limited:
            self.supervisor.on_result = self.refusals.note_result
        egress = self._make_egress(listeners[-1]) if begin.fenced else None
        self.proxies = tuple(proxy for proxy in (self.proxy, egress) if proxy is not None)
        traffic = self.proxy.traffic if self.proxy is not None else None
        self.liveness = LivenessMonitor(self.supervisor, self.folder, self.held, self.parking, traffic)
        self.liveness.visible = lambda: self.steps.spoken
        self.liveness.is_client = lambda: self.steps.spoken or begin.expects_hooks or begin.proxied is not None
        self.liveness.attended = lambda: begin.attended
        if begin.reopen:
            self.steps.recall(self.supervisor.run.journal.reader())
            self.hooks.recall(self.supervisor.run.journal.reader())
            if self.proxy is not None:
                self.proxy.recall(self.supervisor.run.journal.reader())

    def _open(self, control: socket.socket) -> Supervisor:
        begin = self._begin
        store = Store(Path(begin.store))
        options = Options(
            spec=begin.spec,
            config=begin.config,
            context=begin.context,
            store=store,
            adapter=self._adapter(),
            processes=self.held,
            listener=control,
            level="fence" if begin.fenced else "guard" if begin.contained else "off",
            approvals=Approvals(begin.needs_approval, frozenset(begin.removed_actions)),
        )
        if begin.reopen and self.folder.spec_file.exists():
            return Supervisor.reopen(self.folder, **options)
        return Supervisor.open(**options)

    def _adapter(self) -> Adapter:
        name, adapter = self._begin.spec.adapter, adapter_named(self._begin.spec.adapter)
        if self._begin.proxied is None:
            return adapter
        if name == ProxyAdapter.name:
            return ProxyAdapter(self._choice, self._rewind)
        return SwitchingAdapter(adapter, self._choice, self._rewind)

    def _make_self_monitor(self) -> SelfMonitor:
        late = missing_paths(self._begin.config.contain.allow) if self._begin.contained else ()
        monitor = SelfMonitor(
            self.supervisor,
            self.guardian,
            self.held,
            self.folder,
            contained=self._begin.contained,
            late=late,
            settings=missing_settings() if self._begin.config.contain.files == "workspace" else (),
        )
        control = socket_path(self.folder.path)
        steps = steps_path(control)
        monitor.keep_socket(steps, lambda: self.steps.bind_again(steps))
        steering = self.supervisor.run.steering
        if isinstance(steering, RunControl):
            monitor.keep_socket(control, steering.server.bind_again)
        keep_authority(self.supervisor, self.members, self.guardian)
        return monitor

    def _make_proxy(self, listener: socket.socket | None) -> Proxy | None:
        """The proxy for the model's API. It reports steps and token usage only if the agent's hooks do not."""
        proxied = self._begin.proxied
        if proxied is None or listener is None:
            return None
        from ..proxy.proxy import Proxy

        hooked = dialect_named(self._begin.spec.adapter)
        proxy = Proxy(
            listener,
            self.steps.numbering,
            proxied,
            choice=self._choice,
            rewind=self._rewind,
            steps=hooked is None,
            usage=hooked is None or "usage" not in hooked.capabilities,
        )
        proxy.on_limit, proxy.on_answer = self.parking.see, self.parking.answered
        proxy.on_refused = self.refusals.note_host
        return proxy

    def _make_egress(self, listener: socket.socket) -> Egress:
        """The egress proxy: the only way out of a fence."""
        from ..proxy.egress import Egress

        proxied = self._begin.proxied
        hosts = parse_hosts(self._begin.config.contain.hosts, proxied.hosts if proxied else ())
        return Egress(listener, hosts, self.refusals.note_host)

    def _sandbox_words(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """The agent's sandbox, for the commands that check its work: they run the agent's code."""
        begin, control = self._begin, socket_path(self.folder.path)
        paths = SandboxPaths(
            store=Path(begin.store),
            run=self.folder.path,
            sockets=(),
            wiring=control.with_suffix(".d"),
            files=tuple(map(Path, begin.watched)),
            workspaces=tuple(Path(folder) for folder in (begin.context.workspace, begin.spec.cwd) if folder),
            temporary=Path(begin.temporary) if begin.temporary else None,
            fenced=begin.fenced,
        )
        return sandbox_words(paths, begin.config)[:2]

    def _last_words(self) -> str:
        """The client's most recent output."""
        reader = OutputReader(self.folder.output)
        words = ""
        for piece in reader.read(time.time() - LAST_WORDS_S):
            words = (words + piece.text)[-4000:]
        latest = reader.latest()
        return f"{words}\n{latest.line}\n" + "\n".join(latest.screen)


def _quota(begin: BeginRun) -> str:
    """The key of the quota: runs that use the same APIs share it, otherwise runs of the same client."""
    if begin.proxied is not None:
        return " ".join(sorted(begin.proxied.upstreams.values()))
    return begin.spec.adapter
