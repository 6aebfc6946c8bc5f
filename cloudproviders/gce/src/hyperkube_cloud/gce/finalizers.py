"""The finalizer that Google's own controller puts on Services with internal balancers: taken off once they are adopted.

The service controller has a finalizer of its own on each Service, which keeps it until its balancer is gone.
Source: cloud-provider-gcp ``providers/gce/gce_util.go`` (removeFinalizer).
"""

from __future__ import annotations

from hyperkube_cloud.gce.load_balancers.annotations import INTERNAL_FINALIZER

from hyperkube.client.client import Client
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object, has_finalizer, metadata, name_of, namespace_of, uid_of


class InternalFinalizer:
    """Takes it off."""

    def __init__(self, client: Client | None) -> None:
        self._client = client

    def release(self, service: Object) -> None:
        """Take it off if the Service has it.

        Raises:
            ApiError: the API server refuses.
        """
        if self._client is None or not has_finalizer(service, INTERNAL_FINALIZER):
            return
        try:
            fresh = self._client.get(SERVICES, name_of(service), namespace_of(service))
            if uid_of(fresh) != uid_of(service) or not has_finalizer(fresh, INTERNAL_FINALIZER):
                return
            left = [name for name in metadata(fresh)["finalizers"] if name != INTERNAL_FINALIZER]
            version = metadata(fresh).get("resourceVersion")
            patch = {"metadata": {"uid": uid_of(fresh), "resourceVersion": version, "finalizers": left}}
            self._client.patch(SERVICES, name_of(service), patch, namespace_of(service), subresource="status")
        except NotFound:
            return
