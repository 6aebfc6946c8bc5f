"""Balancers for Services: Octavia's, found by the Service's annotation or by name, with a floating IP for the world.

A new balancer is asked for whole, with all its listeners, in one call; one that exists is changed part by part. Several
Services may share one: it goes with the last. Octavia takes a second balancer of one name: of those that two managers
made in turn the oldest counts, and the others are deleted where they are seen, first of all by their maker, which looks
again before it goes on. (Kubernetes' provider refuses until one is deleted by hand.)
Source: cloud-provider-openstack ``pkg/openstack/loadbalancer.go`` (ensureOctaviaLoadBalancer,
ensureLoadBalancerDeleted).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hyperkube_cloud.openstack.apis import OCTAVIA, Apis
from hyperkube_cloud.openstack.config import OpenStackConfig
from hyperkube_cloud.openstack.instances import OpenStackInstances, split_provider_id
from hyperkube_cloud.openstack.load_balancers.floating_ips import FloatingIps
from hyperkube_cloud.openstack.load_balancers.octavia import Octavia
from hyperkube_cloud.openstack.load_balancers.wanted import (
    ID,
    NAME_PREFIX,
    PREFIX,
    Wanted,
    balancer_name,
    described,
    flag_of,
    node_address,
    text_of,
    wanted,
)
from hyperkube_lib.cloud_provider import services as plain
from hyperkube_lib.cloud_provider.nodes import provider_id_of
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.client.client import Client
from hyperkube.hookspecs.cloud import CloudFailed, ImplementedElsewhere
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object, annotations_of, name_of, namespace_of, uid_of

GOING: Final = frozenset({"DELETED", "PENDING_DELETE"})


class OpenStackLoadBalancers:
    """Implements `hyperkube.hookspecs.cloud.LoadBalancers`, `UpdatesHosts` and `NamesBalancers`."""

    def __init__(
        self, apis: Apis, config: OpenStackConfig, instances: OpenStackInstances, client: Client | None
    ) -> None:
        """Take `client`, by which Services are told the id of their balancer."""
        self._apis, self._config, self._instances, self._client = apis, config, instances, client
        self._octavia, self._floating = Octavia(apis), FloatingIps(apis)

    def name(self, cluster: str, service: Object) -> str:
        """Return the name of a Service's balancer."""
        return balancer_name(cluster, service)

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the balancer's status, None if there is none."""
        balancer = self._find(cluster, service)
        if balancer is None:
            return None
        held = self._floating.of_port(str(balancer.get("vip_port_id") or ""))
        address = str((held or {}).get("floating_ip_address") or balancer.get("vip_address") or "")
        return self._status(service, address)

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Make the balancer as the Service wants it, and return its status.

        Raises:
            CloudFailed: the Service wants what there is not.
            RetryLater: the balancer is not active yet.
        """
        self._check_enabled()
        asked = wanted(service, cluster, self._config)
        if not nodes:
            raise CloudFailed(f"there are no available nodes for LoadBalancer service {plain.service_name(service)}")
        balancer = self._find(cluster, service)
        asked = self._placed(asked, balancer, nodes)
        if balancer is None:
            made = self._create(asked, cluster, nodes)
            balancer = self._find(cluster, service) or made  # another manager may have been first
        self._delete_duplicates(cluster, service, balancer)
        owner = balancer.get("name") in {asked.name, plain.balancer_name(service)}
        balancer = self._octavia.active(str(balancer["id"]))
        self._check_shared(balancer, asked.name, owner=owner)
        self._tag(balancer, asked.name)
        self._octavia.ensure(balancer, asked, nodes, owner=owner)
        address = "" if asked.internal else self._floating.ensure(asked, cluster, str(balancer["vip_port_id"]))
        self._tell(service, str(balancer["id"]))
        return self._status(service, address or str(balancer["vip_address"]))

    def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Send the balancer's traffic to these nodes.

        Raises:
            CloudFailed: there is no balancer.
        """
        self._check_enabled()
        asked = wanted(service, cluster, self._config)
        balancer = self._find(cluster, service)
        if balancer is None:
            raise CloudFailed(f"load balancer {asked.name} not found")
        self._octavia.active(str(balancer["id"]))
        self._octavia.update(str(balancer["id"]), self._placed(asked, balancer, nodes), nodes)

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Delete the balancer with its floating IP, or only what is this Service's where others share it."""
        if not self._config.balancers.enabled:
            return
        balancer = self._find(cluster, service)
        if balancer is None:
            return
        self._delete_duplicates(cluster, service, balancer)
        ident, name = str(balancer["id"]), balancer_name(cluster, service)
        owner = balancer.get("name") in {name, plain.balancer_name(service)}
        tags = list(balancer.get("tags") or ())
        others = [tag for tag in tags if tag.startswith(NAME_PREFIX) and tag != name]
        if others or not owner:
            self._octavia.active(ident)
            self._octavia.delete_own(ident, name, owner=owner)
            if name in tags:
                body = {"loadbalancer": {"tags": [tag for tag in tags if tag != name]}}
                self._octavia.change(ident, "PUT", f"loadbalancers/{ident}", body)
            return
        if not flag_of(service, f"{PREFIX}keep-floatingip", False):
            self._floating.release(str(balancer.get("vip_port_id") or ""))
        self._octavia.delete(ident, cascade=self._config.balancers.cascade_delete)
        self._tell(service, None)

    def _check_enabled(self) -> None:
        if not self._config.balancers.enabled:
            raise ImplementedElsewhere("[LoadBalancer] enabled = false")

    def _find(self, cluster: str, service: Object) -> Json | None:
        """Return the balancer that the Service names, or the one of its name, new or as before 1.11."""
        given = annotations_of(service).get(ID, "")
        if given:
            found = self._apis.find(OCTAVIA, f"lbaas/loadbalancers/{given}", "loadbalancer")
            return found if found is not None and found.get("provisioning_status") not in GOING else None
        rows = self._named(cluster, service)
        if not rows:
            old = plain.balancer_name(service)
            rows = self._alive(old)
            if len(rows) > 1:
                raise CloudFailed(f"multiple load balancers are named {old!r}")
        return rows[0] if rows else None

    def _named(self, cluster: str, service: Object) -> list[Json]:
        """Return the balancers of the Service's name, the oldest first.

        Raises:
            CloudFailed: there are several, and not all were made for the Service.
        """
        name = balancer_name(cluster, service)
        rows = self._alive(name)
        if len(rows) > 1 and not all(_is_for(row, service, cluster) for row in rows):
            raise CloudFailed(f"multiple load balancers are named {name!r}")
        return sorted(rows, key=lambda row: (str(row.get("created_at") or ""), str(row["id"])))

    def _alive(self, name: str) -> list[Json]:
        rows = self._octavia.listed("loadbalancers", name=name)
        return [row for row in rows if row.get("provisioning_status") not in GOING]

    def _delete_duplicates(self, cluster: str, service: Object, kept: Json) -> None:
        """Delete the other balancers that were made for the Service and that no other uses; `kept` is the Service's."""
        name = balancer_name(cluster, service)
        if kept.get("name") != name:
            return
        for row in self._alive(name):
            ident = str(row["id"])
            if ident == kept["id"] or not _is_for(row, service, cluster) or set(row.get("tags") or ()) - {name}:
                continue
            self._octavia.settled(ident)
            self._floating.release(str(row.get("vip_port_id") or ""))
            self._octavia.delete(ident, cascade=self._config.balancers.cascade_delete)

    def _placed(self, asked: Wanted, balancer: Json | None, nodes: Sequence[Object]) -> Wanted:
        """Return what is wanted with the subnets that it leaves open: the balancer's, or the first node's."""
        if asked.member_subnet and (asked.subnet or asked.network):
            return asked
        subnet = str((balancer or {}).get("vip_subnet_id") or "")
        if not subnet and not asked.network and nodes:
            given = provider_id_of(nodes[0])
            ident = split_provider_id(given)[1] if given else str(self._instances.machine(nodes[0])["id"])
            subnet = self._instances.subnet_of(ident, node_address(nodes[0]))
        return replace(asked, member_subnet=asked.member_subnet or subnet, subnet=asked.subnet or subnet)

    def _create(self, asked: Wanted, cluster: str, nodes: Sequence[Object]) -> Json:
        options, service = self._config.balancers, asked.service
        if text := annotations_of(service).get(ID, ""):
            raise CloudFailed(f"failed to get load balancer {text}: it does not exist")
        body: Json = {
            "name": asked.name,
            "description": described(service, cluster),
            "provider": options.lb_provider,
            "tags": [asked.name],
            "listeners": [
                self._listener(asked, index, row, nodes) for index, row in enumerate(service["spec"]["ports"])
            ],
        }
        if port := text_of(service, "port-id"):
            body["vip_port_id"] = port
        else:
            body |= {"vip_network_id": asked.network} if asked.network else {}
            body |= {"vip_subnet_id": asked.subnet} if asked.subnet else {}
        for key, default in (("flavor_id", options.flavor_id), ("availability_zone", options.availability_zone)):
            body |= {key: value} if (value := text_of(service, key.replace("_", "-"), default)) else {}
        address = str(service["spec"].get("loadBalancerIP") or "")
        body |= {"vip_address": address} if address and asked.internal else {}
        return dict(self._apis.call(OCTAVIA, "POST", "lbaas/loadbalancers", {"loadbalancer": body})["loadbalancer"])

    def _listener(self, asked: Wanted, index: int, row: Json, nodes: Sequence[Object]) -> Json:
        pool = {**asked.pool(index, row), "members": asked.members(row, nodes)}
        if asked.monitor:
            pool["healthmonitor"] = asked.health_monitor(index, row)
        return {**asked.listener(index, row), "default_pool": pool}

    def _check_shared(self, balancer: Json, name: str, *, owner: bool) -> None:
        tags = [tag for tag in balancer.get("tags") or () if tag.startswith(NAME_PREFIX)]
        if not owner and name not in tags and len(tags) + 1 > self._config.balancers.max_shared_lb:
            raise CloudFailed(f"load balancer {balancer['id']} already shared with {len(tags)} Services")

    def _tag(self, balancer: Json, name: str) -> None:
        tags = list(balancer.get("tags") or ())
        if name not in tags:
            ident = str(balancer["id"])
            self._octavia.change(ident, "PUT", f"loadbalancers/{ident}", {"loadbalancer": {"tags": [*tags, name]}})

    def _tell(self, service: Object, ident: str | None) -> None:
        """Write the balancer's id onto the Service, by which it is found again whatever its name; None takes it off."""
        if self._client is None or annotations_of(service).get(ID) == ident:
            return
        patch = {"metadata": {"uid": uid_of(service), "annotations": {ID: ident}}}
        try:
            self._client.patch(SERVICES, name_of(service), patch, namespace_of(service), subresource="status")
        except NotFound:
            return

    def _status(self, service: Object, address: str) -> Object:
        options = self._config.balancers
        if address and options.enable_ingress_hostname and flag_of(service, f"{PREFIX}proxy-protocol", False):
            return {"ingress": [{"hostname": f"{address}.{options.ingress_hostname_suffix}"}]}
        return plain.status_of(address)


def _is_for(balancer: Json, service: Object, cluster: str) -> bool:
    return bool(balancer.get("description") == described(service, cluster))
