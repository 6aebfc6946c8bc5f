"""No user may grant more rights than it has, except by the verbs ``escalate`` and ``bind``.

Source: kubernetes pkg/registry/rbac/{role,rolebinding}/policybased/storage.go.
"""

from __future__ import annotations

from hyperkube_api.rbac.versions import GROUP

from hyperkube.hookspecs.api import Call
from hyperkube.hookspecs.authz import Attributes
from hyperkube.kinds.rbac import show_rule
from hyperkube.kinds.resources import CLUSTER_ROLES, ROLES
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.machinery.field import quote
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.users import PRIVILEGED_GROUP


def check_role(call: Call, role: Object, old: Object | None) -> None:
    """Refuse a role with rules that its author does not have.

    Raises:
        Forbidden: naming the rules.
    """
    unchanged = old is not None and _same(role, old, "rules") and _same(role, old, "aggregationRule")
    if unchanged or _is_privileged(call) or _may(call, "escalate", call.resource.resource, name_of(role)):
        return
    wanted = list(role.get("rules") or ())
    if role.get("aggregationRule"):
        wanted += [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
            {"nonResourceURLs": ["*"], "verbs": ["*"]},
        ]
    _refuse_more(call, name_of(role), wanted)


def check_binding(call: Call, binding: Object, old: Object | None) -> None:
    """Refuse a binding to a role with rules that its author does not have.

    Raises:
        Forbidden: naming the rules.
        NotFound: the role does not exist.
    """
    unchanged = old is not None and _same(binding, old, "roleRef") and _same(binding, old, "subjects")
    reference = binding.get("roleRef") or {}
    kind, role_name = reference.get("kind"), reference.get("name") or ""
    resource = ROLES if kind == "Role" else CLUSTER_ROLES
    if unchanged or _is_privileged(call) or _may(call, "bind", resource.resource, role_name):
        return
    try:
        role = call.objects.get(resource, role_name, call.namespace if kind == "Role" else "")
    except NotFound as error:
        raise NotFound.about(call.resource.group_resource, role_name) from error
    _refuse_more(call, name_of(binding), list(role.get("rules") or ()))


def _same(obj: Object, old: Object, member: str) -> bool:
    return (obj.get(member) or None) == (old.get(member) or None)


def _is_privileged(call: Call) -> bool:
    return PRIVILEGED_GROUP in call.user.groups


def _may(call: Call, verb: str, resource: str, name: str) -> bool:
    attributes = Attributes(
        call.user, verb, group=GROUP, version="*", resource=resource, namespace=call.namespace, name=name
    )
    return call.authorizer.authorize(attributes).allowed


def _refuse_more(call: Call, name: str, wanted: list[Object]) -> None:
    from hyperkube_api.rbac.rule_coverage import compacted, uncovered

    held = call.authorizer.rules(call.user, call.namespace)
    missing = uncovered([*held.resource_rules, *held.non_resource_rules], wanted)
    if not missing:
        return
    shown = "\n".join(sorted(show_rule(rule) for rule in compacted(missing)))
    groups = " ".join(quote(group) for group in call.user.groups)
    why = (
        f"user {quote(call.user.name)} (groups=[{groups}]) is attempting to grant RBAC permissions "
        f"not currently held:\n{shown}"
    )
    if held.error:
        why += f"; resolution errors: [{held.error}]"
    raise Forbidden.about(call.resource.group_resource, name, why)
