"""The plugin manager: a socket in the registry folder is a plugin that wants to be registered, its removal ends that.

Sources: kubernetes ``pkg/kubelet/pluginmanager`` (plugin_manager.go, pluginwatcher, reconciler, operationexecutor).
"""

from __future__ import annotations

import logging
import os
import stat
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, Protocol

from hyperkube_lib.grpc_messages import RpcFailed, Stub, unix_channel
from hyperkube_lib.plugin_registration import registration_schema

from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import HyperkubeError

DRA_PLUGIN, DEVICE_PLUGIN = "DRAPlugin", "DevicePlugin"
POLL_SECONDS = 1.0
CALL_SECONDS = 1.0
"""How long a plugin may take to introduce itself: one that hangs must not keep the others waiting."""
RETRY = Backoff(initial=0.5, cap=122.0)
MOST_SOCKETS = 1000
_THREADS = 4
_log = logging.getLogger("hyperkube.kubelet.pluginmanager")


class PluginRefused(HyperkubeError):
    """A plugin cannot be used; it is told why."""


class PluginHandler(Protocol):
    """Uses plugins of one type; called from several threads, for different plugins."""

    def validate(self, name: str, endpoint: str, versions: Sequence[str]) -> None:
        """Check what a plugin says of itself.

        Raises:
            PluginRefused: it cannot be used.
        """

    def register(self, name: str, endpoint: str, versions: Sequence[str]) -> None:
        """Begin to use a plugin at its socket; one of the same name is replaced.

        Raises:
            PluginRefused: it cannot be used after all.
        """

    def deregister(self, name: str, endpoint: str) -> None:
        """Use it no more."""


class SocketIdentity(NamedTuple):
    """Tells a socket from a later one at the same path."""

    inode: int
    made_at: int


class _Plugin:
    """What is known of the plugin at a path."""

    def __init__(self, identity: SocketIdentity) -> None:
        self.identity = identity
        self.name = ""
        self.endpoint = ""
        self.handler: PluginHandler | None = None
        self.failures = 0
        self.next_at = 0.0
        self.running: Future[None] | None = None


class PluginManager:
    """Keeps what is registered (the actual world) in line with the sockets that are there (the desired one)."""

    def __init__(self, folder: Path, handlers: Mapping[str, PluginHandler], clock: Clock) -> None:
        """Take the registry folder, and who uses plugins of which type."""
        self._folder = folder
        self._handlers = dict(handlers)
        self._clock = clock
        self._plugins: dict[Path, _Plugin] = {}
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="plugin-registration")
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to watch the folder."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._thread = threading.Thread(target=self._watch, name="kubelet-plugin-manager", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End; plugins stay registered with those who use them."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(CALL_SECONDS)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _watch(self) -> None:
        while not self._clock.wait(self._stop, POLL_SECONDS):
            self.reconcile()

    def reconcile(self) -> None:
        """Register the plugins whose sockets are new, deregister those whose sockets are gone or were made anew."""
        desired = find_sockets(self._folder)
        for path, plugin in list(self._plugins.items()):
            if desired.get(path) != plugin.identity and (plugin.running is None or plugin.running.done()):
                del self._plugins[path]
                if plugin.handler is not None:
                    _log.info("plugin %s at %s is gone", plugin.name, path)
                    plugin.handler.deregister(plugin.name, plugin.endpoint)
        now = self._clock.monotonic()
        for path, identity in desired.items():
            plugin = self._plugins.setdefault(path, _Plugin(identity))
            idle = plugin.running is None or plugin.running.done()
            if plugin.handler is None and idle and now >= plugin.next_at and plugin.identity == identity:
                plugin.running = self._pool.submit(self._register, path, plugin)

    def _register(self, path: Path, plugin: _Plugin) -> None:
        try:
            self._introduce(path, plugin)
        except (HyperkubeError, ValueError, OSError) as error:
            plugin.failures += 1
            plugin.next_at = self._clock.monotonic() + RETRY.delay(plugin.failures)
            _log.warning("plugin at %s cannot be registered: %s", path, error)

    def _handler_of(self, kind: str, path: Path) -> PluginHandler:
        handler = self._handlers.get(kind)
        if handler is None:
            raise PluginRefused(f"no handler registered for plugin type: {kind} at socket {path}")
        return handler

    def _introduce(self, path: Path, plugin: _Plugin) -> None:
        """Ask a plugin who it is, have it checked and registered, and tell it what came of that."""
        with unix_channel(str(path)) as channel:
            stub = Stub(channel, registration_schema().service("Registration"))
            info = stub.call("GetInfo", {}, CALL_SECONDS)
            kind, name = info.get("type", ""), info.get("name", "")
            endpoint, versions = info.get("endpoint") or str(path), tuple(info.get("supported_versions", ()))
            try:
                handler = self._handler_of(kind, path)
                handler.validate(name, endpoint, versions)
                handler.register(name, endpoint, versions)
            except HyperkubeError as error:  # refused, or its endpoint is none
                stub.call("NotifyRegistrationStatus", {"error": str(error)}, CALL_SECONDS)
                raise
            plugin.name, plugin.endpoint, plugin.handler = name, endpoint, handler
            _log.info("plugin %s of type %s at %s is registered", name, kind, path)
            try:
                stub.call("NotifyRegistrationStatus", {"plugin_registered": True}, CALL_SECONDS)
            except RpcFailed as error:
                _log.warning("plugin %s cannot be told that it is registered: %s", name, error)


def find_sockets(folder: Path) -> dict[Path, SocketIdentity]:
    """Return the sockets in a folder and those below it; hidden ones are not meant yet, links are not followed."""
    found: dict[Path, SocketIdentity] = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if name.startswith("."):
                continue
            path = Path(place) / name
            try:
                state = path.lstat()
            except FileNotFoundError:
                continue
            if stat.S_ISSOCK(state.st_mode):
                found[path] = SocketIdentity(state.st_ino, state.st_ctime_ns)
            if len(found) >= MOST_SOCKETS:
                _log.warning("%s: only the first %d sockets are looked at", folder, MOST_SOCKETS)
                return found
    return found
