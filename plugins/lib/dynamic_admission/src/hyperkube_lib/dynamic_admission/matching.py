"""Which requests a webhook or a policy is about.

Source: kubernetes apiserver ``pkg/admission/plugin/webhook/predicates``, ``pkg/admission/plugin/policy/matching``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperkube.hookspecs.admission import AdmissionRequest, Equivalent
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, InternalError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.labels import SelectorError, from_label_selector
from hyperkube.machinery.objects import Object, labels_of, name_of

NamespaceOf = Callable[[str], Object]
"""Finds a namespace; raises `NotFound`."""

_OWN_GROUP = "admissionregistration.k8s.io"
_REVIEWS: Mapping[str, frozenset[str]] = {
    "authentication.k8s.io": frozenset({"selfsubjectreviews", "tokenreviews"}),
    "authorization.k8s.io": frozenset(
        {"localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"}
    ),
}


class MatchFailed(Exception):
    """Whether a request is meant cannot be told; ``str()`` says why."""


def is_own_configuration(request: AdmissionRequest) -> bool:
    """Tell whether this is about webhooks or policies themselves: they could lock themselves in for good."""
    return request.resource.group == _OWN_GROUP


def is_exempt(request: AdmissionRequest) -> bool:
    """Tell whether no policy may be about this: policies themselves, and questions about access."""
    return is_own_configuration(request) or request.resource.resource in _REVIEWS.get(request.resource.group, ())


@dataclass(frozen=True, slots=True)
class Match:
    """That a request is meant, and in which version: the one that the client used unless another is named."""

    version: Equivalent | None = None

    def seen(self, request: AdmissionRequest) -> AdmissionRequest:
        """Return the request in the version that the configuration names.

        Raises:
            InternalError: an object cannot be converted.
        """
        if self.version is None:
            return request
        try:
            return request.in_version(self.version)
        except ApiError as error:
            raise InternalError.because(error.message) from error


OWN_VERSION = Match()


def first_match(rules: Sequence[Object], policy: str, request: AdmissionRequest) -> Match | None:
    """Return the match of the first rule that is about a request, or with the policy Equivalent about another version.

    Rules about the version that was used come before all others.
    """
    if any(_named_rule(rule, request) for rule in rules):
        return OWN_VERSION
    if policy != "Equivalent" or not rules:
        return None
    others = request.versions.equivalents()
    return next((Match(one) for rule in rules for one in others if _named_rule(rule, request, one.resource)), None)


def rule_matches(rule: Object, request: AdmissionRequest, resource: GroupVersionResource | None = None) -> bool:
    """Tell whether a rule (operations, groups, versions, resources, scope) is about a request.

    `resource` is what to look at in place of the resource that was addressed: the same in another version.
    """
    resource = resource or request.resource
    return (
        _in(request.operation, rule.get("operations"))
        and _in(resource.group, rule.get("apiGroups"))
        and _in(resource.version, rule.get("apiVersions"))
        and _resource(resource.resource, request.subresource, rule.get("resources") or ())
        and _scope(request, rule.get("scope") or "*")
    )


def _in(value: str, allowed: Any) -> bool:
    return "*" in (allowed or ()) or value in (allowed or ())


def _resource(own: str, sub: str, resources: Any) -> bool:
    for one in resources:
        wanted, _, wanted_sub = one.partition("/")
        if wanted in {"*", own} and (wanted_sub in {"*", sub} if "/" in one else not sub):
            return True
    return False


def _scope(request: AdmissionRequest, scope: str) -> bool:
    if scope == "*":
        return True
    is_namespaced = bool(request.namespace) and not _is_namespace(request)
    return is_namespaced == (scope == "Namespaced")


def _is_namespace(request: AdmissionRequest) -> bool:
    return request.resource.group == "" and request.resource.resource == "namespaces"


def selectors_match(owner: Object, request: AdmissionRequest, namespace_of: NamespaceOf) -> bool:
    """Tell whether ``namespaceSelector`` and ``objectSelector`` let a request through.

    Raises:
        MatchFailed: a selector cannot be read.
        ApiError: the namespace cannot be found.
    """
    return _namespace_matches(owner.get("namespaceSelector"), request, namespace_of) and _object_matches(
        owner.get("objectSelector"), request
    )


def _selects(selector: Object, labels: Mapping[str, str]) -> bool:
    try:
        return from_label_selector(selector).matches(labels)
    except SelectorError as error:
        raise MatchFailed(str(error)) from error


def _namespace_matches(selector: Object | None, request: AdmissionRequest, namespace_of: NamespaceOf) -> bool:
    if not selector:
        return True
    if _is_namespace(request):
        subject = request.object if request.operation in {"CREATE", "UPDATE"} and not request.subresource else None
        if subject is None and request.name:
            subject = namespace_of(request.name)
        return _selects(selector, labels_of(subject or {}))
    if not request.namespace:
        return True
    return _selects(selector, labels_of(namespace_of(request.namespace)))


def _object_matches(selector: Object | None, request: AdmissionRequest) -> bool:
    if not selector:
        return True
    subjects = [one for one in (request.object, request.old_object) if one is not None and "metadata" in one]
    return any(_selects(selector, labels_of(one)) for one in subjects)


def policy_matches(match: Object, request: AdmissionRequest, namespace_of: NamespaceOf) -> bool:
    """Tell whether ``matchConstraints`` or ``matchResources`` are about a request; see `policy_match`."""
    return policy_match(match, request, namespace_of) is not None


def policy_match(match: Object, request: AdmissionRequest, namespace_of: NamespaceOf) -> Match | None:
    """Return how ``matchConstraints`` or ``matchResources`` are about a request, None if they are not.

    Raises:
        MatchFailed: a selector cannot be read.
        ApiError: the namespace cannot be found.
    """
    policy, rules = str(match.get("matchPolicy") or ""), match.get("resourceRules") or ()
    if first_match(match.get("excludeResourceRules") or (), policy, request) is not None:
        return None
    found = first_match(rules, policy, request) if rules else OWN_VERSION
    return found if found is not None and selectors_match(match, request, namespace_of) else None


def _named_rule(rule: Object, request: AdmissionRequest, resource: GroupVersionResource | None = None) -> bool:
    names = rule.get("resourceNames") or ()
    name = request.name or name_of(request.object or {})
    return rule_matches(rule, request, resource) and (not names or name in names)
