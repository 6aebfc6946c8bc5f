"""What expressions see of a request.

Source: kubernetes apiserver ``pkg/admission/plugin/cel/{condition,composition}.go``.
"""

from __future__ import annotations

from typing import Any

from hyperkube_lib.cel.library.authorization import AuthorizerValue, Question, ResourceCheck
from hyperkube_lib.cel.library.conversions import to_timestamp
from hyperkube_lib.dynamic_admission.request_values import request_value

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.hookspecs.authz import Attributes, Authorizer
from hyperkube.machinery.fields import FieldRequirement, FieldSelectorError, parse_field_selector
from hyperkube.machinery.labels import Requirement, SelectorError, parse_selector
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import service_account

_META = ("name", "generateName", "namespace", "labels", "annotations", "finalizers", "generation", "resourceVersion")


def namespace_value(namespace: Object) -> Object:
    """Return the ``namespaceObject`` of expressions."""
    meta = namespace.get("metadata") or {}
    shown = {name: meta[name] for name in _META if name in meta}
    for name in ("creationTimestamp", "deletionTimestamp"):
        if meta.get(name):
            shown[name] = to_timestamp(meta[name])
    if meta.get("uid"):
        shown["UID"] = meta["uid"]
    return {"metadata": shown, "spec": namespace.get("spec") or {}, "status": namespace.get("status") or {}}


def _fields(text: str) -> tuple[FieldRequirement, ...]:
    try:
        return parse_field_selector(text).requirements
    except FieldSelectorError:
        return ()


def _labels(text: str) -> tuple[Requirement, ...]:
    try:
        return parse_selector(text).requirements
    except SelectorError:
        return ()


def authorizer_values(request: AdmissionRequest, authorizer: Authorizer | None) -> dict[str, Any]:
    """Return the ``authorizer`` of expressions, and the one that already knows the request's resource."""

    def answer(question: Question) -> tuple[bool, str, str]:
        if authorizer is None:
            return False, "", "there is no authorizer here"
        user = request.user
        if question.service_account is not None:
            user = service_account(*question.service_account)
        resource = question.resource
        asked = Attributes(
            user,
            question.verb,
            question.group if resource else "",
            "*" if resource else "",
            resource,
            question.subresource,
            question.namespace,
            question.name,
            question.path,
            _fields(question.field_selector),
            _labels(question.label_selector),
        )
        decision = authorizer.authorize(asked)
        return decision.allowed, decision.reason, ""

    own = Question(
        group=request.resource.group,
        resource=request.resource.resource,
        subresource=request.subresource,
        namespace=request.namespace,
        name=request.name,
    )
    return {"authorizer": AuthorizerValue(answer), "authorizer.requestResource": ResourceCheck(answer, own)}


def names(request: AdmissionRequest, authorizer: Authorizer | None, namespace: Object | None = None) -> dict[str, Any]:
    """Return everything expressions may speak of, except parameters and variables."""
    return {
        "object": request.object,
        "oldObject": request.old_object,
        "request": request_value(request),
        "namespaceObject": None if namespace is None else namespace_value(namespace),
        **authorizer_values(request, authorizer),
    }
