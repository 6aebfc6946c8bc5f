"""Why authorization refused, for the body of a 403: what ``--explain-forbidden`` switches on.

It tells a refused user the names of bindings and roles, which an administrator may not want to be public.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.authz import Attributes
from hyperkube.kinds.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES

if TYPE_CHECKING:
    from hyperkube_lib.rbac_explanation import Question


class Reasons:
    """Callable: what was asked → sentences, the nearest binding first; from the caches of roles and bindings."""

    def __init__(self, informers: InformerFactory) -> None:
        self._roles = informers.informer(ROLES)
        self._cluster_roles = informers.informer(CLUSTER_ROLES)
        self._bindings = informers.informer(ROLE_BINDINGS)
        self._cluster_bindings = informers.informer(CLUSTER_ROLE_BINDINGS)

    def __call__(self, attributes: Attributes) -> list[str]:
        """Return the sentences, at least one."""
        from hyperkube_lib.rbac_explanation import Policy, explain  # a server without refusals does without it

        policy = Policy(
            roles=self._roles.list(),
            cluster_roles=self._cluster_roles.list(),
            bindings=self._bindings.list(),
            cluster_bindings=self._cluster_bindings.list(),
        )
        return explain(policy, question_of(attributes))


def question_of(attributes: Attributes) -> Question:
    """Return what was asked in the words of explanations."""
    from hyperkube_lib.rbac_explanation import Question

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
