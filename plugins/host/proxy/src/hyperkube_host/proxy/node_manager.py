"""What the proxy knows of its own node.

Source: kubernetes ``pkg/proxy/node.go`` and ``cmd/kube-proxy/app/server.go`` (detectNodeIPs).
"""

from __future__ import annotations

from hyperkube_lib.proxy_rules.families import FAMILIES, of_family

from hyperkube.hookspecs.proxier import ProxyNode
from hyperkube.machinery.objects import Object, labels_of, metadata

ZONE_LABEL = "topology.kubernetes.io/zone"
_ANY = {"", "0.0.0.0", "::"}
_PREFERENCE = ("InternalIP", "ExternalIP")
_LOOPBACK = {"IPv4": "127.0.0.1", "IPv6": "::1"}


def proxy_node(node: Object | None, name: str, bind_address: str) -> ProxyNode:
    """Return what a proxier needs to know of a node.

    Args:
        node: the Node object; None while it is not there.
        name: its name.
        bind_address: of ``--bind-address``: counts as the node's address of its family unless it is any address.
    """
    node = node or {}
    addresses = [
        row["address"]
        for kind in _PREFERENCE
        for row in node.get("status", {}).get("addresses") or ()
        if row.get("type") == kind and row.get("address")
    ]
    if bind_address not in _ANY:
        addresses.insert(0, bind_address)
    ips = [next(iter(of_family(addresses, family)), _LOOPBACK[family]) for family in FAMILIES]
    spec: Object = node.get("spec") or {}
    return ProxyNode(
        name=name,
        zone=(labels_of(node).get(ZONE_LABEL) or "") if node else "",
        ips=tuple(ips),
        pod_cidrs=tuple(spec.get("podCIDRs") or filter(None, [spec.get("podCIDR")])),
    )


def is_leaving(node: Object, taint: str) -> bool:
    """Tell whether a node is about to be removed: it is being deleted, or has the autoscaler's taint."""
    taints = node.get("spec", {}).get("taints") or ()
    return "deletionTimestamp" in metadata(node) or any(each.get("key") == taint for each in taints)
