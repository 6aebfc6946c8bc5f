"""Defaults of the other core kinds.

Source: kubernetes pkg/apis/core/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube_api.core.defaults.pod_specs import default_template
from hyperkube_api.core.defaults.volumes import default_sources

from hyperkube.machinery.objects import Object

SESSION_TIMEOUT_SECONDS = 10800
NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"


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


def default_replication_controller(controller: Object) -> None:
    """Fill in a replication controller; its selector and labels come from the template."""
    spec = controller["spec"]
    template = spec.get("template")
    labels = ((template or {}).get("metadata") or {}).get("labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        if not controller["metadata"].get("labels"):
            controller["metadata"]["labels"] = dict(labels)
    if spec.get("replicas") is None:
        spec["replicas"] = 1
    default_template(template)


def default_secret(secret: Object) -> None:
    """Fill in a secret: its type, and ``stringData`` merged into ``data``."""
    if not secret.get("type"):
        secret["type"] = "Opaque"
    texts = secret.pop("stringData", None)
    if texts:
        from base64 import b64encode

        data = secret.get("data") or {}
        data.update({key: b64encode(text.encode()).decode() for key, text in texts.items()})
        secret["data"] = data


def default_persistent_volume(volume: Object) -> None:
    """Fill in a persistent volume."""
    spec = volume["spec"]
    status = volume.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    if not spec.get("persistentVolumeReclaimPolicy"):
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
    default_sources(spec)


def default_persistent_volume_claim(claim: Object) -> None:
    """Fill in a claim, also one in a StatefulSet's template."""
    status = claim.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    spec = claim.setdefault("spec", {})
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"


def default_endpoints(endpoints: Object) -> None:
    """Fill in the protocol of endpoint ports."""
    for subset in endpoints.get("subsets") or ():
        for port in subset.get("ports") or ():
            if not port.get("protocol"):
                port["protocol"] = "TCP"


def default_namespace(namespace: Object) -> None:
    """Label a namespace with its own name."""
    name = namespace["metadata"].get("name")
    if name:
        labels = namespace["metadata"].get("labels") or {}
        labels[NAMESPACE_NAME_LABEL] = name
        namespace["metadata"]["labels"] = labels


def default_node(node: Object) -> None:
    """A node can give what it has, unless it says otherwise."""
    status = node.get("status") or {}
    if status.get("capacity") and not status.get("allocatable"):
        status["allocatable"] = dict(status["capacity"])


def default_limit_range(limit_range: Object) -> None:
    """Fill in a container's defaults from the limits, and its default requests from those."""
    spec = limit_range.get("spec") or {}
    if not spec.get("limits"):
        spec["limits"] = None
    for item in spec.get("limits") or ():
        if item.get("type") != "Container":
            continue
        default = item.get("default") or {}
        for name, amount in (item.get("max") or {}).items():
            default.setdefault(name, amount)
        request = item.get("defaultRequest") or {}
        for name, amount in default.items():
            request.setdefault(name, amount)
        for name, amount in (item.get("min") or {}).items():
            request.setdefault(name, amount)
        for member, amounts in (("default", default), ("defaultRequest", request)):
            if amounts:
                item[member] = amounts
