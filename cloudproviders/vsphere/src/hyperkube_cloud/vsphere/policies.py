"""Storage policies by name, and which datastores satisfy one: the vCenter's policy service.

Source: vSphere Storage Policy API reference (``PbmProfileProfileManager``, ``PbmPlacementSolver``); kubernetes
``legacy-cloud-providers/vsphere/vclib/pbm.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from hyperkube_cloud.vsphere.vcenter import VCenter, ident, kind
from pyVmomi import pbm

from hyperkube.hookspecs.cloud import CloudFailed

VERSION: Final = "pbm.version.version13"
_STORAGE: Final = "STORAGE"
Datastore = TypeVar("Datastore")


class Policies:
    """Asks the policy service, which knows the vCenter's own sessions."""

    def __init__(self, vcenter: VCenter) -> None:
        self._vcenter = vcenter

    def id_of(self, name: str) -> str:
        """Return a policy's id.

        Raises:
            CloudFailed: there is none of that name.
        """
        return self._id_of(name, self._content().profileManager)

    def _id_of(self, name: str, manager: Any) -> str:
        resource = pbm.profile.ResourceType(resourceType=_STORAGE)
        ids = manager.PbmQueryProfile(resource, pbm.profile.CapabilityBasedProfile.ProfileCategoryEnum.REQUIREMENT)
        profiles = manager.PbmRetrieveContent(ids) if ids else []
        found = [each.profileId.uniqueId for each in profiles if each.name == name]
        if not found:
            raise CloudFailed(f"no pbm profile found with name: {name!r}")
        return str(found[0])

    def compatible(
        self, name: str, datastores: Sequence[Datastore], ref: Callable[[Datastore], Any]
    ) -> list[Datastore]:
        """Return those of some datastores that satisfy a policy.

        Raises:
            CloudFailed: none does; with what the vCenter says of each.
        """
        content = self._content()
        hubs = [pbm.placement.PlacementHub(hubType=kind(ref(each)), hubId=ident(ref(each))) for each in datastores]
        needs = pbm.placement.CapabilityProfileRequirement(
            profileId=pbm.profile.ProfileId(uniqueId=self._id_of(name, content.profileManager))
        )
        told = content.placementSolver.PbmCheckRequirements(hubs, None, [needs])
        refused = {each.hub.hubId: [fault.msg for fault in each.error or ()] for each in told if each.error}
        asked = {each.hub.hubId for each in told}
        found = [each for each in datastores if ident(ref(each)) in asked - refused.keys()]
        if not found:
            words = "; ".join(sorted({text or "" for texts in refused.values() for text in texts} - {""}))
            raise CloudFailed(
                "No compatible datastores found that satisfy the storage policy requirements"
                + (f": {words}" if words else "")
            )
        return found

    def _content(self) -> Any:
        stub = self._vcenter.service("/pbm/sdk", VERSION)
        return pbm.ServiceInstance("ServiceInstance", stub).PbmRetrieveServiceContent()
