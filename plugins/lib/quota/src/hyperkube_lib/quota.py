"""What an object uses of a ResourceQuota, which quotas it falls under, and what it lacks.

Pure functions; the admission plugin charges with them and the controller counts with them.
Sources: kubernetes ``pkg/quota/v1/evaluator/core``, apiserver ``pkg/quota/v1/generic``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from hyperkube_lib.resized_pods import with_effective_limits, with_effective_requests

from hyperkube.kinds.pods import (
    container_resources,
    is_pod_level_resource,
    is_terminal,
    pod_limits,
    pod_requests,
    spec_of,
)
from hyperkube.kinds.qos import BEST_EFFORT, qos_class
from hyperkube.kinds.resource_lists import (
    HUGE_PAGES_PREFIX,
    REQUESTS_PREFIX,
    ResourceList,
    is_extended,
    is_native,
    read,
    show_names,
)
from hyperkube.kinds.volumes import class_name
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.labels import Requirement
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.quantity import Quantity
from hyperkube.machinery.times import parse_time

_ONE, _ZERO = Quantity(1), Quantity(0)
_STORAGE_CLASS_SUFFIX = ".storageclass.storage.k8s.io/"
_DEVICE_CLASS_SUFFIX = ".deviceclass.resource.k8s.io/devices"
DEVICE_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Of a resource that stands for the devices of the class whose name follows."""
_MOST_DEVICES = 32
"""What a request for all devices of a class is charged with: as many as one claim can be given."""

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_POD_RESOURCES = frozenset(
    {"count/pods", "pods", *_COMPUTE, *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _COMPUTE)}
)
_POD_PREFIXES = (HUGE_PAGES_PREFIX, REQUESTS_PREFIX + HUGE_PAGES_PREFIX, REQUESTS_PREFIX + DEVICE_CLASS_PREFIX)
_MUST_BE_SET = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
_SERVICE_RESOURCES = frozenset({"count/services", "services", "services.nodeports", "services.loadbalancers"})
_CLAIM_RESOURCES = ("persistentvolumeclaims", "requests.storage")
_PLAIN_COUNTS = frozenset({"configmaps", "secrets", "replicationcontrollers", "resourcequotas"})
"""Core resources that may also be counted by their bare name."""

PODS, SERVICES = GroupResource("", "pods"), GroupResource("", "services")
CLAIMS = GroupResource("", "persistentvolumeclaims")
RESOURCE_CLAIMS = GroupResource("resource.k8s.io", "resourceclaims")


def count_name(resource: GroupResource) -> str:
    """Return the name under which objects of a resource are counted: ``count/deployments.apps``."""
    return f"count/{resource}"


def is_charged(
    resource: GroupResource, operation: str, subresource: str, *, old: Object | None = None, new: Object | None = None
) -> bool:
    """Tell whether that kind of write can change what is used.

    Args:
        resource: of the object.
        operation: such as ``UPDATE``.
        subresource: written, or empty.
        old: the object before an update.
        new: the object after it; a pod that gets a deadline, or loses it, comes under other quotas.
    """
    if resource == PODS:
        if operation == "UPDATE" and not subresource:
            return is_terminating(spec_of(old or {})) is not is_terminating(spec_of(new or {}))
        return (operation == "CREATE" and not subresource) or (operation == "UPDATE" and subresource == "resize")
    if subresource:
        return resource == CLAIMS and subresource == "status" and operation == "UPDATE"
    return operation == "CREATE" or (operation == "UPDATE" and resource in {SERVICES, CLAIMS, RESOURCE_CLAIMS})


def relevant(resource: GroupResource, names: Iterable[str]) -> list[str]:
    """Return those of a quota's resource names that objects of a resource use."""
    return [name for name in names if _is_relevant(resource, name)]


def _is_relevant(resource: GroupResource, name: str) -> bool:
    if resource == PODS:
        return (
            name in _POD_RESOURCES
            or name.startswith(_POD_PREFIXES)
            or (not is_native(name) and name.startswith(REQUESTS_PREFIX))
        )
    if resource == SERVICES:
        return name in _SERVICE_RESOURCES
    if resource == CLAIMS:
        by_class = any(name.endswith(_STORAGE_CLASS_SUFFIX + counted) for counted in _CLAIM_RESOURCES)
        return name == count_name(CLAIMS) or name in _CLAIM_RESOURCES or by_class
    if resource == RESOURCE_CLAIMS and name.endswith(_DEVICE_CLASS_SUFFIX):
        return True
    return name == count_name(resource) or (
        not resource.group and name == resource.resource and resource.resource in _PLAIN_COUNTS
    )


def usage(resource: GroupResource, obj: Object, now: datetime) -> ResourceList:
    """Return what an object uses, by quota resource name.

    Raises:
        QuantityError: the object holds a value that is no quantity.
    """
    if resource == PODS:
        return pod_usage(obj, now)
    if resource == SERVICES:
        return _service_usage(obj)
    if resource == CLAIMS:
        return _claim_usage(obj)
    if resource == RESOURCE_CLAIMS:
        return _resource_claim_usage(obj)
    used = {count_name(resource): _ONE}
    if not resource.group and resource.resource in _PLAIN_COUNTS:
        used[resource.resource] = _ONE
    return used


def pod_usage(pod: Object, now: datetime) -> ResourceList:
    """Return what a pod uses: one that has ended, or outlived its deletion, counts as an object only."""
    used: ResourceList = {count_name(PODS): _ONE}
    if is_terminal(pod) or _outlived(pod, now):
        return used
    return used | _compute(pod_requests(with_effective_requests(pod)), pod_limits(with_effective_limits(pod)))


def _outlived(pod: Object, now: datetime) -> bool:
    """Tell whether the pod should have been gone already."""
    meta = metadata(pod)
    deleted, grace = meta.get("deletionTimestamp"), meta.get("deletionGracePeriodSeconds")
    if not deleted or grace is None:
        return False
    return now > parse_time(deleted) + timedelta(seconds=grace)


def _compute(requests: ResourceList, limits: ResourceList) -> ResourceList:
    used: ResourceList = {"pods": _ONE}
    for name in _COMPUTE:
        if name in requests:
            used[name] = used[f"requests.{name}"] = requests[name]
        if name in limits:
            used[f"limits.{name}"] = limits[name]
    for name, quantity in requests.items():
        if name.startswith(HUGE_PAGES_PREFIX):
            used[name] = used[REQUESTS_PREFIX + name] = quantity
        elif is_extended(name) or name.startswith(DEVICE_CLASS_PREFIX):
            used[REQUESTS_PREFIX + name] = quantity
    return used


def _service_usage(service: Object) -> ResourceList:
    spec = service.get("spec") or {}
    ports = spec.get("ports") or []
    kind = spec.get("type")
    node_ports = 0
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
        node_ports = sum(1 for port in ports if port.get("nodePort"))
    elif kind in {"NodePort", "LoadBalancer"}:
        node_ports = len(ports)
    return {
        count_name(SERVICES): _ONE,
        "services": _ONE,
        "services.loadbalancers": _ONE if kind == "LoadBalancer" else _ZERO,
        "services.nodeports": Quantity(node_ports),
    }


def _claim_usage(claim: Object) -> ResourceList:
    spec = claim.get("spec") or {}
    used: ResourceList = {"persistentvolumeclaims": _ONE, count_name(CLAIMS): _ONE}
    storage_class = class_name(claim)
    wanted = read((spec.get("resources") or {}).get("requests")).get("storage")
    allocated = read((claim.get("status") or {}).get("allocatedResources")).get("storage")
    if wanted is not None and allocated is not None and allocated > wanted:
        wanted = allocated
    if wanted is not None:
        used["requests.storage"] = wanted.rounded_up(0)
    if storage_class:
        for name in _CLAIM_RESOURCES:
            if name in used:
                used[storage_class + _STORAGE_CLASS_SUFFIX + name] = used[name]
    return used


def _resource_claim_usage(claim: Object) -> ResourceList:
    """Return how many devices of each class a claim asks for, of alternatives the most of each class."""
    used: ResourceList = {count_name(RESOURCE_CLAIMS): _ONE}
    for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ():
        exactly = request.get("exactly")
        asked: dict[str, int] = {}
        for one in request.get("firstAvailable") or ([exactly] if exactly else ()):
            name = f"{one.get('deviceClassName', '')}{_DEVICE_CLASS_SUFFIX}"
            asked[name] = max(asked.get(name, 0), _device_count(one))
        for name, count in asked.items():
            used[name] = used.get(name, _ZERO) + Quantity(count)
    return used


def _device_count(request: Object) -> int:
    mode = request.get("allocationMode", "ExactCount")
    if mode == "All":
        return _MOST_DEVICES
    return int(request.get("count", 1)) if mode == "ExactCount" else 0


def lacking(resource: GroupResource, obj: Object, names: Iterable[str]) -> str:
    """Return what an object must specify because a quota counts it: ``must specify cpu for: web``; empty if nothing.

    Every container of a pod has to say how much cpu and memory it wants where a quota limits these, unless
    ``spec.resources`` says it for the pod as a whole.
    """
    if resource != PODS:
        return ""
    spec = spec_of(obj)
    if _is_set_for_the_pod(spec):
        return ""
    required = sorted(_MUST_BE_SET.intersection(names))
    missing: dict[str, set[str]] = {}
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        used = _compute(container_resources(container, "requests"), container_resources(container, "limits"))
        for name in required:
            if name not in used:
                missing.setdefault(name, set()).add(container.get("name", ""))
    if not missing:
        return ""
    return "must specify " + "; ".join(f"{name} for: {show_names(missing[name])}" for name in sorted(missing))


def _is_set_for_the_pod(spec: Object) -> bool:
    resources = spec.get("resources") or {}
    return any(is_pod_level_resource(name) for kind in ("requests", "limits") for name in resources.get(kind) or ())


def scope_selectors(quota: Object) -> list[Object]:
    """Return the scopes of a quota as selector requirements."""
    spec = quota.get("spec") or {}
    plain = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    return plain + list((spec.get("scopeSelector") or {}).get("matchExpressions") or ())


def applies(quota: Object, resource: GroupResource, obj: Object) -> bool:
    """Tell whether a quota (its status says what it limits) counts this object."""
    hard = (quota.get("status") or {}).get("hard") or {}
    return bool(relevant(resource, hard)) and all(
        in_scope(selector, resource, obj) for selector in scope_selectors(quota)
    )


def in_scope(selector: Object, resource: GroupResource, obj: Object) -> bool:
    """Tell whether an object is in a scope."""
    scope = selector.get("scopeName")
    if resource == CLAIMS:
        return scope == "VolumeAttributesClass" and _in_attributes_scope(selector, obj)
    if resource != PODS:
        return False
    spec = spec_of(obj)
    if scope in {"Terminating", "NotTerminating"}:
        return is_terminating(spec) is (scope == "Terminating")
    if scope in {"BestEffort", "NotBestEffort"}:
        return (qos_class(obj) == BEST_EFFORT) is (scope == "BestEffort")
    if scope == "PriorityClass":
        name = spec.get("priorityClassName") or ""
        return _selects(selector, {"PriorityClass": name} if name else {})
    return scope == "CrossNamespacePodAffinity" and _reaches_out(spec)


def is_terminating(spec: Object) -> bool:
    """Tell whether a pod is to end by itself: it has a deadline."""
    deadline = spec.get("activeDeadlineSeconds")
    return deadline is not None and int(deadline) >= 0


def _selects(selector: Object, labels: dict[str, str]) -> bool:
    """Evaluate a scope's operator on what the object has."""
    operator = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}[selector["operator"]]
    return Requirement(selector["scopeName"], operator, tuple(selector.get("values") or ())).matches(labels)


def _in_attributes_scope(selector: Object, claim: Object) -> bool:
    status = claim.get("status") or {}
    names: Sequence[str] = [
        name
        for name in (
            (claim.get("spec") or {}).get("volumeAttributesClassName"),
            status.get("currentVolumeAttributesClassName"),
            (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
        )
        if name
    ]
    if not names:
        return _selects(selector, {})
    return any(_selects(selector, {"VolumeAttributesClass": name}) for name in names)


def _reaches_out(spec: Object) -> bool:
    """Tell whether a pod's affinities name other namespaces."""
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        terms += [
            weighted.get("podAffinityTerm") or {}
            for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        ]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False
