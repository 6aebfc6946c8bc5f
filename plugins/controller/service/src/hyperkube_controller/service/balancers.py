"""What a service's balancer is made from, where it sends traffic, and what the service says of it. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube.client.actions import Action, Emit, Patch
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.objects import (
    Object,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    uid_of,
)

FINALIZER = "service.kubernetes.io/load-balancer-cleanup"
EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers"
DOOMED = "ToBeDeletedByClusterAutoscaler"
NAMES_TOLD = 20
"""How many nodes an event names."""
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


def wants_balancer(service: Object) -> bool:
    """Tell whether the service is to have a balancer of the cloud."""
    spec = service.get("spec") or {}
    return spec.get("type") == "LoadBalancer" and not spec.get("loadBalancerClass") and not is_being_deleted(service)


def has_finalizer(service: Object) -> bool:
    """Tell whether the service waits for its balancer when it is deleted."""
    return FINALIZER in (metadata(service).get("finalizers") or [])


def needs_cleanup(service: Object) -> bool:
    """Tell whether the service may have a balancer that is to be given back.

    One that lives and names a class may have the finalizer from that class's implementation.
    """
    spec = service.get("spec") or {}
    return has_finalizer(service) and (is_being_deleted(service) or spec.get("type") != "LoadBalancer")


def is_excluded(node: Object) -> bool:
    """Tell whether the node's label keeps balancers away; one that says false does not."""
    label = labels_of(node).get(EXCLUDED)
    return label is not None and label not in _FALSE


def targets(nodes: Iterable[Object]) -> list[Object]:
    """Return the nodes that balancers send traffic to.

    Whether a node is ready does not count: balancers check that themselves, and faster.
    """
    return [
        node
        for node in nodes
        if not is_being_deleted(node)
        and not is_excluded(node)
        and not any(taint.get("key") == DOOMED for taint in (node.get("spec") or {}).get("taints") or [])
    ]


def counts_for_balancers(old: Object, new: Object) -> bool:
    """Tell whether all balancers are to be compared with the nodes because this one has changed.

    A node that the cluster autoscaler is about to take away is left out when another change brings a comparison: until
    then it finishes what it serves.
    """
    ids = [(node.get("spec") or {}).get("providerID") or "" for node in (old, new)]
    return is_excluded(old) != is_excluded(new) or ids[0] != ids[1]


def identities(nodes: Iterable[Object]) -> dict[str, str]:
    """Return the cloud's id of each node by its name: balancers are told of nodes when these change."""
    return {name_of(node): (node.get("spec") or {}).get("providerID") or "" for node in nodes}


def told_names(nodes: Sequence[Object]) -> str:
    """Return the nodes' names as an event has them."""
    names = sorted(name_of(node) for node in nodes[:NAMES_TOLD])
    if len(nodes) > NAMES_TOLD:
        names.append(f"<{len(nodes) - NAMES_TOLD} more>")
    return f"[{' '.join(names)}]"


def wanted_spec(service: Object) -> Object:
    """Return what of a service its balancer is made from."""
    spec, meta = service.get("spec") or {}, metadata(service)
    parts = ("type", "loadBalancerIP", "loadBalancerSourceRanges", "externalIPs", "ports", "sessionAffinity",
             "sessionAffinityConfig", "externalTrafficPolicy", "healthCheckNodePort", "ipFamilies", "ipFamilyPolicy",
             "loadBalancerClass", "allocateLoadBalancerNodePorts")  # fmt: skip
    return {part: spec.get(part) for part in parts} | {"annotations": meta.get("annotations"), "uid": uid_of(service)}


def needs_update(old: Object, new: Object) -> bool:
    """Tell whether the wish for a balancer comes or goes by the change, or what the balancer is made from changes."""
    if wants_balancer(old) != wants_balancer(new):
        return True
    return wants_balancer(new) and wanted_spec(old) != wanted_spec(new)


def claim(service: Object) -> list[Action]:
    """Return what makes sure, before a balancer exists, that the service does not go without giving it back."""
    if has_finalizer(service):
        return []
    return [_patch(service, finalizers=[*(metadata(service).get("finalizers") or []), FINALIZER])]


def ensured(service: Object, balancer: Object) -> list[Action]:
    """Return what tells the service of its balancer."""
    told = Emit(service, "Normal", "EnsuredLoadBalancer", "Ensured load balancer")
    if balancer == ((service.get("status") or {}).get("loadBalancer") or {}):
        return [told]
    patch = {"metadata": {"uid": uid_of(service)}, "status": {"loadBalancer": balancer}}
    return [told, Patch(SERVICES, name_of(service), patch, namespace_of(service), "status")]


def released(service: Object) -> list[Action]:
    """Return what lets a service go whose balancer was given back."""
    left = [name for name in metadata(service).get("finalizers") or [] if name != FINALIZER]
    meta = {"uid": uid_of(service), "finalizers": left}
    patch = {"metadata": meta, "status": {"loadBalancer": {"ingress": None}}}
    return [
        Patch(SERVICES, name_of(service), patch, namespace_of(service), "status"),
        Emit(service, "Normal", "DeletedLoadBalancer", "Deleted load balancer"),
    ]


def _patch(service: Object, *, finalizers: list[str]) -> Patch:
    patch = {"metadata": {"uid": uid_of(service), "finalizers": finalizers}}
    return Patch(SERVICES, name_of(service), patch, namespace_of(service), "status")
