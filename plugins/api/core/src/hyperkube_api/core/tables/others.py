"""The rows of the simpler core kinds.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object, labels_of

_SHOWN_ENDPOINTS = 3


def component_status(obj: Object, now: datetime) -> list[Any]:
    """Return whether a component is healthy, and what it says."""
    del now
    condition: Object = next((item for item in obj.get("conditions") or () if item.get("type") == "Healthy"), {})
    word = "Unknown" if not condition else "Healthy" if condition.get("status") == "True" else "Unhealthy"
    return [cells.name(obj), word, condition.get("message") or "", condition.get("error") or ""]


def config_map(obj: Object, now: datetime) -> list[Any]:
    """Return how many entries there are."""
    return [cells.name(obj), len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), cells.age(obj, now)]


def secret(obj: Object, now: datetime) -> list[Any]:
    """Return the type and how many entries there are."""
    return [cells.name(obj), obj.get("type") or "", len(obj.get("data") or ()), cells.age(obj, now)]


def service_account(obj: Object, now: datetime) -> list[Any]:
    """Return the age."""
    return [cells.name(obj), cells.age(obj, now)]


def namespace(obj: Object, now: datetime) -> list[Any]:
    """Return the phase."""
    return [cells.name(obj), cells.status_of(obj).get("phase") or "", cells.age(obj, now)]


def limit_range(obj: Object, now: datetime) -> list[Any]:
    """Return when it was made."""
    del now
    return [cells.name(obj), cells.created(obj)]


def endpoints(obj: Object, now: datetime) -> list[Any]:
    """Return the first addresses."""
    return [cells.name(obj), _addresses(obj), cells.age(obj, now)]


def _addresses(obj: Object) -> str:
    """Return the first addresses with their ports; ``<none>`` is for an object without subsets alone."""
    found: list[str] = []
    for subset in obj.get("subsets") or ():
        ports = subset.get("ports") or []
        for port in ports:
            for address in subset.get("addresses") or ():
                text = address.get("ip") or ""
                host = f"[{text}]" if ":" in text else text
                found.append(f"{host}:{port.get('port')}")
        if not ports:
            found += [address.get("ip") or "" for address in subset.get("addresses") or ()]
    text = ",".join(found[:_SHOWN_ENDPOINTS])
    if len(found) > _SHOWN_ENDPOINTS:
        return f"{text} + {len(found) - _SHOWN_ENDPOINTS} more..."
    return text if obj.get("subsets") else cells.NONE


def pod_template(obj: Object, now: datetime) -> list[Any]:
    """Return containers, images and labels."""
    del now
    template = obj.get("template") or {}
    return [cells.name(obj), *cells.containers(template), cells.labels(labels_of(template))]


def replication_controller(obj: Object, now: datetime) -> list[Any]:
    """Return the counts; wide: containers and selector."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    return [
        cells.name(obj),
        spec.get("replicas") or 0,
        status.get("replicas") or 0,
        status.get("readyReplicas") or 0,
        cells.age(obj, now),
        *cells.containers(spec.get("template")),
        cells.labels(spec.get("selector")),
    ]


def resource_quota(obj: Object, now: datetime) -> list[Any]:
    """Return what is used of what is allowed, limits apart."""
    status = cells.status_of(obj)
    used = status.get("used") or {}
    requests: list[str] = []
    limits: list[str] = []
    for name, hard in sorted((status.get("hard") or {}).items()):
        side = limits if name.startswith("limits.") else requests
        side.append(f"{name}: {used.get(name, '0')}/{hard}")
    return [cells.name(obj), ", ".join(requests), ", ".join(limits), cells.age(obj, now)]
