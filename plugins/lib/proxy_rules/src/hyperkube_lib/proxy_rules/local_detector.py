"""How traffic of this node's pods is told from other traffic: ``--detect-local-mode``.

Source: kubernetes ``pkg/proxy/util/localdetector.go``, ``cmd/kube-proxy/app/server_linux.go``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import NamedTuple

from hyperkube_lib.proxy_rules.families import of_family

from hyperkube.hookspecs.proxier import IPFamily, ProxyNode
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

MODES = ("ClusterCIDR", "NodeCIDR", "BridgeInterface", "InterfaceNamePrefix")


class LocalDetectorSettings(Record):
    """What the flags say of local traffic; a proxier's settings have these fields among theirs.

    Attributes:
        detect_local_mode: one of `MODES`.
        cluster_cidr: of `ClusterCIDR`: the pods of the cluster, a range per family.
        pod_bridge_interface: of `BridgeInterface`: the bridge of the node's pods.
        pod_interface_name_prefix: of `InterfaceNamePrefix`: what the names of pods' interfaces begin with.
    """

    detect_local_mode: str = "ClusterCIDR"
    cluster_cidr: tuple[str, ...] = ()
    pod_bridge_interface: str = ""
    pod_interface_name_prefix: str = ""

    def check(self) -> None:
        """Refuse a mode that there is not, or one without what it needs.

        Raises:
            UsageError: see above.
        """
        mode = self.detect_local_mode
        if mode and mode not in MODES:
            raise UsageError(f"--detect-local-mode={mode} is not one of {', '.join(MODES)}")
        needed = {"BridgeInterface": "pod_bridge_interface", "InterfaceNamePrefix": "pod_interface_name_prefix"}.get(
            mode
        )
        if needed and not getattr(self, needed):
            raise UsageError(f"--detect-local-mode={mode} needs --{needed.replace('_', '-')}")
        for text in self.cluster_cidr:
            try:
                ipaddress.ip_network(text, strict=False)
            except ValueError:
                raise UsageError(f"--cluster-cidr: {text!r} is no range of addresses") from None


class LocalDetector(NamedTuple):
    """A match for packets of local pods: by their source range, or by the interface they come through."""

    cidr: str = ""
    interface: str = ""
    is_prefix: bool = False

    def __bool__(self) -> bool:
        """Tell whether local traffic can be told at all."""
        return bool(self.cidr or self.interface)

    def iptables(self, *, local: bool) -> str:
        """Return the match of local traffic, or of all other, as iptables writes it."""
        inverted = "" if local else "! "
        if self.cidr:
            return f"{inverted}-s {self.cidr}"
        return f"{inverted}-i {self.interface}{'+' if self.is_prefix else ''}"

    def nft(self, *, local: bool) -> str:
        """Return the match of local traffic, or of all other, as nft writes it."""
        inverted = "" if local else "!= "
        if self.cidr:
            return f"{'ip6' if ':' in self.cidr else 'ip'} saddr {inverted}{self.cidr}"
        return f'iifname {inverted}"{self.interface}{"*" if self.is_prefix else ""}"'


def local_detector(settings: LocalDetectorSettings, node: ProxyNode, family: IPFamily) -> LocalDetector:
    """Return how local traffic is told on this node; a false one while that is not known."""
    if settings.detect_local_mode == "BridgeInterface":
        return LocalDetector(interface=settings.pod_bridge_interface)
    if settings.detect_local_mode == "InterfaceNamePrefix":
        return LocalDetector(interface=settings.pod_interface_name_prefix, is_prefix=True)
    ranges: Sequence[str] = settings.cluster_cidr if settings.detect_local_mode != "NodeCIDR" else node.pod_cidrs
    return LocalDetector(cidr=next(iter(of_family(ranges, family)), ""))
