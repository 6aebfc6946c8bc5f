"""Public addresses: those that are made for Services carry their names in a tag, others are the user's and stay.

Source: cloud-provider-azure ``pkg/provider/azure_loadbalancer.go`` (ensurePublicIPExists, reconcilePublicIP,
serviceOwnsPublicIP, bindServicesToPIP, unbindServiceFromPIP).
"""

from __future__ import annotations

import threading
from typing import Any, Final

from hyperkube_cloud.azure.arm import NETWORK, Arm, properties, same
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.load_balancers import service_annotations as asked
from hyperkube_cloud.azure.tags import parsed_tags
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import service_name

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.objects import Object

SERVICES: Final = "k8s-azure-service"
CLUSTER: Final = "k8s-azure-cluster-name"
DNS: Final = "k8s-azure-dns-label-service"
LEGACY: Final = {SERVICES: "service", CLUSTER: "kubernetes-cluster-name", DNS: "kubernetes-dns-label-service"}


def tag_of(address: Json, key: str) -> str | None:
    """Return a tag, under its name of old too; None if there is none."""
    tags = address.get("tags") or {}
    return tags.get(key, tags.get(LEGACY[key]))


def users_of(address: Json) -> list[str]:
    """Return the Services that an address is made for, empty for a user's own."""
    return [name.strip() for name in (tag_of(address, SERVICES) or "").split(",") if name.strip()]


class PublicIps:
    """The addresses of a cluster's Services."""

    def __init__(self, arm: Arm, config: AzureConfig) -> None:
        self._arm, self._config = arm, config
        self._lock = threading.Lock()
        self._zones: list[str] | None = None

    def wanted(self, cluster: str, service: Object) -> tuple[str, bool]:
        """Return the id of a Service's address, and whether it has to be there already.

        Raises:
            CloudFailed: the Service asks for an address that there is not.
        """
        if name := asked.of(service, "pip-name"):
            return self._id(service, name), True
        address = str((service.get("spec") or {}).get("loadBalancerIP") or "")
        if not address:
            return self._id(service, asked.public_ip_name(cluster, service)), False
        held = next((each for each in self._all(service) if properties(each).get("ipAddress") == address), None)
        if held is None:
            group = self._group(service)
            raise CloudFailed(f"user supplied IP Address {address} was not found in resource group {group}")
        return str(held["id"]), True

    def ensure(self, cluster: str, service: Object) -> Json:
        """Make a Service's address, or bind the one that there is to it; return it.

        Raises:
            CloudFailed: it has to be there already and is not, or another Service has its name.
        """
        ident, given = self.wanted(cluster, service)
        held = self._arm.find(ident)
        if held is None and given:
            name = ident.rpartition("/")[2]
            problem = f"PublicIP from annotation azure-pip-name={name} for service {service_name(service)}"
            raise CloudFailed(f"{problem} doesn't exist")
        wanted = self._made(cluster, service) if held is None else self._bound(held, service)
        self._name(wanted, service)
        return self._arm.put(ident, wanted) if wanted != held else wanted

    def exists(self, cluster: str, service: Object) -> bool:
        """Tell whether an address that was made for a Service is there."""
        ident = self._id(service, asked.public_ip_name(cluster, service))
        return not asked.of(service, "pip-name") and self._arm.find(ident) is not None

    def find(self, ident: str) -> Json | None:
        """Return an address by its id, None if there is none."""
        return self._arm.find(ident)

    def release(self, cluster: str, service: Object, keep: str = "") -> None:
        """Take a Service's name off the addresses that it has, but for one; delete those that no Service has then."""
        name = service_name(service)
        for address in self._all(service):
            users = users_of(address)
            if same(address["id"], keep) or not any(same(user, name) for user in users):
                continue
            if tag_of(address, CLUSTER) not in {None, cluster}:
                continue
            left = [user for user in users if not same(user, name)]
            if not left:
                self._arm.delete(str(address["id"]))
                continue
            tags = {**(address.get("tags") or {}), SERVICES: ",".join(left)}
            if same(tags.get(DNS), name):
                tags[DNS] = ""
            self._arm.put(str(address["id"]), {**address, "tags": tags})

    def _made(self, cluster: str, service: Object) -> Json:
        is_six = ":" in str((service.get("spec") or {}).get("clusterIP") or "")
        body: Json = {
            "location": self._config.location,
            "sku": {"name": "Standard"},
            "tags": {
                **parsed_tags(self._config.tags),
                **parsed_tags(asked.of(service, "pip-tags")),
                CLUSTER: cluster,
                SERVICES: service_name(service),
            },
            "properties": {
                "publicIPAllocationMethod": "Static",
                "publicIPAddressVersion": "IPv6" if is_six else "IPv4",
            },
        }
        if tags := asked.ip_tags(service):
            body["properties"]["ipTags"] = tags
        if prefix := asked.of(service, "pip-prefix-id"):
            body["properties"]["publicIPPrefix"] = {"id": prefix}
        elif zones := self.zones():
            body["zones"] = zones
        return body

    def _bound(self, held: Json, service: Object) -> Json:
        users, name = users_of(held), service_name(service)
        if not users:  # the user's own
            return {**held, "properties": dict(properties(held))}
        tags = {**(held.get("tags") or {}), **parsed_tags(asked.of(service, "pip-tags"))}
        if not any(same(user, name) for user in users):
            tags[SERVICES] = ",".join([*users, name])
        return {**held, "tags": tags, "properties": dict(properties(held))}

    def _name(self, address: Json, service: Object) -> None:
        """Give an address the name in DNS that a Service asks for."""
        label, name = asked.of(service, "dns-label-name"), service_name(service)
        held: Any = properties(address).get("dnsSettings") or {}
        owner = tag_of(address, DNS)
        if not label:
            if owner and same(owner, name):
                address["properties"].pop("dnsSettings", None)
                address["tags"] = {key: value for key, value in address["tags"].items() if key != DNS}
            return
        if owner and not same(owner, name):
            raise CloudFailed(f"there is an existing service {owner} consuming the DNS label on the public IP")
        if held.get("domainNameLabel") and not same(held["domainNameLabel"], label):
            raise CloudFailed(f"there is an existing DNS label {held['domainNameLabel']} on the public IP")
        address["properties"]["dnsSettings"] = {**held, "domainNameLabel": label}
        address["tags"] = {**(address.get("tags") or {}), DNS: name}

    def zones(self) -> list[str]:
        """Return the zones of the cluster's region, empty without any; asked for once."""
        with self._lock:
            if self._zones is None:
                told = self._arm.told(f"/subscriptions/{self._config.subscription_id}/providers/Microsoft.Compute")
                self._zones = _zones_of(told, self._config.location)
            return self._zones

    def _group(self, service: Object) -> str:
        return asked.of(service, "load-balancer-resource-group") or self._config.resource_group

    def _id(self, service: Object, name: str) -> str:
        return self._arm.id(NETWORK, f"publicIPAddresses/{name}", self._group(service))

    def _all(self, service: Object) -> list[Json]:
        return list(self._arm.listed(self._arm.id(NETWORK, "publicIPAddresses", self._group(service))))


def _zones_of(told: Json, location: str) -> list[str]:
    for kind in told.get("resourceTypes") or ():
        if same(kind.get("resourceType"), "virtualMachines"):
            for row in kind.get("zoneMappings") or ():
                if same(str(row.get("location", "")).replace(" ", ""), location.replace(" ", "")):
                    return sorted(str(zone) for zone in row.get("zones") or ())
    return []
