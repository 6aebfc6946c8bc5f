"""TokenRequest: a short-lived token for a service account, which may be bound to a pod, a secret or a node.

Source: kubernetes pkg/registry/core/serviceaccount/storage/token.go. The signer is the host's, passed in the options.
"""

from __future__ import annotations

from typing import Any, Protocol

from hyperkube.hookspecs.api import Call, Subresource
from hyperkube.kinds.resources import NODES, PODS, SECRETS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import ApiError, BadRequest, Conflict, Invalid, NotFound
from hyperkube.machinery.field import ROOT, FieldError, forbidden, invalid, too_long
from hyperkube.machinery.groups import GroupKind, GroupVersionKind
from hyperkube.machinery.objects import Object, metadata, uid_of
from hyperkube.machinery.times import format_time

DEFAULT_SECONDS = 3600
MIN_SECONDS = 600
MAX_SECONDS = 2**32
BOUND_KINDS = {"Pod": PODS, "Secret": SECRETS, "Node": NODES}
SIGNER_OPTION = "service-account-signer"


class Signer(Protocol):
    """What issues the tokens: `hyperkube_lib.service_account_tokens`."""

    def issue(self, **claims: Any) -> Any:
        """Return the token, and when it expires, for an account and what it is bound to."""


def create_token(call: Call) -> Object:
    """Return the TokenRequest with its token and expiry in the status.

    Raises:
        BadRequest: the request names another account or namespace.
        Invalid: the lifetime or the bound object's kind is not allowed.
        Conflict: the bound object is another one of that name.
        NotFound: the account or the bound object does not exist, or tokens cannot be issued here.
    """
    request = call.body or {}
    meta = metadata(request)
    if meta.get("name") and meta["name"] != call.name:
        raise BadRequest(f'name in URL does not match name in TokenRequest: "{call.name}" vs "{meta["name"]}"')
    account = call.objects.get(SERVICE_ACCOUNTS, call.name, call.namespace)
    signer = call.options.get(SIGNER_OPTION)
    if signer is None:
        raise NotFound("the server could not find the requested resource")
    spec = {**(request.get("spec") or {})}
    if spec.get("expirationSeconds") is None:
        spec["expirationSeconds"] = DEFAULT_SECONDS
    errors = _problems(spec)
    if errors:
        raise Invalid.about(GroupKind("authentication.k8s.io", "TokenRequest"), "", errors)
    bound = _bound_object(call, spec.get("boundObjectRef"))
    if not spec.get("audiences"):
        spec["audiences"] = list(call.options.get("api-audiences") or _issuer_audience(call))
    if call.dry_run:
        token, expires = "", call.clock.now()
    else:
        token, expires = signer.issue(
            namespace=call.namespace,
            account=account,
            audiences=tuple(spec["audiences"]),
            seconds=spec["expirationSeconds"],
            bound=bound,
        )
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": call.name,
            "namespace": call.namespace,
            "creationTimestamp": format_time(call.clock.now()),
        },
        "spec": spec,
        "status": {"token": token, "expirationTimestamp": format_time(expires)},
    }


def _issuer_audience(call: Call) -> list[str]:
    issuer = call.options.get("service-account-issuer") or ""
    if isinstance(issuer, str):
        return [issuer] if issuer else []
    return list(issuer)


def _problems(spec: Object) -> list[FieldError]:
    path = ROOT.child("spec", "expirationSeconds")
    seconds = spec["expirationSeconds"]
    if seconds < MIN_SECONDS:
        return [invalid(path, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > MAX_SECONDS:
        return (
            [too_long(path, MAX_SECONDS)]
            if isinstance(seconds, str)
            else [invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")]
        )
    reference = spec.get("boundObjectRef")
    if reference and not reference.get("name"):
        return [forbidden(ROOT.child("spec", "boundObjectRef", "name"), "must be set")]
    return []


def _bound_object(call: Call, reference: Object | None) -> Object | None:
    """Return the object that the token is bound to: it is valid as long as the object exists."""
    if not reference:
        return None
    kind, name = reference.get("kind") or "", reference.get("name") or ""
    resource = BOUND_KINDS.get(kind)
    if resource is None or reference.get("apiVersion") not in {None, "", "v1"}:
        gvk = f"{reference.get('apiVersion') or ''}, Kind={kind}"
        raise BadRequest(f"cannot bind token for serviceaccount {call.name!r} to type {gvk}".replace("'", '"'))
    try:
        found = call.objects.get(resource, name, "" if kind == "Node" else call.namespace)
    except ApiError as error:
        raise error from None
    wanted = reference.get("uid")
    if wanted and wanted != uid_of(found):
        raise Conflict.about(
            resource.group_resource,
            name,
            f"the UID in the bound object reference ({wanted}) does not match the UID in record. "
            "The object might have been deleted and then recreated",
        )
    return {**found, "kind": kind, "apiVersion": "v1"}


TOKEN = Subresource(
    name="token",
    kind=GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest"),
    verbs=("create",),
    schema="hyperkube_api.authentication.v1:TokenRequest",
    handler=create_token,
)
