"""Defaults that only a pod itself gets, not a template.

Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_Pod).
"""

from __future__ import annotations

import orjson
from hyperkube_api.core.pod_specs.defaults import default_pod_spec

from hyperkube.kinds.pods import aggregate_containers, default_requests, is_pod_level_resource
from hyperkube.kinds.resource_lists import HUGE_PAGES_PREFIX
from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import TEMPLATE_MAX, TEMPLATES, Recent

POD_LEVEL = ("cpu", "memory")
_completed: Recent[bytes, bytes] = Recent(TEMPLATES)
"""The latest specifications and what became of them, both as JSON: most pods are made from few templates."""


def default_pod(pod: Object) -> None:
    """Fill in a pod."""
    spec = pod.get("spec")
    if not isinstance(spec, dict):
        return
    key = _key(spec)
    known = _completed.get(key) if key is not None else None
    if known is None:
        _default_spec(spec)
        if key is not None:
            _completed.keep(key, orjson.dumps(spec))
    elif known != key:
        completed = orjson.loads(known)
        spec.clear()
        spec.update(completed)


def _key(spec: Object) -> bytes | None:
    try:
        key = orjson.dumps(spec)
    except TypeError:  # not what JSON can hold, such as an integer beyond 64 bits
        return None
    return key if len(key) <= TEMPLATE_MAX else None


def _default_spec(spec: Object) -> None:
    default_pod_spec(spec)
    for member in ("containers", "initContainers"):
        for container in spec.get(member) or ():
            default_requests(container)
            if spec.get("hostNetwork"):
                _open_host_ports(container)
    if spec.get("resources"):
        _default_pod_resources(spec)
    if spec.get("enableServiceLinks") is None:
        spec["enableServiceLinks"] = True


def _open_host_ports(container: Object) -> None:
    """On the host's network a container port is a host port."""
    for port in container.get("ports") or ():
        if not port.get("hostPort") and port.get("containerPort"):
            port["hostPort"] = port["containerPort"]


def _default_pod_resources(spec: Object) -> None:
    resources = spec["resources"]
    limits: Object = resources.get("limits") or {}
    requests: Object = resources.get("requests") or {}
    if not limits and not requests:
        return
    for name, total in aggregate_containers(spec, "limits").items():
        if name.startswith(HUGE_PAGES_PREFIX) and name not in limits and name not in requests:
            limits[name] = str(total)
    if limits:
        resources["limits"] = limits
        _request_pod_limits(spec, limits, requests)
    if requests:
        resources["requests"] = requests


def _request_pod_limits(spec: Object, limits: Object, requests: Object) -> None:
    """Request for the whole pod what its containers request, else what it is limited to."""
    for name, total in aggregate_containers(spec, "requests").items():
        if name in POD_LEVEL:
            requests.setdefault(name, str(total))
    for name, limit in limits.items():
        if is_pod_level_resource(name):
            requests.setdefault(name, limit)
