"""Internal balancers: a forwarding rule of a subnetwork to a backend service of the cluster's instance groups.

Source: cloud-provider-gcp ``providers/gce/gce_loadbalancer_internal.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from hyperkube_cloud.gce.compute import Compute, name_of_link
from hyperkube_cloud.gce.instances import GceInstances
from hyperkube_cloud.gce.load_balancers import annotations as asked
from hyperkube_cloud.gce.load_balancers.addresses import Held
from hyperkube_cloud.gce.load_balancers.firewalls import Firewalls, Opening
from hyperkube_cloud.gce.load_balancers.forwarding import ForwardingBalancers
from hyperkube_cloud.gce.load_balancers.groups import InstanceGroups, group_name
from hyperkube_cloud.gce.load_balancers.health_checks import Check, backend_check, described
from hyperkube_cloud.gce.location import Location
from hyperkube_cloud.gce.subnetworks import Subnetworks
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import (
    balancer_name,
    ports_of,
    protocol_of,
    service_name,
    source_ranges,
    status_of,
)

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.objects import Object, annotations_of

_RULE: Final = ("IPProtocol", "loadBalancingScheme")


def rules_equal(held: Json, wanted: Json) -> bool:
    """Tell whether a forwarding rule is as it should be; hosts in links do not count, nor an unknown address."""
    return (
        all(held.get(key) == wanted.get(key) for key in _RULE)
        and not (wanted["IPAddress"] and held.get("IPAddress") not in {None, "", wanted["IPAddress"]})
        and set(held.get("ports") or ()) == set(wanted.get("ports") or ())
        and bool(held.get("allPorts")) == bool(wanted.get("allPorts"))
        and bool(held.get("allowGlobalAccess")) == bool(wanted.get("allowGlobalAccess"))
        and name_of_link(held.get("backendService")) == name_of_link(wanted["backendService"])
        and name_of_link(held.get("subnetwork")) == name_of_link(wanted.get("subnetwork"))
    )


def backends_equal(held: Json, wanted: Json) -> bool:
    """Tell whether a backend service is as it should be."""
    plain = ("protocol", "sessionAffinity", "loadBalancingScheme", "description")
    if any((held.get(key) or "") != wanted[key] for key in plain):
        return False
    checks = {name_of_link(link) for link in held.get("healthChecks") or ()}
    return checks == {name_of_link(link) for link in wanted["healthChecks"]} and _groups(held) == _groups(wanted)


def _groups(backend: Json) -> set[str]:
    return {str(row["group"]).rpartition("/zones/")[2] for row in backend.get("backends") or ()}


class InternalBalancers(ForwardingBalancers):
    """Balancers that the VPC network can reach."""

    def __init__(
        self,
        compute: Compute,
        location: Location,
        instances: GceInstances,
        firewalls: Firewalls,
        check_sources: Sequence[str],
        shared: threading.Lock,
    ) -> None:
        super().__init__(compute, location, instances, firewalls, check_sources, shared)
        self._instance_groups = InstanceGroups(compute, instances, shared)
        self._subnetworks = Subnetworks(compute, location)

    def ensure(self, service: Object, rule: Json | None, nodes: Sequence[Object], cluster_id: str) -> Object:
        """Make the balancer, or bring it up to date; `rule` is the forwarding rule that there is.

        Raises:
            CloudFailed: the Service asks for what Google does not have.
        """
        protocol_of(service)
        sources = source_ranges(service)
        name, subnetwork = balancer_name(service), self._subnetwork(service)
        groups = self._ensure_groups(cluster_id, nodes)
        before = self._backend_of(rule)
        check = backend_check(service, name, cluster_id)
        with self._shared:
            check_link = self._checks.ensure_of_backend(check)
        held = self._hold(service, name, rule, subnetwork)
        wanted = self._wanted_rule(service, name, held.address, subnetwork, cluster_id)
        backend = self._wanted_backend(service, name, cluster_id, groups, check_link)
        try:
            if rule is not None and not rules_equal(rule, wanted):
                self._compute.delete(self._rule(name))
                rule = None
            self._ensure_backend(backend)
            if rule is None:
                self._compute.insert(self._rules, wanted)
            self._open(service, name, held.address, sources, self._tags(nodes))
            self._open_to_checks(service, check, nodes)
        except CloudFailed:
            if held.is_new and self._compute.find(self._rule(name)) is None:
                self._addresses.release(name)
            raise
        self._addresses.release(name)
        self._delete_replaced(service, before, backend["name"], check)
        return status_of(held.address)

    def update(self, service: Object, nodes: Sequence[Object], cluster_id: str) -> None:
        """Send an existing balancer's traffic to these nodes.

        Raises:
            Missing: there is no balancer.
        """
        name = asked.backend_service_name(balancer_name(service), cluster_id, service)
        path = self._backend(name)
        groups = self._ensure_groups(cluster_id, nodes)
        held = self._compute.get(path)
        wanted = {**held, "backends": [{"group": link} for link in groups]}
        if _groups(held) != _groups(wanted):
            self._compute.change("PUT", path, wanted)

    def ensure_deleted(self, service: Object, cluster_id: str) -> None:
        """Delete the balancer with all that was made for it, and what it shared with others if it was the last."""
        name = balancer_name(service)
        rule = self._compute.find(self._rule(name))
        self._addresses.release(name)
        before = self._backend_of(rule)
        self._compute.delete(self._rule(name))
        names = {asked.backend_service_name(name, cluster_id, service), str((before or {}).get("name", name)), name}
        for backend in sorted(names):
            self._compute.delete_unused(self._backend(backend))
        for firewall in (f"k8s-fw-{name}", name):  # the second is what versions before 1.18 called it
            self._firewalls.delete(service, firewall)
        check = backend_check(service, name, cluster_id)
        for each in sorted({check.name, name}):
            self._delete_check(service, each)
        self._instance_groups.ensure_deleted(group_name(cluster_id))

    def _backend(self, name: str) -> str:
        return f"regions/{self._location.region}/backendServices/{name}"

    def _subnetwork(self, service: Object) -> str:
        named = annotations_of(service).get(asked.SUBNET, "")
        return self._location.subnetwork(named) if named else self._subnetworks.default()

    def _ensure_groups(self, cluster_id: str, nodes: Sequence[Object]) -> list[str]:
        return self._instance_groups.ensure(group_name(cluster_id), nodes, name_of_link(self._subnetworks.default()))

    def _backend_of(self, rule: Json | None) -> Json | None:
        link = (rule or {}).get("backendService")
        return self._compute.find(self._backend(name_of_link(link))) if link else None

    def _hold(self, service: Object, name: str, rule: Json | None, subnetwork: str) -> Held:
        wanted = str((service.get("spec") or {}).get("loadBalancerIP") or "")
        if not wanted and rule is not None and name_of_link(rule.get("subnetwork")) == name_of_link(subnetwork):
            wanted = str(rule.get("IPAddress") or "")
        return self._addresses.hold_internal(name, service_name(service), wanted, subnetwork)

    def _wanted_rule(self, service: Object, name: str, address: str, subnetwork: str, cluster_id: str) -> Json:
        ports = [str(port) for port in ports_of(service)]
        rule: Json = {
            "name": name,
            "description": described(service_name(service)),
            "IPAddress": address,
            "IPProtocol": protocol_of(service),
            "backendService": self._compute.url(self._backend(asked.backend_service_name(name, cluster_id, service))),
            "loadBalancingScheme": asked.INTERNAL,
            "network": self._location.network,
        }
        rule |= {"subnetwork": subnetwork} if subnetwork else {}
        rule |= {"allPorts": True} if len(ports) > asked.MOST_PORTS else {"ports": ports}
        if annotations_of(service).get(asked.GLOBAL_ACCESS) == "true":
            rule["allowGlobalAccess"] = True
        return rule

    def _wanted_backend(
        self, service: Object, name: str, cluster_id: str, groups: Sequence[str], check_link: str
    ) -> Json:
        return {
            "name": asked.backend_service_name(name, cluster_id, service),
            "protocol": protocol_of(service),
            "description": "" if asked.shares_backend(service) else described(service_name(service)),
            "healthChecks": [check_link],
            "backends": [{"group": link} for link in groups],
            "sessionAffinity": asked.affinity_of(service),
            "loadBalancingScheme": asked.INTERNAL,
        }

    def _ensure_backend(self, wanted: Json) -> None:
        path = self._backend(wanted["name"])
        held = self._compute.find(path)
        if held is None:
            self._compute.insert(path.rpartition("/")[0], wanted)
        elif not backends_equal(held, wanted):
            self._compute.change("PUT", path, {**wanted, "fingerprint": held.get("fingerprint", "")})

    def _open_to_checks(self, service: Object, check: Check, nodes: Sequence[Object]) -> None:
        opening = Opening(
            name=f"{check.name}-hc",
            description="",
            sources=self._check_sources,
            protocol="tcp",
            ports=[str(check.port)],
            tags=self._tags(nodes),
        )
        with self._shared:
            self._firewalls.ensure(service, opening)

    def _tags(self, nodes: Sequence[Object]) -> list[str]:
        return self._instances.node_tags(self._instances.machines(nodes))

    def _delete_replaced(self, service: Object, before: Json | None, backend: str, check: Check) -> None:
        """Delete the backend service and the health check that the balancer had before, where it has others now."""
        if before is None:
            return
        if before["name"] != backend:
            self._compute.delete_unused(self._backend(before["name"]))
        for link in before.get("healthChecks") or ():
            if name_of_link(link) != check.name:
                self._delete_check(service, name_of_link(link))

    def _delete_check(self, service: Object, name: str) -> None:
        with self._shared:
            if self._compute.delete_unused(f"global/healthChecks/{name}"):
                self._firewalls.delete(service, f"{name}-hc")
