"""Quality of service: what a pod's requests and limits say about who goes first when a node runs short.

Only cpu and memory count, and only amounts above zero. Pod-level resources, where set, stand for the containers'.
Source: kubernetes ``pkg/apis/core/helper/qos/qos.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperkube.kinds.pods import is_pod_level_resource, spec_of, status_of
from hyperkube.kinds.resource_lists import ResourceList, add
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse

GUARANTEED, BURSTABLE, BEST_EFFORT = "Guaranteed", "Burstable", "BestEffort"
_COMPUTE = ("cpu", "memory")


def qos_class(pod: Object) -> str:
    """Return the pod's quality of service, as its status says or else from its requests and limits.

    Raises:
        QuantityError: an amount that is no quantity.
    """
    reported = status_of(pod).get("qosClass")
    return str(reported) if reported else computed_qos_class(pod)


def computed_qos_class(pod: Object) -> str:
    """Return ``Guaranteed``, ``Burstable`` or ``BestEffort``, as requests and limits give it.

    Raises:
        QuantityError: an amount that is no quantity.
    """
    requests: ResourceList = {}
    limits: ResourceList = {}
    all_limited = True
    for resources in _counted_resources(spec_of(pod)):
        add(requests, _amounts(resources.get("requests")))
        own_limits = _amounts(resources.get("limits"))
        add(limits, own_limits)
        all_limited = all_limited and len(own_limits) == len(_COMPUTE)
    if not requests and not limits:
        return BEST_EFFORT
    return GUARANTEED if all_limited and requests == limits else BURSTABLE


def _counted_resources(spec: Object) -> Iterable[Mapping[str, Any]]:
    """Return the resources of the pod as a whole if it sets some, else those of its containers."""
    pod_level = spec.get("resources") or {}
    if any(is_pod_level_resource(name) for which in ("requests", "limits") for name in pod_level.get(which) or ()):
        return (pod_level,)
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    return [container.get("resources") or {} for container in containers]


def _amounts(resources: Mapping[str, str] | None) -> ResourceList:
    """Return the cpu and memory of a ResourceList that are more than zero."""
    if not resources:
        return {}
    parsed = {name: parse(resources[name]) for name in _COMPUTE if name in resources}
    return {name: amount for name, amount in parsed.items() if amount.sign > 0}
