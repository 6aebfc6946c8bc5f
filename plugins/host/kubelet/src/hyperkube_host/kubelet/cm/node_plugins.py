"""What plugins of the node bring (devices, dynamic resources), and the sockets at which they are served."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hyperkube_host.kubelet.cm.container_manager import LinuxContainerManager, Service
from hyperkube_host.kubelet.cm.devicemanager.device_manager import DeviceManager
from hyperkube_host.kubelet.cm.devicemanager.registration import FOLDER as DEVICE_PLUGINS
from hyperkube_host.kubelet.cm.devicemanager.registration import DeviceRegistration
from hyperkube_host.kubelet.cm.dra.dra_manager import DraManager
from hyperkube_host.kubelet.cm.dra.dra_plugin import DraPlugins
from hyperkube_host.kubelet.cm.interface import ActivePods
from hyperkube_host.kubelet.cm.pod_resources import FOLDER as POD_RESOURCES
from hyperkube_host.kubelet.cm.pod_resources import PodResourcesInputs, PodResourcesServer
from hyperkube_host.kubelet.cm.topologymanager.hints import NumaInfo
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import TopologyManager
from hyperkube_host.kubelet.pluginmanager.plugin_manager import (
    DEVICE_PLUGIN,
    DRA_PLUGIN,
    PluginHandler,
    PluginManager,
)

from hyperkube.client.client import Client
from hyperkube.machinery.clock import Clock

PLUGINS_REGISTRY = "plugins_registry"


class NodePlugins:
    """The managers of devices and dynamic resources, and their services."""

    def __init__(
        self,
        root: Path,
        client: Client | None,
        clock: Clock,
        *,
        topology: TopologyManager,
        numa: NumaInfo,
        devices_changed: Callable[[], None],
        volume_drivers: Mapping[str, PluginHandler],
    ) -> None:
        """Take the kubelet's folder, how claims are read, and what is called when the node has other devices.

        `volume_drivers` are the handlers of those who serve volumes, by the type of their registration.

        Raises:
            UsageError: a checkpoint that cannot be trusted.
        """
        self._root = root
        self._clock = clock
        self._volume_drivers = volume_drivers
        self._drivers = DraPlugins(clock)
        self.devices = DeviceManager(root / DEVICE_PLUGINS, topology, numa, clock, devices_changed)
        self.claims = DraManager(root, client, self._drivers)

    def services(self, manager: LinuxContainerManager, pods: ActivePods) -> Sequence[Service]:
        """Return what listens for plugins, and for those who ask which pod has what."""
        registration = DeviceRegistration(self._root / DEVICE_PLUGINS, self.devices)
        handlers: dict[str, PluginHandler] = {
            **self._volume_drivers, DRA_PLUGIN: self._drivers, DEVICE_PLUGIN: registration,
        }  # fmt: skip
        told = PodResourcesInputs(
            pods=pods, cpus=manager.cpus, memory=manager.memory, devices=self.devices, claims=self.claims
        )
        return (
            registration,
            PluginManager(self._root / PLUGINS_REGISTRY, handlers, self._clock),
            PodResourcesServer(self._root / POD_RESOURCES, told),
        )
