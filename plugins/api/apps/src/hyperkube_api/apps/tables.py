"""Table rows of workloads, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object, controller_of


def controller_revision(obj: Object, now: datetime) -> list[Any]:
    """Return whose revision it is."""
    owner = controller_of(obj)
    shown = cells.NONE
    if owner is not None:
        group = (owner.get("apiVersion") or "").rpartition("/")[0].lower()
        kind = (owner.get("kind") or "").lower()
        shown = f"{kind}.{group}/{owner.get('name')}" if group else f"{kind}/{owner.get('name')}"
    return [cells.name(obj), shown, obj.get("revision") or 0, cells.age(obj, now)]


def daemon_set(obj: Object, now: datetime) -> list[Any]:
    """Return the counts of nodes; wide: containers and selector."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    members = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    template = spec.get("template") or {}
    return [
        cells.name(obj),
        *(status.get(member) or 0 for member in members),
        cells.labels((template.get("spec") or {}).get("nodeSelector")),
        cells.age(obj, now),
        *cells.containers(template),
        cells.selector(spec.get("selector")),
    ]


def deployment(obj: Object, now: datetime) -> list[Any]:
    """Return how many replicas are ready; wide: containers and selector."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    return [
        cells.name(obj),
        f"{status.get('readyReplicas') or 0}/{spec.get('replicas') or 0}",
        status.get("updatedReplicas") or 0,
        status.get("availableReplicas") or 0,
        cells.age(obj, now),
        *cells.containers(spec.get("template")),
        cells.selector(spec.get("selector"), empty="", wrong="<invalid>"),
    ]


def replica_set(obj: Object, now: datetime) -> list[Any]:
    """Return the counts; wide: containers and selector."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    return [
        cells.name(obj),
        spec.get("replicas") or 0,
        status.get("replicas") or 0,
        status.get("readyReplicas") or 0,
        cells.age(obj, now),
        *cells.containers(spec.get("template")),
        cells.selector(spec.get("selector")),
    ]


def stateful_set(obj: Object, now: datetime) -> list[Any]:
    """Return how many replicas are ready; wide: containers."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    ready = f"{status.get('readyReplicas') or 0}/{spec.get('replicas') or 0}"
    return [cells.name(obj), ready, cells.age(obj, now), *cells.containers(spec.get("template"))]
