"""What a Service asks of Google's balancers: classes, finalizers, annotations, as values.

Sources: cloud-provider-gcp ``providers/gce/gce_annotations.go``, ``gce_loadbalancer.go``,
``gce_loadbalancer_external.go``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from hyperkube_lib.cloud_provider.services import local_check_port, ports_of, protocol_of

from hyperkube.hookspecs.cloud import CloudFailed, ImplementedElsewhere
from hyperkube.machinery.objects import Object, annotations_of, has_finalizer

TYPES: Final = ("networking.gke.io/load-balancer-type", "cloud.google.com/load-balancer-type")
INTERNAL_CLASS: Final = "networking.gke.io/l4-regional-internal-legacy"
EXTERNAL_CLASS: Final = "networking.gke.io/l4-regional-external-legacy"
SHARES: Final = ("alpha.cloud.google.com/load-balancer-backend-share", "cloud.google.com/load-balancer-backend-share")
GLOBAL_ACCESS: Final = "networking.gke.io/internal-load-balancer-allow-global-access"
SUBNET: Final = "networking.gke.io/internal-load-balancer-subnet"
TIER: Final = "cloud.google.com/network-tier"
TIERS: Final = {"Premium": "PREMIUM", "Standard": "STANDARD"}
RBS: Final = "cloud.google.com/l4-rbs"
RBS_FINALIZER: Final = "gke.networking.io/l4-netlb-v2"
INTERNAL_FINALIZER: Final = "gke.networking.io/l4-ilb-v1"
OTHERS_FINALIZER: Final = "gke.networking.io/l4-ilb-v2"
INTERNAL, EXTERNAL = "INTERNAL", "EXTERNAL"
MOST_PORTS: Final = 5
"""Ports that an internal forwarding rule can list; it takes all beyond that."""


def scheme_of(service: Object) -> str:
    """Return ``INTERNAL`` or ``EXTERNAL``.

    Raises:
        ImplementedElsewhere: the Service names another class than this provider's.
    """
    wanted = (service.get("spec") or {}).get("loadBalancerClass")
    if wanted is not None:
        if wanted not in {INTERNAL_CLASS, EXTERNAL_CLASS}:
            raise ImplementedElsewhere(f"load balancer class {wanted!r}")
        return INTERNAL if wanted == INTERNAL_CLASS else EXTERNAL
    annotations = annotations_of(service)
    kind = next((annotations[name] for name in TYPES if name in annotations), "")
    return INTERNAL if kind in {"Internal", "internal"} else EXTERNAL


def left_to_others(service: Object, rule: Object | None) -> str:
    """Return why another controller makes this balancer; empty if none does.

    `rule` is the forwarding rule that there is.
    """
    if scheme_of(service) == EXTERNAL:
        if annotations_of(service).get(RBS) == "enabled":
            return f"annotation {RBS}"
        if has_finalizer(service, RBS_FINALIZER):
            return f"finalizer {RBS_FINALIZER}"
        is_others = rule is not None and rule.get("loadBalancingScheme") != INTERNAL and rule.get("backendService")
        return "the forwarding rule leads to a backend service" if is_others else ""
    adopted = rule is not None or has_finalizer(service, INTERNAL_FINALIZER)
    named = (service.get("spec") or {}).get("loadBalancerClass") == INTERNAL_CLASS
    others = not adopted and not named and has_finalizer(service, OTHERS_FINALIZER)
    return f"finalizer {OTHERS_FINALIZER}" if others else ""


def tier_of(service: Object) -> str:
    """Return the network tier as Google calls it.

    Raises:
        CloudFailed: there is no such tier.
    """
    wanted = annotations_of(service).get(TIER, "Premium")
    if wanted not in TIERS:
        raise CloudFailed(f'unsupported network tier: "{wanted}"')
    return TIERS[wanted]


def names_tier(service: Object) -> bool:
    """Tell whether the Service says which tier it wants: what is there is kept unless it does."""
    return TIER in annotations_of(service)


def shares_backend(service: Object) -> bool:
    """Tell whether the backend service is shared with other internal balancers."""
    annotations = annotations_of(service)
    return any(annotations.get(name) == "true" for name in SHARES) and not local_check_port(service)


def affinity_of(service: Object) -> str:
    """Return the session affinity as Google calls it."""
    return "CLIENT_IP" if (service.get("spec") or {}).get("sessionAffinity") == "ClientIP" else "NONE"


def backend_service_name(name: str, cluster_id: str, service: Object) -> str:
    """Return the name of an internal balancer's backend service."""
    if not shares_backend(service):
        return name
    affinity = str((service.get("spec") or {}).get("sessionAffinity", "None"))
    digest = hashlib.sha1(affinity.encode(), usedforsecurity=False).hexdigest()[:16]
    return f"k8s-{cluster_id}-internal-{protocol_of(service).lower()}-nmv1-{digest}"


def port_range(service: Object) -> str:
    """Return the one range of an external forwarding rule: from the lowest port to the highest."""
    return f"{min(ports_of(service))}-{max(ports_of(service))}"


def port_ranges(ports: Sequence[int]) -> list[str]:
    """Return ports as a firewall lists them: neighbours as one range."""
    found: list[list[int]] = []
    for port in sorted(set(ports)):
        if found and port == found[-1][1] + 1:
            found[-1][1] = port
        else:
            found.append([port, port])
    return [str(first) if first == last else f"{first}-{last}" for first, last in found]
