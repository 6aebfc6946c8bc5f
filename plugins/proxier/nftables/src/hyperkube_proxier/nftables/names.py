"""The names in table ``kube-proxy``.

Those of services and endpoints begin with a hash of what follows, so that names that differ late are told apart.
Source: kubernetes ``pkg/proxy/nftables/proxier.go`` (hashAndTruncate, servicePortEndpointChainNameBase).
"""

from __future__ import annotations

from base64 import b32encode
from hashlib import sha256
from typing import NamedTuple

from hyperkube.hookspecs.proxier import Endpoint, ServicePort

TABLE = "kube-proxy"
SERVICES = "services"
MASQUERADING = "masquerading"
SERVICE_ENDPOINTS_CHECK = "service-endpoints-check"
NODEPORT_ENDPOINTS_CHECK = "nodeport-endpoints-check"
CLUSTER_IPS_CHECK = "cluster-ips-check"
FIREWALL_CHECK = "firewall-check"
REJECT = "reject-chain"
SERVICE_IPS = "service-ips"
SERVICE_NODEPORTS = "service-nodeports"
NO_ENDPOINT_SERVICES = "no-endpoint-services"
NO_ENDPOINT_NODEPORTS = "no-endpoint-nodeports"
FIREWALL_IPS = "firewall-ips"
CLUSTER_IPS = "cluster-ips"
NODEPORT_IPS = "nodeport-ips"
HAIRPIN_CONNECTIONS = "hairpin-connections"
_LONGEST = 256 - 16
_HASH_BYTES = 5
"""Of a name's hash: eight characters of base 32."""


class ServiceChains(NamedTuple):
    """The chains of one service port."""

    cluster: str
    local: str
    external: str
    firewall: str


def service_chains(port: ServicePort) -> ServiceChains:
    """Return the chains of a service port."""
    base = _hash_and_truncate(_service(port))
    return ServiceChains(f"service-{base}", f"local-{base}", f"external-{base}", f"firewall-{base}")


def endpoint_base(port: ServicePort, endpoint: Endpoint) -> str:
    """Return what follows ``endpoint-`` and ``affinity-`` in the names of an endpoint's chain and set."""
    address = endpoint.ip.replace(":", ".")
    return _hash_and_truncate(f"{_service(port)}__{address}/{endpoint.port}")


def is_service_chain(name: str) -> bool:
    """Tell whether a chain is a service's; the names of all others have no slash."""
    return "/" in name


def _service(port: ServicePort) -> str:
    return f"{port.name.namespace}/{port.name.name}/{port.protocol.lower()}/{port.name.port}"


def _hash_and_truncate(text: str) -> str:
    hashed = b32encode(sha256(text.encode()).digest()[:_HASH_BYTES]).decode()
    name = f"{hashed}-{text}"
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."
