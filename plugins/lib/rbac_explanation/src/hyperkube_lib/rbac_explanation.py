"""Why a user may not: which bindings speak of a user, what each of them lacks, and which roles would do.

Pure: roles and bindings come in, sentences come out; `hyperkube why forbidden` and the API server's refusals use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from hyperkube.kinds.rbac import rule_allows, rule_allows_path, show_rule, subject_is
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.users import AUTHENTICATED_GROUP, SERVICE_ACCOUNT_PREFIX, UserInfo, service_account

_ROLES_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a user wants to do: to a resource, or with a path when `path` is set."""

    user: UserInfo
    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    namespace: str = ""
    path: str = ""

    def answered_by(self, rule: Object) -> bool:
        """Tell whether a rule allows it."""
        if self.path:
            return rule_allows_path(rule, self.verb, self.path)
        return rule_allows(rule, self.verb, self.group, self.resource, self.subresource, self.name)

    def __str__(self) -> str:
        """Say it as a refusal does."""
        if self.path:
            return f"{self.verb} {self.path}"
        what = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        dotted = f"{what}.{self.group}" if self.group else what
        where = f"in namespace {self.namespace!r}" if self.namespace else "in all namespaces"
        return f"{self.verb} {dotted}{f' {self.name!r}' if self.name else ''} {where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """All roles and bindings of a cluster."""

    roles: Sequence[Object] = ()
    cluster_roles: Sequence[Object] = ()
    bindings: Sequence[Object] = ()
    cluster_bindings: Sequence[Object] = field(default_factory=tuple)

    def role_of(self, binding: Object) -> Object | None:
        """Return the role that a binding grants, None when there is none of that name."""
        reference = binding.get("roleRef") or {}
        home = namespace_of(binding) if reference.get("kind") == "Role" else ""
        found = self.roles if home else self.cluster_roles
        return next(
            (role for role in found if name_of(role) == reference.get("name") and namespace_of(role) == home), None
        )


def user_named(name: str, groups: Iterable[str]) -> UserInfo:
    """Return a user with the groups that the server gives on its own."""
    if name.startswith(SERVICE_ACCOUNT_PREFIX):
        namespace, _, account = name.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(":")
        made = service_account(namespace, account)
        return UserInfo(made.name, "", (*made.groups, *groups))
    return UserInfo(name, "", (*groups, AUTHENTICATED_GROUP))


def missing(rule: Object, question: Question) -> list[str]:
    """Return what a rule lacks to allow it, in the words of rules; empty when nothing."""
    if question.answered_by(rule):
        return []
    lacks = []
    if not {"*", question.verb} & set(rule.get("verbs") or ()):
        lacks.append(f"verb {question.verb!r}")
    if question.path:
        if not rule_allows_path({**rule, "verbs": ["*"]}, question.verb, question.path):
            lacks.append(f"path {question.path!r}")
        return lacks
    if not {"*", question.group} & set(rule.get("apiGroups") or ()):
        lacks.append(f"API group {question.group!r}")
    what = f"{question.resource}/{question.subresource}" if question.subresource else question.resource
    open_rule = {"verbs": ["*"], "apiGroups": ["*"], "resources": rule.get("resources") or []}
    if not rule_allows(open_rule, question.verb, question.group, question.resource, question.subresource):
        lacks.append(f"resource {what!r}")
    if rule.get("resourceNames") and question.name not in rule["resourceNames"]:
        lacks.append(f"name {question.name!r}" if question.name else "any name (it is for single names)")
    return lacks


def explain(policy: Policy, question: Question) -> list[str]:
    """Return, the nearest first, what each binding of the user lacks, and what would help."""
    rows: list[tuple[int, str]] = []
    for binding in [*policy.cluster_bindings, *policy.bindings]:
        home = namespace_of(binding)
        subjects = [row for row in binding.get("subjects") or () if subject_is(row, question.user, home)]
        if subjects:
            rows.append(_judged(policy, binding, subjects[0], question))
    lines = [text for _, text in sorted(rows)]
    if not lines:
        lines = [f"no binding names {question.user.name!r} or one of the groups {', '.join(question.user.groups)}"]
    return [*lines, *_helpful(policy, question)]


def _judged(policy: Policy, binding: Object, subject: Object, question: Question) -> tuple[int, str]:
    """Return how far a binding is from allowing it, and the words for that."""
    home, reference = namespace_of(binding), binding.get("roleRef") or {}
    kind = "RoleBinding" if home else "ClusterRoleBinding"
    shown = f"{home}/{name_of(binding)}" if home else name_of(binding)
    head = f"{kind} {shown} ({subject['kind']} {subject['name']} has {reference.get('kind')} {reference.get('name')})"
    role = policy.role_of(binding)
    if role is None:
        return 1, f"{head}: there is no such role"
    elsewhere = bool(home) and (home != question.namespace or bool(question.path))
    nearest = min(
        ((len(missing(rule, question)), missing(rule, question), rule) for rule in role.get("rules") or ()),
        key=lambda found: found[0],
        default=None,
    )
    if nearest is None:
        return 9, f"{head}: the role has no rules"
    count, lacks, rule = nearest
    if not count:
        why = f"would allow it, but only in namespace {home!r}" if elsewhere else "allows it"
        return 0, f"{head}: {why}"
    also = f", and holds in namespace {home!r} only" if elsewhere else ""
    return count + elsewhere, f"{head}: lacks {', '.join(lacks)}; nearest rule {show_rule(rule)}{also}"


def _helpful(policy: Policy, question: Question) -> list[str]:
    """Name roles that would allow it if they were bound to the user."""
    usable = [role for role in policy.roles if namespace_of(role) == question.namespace and not question.path]
    found = [
        f"{'Role' if namespace_of(role) else 'ClusterRole'} {name_of(role)}"
        for role in [*usable, *policy.cluster_roles]
        if any(question.answered_by(rule) for rule in role.get("rules") or ())
    ]
    if not found:
        return ["no role allows it: one has to be made"]
    shown = sorted(found, key=lambda text: ("system:" in text, "cluster-admin" in text, text))[:_ROLES_SHOWN]
    more = f" and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return [f"roles that would allow it, if bound: {', '.join(shown)}{more}"]
