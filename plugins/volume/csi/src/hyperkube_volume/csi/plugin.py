"""The plugin: the kind of volumes, and within a kubelet the drivers that installed packages bring."""

from __future__ import annotations

import socket
import threading

from hyperkube_lib.csi import CsiCalls, installed_drivers
from hyperkube_volume.csi.csi import CsiVolumes

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import VolumeFailed, Volumes
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

RETRY = Backoff(initial=0.25, cap=30.0)


def _connect(endpoint: str) -> CsiCalls:
    from hyperkube_lib.csi.client import CsiClient

    return CsiClient(endpoint)


class CsiSettings(Record):
    """Settings of the csi volumes.

    Attributes:
        hostname_override: the node's name, empty for the machine's. Only kubelets have it, and None is left to
            controllers: kubelets write the CSINode and serve the drivers of installed packages.
    """

    hostname_override: str | None = None


class Csi(Plugin):
    """The csi volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        self._kind = CsiVolumes(self.context.client, self.context.clock, _connect)
        given = self.settings(CsiSettings).hostname_override
        self._node_name = "" if given is None else given or socket.gethostname().lower()
        self._own = dict(installed_drivers(self.context)) if self._node_name else {}
        self._ending = threading.Event()
        return self._kind

    def start(self) -> None:
        """Tell of the node and register the drivers of installed packages, as soon as the node is there."""
        if self._node_name:
            threading.Thread(target=self._introduce, name="csi-drivers", daemon=True).start()

    def _introduce(self) -> None:
        """Try until all is told: the node is made by the kubelet that this is a part of."""
        failures, is_initialized = 0, False
        while not (is_initialized and not self._own):
            if self.context.clock.wait(self._ending, RETRY.delay(failures)):
                return
            failures += 1
            try:
                if not is_initialized:
                    self._kind.initialize_node(self._node_name)
                    is_initialized = True
                self._register_own()
            except VolumeFailed as error:
                self.context.logger.debug("the node's drivers are not told yet: %s", error)

    def _register_own(self) -> None:
        for name, driver in list(self._own.items()):
            try:
                self._kind.register_own_driver(name, driver, self._node_name)
                del self._own[name]
            except VolumeFailed as error:
                self.context.logger.debug("driver %s is not registered yet: %s", name, error)

    def close(self) -> None:
        """Close the connections to drivers."""
        self._ending.set()
        self._kind.close()
