"""The drivers of dynamic resources that have registered, and what they tell of the health of devices.

Sources: kubernetes ``pkg/kubelet/cm/dra/plugin/{dra_plugin,dra_plugin_manager}.go``, ``healthinfo.go``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hyperkube_host.kubelet.apis import dra, dra_health
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.pluginmanager.plugin_manager import PluginRefused
from hyperkube_lib.grpc_messages import RpcFailed, Stub, unix_channel

from hyperkube.machinery.clock import Clock

SERVICE, HEALTH_SERVICE = "v1.DRAPlugin", "v1alpha1.DRAResourceHealth"
CALL_SECONDS = 45.0
"""``PluginClientTimeout``: how long a driver may take to prepare claims."""
HEALTH_TIMEOUT_SECONDS = 30.0
_log = logging.getLogger("hyperkube.kubelet.dra")


class DeviceHealth(NamedTuple):
    """What a driver last told of a device; `until` is when that is too old to be believed."""

    health: str
    message: str
    until: float


class DraPlugin:
    """One driver at its socket."""

    def __init__(self, name: str, endpoint: str) -> None:
        """Connect at the first call."""
        self.name, self.endpoint = name, endpoint
        self.channel = unix_channel(endpoint.removeprefix("unix://"))
        self._stub = Stub(self.channel, dra().service("DRAPlugin"))

    def prepare(self, claims: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """Have claims prepared; return uid → ``NodePrepareResourceResponse``.

        Raises:
            RpcFailed: the driver refused all, or took too long.
        """
        return dict(self._stub.call("NodePrepareResources", {"claims": list(claims)}, CALL_SECONDS).get("claims", {}))

    def unprepare(self, claims: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """Have claims unprepared; return uid → ``NodeUnprepareResourceResponse``.

        Raises:
            RpcFailed: the driver refused all, or took too long.
        """
        return dict(self._stub.call("NodeUnprepareResources", {"claims": list(claims)}, CALL_SECONDS).get("claims", {}))


class DraPlugins:
    """The registered drivers: a `PluginHandler`; callable from several threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._plugins: dict[str, DraPlugin] = {}
        self._health: dict[tuple[str, str, str], DeviceHealth] = {}

    def get(self, driver: str) -> DraPlugin:
        """Return a driver.

        Raises:
            ContainerManagerFailed: it has not registered.
        """
        with self._lock:
            found = self._plugins.get(driver)
        if found is None:
            raise ContainerManagerFailed(f"DRA driver {driver} is not registered")
        return found

    def health(self, driver: str, pool: str, device: str) -> tuple[str, str]:
        """Return the health of a device and a message: ``Unknown`` when its driver has not told for too long."""
        with self._lock:
            found = self._health.get((driver, pool, device))
        if found is None or self._clock.monotonic() > found.until:
            return "Unknown", ""
        return found.health, found.message

    def validate(self, name: str, endpoint: str, versions: Sequence[str]) -> None:
        """See `PluginHandler`."""
        if not name:
            raise PluginRefused("DRA plugin name is empty")
        if not endpoint:
            raise PluginRefused("DRA plugin has no endpoint")
        if not versions:
            raise PluginRefused("empty list for supported gRPC services (aka supported versions)")
        if SERVICE not in versions:
            raise PluginRefused(f"none of the DRA gRPC services are supported: {', '.join(versions)} (want {SERVICE})")

    def register(self, name: str, endpoint: str, versions: Sequence[str]) -> None:
        """See `PluginHandler`."""
        plugin = DraPlugin(name, endpoint)
        with self._lock:
            previous, self._plugins[name] = self._plugins.get(name), plugin
        if previous is not None:
            previous.channel.close()
        if HEALTH_SERVICE in versions:
            threading.Thread(target=self._follow, args=(plugin,), name=f"dra-health-{name}", daemon=True).start()

    def deregister(self, name: str, endpoint: str) -> None:
        """See `PluginHandler`."""
        with self._lock:
            plugin = self._plugins.get(name)
            if plugin is None or plugin.endpoint != endpoint:
                return  # replaced meanwhile: a rolling update has two for a while
            del self._plugins[name]
        plugin.channel.close()

    def close(self) -> None:
        """End all connections."""
        with self._lock:
            plugins, self._plugins = list(self._plugins.values()), {}
        for plugin in plugins:
            plugin.channel.close()

    def _follow(self, plugin: DraPlugin) -> None:
        stub = Stub(plugin.channel, dra_health().service("DRAResourceHealth"))
        try:
            with stub.stream("NodeWatchResources", {}) as answers:
                for answer in answers:
                    self._note(plugin.name, answer)
        except (RpcFailed, ValueError) as error:  # ValueError: the channel was closed
            _log.info("driver %s tells no health any more: %s", plugin.name, error)

    def _note(self, driver: str, answer: Mapping[str, Any]) -> None:
        now = self._clock.monotonic()
        found = {}
        for one in answer.get("devices", []):
            device = one.get("device", {})
            seconds = float(one.get("health_check_timeout_seconds") or HEALTH_TIMEOUT_SECONDS)
            health = str(one.get("health", "UNKNOWN")).capitalize()
            key = driver, device.get("pool_name", ""), device.get("device_name", "")
            found[key] = DeviceHealth(health, one.get("message", ""), now + seconds)
        with self._lock:
            others = {key: value for key, value in self._health.items() if key[0] != driver}
            self._health = others | found
