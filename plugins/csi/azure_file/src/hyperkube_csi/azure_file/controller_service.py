"""The controller service: shares are the provider's, the Secret that mounts them is made here.

Source: kubernetes ``pkg/volume/azure_file/azure_provision.go``, ``azure_util.go`` (SetAzureCredentials);
azurefile-csi-driver ``pkg/azurefile/controllerserver.go``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from hyperkube_lib.csi import CsiDriver, refused
from hyperkube_lib.csi.calls import volume_id_of
from hyperkube_lib.csi.capacity_range import CapacityRange
from hyperkube_lib.csi.cloud_refusals import as_csi

from hyperkube.hookspecs.cloud import DiskRequest, FileShares
from hyperkube.kinds.resources import SECRETS
from hyperkube.machinery.errors import AlreadyExists, ApiError, NotFound

Answer = dict[str, Any]
Request = Mapping[str, Any]
DEFAULT_BYTES: Final = 100 << 30
CLAIM: Final = "csi.storage.k8s.io/"
"""What parameters begin with that tell of the claim."""
CLAIM_NAMESPACE: Final = f"{CLAIM}pvc/namespace"
_SECRET: Final = re.compile(r"azure-storage-account-([a-z0-9]{3,24})-secret")


def secret_name(account: str) -> str:
    """Return the name of the Secret that mounts an account's shares: by it, volumes find their account again."""
    return f"azure-storage-account-{account}-secret"


class ControllerService(CsiDriver):
    """What the cloud does; see `CsiDriver`."""

    def shares(self) -> FileShares:
        """Return the cloud's shares."""
        raise NotImplementedError

    def create_volume(self, request: Request) -> Answer:
        """Make a share and the Secret that mounts it, or return the one of that name."""
        name, uses = str(request.get("name") or ""), list(request.get("volume_capabilities") or ())
        if not name or not uses:
            raise refused("INVALID_ARGUMENT", "a volume needs a name and capabilities")
        if any("block" in use for use in uses):
            raise refused("INVALID_ARGUMENT", "a share of files is no block device")
        if request.get("volume_content_source"):
            raise refused("INVALID_ARGUMENT", "a share of files is made empty")
        given = {key.lower(): value for key, value in (request.get("parameters") or {}).items()}
        own, namespace = given.get(CLAIM_NAMESPACE, ""), given.pop("secretnamespace", "")
        parameters = _with_account({key: value for key, value in given.items() if not key.startswith(CLAIM)})
        room = CapacityRange.of(request, DEFAULT_BYTES)
        with as_csi():
            share = self.shares().create(DiskRequest(name=name, size=room.least, parameters=parameters))
        room.check(name, share.size)
        place = namespace or own or "default"
        self._keep(share.id.split("#")[1], share.credentials, place, is_claims=place == own)
        context = {"secretnamespace": place}
        return {"volume": {"volume_id": share.id, "capacity_bytes": share.size, "volume_context": context}}

    def _keep(self, account: str, credentials: Mapping[str, str], namespace: str, *, is_claims: bool) -> None:
        """Make the Secret, unless there is one; in the claim's own namespace, that may be gone with the claim.

        Raises:
            CsiFailed: it cannot be made now. No word of it is of what it holds.
        """
        if self.context.client is None:
            raise refused("UNAVAILABLE", "a share needs a Secret, and the driver knows no API server")
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": secret_name(account), "namespace": namespace},
            "type": "Opaque",
            "data": {key: base64.b64encode(value.encode()).decode() for key, value in credentials.items()},
        }
        try:
            self.context.client.create(SECRETS, secret, namespace)
        except AlreadyExists:
            return
        except NotFound as error:
            if not is_claims:
                raise refused("UNAVAILABLE", f"no Secret in namespace {namespace}: {error.reason}") from None
        except ApiError as error:
            told = f"secret {namespace}/{secret_name(account)} cannot be made: {error.reason}"
            raise refused("UNAVAILABLE", told) from None

    def delete_volume(self, request: Request) -> Answer:
        """Delete a share; account and Secret stay, which others may use."""
        with as_csi():
            self.shares().delete(volume_id_of(request))
        return {}

    def validate_volume_capabilities(self, request: Request) -> Answer:
        """Agree to what a share can be used for."""
        uses = list(request.get("volume_capabilities") or ())
        if any("block" in use for use in uses):
            return {"message": "a share of files is no block device"}
        return {"confirmed": {"volume_capabilities": uses}}

    def controller_expand_volume(self, request: Request) -> Answer:
        """Give a share more room; nodes see it at once."""
        with as_csi():
            size = self.shares().resize(volume_id_of(request), CapacityRange.of(request).least)
        return {"capacity_bytes": size, "node_expansion_required": False}


def _with_account(parameters: dict[str, str]) -> dict[str, str]:
    """Return a class' parameters with the account that the name of a Secret means.

    Raises:
        CsiFailed: the Secret has a name by which no volume would find its account again.
    """
    secret = parameters.pop("secretname", "")
    if not secret:
        return parameters
    found, account = _SECRET.fullmatch(secret), parameters.get("storageaccount", "")
    if found is None or account not in {"", found[1]}:
        wanted = secret_name(account or "NAME")
        raise refused("INVALID_ARGUMENT", f"secretName {secret!r} has to be {wanted!r}, by which volumes are deleted")
    return {**parameters, "storageaccount": found[1]}
