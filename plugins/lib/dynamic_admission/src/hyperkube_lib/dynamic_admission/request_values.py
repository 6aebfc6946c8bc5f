"""A request as expressions and reviews show it.

Source: kubernetes apiserver ``pkg/admission/plugin/cel/condition.go``.
"""

from __future__ import annotations

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import UserInfo


def request_value(request: AdmissionRequest) -> Object:
    """Return the ``request`` of expressions: an AdmissionRequest without its objects, and without what is empty."""
    kind, resource = request.kind._asdict(), request.resource._asdict()
    found = {
        "kind": kind,
        "resource": resource,
        "subResource": request.subresource,
        **request_identity(request),
        "requestSubResource": request.subresource,
        "name": request.name,
        "namespace": request.namespace,
        "operation": request.operation,
        "userInfo": user_value(request.user),
        "options": request.options or None,
    }
    return {name: value for name, value in found.items() if value or name in {"kind", "resource"}} | {
        "dryRun": request.dry_run
    }


def request_identity(request: AdmissionRequest) -> Object:
    """Return the kind and resource that the client addressed, where the request may be shown in another version."""
    resource, kind = request.addressed or (request.resource, request.kind)
    return {"requestKind": kind._asdict(), "requestResource": resource._asdict()}


def user_value(user: UserInfo) -> Object:
    """Return a user as reviews show one, without what is empty."""
    found: Object = {"username": user.name, "uid": user.uid, "groups": [*user.groups]}
    found["extra"] = {key: [*values] for key, values in user.extra.items()}
    return {name: value for name, value in found.items() if value}
