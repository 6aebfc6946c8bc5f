"""The chains' names.

Those of services and endpoints are hashes, as a name has 28 characters at most.
Source: kubernetes ``pkg/proxy/iptables/proxier.go`` (portProtoHash, servicePortEndpointChainName).
"""

from __future__ import annotations

from base64 import b32encode
from hashlib import sha256
from typing import NamedTuple

SERVICES = "KUBE-SERVICES"
EXTERNAL_SERVICES = "KUBE-EXTERNAL-SERVICES"
NODE_PORTS = "KUBE-NODEPORTS"
POSTROUTING = "KUBE-POSTROUTING"
MARK_MASQ = "KUBE-MARK-MASQ"
FORWARD = "KUBE-FORWARD"
PROXY_FIREWALL = "KUBE-PROXY-FIREWALL"
KUBELET_FIREWALL = "KUBE-FIREWALL"
"""The kubelet makes this one too; it stays when the proxy cleans up."""
CANARY = "KUBE-PROXY-CANARY"
"""Empty; when it is gone, another program has flushed the tables."""
SERVICE_PREFIXES = ("KUBE-SVC-", "KUBE-SVL-", "KUBE-FW-", "KUBE-EXT-", "KUBE-SEP-")
_HASH_BYTES = 10
"""Of a name's hash: sixteen characters of base 32."""


class ServiceChains(NamedTuple):
    """The chains of one service port."""

    cluster: str
    local: str
    firewall: str
    external: str


def service_chains(port_name: str, protocol: str) -> ServiceChains:
    """Return the chains of a service port, named ``namespace/name:port``; the protocol is in lower case."""
    hashed = _hash(port_name + protocol)
    return ServiceChains(f"KUBE-SVC-{hashed}", f"KUBE-SVL-{hashed}", f"KUBE-FW-{hashed}", f"KUBE-EXT-{hashed}")


def endpoint_chain(port_name: str, protocol: str, endpoint: str) -> str:
    """Return the chain of one endpoint of a service port."""
    return f"KUBE-SEP-{_hash(port_name + protocol + endpoint)}"


def _hash(text: str) -> str:
    return b32encode(sha256(text.encode()).digest()[:_HASH_BYTES]).decode()
