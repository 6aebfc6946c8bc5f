"""Deletes what the store cannot read any more, when a client insists and may: past finalizers and admission.

Source: kubernetes apiserver ``pkg/registry/generic/registry/corrupt_obj_deleter.go`` and
``pkg/endpoints/handlers/delete.go`` (authorizeUnsafeDelete). The gate AllowUnsafeMalformedObjectDeletion is alpha
there; here the option always has its effect on what cannot be read, and with the gate is refused for all else.
"""

from __future__ import annotations

from dataclasses import replace

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.results import ObjectResult, success
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest import stored
from hyperkube_host.apiserver.rest.delete_options import IGNORE_READ_ERROR
from hyperkube_host.apiserver.rest.services import Services

from hyperkube.machinery.errors import Forbidden, Invalid, StorageReadError
from hyperkube.machinery.field import Path, invalid
from hyperkube.machinery.groups import GroupKind
from hyperkube.storage.store import Delete

_GATE = "AllowUnsafeMalformedObjectDeletion"
_VERB = "unsafe-delete-ignore-read-errors"
_READABLE = "is exclusively used to delete corrupt object(s), try again by removing this option"


def delete_unreadable(services: Services, request: ApiRequest, target: Target) -> ObjectResult | None:
    """Delete an object that cannot be read; None for one that can, which the ordinary way deletes.

    Raises:
        Forbidden: the user may not do that.
        Invalid: the object can be read, or is not there, and the gate is on.
    """
    try:
        stored.read(services.store, target.served, target.namespace, target.name)
    except StorageReadError as error:
        unreadable = error.message
    else:
        unreadable = ""
    if not unreadable and not services.options.gates.get(_GATE, False):
        return None
    decision = services.authorizer.authorize(replace(request.info.attributes(request.user), verb=_VERB))
    if not decision.allowed:
        why = f'not permitted to do "{_VERB}", reason: {decision.reason}'
        raise Forbidden.about(target.served.group_resource, target.name, why)
    if not unreadable:
        kind = GroupKind(target.served.kind.group, target.served.kind.kind)
        raise Invalid.about(kind, target.name, [invalid(Path(IGNORE_READ_ERROR), True, _READABLE)])
    services.logger.warning("unsafe deletion of %s %r: %s", target.served.group_resource, target.name, unreadable)
    services.store.txn([], [Delete(target.served.stored().key(target.namespace, target.name))])
    return success(target.served.group_resource, target.name)
