"""Who may do something by RBAC: the subjects of every binding whose role has a rule for it; pure."""

from __future__ import annotations

from hyperkube_lib.rbac_explanation import Policy, Question

from hyperkube.kinds.rbac import show_rule
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import name_of, namespace_of


@dataclass(frozen=True, slots=True)
class Grant:
    """One subject that may, and by what."""

    kind: str
    name: str
    binding: str
    role: str
    rule: str


def grants(policy: Policy, question: Question) -> list[Grant]:
    """Return all subjects that may, by kind and name; the question's user does not matter."""
    found = set()
    for binding in [*policy.cluster_bindings, *policy.bindings]:
        home = namespace_of(binding)
        if home and (home != question.namespace or question.path):
            continue
        role = policy.role_of(binding)
        rule = next((each for each in (role or {}).get("rules") or () if question.answered_by(each)), None)
        if rule is None or role is None:
            continue
        kind = "RoleBinding" if home else "ClusterRoleBinding"
        for subject in binding.get("subjects") or ():
            owner = subject.get("namespace") or home
            name = f"{owner}/{subject['name']}" if subject["kind"] == "ServiceAccount" else subject["name"]
            found.add(Grant(subject["kind"], name, f"{kind} {name_of(binding)}", name_of(role), show_rule(rule)))
    return sorted(found, key=lambda each: (each.kind, each.name, each.binding))
