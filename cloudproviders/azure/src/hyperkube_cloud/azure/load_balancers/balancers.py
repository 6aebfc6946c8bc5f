"""The balancers of a cluster: one for all Services, or several of which each Service has one.

Beside each stands an internal one. Nothing of them is remembered: where a Service is, and a node, is read from them.
Source: cloud-provider-azure ``pkg/provider/azure_loadbalancer.go`` (getAzureLoadBalancerName, getServiceLoadBalancer,
reconcileBackendPoolHosts), ``azure_local_services.go`` (getBackendPoolNameForService).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from hyperkube_cloud.azure.arm import NETWORK, Arm, properties, same
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.instances import AzureInstances
from hyperkube_cloud.azure.load_balancers import service_annotations as asked
from hyperkube_cloud.azure.load_balancers.address_pools import AddressPools, address_of
from hyperkube_cloud.azure.load_balancers.frontends import Frontends
from hyperkube_cloud.azure.load_balancers.placement import eligible, most_eligible, node_places
from hyperkube_cloud.azure.load_balancers.pools import Pools, addresses_in, serves
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import service_name

from hyperkube.hookspecs.cloud import CloudFailed, InstanceNotFound
from hyperkube.machinery.objects import Object, name_of, namespace_of

INTERNAL_SUFFIX: Final = "-internal"


def pool_in(held: Json | None, name: str) -> Json | None:
    """Return a pool of a balancer, None if it has none of that name."""
    pools = properties(held).get("backendAddressPools") or ()
    return next((each for each in pools if same(each["name"], name)), None)


def own_pool(service: Object) -> str:
    """Return the name of a Service's own pool, if it has one."""
    return service_name(service).replace("/", "-").lower()


class Balancers(Protocol):
    """Says which balancers there are, and fills their pools."""

    def all(self, cluster: str) -> list[str]:
        """Return the ids of all in which something of a Service may be."""

    def of(self, cluster: str, service: Object) -> str:
        """Return the id of the one that a Service has, or would have; empty if that is not settled yet."""

    def chosen(self, cluster: str, service: Object) -> tuple[str, list[str]]:
        """Return the id of the one that a Service is to have, and of those of its kind that it has to leave before.

        Raises:
            CloudFailed: it may have none.
        """

    def pool(self, cluster: str, service: Object) -> str:
        """Return the name of the pool that a Service's rules are for."""

    def fill(self, cluster: str, service: Object, held: Json, nodes: Sequence[Object]) -> None:
        """Let the pool of a Service, in the balancer that it has, have these nodes' machines."""

    def empty(self, cluster: str, held: Json) -> None:
        """Let no machine belong to the pool of a balancer that goes."""


class _Named:
    """Balancers by their names."""

    def __init__(self, arm: Arm, config: AzureConfig) -> None:
        self._arm, self._config = arm, config

    def _id(self, name: str, *, internal: bool) -> str:
        full = name + (INTERNAL_SUFFIX if internal else "")
        return self._arm.id(NETWORK, f"loadBalancers/{full}", self._config.load_balancer_resource_group)


class OneBalancer(_Named):
    """One balancer, and an internal one; implements `Balancers`."""

    def __init__(self, arm: Arm, config: AzureConfig, pools: Pools) -> None:
        super().__init__(arm, config)
        self._pools = pools

    def all(self, cluster: str) -> list[str]:
        """Return the ids of both."""
        return [self._of(cluster, internal=internal) for internal in (False, True)]

    def of(self, cluster: str, service: Object) -> str:
        """Return the id of the Service's kind."""
        return self._of(cluster, internal=asked.is_internal(service))

    def chosen(self, cluster: str, service: Object) -> tuple[str, list[str]]:
        """Return the id of the Service's kind."""
        return self.of(cluster, service), []

    def pool(self, cluster: str, service: Object) -> str:
        """Return the cluster's pool."""
        return cluster

    def fill(self, cluster: str, service: Object, held: Json, nodes: Sequence[Object]) -> None:
        """Fill the cluster's pool."""
        self._pools.ensure(f"{held['id']}/backendAddressPools/{cluster}", pool_in(held, cluster), nodes)

    def empty(self, cluster: str, held: Json) -> None:
        """Empty the cluster's pool."""
        self._pools.empty(f"{held['id']}/backendAddressPools/{cluster}", pool_in(held, cluster))

    def _of(self, cluster: str, *, internal: bool) -> str:
        return self._id(self._config.load_balancer_name or cluster, internal=internal)


class SeveralBalancers(_Named):
    """The balancers of ``multipleStandardLoadBalancerConfigurations``; implements `Balancers`.

    A node is in the pool of one of them. A Service that keeps its clients' addresses (``externalTrafficPolicy: Local``)
    has a pool of its own with all nodes, since its pods may be on any: probes find out on which.
    """

    def __init__(
        self,
        arm: Arm,
        config: AzureConfig,
        pools: AddressPools,
        frontends: Frontends,
        instances: AzureInstances,
        namespace: Callable[[str], Mapping[str, str]],
    ) -> None:
        """Take what tells the labels of a namespace, beside the others."""
        super().__init__(arm, config)
        self._pools, self._frontends, self._instances, self._namespace = pools, frontends, instances, namespace
        self._configs = config.multiple_standard_load_balancer_configurations

    def all(self, cluster: str) -> list[str]:
        """Return the ids of those that there are."""
        return [str(held["id"]) for kind in (False, True) for held in self._there()[kind].values()]

    def of(self, cluster: str, service: Object) -> str:
        """Return the id of the one that has the Service's frontend, empty for none."""
        there = self._there()[asked.is_internal(service)]
        return next((str(held["id"]) for held in there.values() if self._frontends.of(held, service)), "")

    def chosen(self, cluster: str, service: Object) -> tuple[str, list[str]]:
        """Choose among those that the Service may have."""
        is_internal = asked.is_internal(service)
        there = self._there()[is_internal]
        using = [name for name, held in there.items() if self._uses(held, service)]
        needs_namespace = any(each.namespaces is not None for each in self._configs)
        labels = self._namespace(namespace_of(service)) if needs_namespace else {}
        names = eligible(service, labels, self._configs, using)
        rows = {name: properties(held).get("frontendIPConfigurations") or () for name, held in there.items()}
        hosts = [name for name, each in rows.items() if self._frontends.shared(service, each) is not None]
        if hosts and hosts[0] not in names:
            problem = f"load balancer {hosts[0]!r} has the address that it asks for, and is not one that it may have"
            raise CloudFailed(f"service {service_name(service)!r}: {problem} ({', '.join(names)})")
        rules = {name: len(properties(held).get("loadBalancingRules") or ()) for name, held in there.items()}
        name = most_eligible(names, hosts or using, rules)
        left = [str(there[each]["id"]) for each in using if each != name]
        return self._id(name, internal=is_internal), left

    def pool(self, cluster: str, service: Object) -> str:
        """Return the cluster's pool, or the Service's own."""
        if (service.get("spec") or {}).get("externalTrafficPolicy") != "Local":
            return cluster
        return own_pool(service)

    def fill(self, cluster: str, service: Object, held: Json, nodes: Sequence[Object]) -> None:
        """Fill the Service's own pool, and the cluster's pools of all balancers, since nodes may have moved."""
        name = self.pool(cluster, service)
        if name != cluster:
            self._pools.ensure(f"{held['id']}/backendAddressPools/{name}", pool_in(held, name), nodes)
        able = {address: node for node in nodes if serves(node, self._config) and (address := address_of(node))}
        if nodes and not able:
            raise InstanceNotFound("none of the nodes that may take traffic has an address")
        there = self._there()
        pools = [
            (balancer, str(each["id"]), pool)
            for kind in there.values()
            for balancer, each in kind.items()
            if (pool := pool_in(each, cluster)) is not None
        ]
        members: dict[str, set[str]] = {balancer: set() for balancer, _, _ in pools}
        for balancer, _, pool in pools:
            members[balancer] |= {name_of(able[each]) for each in addresses_in(pool) if each in able}
        sets = self._instances.sets_of(list(able.values()))
        places = node_places([(node, sets[name_of(node)]) for node in able.values()], self._configs, members)
        for balancer, ident, pool in pools:
            wanted = {address_of(node): name_of(node) for node in places[balancer]}
            self._pools.put(f"{ident}/backendAddressPools/{cluster}", pool, wanted)

    def empty(self, cluster: str, held: Json) -> None:
        """Take interfaces of a cluster that has been moved out of its pool."""
        self._pools.empty(f"{held['id']}/backendAddressPools/{cluster}", pool_in(held, cluster))

    def _uses(self, held: Json, service: Object) -> bool:
        told = properties(held)
        rows = [*(told.get("frontendIPConfigurations") or ()), *(told.get("loadBalancingRules") or ())]
        return any(asked.owns(service, row["name"]) for row in rows)

    def _there(self) -> dict[bool, dict[str, Json]]:
        """Return the balancers that there are by kind, and by the name of their configuration; in its order."""
        group = self._config.load_balancer_resource_group
        rows = self._arm.listed(self._arm.id(NETWORK, "loadBalancers", group))
        found = {str(each["name"]).lower(): each for each in rows}
        kinds = {False: "", True: INTERNAL_SUFFIX}
        return {
            kind: {
                each.name: found[full] for each in self._configs if (full := f"{each.name}{suffix}".lower()) in found
            }
            for kind, suffix in kinds.items()
        }
