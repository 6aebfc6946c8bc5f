"""Which FlowSchema a request belongs to: the first in order of precedence with a rule that matches.

Source: kubernetes apiserver ``pkg/util/flowcontrol/rule.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube_host.apiserver.request.request_info import RequestInfo

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.users import SERVICE_ACCOUNT_PREFIX, UserInfo

BY_USER, BY_NAMESPACE = "ByUser", "ByNamespace"
_ANY = "*"


@dataclass(frozen=True, slots=True)
class FlowSchema:
    """One FlowSchema, as far as requests need it.

    Attributes:
        level: the name of its PriorityLevelConfiguration.
        by: what tells its flows apart: ``ByUser``, ``ByNamespace``, or empty for one flow.
        rules: as in the object.
    """

    name: str
    uid: str
    level: str
    precedence: int
    by: str
    rules: Sequence[Object]

    def matches(self, info: RequestInfo, user: UserInfo) -> bool:
        """Tell whether a request belongs here."""
        return any(rule_names(rule, user) and rule_covers(rule, info) for rule in self.rules)

    def distinguisher(self, info: RequestInfo, user: UserInfo) -> str:
        """Return what tells the request's flow from the schema's others."""
        if self.by == BY_USER:
            return user.name
        return info.namespace if self.by == BY_NAMESPACE else ""


def flow_schema_of(obj: Object) -> FlowSchema:
    """Return what a FlowSchema object says."""
    spec = obj.get("spec") or {}
    return FlowSchema(
        name=name_of(obj),
        uid=obj["metadata"].get("uid") or "",
        level=(spec.get("priorityLevelConfiguration") or {}).get("name") or "",
        precedence=spec.get("matchingPrecedence") or 1000,
        by=(spec.get("distinguisherMethod") or {}).get("type") or "",
        rules=tuple(spec.get("rules") or ()),
    )


def in_order(schemas: Iterable[FlowSchema]) -> list[FlowSchema]:
    """Return the schemas in the order in which they are asked: by precedence, then by name."""
    return sorted(schemas, key=lambda schema: (schema.precedence, schema.name))


def rule_names(rule: Object, user: UserInfo) -> bool:
    """Tell whether a user is one of a rule's subjects."""
    return any(_subject_matches(subject, user) for subject in rule.get("subjects") or ())


def rule_covers(rule: Object, info: RequestInfo) -> bool:
    """Tell whether a rule is about what a request asks, whoever asks it."""
    if info.is_resource:
        return any(_resource_matches(one, info) for one in rule.get("resourceRules") or ())
    return any(_path_matches(one, info) for one in rule.get("nonResourceRules") or ())


def _subject_matches(subject: Object, user: UserInfo) -> bool:
    kind = subject.get("kind")
    if kind == "User":
        return (subject.get("user") or {}).get("name") in {_ANY, user.name}
    if kind == "Group":
        name = (subject.get("group") or {}).get("name")
        return name == _ANY or name in user.groups
    account = subject.get("serviceAccount") or {}
    prefix = f"{SERVICE_ACCOUNT_PREFIX}{account.get('namespace')}:"
    if account.get("name") == _ANY:
        return user.name.startswith(prefix)
    return user.name == f"{prefix}{account.get('name')}"


def _resource_matches(rule: Object, info: RequestInfo) -> bool:
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    if not (
        _has(rule.get("verbs"), info.verb)
        and _has(rule.get("resources"), resource)
        and _has(rule.get("apiGroups"), info.group)
    ):
        return False
    if not info.namespace:
        return bool(rule.get("clusterScope"))
    return _has(rule.get("namespaces"), info.namespace)


def _path_matches(rule: Object, info: RequestInfo) -> bool:
    return _has(rule.get("verbs"), info.verb) and any(
        _path_covers(pattern, info.path) for pattern in rule.get("nonResourceURLs") or ()
    )


def _path_covers(pattern: str, path: str) -> bool:
    if pattern in {_ANY, path}:
        return True
    prefix = pattern.removesuffix("*")
    return path.startswith(prefix if prefix.endswith("/") else f"{prefix}/")


def _has(values: Sequence[str] | None, wanted: str) -> bool:
    return values is not None and (wanted in values or list(values) == [_ANY])
