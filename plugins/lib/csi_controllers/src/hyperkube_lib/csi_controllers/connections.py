"""The drivers whose controller service this process calls.

They come from three places, of which the first that knows a name wins: ``--csi-endpoint NAME=unix:///PATH``; packages
that bring a driver, called within the process; and, with ``--csi-plugins-registry``, the registration sockets of a
node on this machine, looked at again when a driver is asked for that is not known.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hyperkube_lib.csi import CONTROLLER, IDENTITY, CsiCalls, CsiFailed

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

LOOK_AGAIN_SECONDS = 10.0
MOST_SOCKETS = 1000
"""How many sockets of a registry folder are asked, as the kubelet has it."""
_PATIENCE_SECONDS = 0.5
"""How long a thread waits for what another one's look finds: that takes milliseconds, unless a driver hangs."""
_KIND = "CSIPlugin"
_GONE = frozenset({"UNAVAILABLE", "UNIMPLEMENTED"})


class DriverSettings(Record):
    """Where drivers are.

    Attributes:
        csi_endpoint: ``NAME=unix:///PATH`` of drivers with a controller service.
        csi_plugins_registry: the folder where the drivers of a node introduce themselves; empty to look nowhere.
    """

    csi_endpoint: tuple[str, ...] = ()
    csi_plugins_registry: str = ""

    def endpoints(self) -> dict[str, str]:
        """Return name → endpoint.

        Raises:
            UsageError: one has another shape.
        """
        found = {}
        for text in self.csi_endpoint:
            name, equals, endpoint = text.partition("=")
            if not name or not equals or not endpoint.startswith("unix:"):
                raise UsageError(f"--csi-endpoint: {text!r} is not NAME=unix:///PATH")
            found[name] = endpoint
        return found


class Driver:
    """One driver; what it can do is asked once, and again after it was not reached.

    Attributes:
        name: of the driver.
        extra_create_metadata: whether it is a package's, and wants to know for which claims it makes volumes.
    """

    def __init__(self, name: str, calls: CsiCalls) -> None:
        self.name = name
        self.extra_create_metadata = bool(getattr(calls, "extra_create_metadata", False))
        self._calls = calls
        self._services: frozenset[str] | None = None
        self._can: frozenset[str] | None = None

    def services(self) -> frozenset[str]:
        """Return the names in its plugin capabilities.

        Raises:
            CsiFailed: it does not tell.
        """
        if self._services is None:
            rows = self.call(IDENTITY, "GetPluginCapabilities", {}).get("capabilities") or ()
            self._services = frozenset(
                str(row[part].get("type", ""))
                for row in rows
                for part in ("service", "volume_expansion")
                if part in row
            )
        return self._services

    def can(self) -> frozenset[str]:
        """Return the names of what its controller service can do; none if it has no such service.

        Raises:
            CsiFailed: it does not tell.
        """
        if self._can is None:
            has_controller = "CONTROLLER_SERVICE" in self.services()
            self._can = self._calls.capabilities(CONTROLLER) if has_controller else frozenset()
        return self._can

    def control(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method of its controller service; what is empty in the request is left out.

        Raises:
            CsiFailed: it failed, or the driver could not be reached.
        """
        return self.call(CONTROLLER, method, {key: value for key, value in request.items() if value not in ({}, None)})

    def call(self, service: str, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method.

        Raises:
            CsiFailed: it failed, or the driver could not be reached.
        """
        try:
            return self._calls.call(service, method, request)
        except CsiFailed as error:
            if error.code in _GONE:
                self._services = self._can = None  # it may come back as another version
            raise
        except VolumeFailed as error:
            raise CsiFailed("INTERNAL", str(error)) from error

    def close(self) -> None:
        """Call it no more."""
        self._calls.close()


class Drivers:
    """The drivers by name; thread-safe.

    The lock is never held while a driver is asked: one that hangs must not keep the volumes of all others waiting. Only
    one thread looks into the registry at a time, so that it costs one worker at most.
    """

    def __init__(
        self,
        settings: DriverSettings,
        own: Mapping[str, CsiCalls],
        clock: Clock,
        connect: Callable[[str], CsiCalls] | None = None,
    ) -> None:
        """Know drivers.

        Args:
            settings: where others are.
            own: those within the process.
            clock: paces looks into the registry.
            connect: endpoint → what calls it.

        Raises:
            UsageError: an endpoint has another shape.
        """
        self._endpoints = settings.endpoints()
        self._own = own
        self._registry = Path(settings.csi_plugins_registry) if settings.csi_plugins_registry else None
        self._clock = clock
        self._connect = connect or _connect
        self._lock = threading.Condition()
        self._drivers: dict[str, Driver] = {}
        self._looked_at = -LOOK_AGAIN_SECONDS
        self._is_looking = False

    @property
    def are_none(self) -> bool:
        """Whether there are none, and never will be."""
        return not self._endpoints and not self._own and self._registry is None

    @property
    def may_come(self) -> bool:
        """Whether drivers may introduce themselves later."""
        return self._registry is not None

    def names(self) -> list[str]:
        """Return the drivers that are known now."""
        self._look()
        with self._lock:
            return sorted({*self._endpoints, *self._own, *self._drivers})

    def get(self, name: str) -> Driver | None:
        """Return a driver; None for one that others look after."""
        with self._lock:
            found = self._drivers.get(name)
            if found is None and name in self._endpoints:
                found = self._drivers[name] = Driver(name, self._connect(self._endpoints[name]))
            if found is None and name in self._own:
                found = self._drivers[name] = Driver(name, self._own[name])
        if found is None and name:
            self._look()
            with self._lock:
                found = self._drivers.get(name)
        return found

    def close(self) -> None:
        """Call none any more."""
        with self._lock:
            for driver in self._drivers.values():
                driver.close()
            self._drivers.clear()

    def _look(self) -> None:
        """Look into the registry folder, unless that was done a moment ago."""
        if self._registry is None:
            return
        with self._lock:
            if self._is_looking:
                self._lock.wait_for(lambda: not self._is_looking, _PATIENCE_SECONDS)
                return
            now = self._clock.monotonic()
            if now - self._looked_at < LOOK_AGAIN_SECONDS:
                return
            self._is_looking, self._looked_at = True, now
        try:
            for socket in sorted(self._registry.glob("*.sock"))[:MOST_SOCKETS]:
                self._introduce(str(socket))
        finally:
            with self._lock:
                self._is_looking = False
                self._lock.notify_all()

    def _introduce(self, socket: str) -> None:
        from hyperkube_lib.grpc_messages import RpcFailed
        from hyperkube_lib.plugin_registration import ask_plugin

        try:
            info = ask_plugin(socket)
        except RpcFailed:
            return  # its driver is away, the kubelet tells of it
        with self._lock:
            known = {"", *self._drivers, *self._endpoints, *self._own}
        if info.type != _KIND or info.name in known:
            return
        driver = Driver(info.name, self._connect(f"unix://{info.endpoint}"))
        try:
            has_controller = "CONTROLLER_SERVICE" in driver.services()
        except CsiFailed:
            has_controller = False  # not yet: it is asked again at the next look
        if has_controller:
            with self._lock:
                self._drivers[info.name] = driver
        else:
            driver.close()


def _connect(endpoint: str) -> CsiCalls:
    from hyperkube_lib.csi.client import CsiClient

    return CsiClient(endpoint)
