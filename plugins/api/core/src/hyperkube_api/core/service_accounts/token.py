"""TokenRequest: a short-lived token for a service account, which may be bound to a pod, a secret or a node.

Source: kubernetes pkg/registry/core/serviceaccount/storage/token.go. The signer is the server's.
"""

from __future__ import annotations

from hyperkube.hookspecs.api import Call, Subresource
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.resources import NODES, PODS, SECRETS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import BadRequest, Conflict, Invalid, NotFound
from hyperkube.machinery.field import ROOT, FieldError, invalid, quote
from hyperkube.machinery.groups import GroupKind, GroupResource, GroupVersion, GroupVersionKind
from hyperkube.machinery.objects import Object, metadata, name_of, uid_of
from hyperkube.machinery.times import format_time

DEFAULT_SECONDS = 3600
MIN_SECONDS = 600
MAX_SECONDS = 2**32
BOUND_KINDS = {"Pod": PODS, "Secret": SECRETS, "Node": NODES}
_KIND = GroupKind("authentication.k8s.io", "TokenRequest")


def create_token(call: Call) -> Object:
    """Return the TokenRequest with its token and expiry in the status.

    Raises:
        Invalid: the request names another account or namespace, or the lifetime is not allowed.
        BadRequest: a token cannot be bound to this object.
        Conflict: the account or the bound object is another one of that name.
        NotFound: the account or the bound object does not exist, or tokens cannot be issued here.
    """
    request = call.body or {}
    _insist_on_place(call, metadata(request))
    account = call.objects.get(SERVICE_ACCOUNTS, call.name, call.namespace)
    _insist_on_account(metadata(request), account)
    signer = call.services.token_signer
    if signer is None:
        raise NotFound("the server could not find the requested resource")
    spec = {**(request.get("spec") or {})}
    spec["audiences"] = list(spec.get("audiences") or call.services.audiences)
    if spec.get("expirationSeconds") is None:
        spec["expirationSeconds"] = DEFAULT_SECONDS
    errors = _problems(spec)
    if errors:
        raise Invalid.about(_KIND, "", errors)
    bound, node = _bound_objects(call, spec.get("boundObjectRef"))
    if call.dry_run:
        token, expires = "", call.clock.now()
    else:
        token, expires = signer.issue(
            namespace=call.namespace,
            account=account,
            audiences=tuple(spec["audiences"]),
            seconds=spec["expirationSeconds"],
            bound=bound,
            node=node,
        )
    members = ("audiences", "expirationSeconds", "boundObjectRef")
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": call.name,
            "namespace": call.namespace,
            "uid": uid_of(account),
            "creationTimestamp": format_time(call.clock.now()),
        },
        "spec": {member: spec.get(member) for member in members},
        "status": {"token": token, "expirationTimestamp": format_time(expires)},
    }


def _insist_on_place(call: Call, meta: Object) -> None:
    for member, wanted in (("name", call.name), ("namespace", call.namespace)):
        if meta.get(member) and meta[member] != wanted:
            text = f"must match the service account {member} if specified"
            raise Invalid.about(_KIND, call.name, [invalid(ROOT.child("metadata", member), meta[member], text)])


def _insist_on_account(meta: Object, account: Object) -> None:
    wanted, uid = meta.get("uid"), uid_of(account)
    if wanted and wanted != uid:
        why = f"the UID in the token request ({wanted}) does not match the UID of the service account ({uid})"
        raise Conflict.about(GroupResource(_KIND.group, _KIND.kind), str(name_of(account)), why)


def _problems(spec: Object) -> list[FieldError]:
    path = ROOT.child("spec", "expirationSeconds")
    seconds = spec["expirationSeconds"]
    if seconds < MIN_SECONDS:
        return [invalid(path, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > MAX_SECONDS:
        return [invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")]
    return []


def _bound_objects(call: Call, reference: Object | None) -> tuple[Object | None, Object | None]:
    """Return the object that the token is bound to, whose end ends the token, and the node of a pod that runs."""
    if reference is None:
        return None, None
    group, version, kind = _group_version_kind(reference)
    resource = None if group else BOUND_KINDS.get(kind)
    if resource is None:
        raise BadRequest(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
    name = reference.get("name") or ""
    if not name:
        raise BadRequest("Name parameter required.")
    found = call.objects.get(resource, name, "" if kind == "Node" else call.namespace)
    if kind == "Pod" and (spec_of(found).get("serviceAccountName") or "") != call.name:
        text = "to pod running with different serviceaccount name."
        raise BadRequest(f"cannot bind token for serviceaccount {quote(call.name)} {text}")
    wanted = reference.get("uid")
    if wanted and wanted != uid_of(found):
        why = (
            f"the UID in the bound object reference ({wanted}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise Conflict.about(GroupResource("", kind), name, why)
    bound = {**found, "kind": kind, "apiVersion": "v1"}
    return bound, _node_of(call, found) if kind == "Pod" else None


def _group_version_kind(reference: Object) -> tuple[str, str, str]:
    """Return group, version and kind as Go reads them: of what is no group version, the kind alone."""
    kind = reference.get("kind") or ""
    try:
        version = GroupVersion.parse(reference.get("apiVersion") or "")
    except ValueError:
        return "", "", kind
    return version.group, version.version, kind


def _node_of(call: Call, pod: Object) -> Object | None:
    """Return the node that a pod is bound to; of one that does not exist its name alone."""
    name = spec_of(pod).get("nodeName")
    if not name:
        return None
    try:
        return call.objects.get(NODES, name)
    except NotFound:
        return {"metadata": {"name": name}}


TOKEN = Subresource(
    name="token",
    kind=GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest"),
    verbs=("create",),
    schema="hyperkube_api.authentication.v1:TokenRequest",
    handler=create_token,
)
