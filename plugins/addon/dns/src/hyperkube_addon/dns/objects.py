"""The objects that lead pods to the DNS server: the Service ``kube-dns`` and its endpoints.

Source: kubernetes ``cluster/addons/dns/coredns/coredns.yaml.base``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from hyperkube.machinery.objects import Object

NAMESPACE, NAME = "kube-system", "kube-dns"
APP = {"k8s-app": NAME}
PORT = 53
FROM_FIRST = 9
"""The server's address is the tenth of the range of Services, whose first is that of ``kubernetes``."""
_PORTS = (("dns", "UDP"), ("dns-tcp", "TCP"))


def dns_address(kubernetes: str) -> str:
    """Return the DNS server's address, given that of the Service ``kubernetes``.

    Source: kubernetes ``cmd/kubeadm/app/constants/constants.go`` (GetDNSIP).
    """
    return str(ipaddress.ip_address(kubernetes) + FROM_FIRST)


def service(address: str) -> Object:
    """Return the Service."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": NAME,
            "namespace": NAMESPACE,
            "labels": {
                **APP,
                "kubernetes.io/cluster-service": "true",
                "kubernetes.io/name": "KubeDNS",
                "addonmanager.kubernetes.io/mode": "Reconcile",
            },
        },
        "spec": {
            "selector": APP,
            "clusterIP": address,
            "ports": [{"name": name, "port": PORT, "protocol": protocol} for name, protocol in _PORTS],
        },
    }


def endpoint_slice(name: str, addresses: Sequence[str], port: int) -> Object:
    """Return the endpoints: the server itself, beside those of pods that the Service may select."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"{NAME}-{name}",
            "namespace": NAMESPACE,
            "labels": {
                **APP,
                "kubernetes.io/service-name": NAME,
                "endpointslice.kubernetes.io/managed-by": "dns.hyperkube.dev",
            },
        },
        "addressType": "IPv6" if ":" in addresses[0] else "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}} for address in addresses],
        "ports": [{"name": part, "port": port, "protocol": protocol} for part, protocol in _PORTS],
    }
