"""The cni network: pods are connected by the programs that a configuration in ``--cni-conf-dir`` names.

For runtimes that leave pod networks to the kubelet; those of CRI run such programs themselves. Sandboxes need network
namespaces, so the node runs as root. Everything is in `hyperkube_lib.cni`; here it is put together.
"""

from __future__ import annotations

from pathlib import Path

from hyperkube_lib.cni.program import TIMEOUT_SECONDS

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.network import Network
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

__all__ = ["Cni", "CniSettings"]


class CniSettings(Record):
    """Settings of the cni network.

    Attributes:
        cni_bin_dir: the folders of the programs, the first of which wins.
        cni_cache_dir: where what they did is remembered.
        cni_conf_dir: the folder of the configurations.
        timeout_seconds: how long the programs of one command may take together.
    """

    cni_bin_dir: tuple[str, ...] = ("/opt/cni/bin",)
    cni_cache_dir: str = "/var/lib/cni/cache"
    cni_conf_dir: str = "/etc/cni/net.d"
    timeout_seconds: float = TIMEOUT_SECONDS


class Cni(Plugin):
    """Builds the cni network."""

    @hookimpl
    def network_build(self) -> Network:
        """Build it; its configuration may come later."""
        from hyperkube_lib.cni.cache import AttachmentCache
        from hyperkube_lib.cni.configuration import ConfigurationFolder
        from hyperkube_lib.cni.network import CniNetworks
        from hyperkube_lib.cni.pod_network import CniPodNetwork
        from hyperkube_lib.cni.program import Programs

        settings = self.settings(CniSettings)
        cache = AttachmentCache(Path(settings.cni_cache_dir))
        networks = CniNetworks(Programs(settings.cni_bin_dir), cache, self.context.clock, settings.timeout_seconds)
        folder = ConfigurationFolder(settings.cni_conf_dir, settings.cni_bin_dir, networks.validate)
        return CniPodNetwork("cni", folder.network, networks, cache)
