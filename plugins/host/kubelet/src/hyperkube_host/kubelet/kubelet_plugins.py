"""The plugins of a kubelet: its runtime, the network of its pods, its kinds of volumes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from hyperkube_host.kubelet.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.kubelet.network.network_choice import use_network
from hyperkube_host.kubelet.options import AUTO_DETECT, KubeletOptions
from hyperkube_lib.cloud_provider import CloudProvider

from hyperkube.client.client import Client
from hyperkube.hookspecs import network as network_specs
from hyperkube.hookspecs import runtime as runtime_specs
from hyperkube.hookspecs import volume as volume_specs
from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.hookspecs.network import Network, NetworkHooks
from hyperkube.hookspecs.runtime import Runtime, RuntimeHooks, Simulated, TakesAddresses
from hyperkube.hookspecs.volume import VolumeHooks, Volumes
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import quote
from hyperkube.plugin.loader import PluginHost, installed, load
from hyperkube.plugin.settings import PluginSettings

_log = logging.getLogger("hyperkube.kubelet")


@dataclass(frozen=True, slots=True)
class KubeletPlugins:
    """The plugins of a kubelet: what they built, and the hosts that start and close them.

    Attributes:
        node_network: the network that ``--network-plugin`` names, also where it only prepares the node.
    """

    runtime: Runtime
    node_network: Network | None
    volumes: tuple[tuple[str, Volumes], ...]
    hosts: tuple[PluginHost[Any], ...]
    cloud_provider: CloudProvider
    cloud: Cloud | None

    @property
    def network(self) -> Network | None:
        """The network of the sandboxes; None for a runtime that connects its pods itself."""
        return self.node_network if isinstance(self.runtime, TakesAddresses) else None


def load_plugins(options: KubeletOptions, client: Client | None, clock: Clock) -> KubeletPlugins:
    """Build the runtime, its network and the volume plugins.

    Raises:
        UsageError: a plugin is not installed, or cannot be used here.
    """
    settings = PluginSettings(NAME, FAMILIES, options.values, FLAGS)

    def context(family: str, name: str) -> PluginContext:
        return PluginContext(
            name=name,
            clock=clock,
            settings=settings.of(family, name),
            settings_of=settings.of,
            client=client,
            gates=options.server.gates,
        )

    wanted = options.runtime
    runtimes: PluginHost[RuntimeHooks] = _load_runtime(wanted.runtime, partial(context, "runtime"))
    runtime = runtimes.hook.runtime_build()
    hosts: list[PluginHost[Any]] = [runtimes]
    name = wanted.network or (runtime.default_network if isinstance(runtime, TakesAddresses) else "")
    network: Network | None = None
    if name:
        networks: PluginHost[NetworkHooks] = load("network", [name], network_specs, partial(context, "network"))
        hosts.append(networks)
        network = networks.hook.network_build()
        use_network(name, network, wanted.runtime, runtime)
        if wanted.pod_cidr:
            network.set_pod_cidr(wanted.pod_cidr)
    volumes: tuple[tuple[str, Volumes], ...] = ()
    if not isinstance(runtime, Simulated):
        names = sorted(installed("volume"))
        kinds: PluginHost[VolumeHooks] = load("volume", names, volume_specs, partial(context, "volume"))
        hosts.append(kinds)
        volumes = tuple(zip(names, kinds.hook.volume_kinds(), strict=True))
    cloud = options.values["cloud-provider"]
    provider = CloudProvider(context("cloud", cloud))
    asked = None if cloud == AUTO_DETECT else provider.build(cloud)
    for line in settings.without_effect():
        _log.warning("%s", line)
    return KubeletPlugins(runtime, network, volumes, tuple(hosts), provider, asked)


def _load_runtime(name: str, context: Callable[[str], PluginContext]) -> PluginHost[RuntimeHooks]:
    known = installed("runtime")
    if name not in known:
        raise UsageError(f"unsupported CRI runtime: {quote(name)} (installed: {', '.join(sorted(known))})")
    found: PluginHost[RuntimeHooks] = load("runtime", [name], runtime_specs, context)
    return found
