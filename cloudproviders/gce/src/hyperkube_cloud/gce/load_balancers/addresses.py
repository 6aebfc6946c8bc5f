"""The address of a balancer: reserved while the balancer is made or changed, so that it survives that.

A reservation under the balancer's own name is the provider's, one under another name the user's, which stays.
Source: cloud-provider-gcp ``providers/gce/gce_address_manager.go``, ``gce_loadbalancer_external.go`` (ensureStaticIP,
verifyUserRequestedIP).
"""

from __future__ import annotations

from hyperkube_cloud.gce.compute import CONFLICT, Compute
from hyperkube_cloud.gce.load_balancers.annotations import INTERNAL
from hyperkube_cloud.gce.load_balancers.health_checks import described
from hyperkube_cloud.gce.location import Location
from hyperkube_lib.cloud_provider.rest import Json, Refused

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An address that stays the balancer's for now; `is_new`: it was reserved just now."""

    address: str
    is_new: bool = False


class Addresses:
    """The addresses of the region."""

    def __init__(self, compute: Compute, location: Location) -> None:
        self._compute, self._location = compute, location

    def check_requested(self, wanted: str, in_use: str, tier: str) -> bool:
        """Tell whether a requested address is the user's reservation; False where it is the balancer's already.

        Raises:
            CloudFailed: it is neither, or of another network tier.
        """
        found = self._by_address(wanted)
        if found is None:
            if wanted != in_use:
                raise CloudFailed(f'requested ip "{wanted}" is neither static nor assigned to the LB')
            return False
        held = str(found.get("networkTier") or "PREMIUM")
        if held != tier:
            problem = f"belongs to the {held.capitalize()} network tier; expected {tier.capitalize()}"
            raise CloudFailed(f'requested IP "{wanted}" {problem}')
        return True

    def hold_external(self, name: str, service: str, in_use: str, tier: str) -> Held:
        """Reserve an address under the balancer's name: the one that it uses, or a new one."""
        body: Json = {"name": name, "description": described(service), "networkTier": tier}
        if in_use:
            body["address"] = in_use
        is_new = self._reserve(body)
        found = self._by_address(in_use) if in_use else self._compute.find(f"{self._collection}/{name}")
        if found is None:
            raise CloudFailed(f"error getting static IP address: {in_use or name} is not reserved")
        return Held(address=str(found["address"]), is_new=is_new)

    def hold_internal(self, name: str, service: str, wanted: str, subnetwork: str) -> Held:
        """Reserve an address of a subnetwork under the balancer's name, that which is wanted or any.

        Raises:
            CloudFailed: the wanted one is another's.
        """
        held = self._compute.find(f"{self._collection}/{name}")
        if held is not None:
            if held.get("addressType") == INTERNAL and wanted in {"", held["address"]}:
                return Held(address=str(held["address"]))
            self.release(name)
        body: Json = {"name": name, "description": described(service), "addressType": INTERNAL}
        body |= {"subnetwork": subnetwork} if subnetwork else {}
        body |= {"address": wanted} if wanted else {}
        is_new = self._reserve(body)
        found = self._by_address(wanted) if wanted else self._compute.find(f"{self._collection}/{name}")
        if found is None:
            raise CloudFailed(f'failed to reserve address "{wanted or name}"')
        if found.get("addressType") != INTERNAL:
            problem = f'does not have the expected address type "{INTERNAL}", actual: "{found.get("addressType")}"'
            raise CloudFailed(f'address "{found["name"]}" {problem}')
        return Held(address=str(found["address"]), is_new=is_new)

    def tier_under(self, name: str) -> str:
        """Return the network tier of the reservation under a balancer's name, empty without one."""
        found = self._compute.find(f"{self._collection}/{name}")
        return str(found.get("networkTier") or "PREMIUM") if found is not None else ""

    def release(self, name: str) -> None:
        """Give back the reservation under a balancer's name; the balancer keeps the address while it uses it."""
        self._compute.delete(f"{self._collection}/{name}")

    @property
    def _collection(self) -> str:
        return f"regions/{self._location.region}/addresses"

    def _by_address(self, address: str) -> Json | None:
        found = self._compute.listed(self._collection, f"address eq {address}")
        return next((each for each in found if each.get("address") == address), None)

    def _reserve(self, body: Json) -> bool:
        """Reserve; return False if the name or the address is taken, by whomever."""
        try:
            self._compute.change("POST", self._collection, body)
        except Refused as error:
            if error.status not in {CONFLICT, 400}:
                raise
            return False
        return True
