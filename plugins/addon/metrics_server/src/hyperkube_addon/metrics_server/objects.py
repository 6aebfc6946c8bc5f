"""The objects of metrics.k8s.io, and those that lead its requests here.

Sources: metrics-server ``pkg/api/{node,pod,table}.go``, ``manifests/base``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from hyperkube_addon.metrics_server.storage import Usage

from hyperkube.machinery.durations import format_duration
from hyperkube.machinery.objects import Object, labels_of, name_of, namespace_of
from hyperkube.machinery.quantity import Quantity
from hyperkube.machinery.times import format_time

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
GROUP_VERSION = f"{GROUP}/{VERSION}"
NAMESPACE, NAME, PORT = "kube-system", "metrics-server", 443
SERVER_NAME = f"{NAME}.{NAMESPACE}.svc"
_NANO = -9
_LABELS = {"k8s-app": NAME}

READER_ROLE: Object = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {
        "name": "system:aggregated-metrics-reader",
        "labels": {
            **_LABELS,
            "rbac.authorization.k8s.io/aggregate-to-admin": "true",
            "rbac.authorization.k8s.io/aggregate-to-edit": "true",
            "rbac.authorization.k8s.io/aggregate-to-view": "true",
        },
    },
    "rules": [{"apiGroups": [GROUP], "resources": ["pods", "nodes"], "verbs": ["get", "list", "watch"]}],
}
"""Who may read objects may read what they use."""

GROUP_DISCOVERY: Object = {
    "kind": "APIGroup",
    "apiVersion": "v1",
    "name": GROUP,
    "versions": [{"groupVersion": GROUP_VERSION, "version": VERSION}],
    "preferredVersion": {"groupVersion": GROUP_VERSION, "version": VERSION},
}
RESOURCES: Object = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": GROUP_VERSION,
    "resources": [
        {"name": "nodes", "singularName": "", "namespaced": False, "kind": "NodeMetrics", "verbs": ["get", "list"]},
        {"name": "pods", "singularName": "", "namespaced": True, "kind": "PodMetrics", "verbs": ["get", "list"]},
    ],
}


def routing(port: int, address: str, authority: str) -> Sequence[Object]:
    """Return the objects that lead requests of the group to a port of this machine.

    Args:
        port: where it is served.
        address: of this machine.
        authority: base64 of the PEM authority of what is served there.
    """
    meta = {"name": NAME, "namespace": NAMESPACE, "labels": _LABELS}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta,
        "spec": {"ports": [{"name": "https", "port": PORT, "protocol": "TCP", "targetPort": port}]},
    }
    slices = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {**meta, "labels": {**_LABELS, "kubernetes.io/service-name": NAME}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
    }
    registration = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{VERSION}.{GROUP}", "labels": _LABELS},
        "spec": {
            "group": GROUP,
            "version": VERSION,
            "service": {"name": NAME, "namespace": NAMESPACE, "port": PORT},
            "caBundle": authority,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
        },
    }
    return (service, slices, registration)


def node_metrics(node: Object, usage: Usage, now: datetime) -> Object:
    """Return what a node uses."""
    return {
        "kind": "NodeMetrics",
        "apiVersion": GROUP_VERSION,
        "metadata": _metadata(node, now),
        **_window(usage),
        "usage": _usage(usage),
    }


def pod_metrics(pod: Object, usages: Mapping[str, Usage], now: datetime) -> Object:
    """Return what the containers of a pod use; time and window are those of the earliest measurement."""
    earliest = min(usages.values(), key=lambda usage: usage.timestamp)
    return {
        "kind": "PodMetrics",
        "apiVersion": GROUP_VERSION,
        "metadata": _metadata(pod, now),
        **_window(earliest),
        "containers": [{"name": name, "usage": _usage(usage)} for name, usage in sorted(usages.items())],
    }


def _metadata(source: Object, now: datetime) -> Object:
    namespace, labels = namespace_of(source), labels_of(source)
    return {
        "name": name_of(source),
        **({"namespace": namespace} if namespace else {}),
        "creationTimestamp": format_time(now),
        **({"labels": dict(labels)} if labels else {}),
    }


def _window(usage: Usage) -> Object:
    moment = format_time(datetime.fromtimestamp(usage.timestamp, UTC))
    return {"timestamp": moment, "window": format_duration(round(usage.window, 3))}


def _usage(usage: Usage) -> Object:
    return {
        "cpu": str(Quantity(usage.cpu_nanocores, _NANO)),
        "memory": str(Quantity(usage.memory_bytes, 0, "BinarySI")),
    }


def list_of(kind: str, items: Sequence[Object]) -> Object:
    """Return a list of metrics objects."""
    rows = [{key: value for key, value in item.items() if key not in {"kind", "apiVersion"}} for item in items]
    return {"kind": f"{kind}List", "apiVersion": GROUP_VERSION, "metadata": {}, "items": rows}


def table_of(items: Sequence[Object]) -> Object:
    """Return the rows that ``kubectl get`` shows: name, the sum of what is used, and over which time."""
    columns = [{"name": "Name", "type": "string", "format": "name", "description": "Name of the resource"}]
    columns += [{"name": name, "type": "string", "format": "", "description": ""} for name in ("cpu", "memory")]
    columns += [{"name": "Window", "type": "string", "format": "duration", "description": ""}]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {},
        "columnDefinitions": [{**column, "priority": 0} for column in columns],
        "rows": [{"cells": _cells(item), "object": _partial(item)} for item in items],
    }


def _cells(item: Object) -> list[str]:
    from hyperkube.machinery import quantity

    usages = [item["usage"]] if "usage" in item else [container["usage"] for container in item["containers"]]
    sums = {}
    for resource in ("cpu", "memory"):
        first, *rest = (quantity.parse(usage[resource]) for usage in usages)
        sums[resource] = str(sum(rest, start=first))
    return [name_of(item), sums["cpu"], sums["memory"], item["window"]]


def _partial(item: Object) -> Object:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": item["metadata"]}
