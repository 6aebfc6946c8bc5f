"""Validation of FlowSchemas.

Source: kubernetes pkg/apis/flowcontrol/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.flowcontrol.bootstrap import EXEMPT, MANDATORY, bootstrap_object
from hyperkube_api.flowcontrol.conditions import validate_conditions
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object, name_of

_SPEC = ROOT.child("spec")
_TYPES = "hyperkube_api.flowcontrol.v1"
MAX_PRECEDENCE = 10000
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_SUBJECT_MEMBERS = (("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group"))
_RESOURCE_LISTS = (("apiGroups", "api group"), ("resources", "resource"))


def validate_flow_schema(obj: Object) -> list[FieldError]:
    """Check a flow schema."""
    spec = obj["spec"]
    precedence, at = spec.get("matchingPrecedence") or 0, _SPEC.child("matchingPrecedence")
    errors: list[FieldError] = []
    if precedence <= 0:
        errors.append(invalid(at, precedence, "must be a positive value"))
    if precedence > MAX_PRECEDENCE:
        errors.append(invalid(at, precedence, f"must not be greater than {MAX_PRECEDENCE}"))
    if precedence == 1 and name_of(obj) != EXEMPT:
        errors.append(invalid(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"))
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in {"ByNamespace", "ByUser"}:
        shown = {"Type": method.get("type") or ""}
        errors.append(not_supported(_SPEC.child("distinguisherMethod", "type"), shown, ("ByNamespace", "ByUser")))
    level, at = (
        (spec.get("priorityLevelConfiguration") or {}).get("name") or "",
        _SPEC.child("priorityLevelConfiguration", "name"),
    )
    if not level:
        errors.append(required(at, "must reference a priority level"))
    else:
        errors += by_rule(at, level, names.dns1123_subdomain)
    for index, rule in enumerate(spec.get("rules") or ()):
        errors += _rule(_SPEC.child("rules").index(index), rule)
    return errors + _mandatory_spec(obj) + validate_conditions(obj)


def _mandatory_spec(obj: Object) -> list[FieldError]:
    """Check that a mandatory flow schema has its fixed specification."""
    name = name_of(obj)
    if name not in MANDATORY:
        return []
    now, must = (
        go_shape(f"{_TYPES}:FlowSchemaSpec", each["spec"]) for each in (obj, bootstrap_object("FlowSchema", name))
    )
    return [] if now == must else [invalid(_SPEC, now, f"spec of '{name}' must equal the fixed value")]


def _rule(path: Path, rule: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if not rule.get("subjects"):
        errors.append(required(path.child("subjects"), "subjects must contain at least one value"))
    for index, subject in enumerate(rule.get("subjects") or ()):
        errors += _subject(path.child("subjects").index(index), subject)
    resources, urls = rule.get("resourceRules") or [], rule.get("nonResourceRules") or []
    if not resources and not urls:
        text = "at least one of resourceRules and nonResourceRules has to be non-empty"
        errors.append(required(path, text))
    for index, item in enumerate(resources):
        errors += _resource_rule(path.child("resourceRules").index(index), item)
    for index, item in enumerate(urls):
        at = path.child("nonResourceRules").index(index)
        errors += _verbs(at.child("verbs"), item.get("verbs") or [])
        errors += _urls(at.child("nonResourceURLs"), item.get("nonResourceURLs") or [])
    return errors


def _urls(path: Path, urls: list[str]) -> list[FieldError]:
    if not urls:
        return [required(path, "nonResourceURLs must contain at least one value")]
    if "*" in urls:
        text = "if '*' is present, must not specify other non-resource URLs"
        return [invalid(path, urls, text)] if len(urls) > 1 else []
    faults = ((path.index(index), url, _url_fault(url)) for index, url in enumerate(urls))
    return [invalid(at, url, fault) for at, url, fault in faults if fault]


def _url_fault(url: str) -> str:
    if not url:
        return "must not be empty"
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    stars = url.count("*")
    return "wildcard can only do suffix matching" if stars > 1 or (stars and not url.endswith("/*")) else ""


def _subject(path: Path, subject: Object) -> list[FieldError]:
    kind = subject.get("kind") or ""
    member = _SUBJECTS.get(kind)
    if member is None:
        return [not_supported(path.child("kind"), kind, tuple(_SUBJECTS))]
    at, errors = path.child(member), list[FieldError]()
    if subject.get(member) is None:
        errors.append(required(at, f"{member} is required when subject kind is '{kind}'"))
    elif member == "serviceAccount":
        errors += _account(at, subject[member])
    elif not subject[member].get("name"):
        errors.append(required(at.child("name")))
    return errors + [
        forbidden(path.child(other), f"{other} is forbidden when subject kind is not '{name}'")
        for name, other in _SUBJECT_MEMBERS
        if other != member and subject.get(other) is not None
    ]


def _account(path: Path, account: Object) -> list[FieldError]:
    name, namespace = account.get("name") or "", account.get("namespace") or ""
    errors = [] if name else [required(path.child("name"))]
    if name and name != "*":
        errors += by_rule(path.child("name"), name, names.dns1123_subdomain)
    if not namespace:
        return [*errors, required(path.child("namespace"), "must specify namespace for service account")]
    return errors + by_rule(path.child("namespace"), namespace, names.dns1123_label)


def _resource_rule(path: Path, rule: Object) -> list[FieldError]:
    errors = _verbs(path.child("verbs"), rule.get("verbs") or [])
    for member, what in _RESOURCE_LISTS:
        values = rule.get(member) or []
        if not values:
            errors.append(required(path.child(member), f"resource rules must supply at least one {what}"))
        elif len(values) > 1 and "*" in values:
            text = f"if '*' is present, must not specify other {what}s"
            errors.append(invalid(path.child(member), values, text))
    namespaces, at = rule.get("namespaces") or [], path.child("namespaces")
    if not namespaces and not rule.get("clusterScope"):
        text = "resource rules that are not cluster scoped must supply at least one namespace"
        errors.append(required(at, text))
    elif "*" in namespaces and len(namespaces) > 1:
        errors.append(invalid(at, namespaces, "if '*' is present, must not specify other namespaces"))
    elif "*" not in namespaces:
        intro = "each member of this list must be '*' or a DNS-1123 label; "
        for index, name in enumerate(namespaces):
            errors += [invalid(at.index(index), name, intro + text) for text in names.dns1123_label(name)]
    return errors


def _verbs(path: Path, verbs: list[str]) -> list[FieldError]:
    if not verbs:
        return [required(path, "verbs must contain at least one value")]
    if "*" in verbs:
        return [] if len(verbs) == 1 else [invalid(path, verbs, "if '*' is present, must not specify other verbs")]
    return [] if set(verbs) <= set(VERBS) else [not_supported(path, verbs, VERBS)]
