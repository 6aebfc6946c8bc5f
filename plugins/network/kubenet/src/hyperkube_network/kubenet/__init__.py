"""The kubenet network: pods on the bridge ``cbr0``, with addresses of the node's pod range.

Host ports are rules of iptables, limits of bandwidth are disciplines of tc, addresses lie in files; what does it are
the programs bridge, host-local, loopback, portmap and bandwidth of CNI. Nodes reach one another's pods by routes that
a cloud or an administrator gives them.

Source: kubernetes ``pkg/kubelet/dockershim/network/kubenet/kubenet_linux.go``.
"""

from __future__ import annotations

import threading
from pathlib import Path

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.network import Network
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

__all__ = ["Kubenet", "KubenetSettings"]

BRIDGE = "cbr0"
NO_RANGE = "Kubenet does not have netConfig. This is most likely due to lack of PodCIDR"


class KubenetSettings(Record):
    """Settings of the kubenet network.

    Attributes:
        cni_bin_dir: the folders of the programs, the first of which wins.
        cni_cache_dir: where what they did is remembered.
        hairpin_mode: how a pod reaches itself by way of a service.
        network_plugin_mtu: the MTU of the pods' interfaces; 0 for the least of the node's interfaces.
        non_masquerade_cidr: the addresses to which pods keep their own; all with 0.0.0.0/0.
        addresses_dir: where host-local remembers who has which address; empty for its own choice.
    """

    cni_bin_dir: tuple[str, ...] = ("/opt/cni/bin",)
    cni_cache_dir: str = "/var/lib/cni/cache"
    hairpin_mode: str = "promiscuous-bridge"
    network_plugin_mtu: int = 0
    non_masquerade_cidr: str = "10.0.0.0/8"
    addresses_dir: str = ""


class Kubenet(Plugin):
    """Builds the kubenet network."""

    @hookimpl
    def network_build(self) -> Network:
        """Build it; it gives addresses once the node's pod range is known.

        Raises:
            UsageError: the hairpin mode is none.
        """
        from hyperkube_lib.cni.bridge_network import BridgeNetwork, hairpin_mode, split_cidrs
        from hyperkube_lib.cni.cache import AttachmentCache
        from hyperkube_lib.cni.errors import CniError
        from hyperkube_lib.cni.interfaces import least_mtu
        from hyperkube_lib.cni.masquerade import ensure_masquerade
        from hyperkube_lib.cni.network import CniNetworks
        from hyperkube_lib.cni.network_list import NetworkList
        from hyperkube_lib.cni.pod_network import CniPodNetwork
        from hyperkube_lib.cni.program import Programs

        settings, logger = self.settings(KubenetSettings), self.context.logger
        mode = hairpin_mode(settings.hairpin_mode)
        lock = threading.Lock()
        found: list[NetworkList] = []

        def learn(cidr: str) -> None:
            """Make the network of the first range; pods that have addresses of it would lose them with another."""
            with lock:
                if found:
                    logger.info("ignoring subsequent pod CIDR update to %s", cidr)
                    return
                made = BridgeNetwork(
                    name="kubenet",
                    bridge=BRIDGE,
                    cidrs=split_cidrs(cidr),
                    mtu=settings.network_plugin_mtu or least_mtu(),
                    hairpin=mode,
                    addresses=settings.addresses_dir,
                )
                found.append(made.network())
            if not ensure_masquerade(settings.non_masquerade_cidr):
                logger.warning("iptables: pods keep their addresses to all the world: the rule of SNAT is refused")

        def current() -> NetworkList | None:
            if not found:
                raise CniError(NO_RANGE)
            return found[0]

        cache = AttachmentCache(Path(settings.cni_cache_dir))
        networks = CniNetworks(Programs(settings.cni_bin_dir), cache, self.context.clock)
        return CniPodNetwork("kubenet", current, networks, cache, learn)
