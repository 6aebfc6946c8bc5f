"""The bridge of a node, as a configuration of CNI that changes with the node's pod ranges."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_lib.cni.bridge_network import BridgeNetwork, HairpinMode, split_cidrs
from hyperkube_lib.cni.cache import AttachmentCache
from hyperkube_lib.cni.interfaces import least_mtu
from hyperkube_lib.cni.masquerade import ensure_masquerade
from hyperkube_lib.cni.network import CniNetworks
from hyperkube_lib.cni.network_list import NetworkList
from hyperkube_lib.cni.pod_network import CniPodNetwork
from hyperkube_lib.cni.program import Programs
from hyperkube_network.bridge.routes import VXLAN_OVERHEAD

from hyperkube.machinery.clock import Clock

if TYPE_CHECKING:
    from hyperkube_network.bridge.settings import BridgeSettings

FILE = "10-hyperkube.conflist"
DEVICE = "hyperkube0"


class BridgePodNetwork(CniPodNetwork):
    """A network of CNI that is of use beside runtimes which run the programs themselves, too."""

    prepares_node = True


class ClusterBridge:
    """Writes the configuration when the node's pod ranges become known, and makes a pod network of it."""

    def __init__(self, settings: BridgeSettings, clock: Clock, logger: logging.Logger) -> None:
        self._settings = settings
        self._logger = logger
        self._lock = threading.Lock()
        self._current: NetworkList | None = None
        cache = AttachmentCache(Path(settings.cni_cache_dir))
        networks = CniNetworks(Programs(settings.cni_bin_dir), cache, clock)
        self.network = BridgePodNetwork("bridge", lambda: self._current, networks, cache, self._learn)

    def _learn(self, cidr: str) -> None:
        """Write the configuration for these ranges; a runtime of CRI sees the file, our own pods use it at once."""
        settings = self._settings
        made = BridgeNetwork(
            name="hyperkube",
            bridge=DEVICE,
            cidrs=split_cidrs(cidr),
            # Pods must not send packets that do not fit into the tunnel, wherever the other pod is.
            mtu=settings.network_plugin_mtu or least_mtu() - VXLAN_OVERHEAD,
            hairpin=HairpinMode.HAIRPIN_VETH,
            addresses=settings.addresses_dir,
        )
        with self._lock:
            self._current = made.network()
            self._write(made.text())
        if not ensure_masquerade(settings.non_masquerade_cidr):
            self._logger.warning("iptables: pods keep their addresses to all the world: the rule of SNAT is refused")

    def _write(self, text: str) -> None:
        """Replace the file at once, unless it says that already: runtimes load it again whenever it changes."""
        path = Path(self._settings.cni_conf_dir, FILE)
        try:
            if path.is_file() and path.read_text(encoding="utf-8") == text:
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_name(f".{path.name}.new")
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644), "w") as out:
                out.write(text)
            fresh.replace(path)
        except OSError as error:
            self._logger.warning("cannot write %s: %s; runtimes of CRI find no network", path, error.strerror)
