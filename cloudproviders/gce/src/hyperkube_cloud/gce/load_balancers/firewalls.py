"""Firewalls that let clients, and Google's health checks, reach the machines.

Source: cloud-provider-gcp ``providers/gce/gce_loadbalancer_external.go`` (firewallObject, firewallNeedsUpdate),
``gce_loadbalancer_internal.go`` (ensureInternalFirewall), ``gce_util.go`` (FirewallToGCloudCreateCmd).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hyperkube_cloud.gce.compute import Compute, name_of_link
from hyperkube_cloud.gce.location import Location
from hyperkube_lib.cloud_provider.rest import Json, Refused

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

FORBIDDEN = 403
Tell = Callable[[Object, str], None]
"""Tells of a firewall that the security admin of the network's project has to change: the Service and the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a firewall lets through: to the machines with `tags`, at `destination` if it is not empty."""

    name: str
    description: str
    sources: Sequence[str]
    protocol: str
    ports: Sequence[str]
    tags: Sequence[str]
    destination: str = ""


def traffic_description(service: str, address: str) -> str:
    """Return the description of a balancer's firewall."""
    return f'{{"kubernetes.io/service-name":"{service}", "kubernetes.io/service-ip":"{address}"}}'


def differs(held: Json, wanted: Json, plain_ports: Sequence[str]) -> bool:
    """Tell whether a firewall is to be changed; `plain_ports` are its ports one by one, as older versions wrote."""
    allowed: list[Json] = held.get("allowed") or []
    if len(allowed) != 1 or allowed[0].get("IPProtocol") != wanted["allowed"][0]["IPProtocol"]:
        return True
    ports = set(allowed[0].get("ports") or ())
    if ports not in (set(wanted["allowed"][0]["ports"]), set(plain_ports)):
        return True
    same = held.get("description", "") == wanted["description"]
    members = ("sourceRanges", "targetTags", "destinationRanges")
    return not same or any(set(held.get(key) or ()) != set(wanted.get(key) or ()) for key in members)


class Firewalls:
    """The firewalls of a cluster's balancers, in the network's project."""

    def __init__(self, compute: Compute, location: Location, tell: Tell) -> None:
        self._compute, self._location, self._tell = compute, location, tell

    def ensure(self, service: Object, opening: Opening, plain_ports: Sequence[str] = ()) -> None:
        """Make a firewall, or change what differs; the network's owner is asked to, where only they may."""
        wanted = self._body(opening)
        held = self._compute.find(f"global/firewalls/{opening.name}")
        if held is not None and not differs(held, wanted, plain_ports or opening.ports):
            return
        verb = "create" if held is None else "update"
        try:
            if held is None:
                self._compute.insert("global/firewalls", wanted)
            else:
                self._compute.change("PATCH", f"global/firewalls/{opening.name}", wanted)
        except Refused as error:
            network = f" --network {name_of_link(wanted['network'])}" if held is None else ""
            command = f"gcloud compute firewall-rules {verb} {opening.name}{network} {self._arguments(opening)}"
            self._needs_admin(service, error, command)

    def delete(self, service: Object, name: str) -> None:
        """Delete a firewall; no error if it is gone."""
        try:
            self._compute.delete(f"global/firewalls/{name}")
        except Refused as error:
            project = self._location.network_project
            self._needs_admin(service, error, f"gcloud compute firewall-rules delete {name} --project {project}")

    def _needs_admin(self, service: Object, error: Refused, command: str) -> None:
        shared = self._location.network_project != self._location.project
        if error.status != FORBIDDEN or not shared:
            raise error
        self._tell(service, f"Firewall change required by security admin: `{command}`")

    def _body(self, opening: Opening) -> Json:
        body: Json = {
            "name": opening.name,
            "description": opening.description,
            "network": self._location.network,
            "sourceRanges": list(opening.sources),
            "targetTags": list(opening.tags),
            "allowed": [{"IPProtocol": opening.protocol.lower(), "ports": list(opening.ports)}],
        }
        if opening.destination:
            body["destinationRanges"] = [opening.destination]
        return body

    def _arguments(self, opening: Opening) -> str:
        allow = ",".join(sorted(f"{opening.protocol.lower()}:{port}" for port in opening.ports))
        escaped = opening.description.replace('"', '\\"')
        return (
            f'--description "{escaped}" --allow {allow} --source-ranges {",".join(sorted(opening.sources))}'
            f" --target-tags {','.join(sorted(opening.tags))} --project {self._location.network_project}"
        )
