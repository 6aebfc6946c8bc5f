"""Access reviews: what the server's authorizers decide for the caller or for another user.

Source: kubernetes pkg/registry/authorization and pkg/apis/authorization/validation.
"""

from __future__ import annotations

from hyperkube_api.authorization.selectors import Narrowed, narrowed, selector_problems

from hyperkube.hookspecs.api import Call
from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.errors import BadRequest, Invalid
from hyperkube.machinery.field import ROOT, FieldError, invalid
from hyperkube.machinery.groups import GroupKind
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.users import UserInfo

_GROUP = GroupKind("authorization.k8s.io", "")
"""Reviews are refused under a kind without a name, as Kubernetes does."""


def review_own_access(call: Call) -> Object:
    """Answer a SelfSubjectAccessReview: may the caller do that?

    Raises:
        Invalid: not exactly one of resource and path is asked about, or the review has metadata.
    """
    review = call.body or {}
    spec = review.get("spec") or {}
    _refuse(_attribute_problems(spec) + _selector_problems(spec) + _metadata_problems(review, "must be empty"))
    return _answered(call, review, call.user)


def review_access(call: Call) -> Object:
    """Answer a SubjectAccessReview: may that user do that?

    Raises:
        Invalid: no user is named, not exactly one of resource and path is asked about, or there is metadata.
    """
    review = call.body or {}
    spec = review.get("spec") or {}
    problems = _attribute_problems(spec) + _subject_problems(spec) + _selector_problems(spec)
    _refuse(problems + _metadata_problems(review, "must be empty"))
    return _answered(call, review, _subject(spec))


def review_local_access(call: Call) -> Object:
    """Answer a LocalSubjectAccessReview: may that user do that in this namespace?

    Raises:
        Invalid: no user is named, there is metadata, or something outside any namespace is asked about.
    """
    review = call.body or {}
    spec = review.get("spec") or {}
    problems = _attribute_problems(spec) + _subject_problems(spec) + _selector_problems(spec)
    problems += _metadata_problems(review, "must be empty except for namespace", "namespace")
    attributes, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    namespace = (attributes or {}).get("namespace") or ""
    if attributes is not None and namespace != call.namespace:
        place = ROOT.child("spec", "resourceAttributes", "namespace")
        problems.append(invalid(place, namespace, "must match metadata.namespace"))
    if path is not None:
        place = ROOT.child("spec", "nonResourceAttributes")
        problems.append(invalid(place, _internal_path(path), "disallowed on this kind of request"))
    _refuse(problems)
    return _answered(call, review, _subject(spec))


def review_own_rules(call: Call) -> Object:
    """Answer a SelfSubjectRulesReview: all the caller may do in a namespace.

    Raises:
        BadRequest: no namespace is named.
    """
    namespace = ((call.body or {}).get("spec") or {}).get("namespace") or ""
    if not namespace:
        raise BadRequest("no namespace on request")
    rules = call.authorizer.rules(call.user, namespace)
    status: Object = {
        "resourceRules": rules.resource_rules,
        "nonResourceRules": rules.non_resource_rules,
        "incomplete": rules.incomplete,
    }
    if rules.error:
        status["evaluationError"] = rules.error
    return {
        "kind": "SelfSubjectRulesReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": {},
        "status": status,
    }


def _refuse(problems: list[FieldError]) -> None:
    if problems:
        raise Invalid.about(_GROUP, "", problems)


def _attribute_problems(spec: Object) -> list[FieldError]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        at = ROOT.child("spec", "nonResourceAttributes")
        return [invalid(at, _internal_path(path), "cannot be specified in combination with resourceAttributes")]
    if resource is None and path is None:
        at = ROOT.child("spec", "resourceAttributes")
        return [invalid(at, None, "exactly one of nonResourceAttributes or resourceAttributes must be specified")]
    return []


def _metadata_problems(review: Object, text: str, *allowed: str) -> list[FieldError]:
    given = {key: value for key, value in (review.get("metadata") or {}).items() if value}
    if set(given) <= {"managedFields", *allowed}:
        return []
    return [invalid(ROOT.child("metadata"), given, text)]


def _selector_problems(spec: Object) -> list[FieldError]:
    return selector_problems(ROOT.child("spec", "resourceAttributes"), spec.get("resourceAttributes") or {})


def _internal_path(attributes: Object) -> Object:
    return {"Path": attributes.get("path") or "", "Verb": attributes.get("verb") or ""}


def _subject_problems(spec: Object) -> list[FieldError]:
    if spec.get("user") or spec.get("groups"):
        return []
    return [invalid(ROOT.child("spec", "user"), "", "at least one of user or group must be specified")]


def _subject(spec: Object) -> UserInfo:
    extra = {key: tuple(values or ()) for key, values in (spec.get("extra") or {}).items()}
    return UserInfo(spec.get("user") or "", spec.get("uid") or "", tuple(spec.get("groups") or ()), extra)


def _attributes(spec: Object, user: UserInfo, limits: Narrowed) -> Attributes:
    resource = spec.get("resourceAttributes")
    if resource is None:
        path = spec.get("nonResourceAttributes") or {}
        return Attributes(user, path.get("verb") or "", path=path.get("path") or "")
    return Attributes(
        user,
        resource.get("verb") or "",
        group=resource.get("group") or "",
        version=resource.get("version") or "*",
        resource=resource.get("resource") or "",
        subresource=resource.get("subresource") or "",
        namespace=resource.get("namespace") or "",
        name=resource.get("name") or "",
        field_selector=limits.fields,
        label_selector=limits.labels,
    )


def _answered(call: Call, review: Object, user: UserInfo) -> Object:
    spec = review.get("spec") or {}
    limits = narrowed(spec.get("resourceAttributes") or {})
    decision = call.authorizer.authorize(_attributes(spec, user, limits))
    status: Object = {"allowed": decision.allowed}
    if decision.verdict == "deny":
        status["denied"] = True
    if decision.reason:
        status["reason"] = decision.reason
    if limits.error:
        status["evaluationError"] = limits.error
    return {**review, "metadata": metadata(review), "status": status}
