"""SubjectAccessReviews: what a user wants to do, as another server is asked about it.

Source: kubernetes apiserver ``plugin/pkg/authorizer/webhook/webhook.go``.
"""

from __future__ import annotations

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.labels import DOES_NOT_EXIST, DOUBLE_EQUALS, EQUALS, EXISTS, IN, NOT_EQUALS, NOT_IN
from hyperkube.machinery.objects import Object

_OPERATORS = {
    **dict.fromkeys((EQUALS, DOUBLE_EQUALS, IN), "In"),
    **dict.fromkeys((NOT_EQUALS, NOT_IN), "NotIn"),
    EXISTS: "Exists",
    DOES_NOT_EXIST: "DoesNotExist",
}


def review_of(attributes: Attributes, version: str) -> Object:
    """Return the SubjectAccessReview that asks about attributes."""
    user = attributes.user
    spec: Object = {"user": user.name}
    if attributes.is_resource:
        names = ("namespace", "verb", "group", "version", "resource", "subresource", "name")
        found = {name: getattr(attributes, name) for name in names}
        spec["resourceAttributes"] = {name: value for name, value in found.items() if value} | selectors_of(attributes)
    else:
        spec["nonResourceAttributes"] = {"path": attributes.path, "verb": attributes.verb}
    if user.uid:
        spec["uid"] = user.uid
    if user.groups:
        spec["groups" if version == "v1" else "group"] = list(user.groups)
    if user.extra:
        spec["extra"] = {key: list(values) for key, values in user.extra.items()}
    kind = {"apiVersion": f"authorization.k8s.io/{version}", "kind": "SubjectAccessReview"}
    return {**kind, "metadata": {}, "spec": spec}


def selectors_of(attributes: Attributes) -> Object:
    """Return what narrows a request, as a review says it; comparisons by number have no words there."""
    found: Object = {}
    fields = [
        {"key": one.field, "operator": "In" if one.operator == "=" else "NotIn", "values": [one.value]}
        for one in attributes.field_selector
    ]
    labels = [
        {"key": one.key, "operator": _OPERATORS[one.operator], **({"values": list(one.values)} if one.values else {})}
        for one in attributes.label_selector
        if one.operator in _OPERATORS
    ]
    if fields:
        found["fieldSelector"] = {"requirements": fields}
    if labels:
        found["labelSelector"] = {"requirements": labels}
    return found
