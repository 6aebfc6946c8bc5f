"""Why authorization refused, for the body of a 403: what ``--explain-forbidden`` switches on.

It tells a refused user the names of bindings and roles, which an administrator may not want to be public.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_lib.rbac_explanation import Policy, Question, explain

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.objects import Object

Both = tuple[Sequence[Object], Sequence[Object]]
"""Objects of namespaces, and those of the cluster."""


def reasons_for(attributes: Attributes, roles: Both, bindings: Both) -> list[str]:
    """Return sentences, at least one, the nearest binding first."""
    policy = Policy(roles=roles[0], cluster_roles=roles[1], bindings=bindings[0], cluster_bindings=bindings[1])
    return explain(policy, question_of(attributes))


def question_of(attributes: Attributes) -> Question:
    """Return what was asked in the words of explanations."""
    if not attributes.is_resource:
        return Question(user=attributes.user, verb=attributes.verb, path=attributes.path)
    return Question(
        user=attributes.user,
        verb=attributes.verb,
        group=attributes.group,
        resource=attributes.resource,
        subresource=attributes.subresource,
        name=attributes.name,
        namespace=attributes.namespace,
    )
