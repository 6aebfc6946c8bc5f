"""Arithmetic on ResourceLists: ``{"cpu": "500m", "memory": "1Gi"}``, read once into quantities.

Source: kubernetes apiserver ``pkg/quota/v1/resources.go``, component-helpers ``resource/helpers.go``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from hyperkube.machinery.quantity import Quantity, parse

ResourceList = dict[str, Quantity]

NATIVE_PREFIX = "kubernetes.io/"
REQUESTS_PREFIX = "requests."
HUGE_PAGES_PREFIX = "hugepages-"


def read(resources: Mapping[str, str] | None) -> ResourceList:
    """Read a ResourceList of an object; None is empty.

    Raises:
        QuantityError: a value that is no quantity.
    """
    return {name: parse(value) for name, value in (resources or {}).items()}


def write(resources: Mapping[str, Quantity]) -> dict[str, str]:
    """Write a ResourceList, names sorted as Go writes maps."""
    return {name: str(resources[name]) for name in sorted(resources)}


def add(total: ResourceList, more: Mapping[str, Quantity]) -> None:
    """Add `more` to `total`, in place."""
    for name, quantity in more.items():
        total[name] = total[name] + quantity if name in total else quantity


def subtract(total: Mapping[str, Quantity], less: Mapping[str, Quantity]) -> ResourceList:
    """Return the difference for all names of either list; results may be negative."""
    result = {name: quantity - less[name] if name in less else quantity for name, quantity in total.items()}
    result |= {name: -quantity for name, quantity in less.items() if name not in total}
    return result


def raise_to(total: ResourceList, least: Mapping[str, Quantity]) -> None:
    """Raise every value of `total` to at least that of `least`, in place."""
    for name, quantity in least.items():
        if name not in total or quantity > total[name]:
            total[name] = quantity


def mask(resources: Mapping[str, Quantity], names: Container[str]) -> ResourceList:
    """Return the entries with those names."""
    return {name: quantity for name, quantity in resources.items() if name in names}


def exceeded(used: Mapping[str, Quantity], hard: Mapping[str, Quantity]) -> list[str]:
    """Return the names of which more is used than the limit allows; no limit, no excess."""
    return [name for name, quantity in used.items() if name in hard and quantity > hard[name]]


def same(one: Mapping[str, Quantity], other: Mapping[str, Quantity]) -> bool:
    """Tell whether two lists have the same names with equal values."""
    return dict(one) == dict(other)


def show(resources: Mapping[str, Quantity]) -> str:
    """Return ``cpu=1,memory=2Gi``, sorted."""
    return ",".join(f"{name}={resources[name]}" for name in sorted(resources))


def show_names(names: Iterable[str]) -> str:
    """Return the names, sorted and joined by commas."""
    return ",".join(sorted(names))


def is_native(name: str) -> bool:
    """Tell whether a resource belongs to Kubernetes itself: no domain, or one of its own."""
    return "/" not in name or NATIVE_PREFIX in name


def is_extended(name: str) -> bool:
    """Tell whether a resource is an extended one, such as ``nvidia.com/gpu``."""
    return not is_native(name) and not name.startswith(REQUESTS_PREFIX)
