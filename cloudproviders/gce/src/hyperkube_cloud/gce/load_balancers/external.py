"""External balancers: a forwarding rule to a target pool of machines, with a firewall, and an address held meanwhile.

The rule comes last and goes first: where it is, the balancer is whole. Neither rule nor pool can be changed in place,
so they are made anew while the address stays reserved. Every step looks before it changes something.
Source: cloud-provider-gcp ``providers/gce/gce_loadbalancer_external.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperkube_cloud.gce.instances import Machine, host_path
from hyperkube_cloud.gce.load_balancers import annotations as asked
from hyperkube_cloud.gce.load_balancers.addresses import Held
from hyperkube_cloud.gce.load_balancers.firewalls import Opening, traffic_description
from hyperkube_cloud.gce.load_balancers.forwarding import ForwardingBalancers
from hyperkube_cloud.gce.load_balancers.health_checks import (
    Check,
    described,
    nodes_check_name,
    pool_check,
    pool_check_firewall,
)
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import (
    balancer_name,
    protocol_of,
    service_name,
    source_ranges,
    status_of,
)

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.objects import Object

MOST_AT_CREATION: Final = 200
MOST_AT_ONCE: Final = 1000


def rule_differs(rule: Json, service: Object) -> bool:
    """Tell whether a forwarding rule is to be made anew."""
    wanted_ip = str((service.get("spec") or {}).get("loadBalancerIP") or "")
    if wanted_ip and wanted_ip != rule.get("IPAddress"):
        return True
    return rule.get("portRange") != asked.port_range(service) or rule.get("IPProtocol") != protocol_of(service)


def pool_differs(pool: Json | None, service: Object, check: str) -> bool:
    """Tell whether a target pool is to be made (anew): it has another affinity, or another health check."""
    if pool is None:
        return True
    affinity = pool.get("sessionAffinity") or asked.affinity_of(service)
    checks = [str(link).rpartition("/")[2] for link in pool.get("healthChecks") or ()]
    return affinity != asked.affinity_of(service) or checks != [check]


class ExternalBalancers(ForwardingBalancers):
    """Balancers that the world can reach."""

    def ensure(self, service: Object, rule: Json | None, nodes: Sequence[Object], cluster_id: str) -> Object:
        """Make the balancer, or bring it up to date; `rule` is the forwarding rule that there is.

        Raises:
            CloudFailed: there are no nodes, or the Service asks for what Google does not have.
        """
        protocol_of(service)
        tier, sources = asked.tier_of(service), source_ranges(service)
        if not nodes:
            raise CloudFailed("cannot EnsureLoadBalancer() with no hosts")
        machines = self._instances.machines(nodes)
        name = balancer_name(service)
        rule = self._without_wrong_tier(service, name, rule, tier)
        check = pool_check(service, name, cluster_id)
        pool = self._compute.find(self._pool(name))
        pool_anew = pool_differs(pool, service, check.name)
        rule_anew = rule is None or rule_differs(rule, service)
        held = self._hold(service, name, rule, tier, keeps=not (pool_anew or rule_anew))
        try:
            self._open(service, name, held.address, sources, self._instances.node_tags(machines))
        except CloudFailed:
            if held.is_new:
                self._addresses.release(name)
            raise
        if rule is not None and (pool_anew or rule_anew):
            self._compute.delete(self._rule(name))
        if pool_anew:
            self._make_pool(service, held.address, pool, machines, check, cluster_id)
        else:
            self._set_machines(name, pool or {}, machines)
            self._checks.ensure_of_pool(check)
            if not check.shared:  # its firewall tells an address: that of another manager, if two made it in turn
                self._open_to_checks(service, check, cluster_id, held.address, machines)
        if pool_anew or rule_anew:
            self._compute.insert(
                self._rules,
                {
                    "name": name,
                    "description": described(service_name(service)),
                    "IPAddress": held.address,
                    "IPProtocol": protocol_of(service),
                    "portRange": asked.port_range(service),
                    "target": self._compute.url(self._pool(name)),
                    "networkTier": tier,
                },
            )
        self._addresses.release(name)
        return status_of(held.address)

    def update(self, service: Object, nodes: Sequence[Object]) -> None:
        """Send an existing balancer's traffic to these nodes.

        Raises:
            Missing: there is no balancer.
        """
        name = balancer_name(service)
        self._set_machines(name, self._compute.get(self._pool(name)), self._instances.machines(nodes))

    def ensure_deleted(self, service: Object, cluster_id: str) -> None:
        """Delete the balancer with all that was made for it, and what it shared with others if it was the last."""
        name = balancer_name(service)
        self._firewalls.delete(service, f"k8s-fw-{name}")
        self._compute.delete(self._rule(name))
        self._addresses.release(name)
        self._compute.delete(self._pool(name))
        for check in (name, nodes_check_name(cluster_id)):  # it may have had either, before it was changed
            self._delete_check(service, check, shared=check != name)

    def _pool(self, name: str) -> str:
        return f"regions/{self._location.region}/targetPools/{name}"

    def _without_wrong_tier(self, service: Object, name: str, rule: Json | None, tier: str) -> Json | None:
        """Delete what has another network tier than the Service says; return the forwarding rule that is left."""
        if not asked.names_tier(service):
            return rule
        if rule is not None and (rule.get("networkTier") or "PREMIUM") != tier:
            self._compute.delete(self._rule(name))
            rule = None
        if self._addresses.tier_under(name) not in {"", tier}:
            self._addresses.release(name)
        return rule

    def _hold(self, service: Object, name: str, rule: Json | None, tier: str, *, keeps: bool) -> Held:
        """Return the balancer's address, reserved unless the forwarding rule that has it is kept."""
        wanted = str((service.get("spec") or {}).get("loadBalancerIP") or "")
        in_use = str((rule or {}).get("IPAddress", ""))
        if keeps:
            return Held(address=in_use)
        if wanted and self._addresses.check_requested(wanted, in_use, tier):
            return Held(address=wanted)
        return self._addresses.hold_external(name, service_name(service), wanted or in_use, tier)

    def _make_pool(
        self,
        service: Object,
        address: str,
        pool: Json | None,
        machines: Sequence[Machine],
        check: Check,
        cluster_id: str,
    ) -> None:
        """Make a target pool with its health check, in place of what there is; the other check goes if it is unused."""
        name = balancer_name(service)
        if pool is not None:
            self._compute.delete(self._pool(name))
        if not check.shared and pool is not None:
            self._delete_check(service, nodes_check_name(cluster_id), shared=True)
        if check.shared and self._compute.find(f"global/httpHealthChecks/{name}") is not None:
            self._delete_check(service, name, shared=False)
        with self._shared:  # nothing that is shared goes between the check's making and its first use
            self._open_to_checks(service, check, cluster_id, address, machines)
            link = self._checks.ensure_of_pool(check)
            first = machines[:MOST_AT_CREATION]
            made = {
                "name": name,
                "description": described(service_name(service)),
                "instances": [self._compute.url(_path(machine).removeprefix("/")) for machine in first],
                "sessionAffinity": asked.affinity_of(service),
                "healthChecks": [link],
            }
            self._compute.insert(f"regions/{self._location.region}/targetPools", made)
        if len(machines) > MOST_AT_CREATION:
            self._set_machines(name, made, machines)

    def _open_to_checks(
        self, service: Object, check: Check, cluster_id: str, address: str, machines: Sequence[Machine]
    ) -> None:
        own = traffic_description(service_name(service), address)
        opening = Opening(
            name=pool_check_firewall(check.name, shared=check.shared),
            description=f'{{"kubernetes.io/cluster-id":"{cluster_id}"}}' if check.shared else own,
            sources=self._check_sources,
            protocol="tcp",
            ports=[str(check.port)],
            tags=self._instances.node_tags(machines),
        )
        self._firewalls.ensure(service, opening)

    def _delete_check(self, service: Object, name: str, *, shared: bool) -> None:
        with self._shared:
            if self._compute.delete_unused(f"global/httpHealthChecks/{name}"):
                self._firewalls.delete(service, pool_check_firewall(name, shared=shared))

    def _set_machines(self, name: str, pool: Json, machines: Sequence[Machine]) -> None:
        held = {"/zones/" + str(link).rpartition("/zones/")[2] for link in pool.get("instances") or ()}
        wanted = {_path(machine) for machine in machines}
        for method, paths in (("addInstance", sorted(wanted - held)), ("removeInstance", sorted(held - wanted))):
            for start in range(0, len(paths), MOST_AT_ONCE):
                rows = [{"instance": self._compute.url(path[1:])} for path in paths[start : start + MOST_AT_ONCE]]
                self._compute.change("POST", f"{self._pool(name)}/{method}", {"instances": rows})


def _path(machine: Machine) -> str:
    return host_path(str(machine["zone"]).rpartition("/")[2], str(machine["name"]))
