"""Defaults of services.

Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_Service).
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object

SESSION_TIMEOUT_SECONDS = 10800


def default_service(service: Object) -> None:
    """Fill in a service."""
    spec = service["spec"]
    if not spec.get("type"):
        spec["type"] = "ClusterIP"
    _default_affinity(spec)
    for port in spec.get("ports") or ():
        if not port.get("protocol"):
            port["protocol"] = "TCP"
        if not port.get("targetPort"):
            port["targetPort"] = port.get("port")
    _default_traffic(spec, spec["type"])
    if spec["type"] == "LoadBalancer":
        if spec.get("allocateLoadBalancerNodePorts") is None:
            spec["allocateLoadBalancerNodePorts"] = True
        for ingress in ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ():
            if ingress.get("ip") and ingress.get("ipMode") is None:
                ingress["ipMode"] = "VIP"


def _default_traffic(spec: Object, kind: str) -> None:
    if not spec.get("externalTrafficPolicy") and (
        kind in {"NodePort", "LoadBalancer"} or (kind == "ClusterIP" and spec.get("externalIPs"))
    ):
        spec["externalTrafficPolicy"] = "Cluster"
    if spec.get("internalTrafficPolicy") is None and kind in {"ClusterIP", "NodePort", "LoadBalancer"}:
        spec["internalTrafficPolicy"] = "Cluster"


def _default_affinity(spec: Object) -> None:
    if not spec.get("sessionAffinity"):
        spec["sessionAffinity"] = "None"
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        config = spec.get("sessionAffinityConfig")
        if not config or not config.get("clientIP") or config["clientIP"].get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": SESSION_TIMEOUT_SECONDS}}
