"""The audit policy: how much is recorded of which request.

The first rule that matches a request gives its level; a request that no rule matches is not recorded.
Source: kubernetes apiserver ``pkg/audit/policy/checker.go``, ``pkg/apis/audit/validation``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, IntEnum
from typing import Any

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.configuration import check_keys, read_configuration

VERSIONS = ("audit.k8s.io/v1", "audit.k8s.io/v1beta1", "audit.k8s.io/v1alpha1")
_TABLE = ("apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields")
_RULE = (
    "level", "users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs", "omitStages",
    "omitManagedFields",
)  # fmt: skip


class Stage(Enum):
    """How far a request is when an event is made of it; in the words of events and policies."""

    REQUEST_RECEIVED = "RequestReceived"
    RESPONSE_STARTED = "ResponseStarted"
    RESPONSE_COMPLETE = "ResponseComplete"
    PANIC = "Panic"


class Level(IntEnum):
    """How much is recorded; each level holds what those below it hold."""

    None_ = 0
    Metadata = 1
    Request = 2
    RequestResponse = 3

    @property
    def word(self) -> str:
        """The level as files and events spell it."""
        return self.name.rstrip("_")


_LEVELS = {level.word: level for level in Level}


@dataclass(frozen=True, slots=True)
class RequestAuditConfig:
    """What is recorded of one request."""

    level: Level
    omitted_stages: frozenset[Stage] = frozenset()
    omits_managed_fields: bool = False


@dataclass(frozen=True, slots=True)
class _Resources:
    group: str
    resources: tuple[str, ...]
    names: frozenset[str]

    def matches(self, asked: Attributes) -> bool:
        if self.group != asked.group:
            return False
        if not self.resources:
            return True
        if self.names and asked.name not in self.names:
            return False
        whole = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
        accepted = {"*", whole, f"{asked.resource}/*"}
        if asked.subresource:
            accepted.add(f"*/{asked.subresource}")
        return not accepted.isdisjoint(self.resources)


@dataclass(frozen=True, slots=True)
class _Rule:
    wanted: RequestAuditConfig
    users: frozenset[str]
    groups: frozenset[str]
    verbs: frozenset[str]
    namespaces: frozenset[str]
    resources: tuple[_Resources, ...]
    paths: tuple[str, ...]

    def matches(self, asked: Attributes) -> bool:
        if self.users and asked.user.name not in self.users:
            return False
        if self.groups and self.groups.isdisjoint(asked.user.groups):
            return False
        if self.verbs and asked.verb not in self.verbs:
            return False
        if self.namespaces or self.resources:
            return asked.is_resource and self._matches_resource(asked)
        if self.paths:
            return not asked.is_resource and any(_path_fits(path, asked.path) for path in self.paths)
        return True

    def _matches_resource(self, asked: Attributes) -> bool:
        if self.namespaces and asked.namespace not in self.namespaces:
            return False
        return not self.resources or any(resources.matches(asked) for resources in self.resources)


def _path_fits(pattern: str, path: str) -> bool:
    return path.startswith(pattern.rstrip("*")) if pattern.endswith("*") else pattern == path


class Policy:
    """Tells what to record of a request.

    Args:
        table: the Policy object.

    Raises:
        UsageError: it is wrong.
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        check_keys(table, _TABLE, "Policy")
        omitted = _stages(table, "omitStages")
        whole = bool(table.get("omitManagedFields"))
        self._otherwise = RequestAuditConfig(Level.None_, omitted)
        rows = table.get("rules") or []
        self._rules = [_rule(row, f"rules[{index}]", omitted, whole=whole) for index, row in enumerate(rows)]

    @classmethod
    def from_file(cls, path: str) -> Policy:
        """Read the policy of ``--audit-policy-file``.

        Raises:
            UsageError: it cannot be read, is wrong, or has no rule.
        """
        table = read_configuration(path, "Policy", VERSIONS)
        if not table.get("rules"):
            raise UsageError(f"loaded illegal policy with 0 rules from file {path}")
        return cls(table)

    def wanted(self, asked: Attributes) -> RequestAuditConfig:
        """Return what to record."""
        return next((rule.wanted for rule in self._rules if rule.matches(asked)), self._otherwise)


def _rule(row: Any, where: str, omitted: frozenset[Stage], *, whole: bool) -> _Rule:
    table = check_keys(row, _RULE, where)
    level = _LEVELS.get(str(table.get("level")))
    if level is None:
        raise UsageError(f"{where}.level {table.get('level')!r} is unknown (known: {', '.join(_LEVELS)})")
    paths = _texts(table, "nonResourceURLs", where)
    if paths and (table.get("resources") or table.get("namespaces")):
        raise UsageError(f"{where}.nonResourceURLs: rules cannot apply to both regular resources and non-resource URLs")
    for path in paths:
        if path != "*" and (not path.startswith("/") or "*" in path[:-1]):
            raise UsageError(f"{where}.nonResourceURLs {path!r} must begin with '/' and may only end with '*'")
    managed = table.get("omitManagedFields")
    wanted = RequestAuditConfig(
        level, omitted | _stages(table, f"{where}.omitStages"), whole if managed is None else bool(managed)
    )
    rows = table.get("resources") or []
    resources = tuple(_resources(entry, f"{where}.resources[{index}]") for index, entry in enumerate(rows))
    users, groups, verbs, namespaces = (
        frozenset(_texts(table, key, where)) for key in ("users", "userGroups", "verbs", "namespaces")
    )
    return _Rule(wanted, users, groups, verbs, namespaces, resources, tuple(paths))


def _resources(row: Any, where: str) -> _Resources:
    table = check_keys(row, ("group", "resources", "resourceNames"), where)
    names = frozenset(_texts(table, "resourceNames", where))
    resources = tuple(_texts(table, "resources", where))
    if names and not resources:
        raise UsageError(f"{where}.resourceNames: using resourceNames requires at least one resource")
    return _Resources(str(table.get("group") or ""), resources, names)


def _texts(table: Mapping[str, Any], key: str, where: str) -> Sequence[str]:
    values = table.get(key) or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise UsageError(f"{where}.{key} must be a list of texts, not {values!r}")
    return values


def _stages(table: Mapping[str, Any], where: str) -> frozenset[Stage]:
    values = table.get("omitStages") or []
    known = [stage.value for stage in Stage]
    unknown = [stage for stage in values if stage not in known]
    if unknown:
        raise UsageError(f"{where} {unknown[0]!r} is unknown (known: {', '.join(known)})")
    return frozenset(map(Stage, values))


EVERYTHING = Policy({"rules": [{"level": Level.Metadata.word}]})
"""Records all requests, without bodies."""
