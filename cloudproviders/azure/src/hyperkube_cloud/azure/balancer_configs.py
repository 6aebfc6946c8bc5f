"""``multipleStandardLoadBalancerConfigurations`` of ``azure.json``: which Services and nodes each balancer is for.

Source: cloud-provider-azure ``pkg/provider/config/multi_slb.go``, ``pkg/provider/azure.go``
(checkEnableMultipleStandardLoadBalancers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hyperkube.machinery.labels import Selector, SelectorError, from_label_selector
from hyperkube.machinery.record import Record

KEY: Final = "multipleStandardLoadBalancerConfigurations"
_KEYS: Final = {
    "name": "name",
    "primaryvmset": "primary_vm_set",
    "allowserviceplacement": "allow_service_placement",
    "servicelabelselector": "services",
    "servicenamespaceselector": "namespaces",
    "nodeselector": "nodes",
}


class BalancerConfig(Record):
    """One balancer; an internal one beside it has the name with ``-internal``, and the same configuration.

    Attributes:
        name: in Azure.
        primary_vm_set: the scale set or availability set whose nodes it has, whatever the selectors say.
        allow_service_placement: False keeps Services away that do not have it yet.
        services, namespaces: the labels that Services, or their namespaces, have to have; None for whichever.
        nodes: the labels of nodes that it prefers; None for whichever.
    """

    name: str
    primary_vm_set: str
    allow_service_placement: bool = True
    services: Selector | None = None
    namespaces: Selector | None = None
    nodes: Selector | None = None


def read_balancers(told: Any) -> tuple[BalancerConfig, ...]:
    """Return the balancers of the file's list.

    Raises:
        ValueError: it is none, or one has an unknown key, no set of its own, or what another has.
    """
    if not isinstance(told, Sequence) or isinstance(told, str):
        raise ValueError(f"{KEY}: {type(told).__name__} is no list")  # noqa: TRY004 - a mistake in a file
    found = tuple(_read(each) for each in told)
    for index, each in enumerate(found):
        before = found[:index]
        if any(other.name.lower() == each.name.lower() for other in before):
            raise ValueError(f"duplicated multiple standard load balancer configuration name {each.name}")
        if not each.primary_vm_set:
            raise ValueError(f"multiple standard load balancer configuration {each.name} must have primary VMSet")
        if any(other.primary_vm_set.lower() == each.primary_vm_set.lower() for other in before):
            where = f"in multiple standard load balancer configurations {each.name}"
            raise ValueError(f"duplicated primary VMSet {each.primary_vm_set} {where}")
    return found


def _read(told: Any) -> BalancerConfig:
    if not isinstance(told, Mapping):
        raise ValueError(f"{KEY}: {type(told).__name__} is no object")  # noqa: TRY004 - a mistake in a file
    given: dict[str, Any] = {}
    for key, value in told.items():
        name = _KEYS.get(str(key).lower())
        if name is None:
            raise ValueError(f"{KEY}: unknown key {key!r}")
        if value is not None:
            given[name] = _as(name, key, value)
    if not given.get("name"):
        raise ValueError(f"{KEY}: a balancer has no name")
    return BalancerConfig(**{"primary_vm_set": "", **given})


def _as(name: str, key: str, value: Any) -> Any:
    if name in {"services", "namespaces", "nodes"}:
        try:
            selector = from_label_selector(value)
        except (SelectorError, TypeError, AttributeError) as error:
            raise ValueError(f"{KEY}: {key}: {error}") from None
        return None if name == "nodes" and selector.is_empty else selector
    if name == "allow_service_placement":
        if not isinstance(value, bool):
            raise ValueError(f"{KEY}: {key}: {value!r} is neither true nor false")
        return value
    if not isinstance(value, str):
        raise ValueError(f"{KEY}: {key}: {type(value).__name__} is no text")  # noqa: TRY004 - a mistake in a file
    return value
