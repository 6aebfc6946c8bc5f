"""What a balancer's pool of machines is to its Services: two kinds, by ``loadBalancerBackendPoolConfigurationType``.

In one the machines' interfaces say that they belong to a pool (`backends`), in the other a pool lists addresses
(`address_pools`). Each kind takes out of a pool what is in it of the other, so that a cluster can be moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from hyperkube_cloud.azure.arm import properties
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.instances import is_managed
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.machinery.objects import Object, labels_of

CONTROL_PLANE: Final = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
ADDRESSES: Final = "loadBalancerBackendAddresses"


class Pools(Protocol):
    """Keeps pools; `held` is one as its balancer shows it, None before the balancer is there."""

    def ensure(self, pool: str, held: Json | None, nodes: Sequence[Object]) -> None:
        """Let these nodes' machines belong to a pool, and no other.

        Raises:
            InstanceNotFound: none of the nodes' machines is there: the pool is not emptied by that.
        """

    def empty(self, pool: str, held: Json | None) -> None:
        """Let no machine belong to a pool any more, nor any scale set's future ones."""


def serves(node: Object, config: AzureConfig) -> bool:
    """Tell whether a node may take traffic of a standard balancer."""
    is_master = any(label in labels_of(node) for label in CONTROL_PLANE)
    return is_managed(node) and not (is_master and config.exclude_master_from_standard_lb)


def interfaces_in(held: Json | None) -> list[str]:
    """Return the ids of the interfaces' addresses that belong to a pool."""
    return [str(row["id"]) for row in properties(held).get("backendIPConfigurations") or ()]


def addresses_in(held: Json | None) -> dict[str, str]:
    """Return the addresses that a pool lists, each with its name; what it says of interfaces is left out."""
    rows: Sequence[Any] = properties(held).get(ADDRESSES) or ()
    found = [(properties(row).get("ipAddress"), row.get("name")) for row in rows]
    return {str(address): str(name or "") for address, name in found if address}
