"""The public address of a balancer: found, acquired, released.

CloudStack gives an address no name by which it could be found again, so a Service is told which one it gets *before*
that is acquired: a provider that is killed in between acquires the same one, and no address is lost. The Service's
annotations are those of CloudStack's controllers.
Source: cloudstack-kubernetes-provider ``cloudstack_loadbalancer.go`` (getLoadBalancerIP, associatePublicIPAddress,
releaseLoadBalancerIP) and ``README.md``.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final

from hyperkube_cloud.cloudstack.api import Api
from hyperkube_cloud.cloudstack.config import CloudStackConfig
from hyperkube_cloud.cloudstack.load_balancers.wanted import PREFIX, Wanted
from hyperkube_lib.cloud_provider.rest import Json, Refused

from hyperkube.client.client import Client
from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object, annotations_of, name_of, namespace_of, uid_of

ID: Final = f"{PREFIX}id"
"""The id of a balancer's public address, or of the one that it is about to get."""
OURS: Final = f"{PREFIX}ip-associated-by-controller"
"""``true`` if the address was acquired for the Service and goes with it, ``false`` if it was there before."""
FREE, ALLOCATED, RELEASING = "Free", "Allocated", "Releasing"


class Addresses:
    """Public addresses of balancers."""

    def __init__(self, api: Api, config: CloudStackConfig, client: Client | None) -> None:
        """Take `client`, by which Services are told of their addresses."""
        self._api, self._config, self._client = api, config, client

    def noted(self, service: Object) -> Json | None:
        """Return the address that a Service was told, None if there is none or it is free."""
        ident = annotations_of(service).get(ID, "")
        found = self._by_id(ident) if ident else None
        return found if found is not None and found.get("state") != FREE else None

    def ensure(self, service: Object, wanted: Wanted, network: Json) -> Json:
        """Return a public address that is the network's, or its VPC's: the one that is wanted or noted, else a new one.

        Raises:
            CloudFailed: there is no such address.
            RetryLater: it is not ready yet.
        """
        if wanted.address:
            return self._asked_for(service, wanted, network)
        ident = annotations_of(service).get(ID, "")
        held = self._by_id(ident) if ident else None
        if held is not None and held.get("state") != FREE:
            if _is_in(held, network) and not self._others(held, wanted.name):
                return self._ready(held)
            held = None
        chosen = held or self._free(network, wanted.name)
        if chosen is None:
            return self._acquired(service, network)
        try:
            return self._chosen(service, wanted, network, chosen)
        except Refused:
            return self._acquired(service, network)

    def release(self, service: Object, address: str, name: str, *, is_left: bool = False) -> None:
        """Release an address, by its id, if it was acquired for the Service and nothing else uses it.

        `is_left` tells that the Service goes on at another one: then what it asks for says nothing of this one.
        """
        found = self._by_id(address)
        if found is None or found.get("state") in {FREE, RELEASING} or not is_ours(service, found, is_left=is_left):
            return
        if not self._others(found, name) and not self._is_noted_elsewhere(service, address):
            self._api.delete("disassociateIpAddress", address)

    def tell(self, service: Object, ident: str, *, ours: bool) -> None:
        """Note an address's id on the Service, and whether it was acquired for it."""
        self._annotate(service, {ID: ident, OURS: str(ours).lower()})

    def forget(self, service: Object) -> None:
        """Take the note off the Service, if it has one."""
        if annotations_of(service).keys() & {ID, OURS}:
            self._annotate(service, {ID: None, OURS: None})

    def note(self, service: Object, rule: Json) -> None:
        """Note the address of a rule that exists on the Service, if it is not noted yet."""
        if annotations_of(service).get(ID) != rule["publicipid"]:
            held = {"id": rule["publicipid"], "ipaddress": rule["publicip"]}
            self.tell(service, str(rule["publicipid"]), ours=is_ours(service, held))

    def _asked_for(self, service: Object, wanted: Wanted, network: Json) -> Json:
        found = self._api.listed(
            "listPublicIpAddresses", "publicipaddress", ipaddress=wanted.address, allocatedonly=False
        )
        if len(found) != 1:
            raise CloudFailed(f"could not find IP address {wanted.address}")
        (held,) = found
        if held.get("state") == FREE:
            return self._chosen(service, wanted, network, held)
        if annotations_of(service).get(ID) != held["id"]:
            self.tell(service, str(held["id"]), ours=False)
        return self._ready(held)

    def _chosen(self, service: Object, wanted: Wanted, network: Json, free: Json) -> Json:
        """Acquire a certain free address.

        Raises:
            Refused: another was faster.
        """
        self.tell(service, str(free["id"]), ours=True)
        try:
            return self._acquired(service, network, free)
        except Refused:  # another manager may have acquired it for this very Service
            now = self._by_id(str(free["id"]))
            if now is not None and _is_in(now, network) and not self._others(now, wanted.name):
                return self._ready(now)
            self._annotate(service, {ID: None, OURS: None})
            raise

    def _acquired(self, service: Object, network: Json, chosen: Json | None = None) -> Json:
        vpc = str(network.get("vpcid") or "")
        result = self._api.run(
            "associateIpAddress",
            networkid="" if vpc else network["id"],
            vpcid=vpc,
            projectid=self._config.project_id,
            ipaddress=(chosen or {}).get("ipaddress"),
        )
        found = result.get("ipaddress")
        if not isinstance(found, dict) or not found.get("id") or not found.get("ipaddress"):
            raise CloudUnavailable("associateIpAddress: answered with no address")
        self.tell(service, str(found["id"]), ours=True)  # again: another manager may have taken the note off meanwhile
        return self._ready(found)

    def _annotate(self, service: Object, annotations: Mapping[str, str | None]) -> None:
        if self._client is None:
            return
        patch: Object = {"metadata": {"uid": uid_of(service), "annotations": dict(annotations)}}
        try:
            self._client.patch(SERVICES, name_of(service), patch, namespace_of(service), subresource="status")
        except NotFound:
            return

    def _free(self, network: Json, name: str) -> Json | None:
        """Return one of the zone's free addresses, another for each balancer, None where none may be seen."""
        asked = {"state": FREE, "allocatedonly": False, "forvirtualnetwork": True, "zoneid": network.get("zoneid")}
        try:
            found = self._api.listed("listPublicIpAddresses", "publicipaddress", **asked)
        except Refused:
            return None
        rows = sorted(
            (row for row in found if row.get("state") == FREE and row.get("ipaddress")), key=lambda row: str(row["id"])
        )
        return rows[zlib.crc32(name.encode()) % len(rows)] if rows else None

    def _others(self, address: Json, name: str) -> bool:
        """Tell whether anything but that balancer uses an address."""
        if address.get("issourcenat") or address.get("isstaticnat"):
            return True
        rules = self._api.listed("listLoadBalancerRules", "loadbalancerrule", publicipid=address["id"])
        return any(not str(rule.get("name") or "").startswith(f"{name}-") for rule in rules)

    def _by_id(self, ident: str) -> Json | None:
        return self._api.find("listPublicIpAddresses", "publicipaddress", ident, allocatedonly=False)

    def _is_noted_elsewhere(self, service: Object, address: str) -> bool:
        """Tell whether another Service is about to use an address: it may have been freed and acquired meanwhile."""
        if self._client is None:
            return False
        return any(
            annotations_of(each).get(ID) == address and uid_of(each) != uid_of(service)
            for each in self._client.list(SERVICES).items
        )

    def _ready(self, address: Json) -> Json:
        """Return an address once it is allocated: a provider that was killed may have left it on its way there."""
        return self._api.wait(
            f"public address {address.get('ipaddress')}",
            lambda: self._by_id(str(address["id"])),
            lambda row: row.get("state") == ALLOCATED,
            address,
        )


def is_ours(service: Object, address: Json, *, is_left: bool = False) -> bool:
    """Tell whether an address was acquired for a Service.

    Where nothing is noted of it, it was, as the in-tree provider had it, unless the Service asks for it. CloudStack's
    own controller notes that it was, and not which one.
    """
    noted, ours = annotations_of(service).get(ID), annotations_of(service).get(OURS)
    if noted and noted != address["id"]:
        return False
    if ours is not None:
        return ours == "true"
    return not is_left and address.get("ipaddress") != (service.get("spec") or {}).get("loadBalancerIP")


def _is_in(address: Json, network: Json) -> bool:
    vpc = network.get("vpcid")
    return bool(address.get("vpcid") == vpc if vpc else address.get("associatednetworkid") == network["id"])
