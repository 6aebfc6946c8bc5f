"""What the bridge network is configured with."""

from __future__ import annotations

from hyperkube.machinery.record import Record


class BridgeSettings(Record):
    """Settings of the bridge network.

    Attributes:
        bridge_kubeconfig: credentials that may list nodes; no routes to other nodes without them.
        cni_bin_dir: the folders of the programs, the first of which wins.
        cni_cache_dir: where what they did is remembered.
        cni_conf_dir: the folder that the configuration is written to.
        hostname_override: the node's name; empty for the machine's.
        network_plugin_mtu: the MTU of the pods' interfaces; 0 for what fits through all the node's, and a tunnel.
        non_masquerade_cidr: the addresses to which pods keep their own; all with 0.0.0.0/0.
        addresses_dir: where host-local remembers who has which address; empty for its own choice.
    """

    bridge_kubeconfig: str = ""
    cni_bin_dir: tuple[str, ...] = ("/opt/cni/bin",)
    cni_cache_dir: str = "/var/lib/cni/cache"
    cni_conf_dir: str = "/etc/cni/net.d"
    hostname_override: str = ""
    network_plugin_mtu: int = 0
    non_masquerade_cidr: str = "10.0.0.0/8"
    addresses_dir: str = ""
