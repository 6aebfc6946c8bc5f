"""What the proxy keeps of Services and EndpointSlices; a node has all of them, so it keeps little."""

from __future__ import annotations

from hyperkube.machinery.objects import Object, metadata

TRIGGER_ANNOTATION = "endpoints.kubernetes.io/last-change-trigger-time"
"""When the pod or Service changed that made a slice change."""
_METADATA = ("namespace", "name", "uid", "resourceVersion", "creationTimestamp", "labels")
_SPEC = (
    *("type", "clusterIP", "clusterIPs", "ports", "externalIPs", "loadBalancerSourceRanges", "healthCheckNodePort"),
    *("sessionAffinity", "sessionAffinityConfig", "internalTrafficPolicy", "externalTrafficPolicy"),
)
_ENDPOINT = ("addresses", "conditions", "nodeName", "hints")


def projected_service(service: Object) -> Object:
    """Return what proxying needs of a Service, and events about it."""
    kept = _shell(service)
    kept["spec"] = _part(service.get("spec") or {}, _SPEC)
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress")
    if ingress:
        kept["status"] = {"loadBalancer": {"ingress": ingress}}
    return kept


def projected_slice(endpoint_slice: Object) -> Object:
    """Return what proxying needs of an EndpointSlice."""
    kept = _shell(endpoint_slice)
    trigger = (metadata(endpoint_slice).get("annotations") or {}).get(TRIGGER_ANNOTATION)
    if trigger:
        kept["metadata"]["annotations"] = {TRIGGER_ANNOTATION: trigger}
    kept["addressType"] = endpoint_slice.get("addressType", "")
    kept["ports"] = endpoint_slice.get("ports") or []
    kept["endpoints"] = [_part(each, _ENDPOINT) for each in endpoint_slice.get("endpoints") or ()]
    return kept


def _shell(obj: Object) -> Object:
    kept: Object = {name: obj[name] for name in ("apiVersion", "kind") if name in obj}
    kept["metadata"] = _part(metadata(obj), _METADATA)
    return kept


def _part(obj: Object, names: tuple[str, ...]) -> Object:
    return {name: obj[name] for name in names if name in obj}
