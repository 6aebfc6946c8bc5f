"""A patch of a part that has a kind of its own (``/scale``).

Source: kubernetes apiserver ``pkg/endpoints/handlers/patch.go``.
"""

from __future__ import annotations

from hyperkube_host.apiserver.admission.shared_members import part_members
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest.apply import read_applied
from hyperkube_host.apiserver.rest.patch import APPLY_PATCH, patched, read_patch, type_of
from hyperkube_host.apiserver.rest.scale import applied_scale
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.rest.update import check_name
from hyperkube_lib.structured_merge.managed_fields import Managed

from hyperkube.hookspecs.api import Subresource
from hyperkube.machinery.objects import Object


def patched_part(
    services: Services, request: ApiRequest, target: Target, sub: Subresource, old: Object
) -> tuple[Object, Managed | None]:
    """Return what the request's patch makes of a subresource, and the owners of a Scale that is applied.

    Raises:
        ApiError: the patch cannot be read, or does not fit.
    """
    patch_type = type_of(request, target)
    codec = target.served.codec_of(sub)
    owners: Managed | None = None
    if patch_type == APPLY_PATCH:
        merged, owners = applied_scale(services, request, target, sub, old, read_applied(request, sub.kind))
        body, _ = codec.decode(merged, report=False)
    else:
        body = patched(services, request, target, codec, patch_type, read_patch(request, patch_type), old)
        part_members(body, old)
    body["kind"], body["apiVersion"] = sub.kind.kind, sub.kind.api_version
    check_name(body, target.name)
    return body, owners
