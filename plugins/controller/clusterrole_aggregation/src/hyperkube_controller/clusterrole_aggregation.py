"""clusterrole-aggregation: some cluster roles say which others they are the union of.

``view``, ``edit`` and ``admin`` grow by the rules of whatever role carries their label, so that a custom resource's
author can say who may see it. Source: kubernetes ``pkg/controller/clusterroleaggregation``.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube.client.client import APPLY_PATCH
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import CLUSTER_ROLES
from hyperkube.machinery.errors import UnsupportedMediaType
from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import Object, labels_of, name_of
from hyperkube.plugin import Plugin

FIELD_MANAGER = "clusterrole-aggregation-controller"


def decide(role: Object, all_roles: Iterable[Object]) -> list[Object] | None:
    """Return the rules of the roles that an aggregated role selects, in order of names; None where it has them."""
    if role.get("aggregationRule") is None:
        return None
    selectors = role["aggregationRule"].get("clusterRoleSelectors") or ()
    others = sorted((other for other in all_roles if name_of(other) != name_of(role)), key=name_of)
    rules: list[Object] = []
    for selector in map(from_label_selector, selectors):
        for other in others:
            if selector.matches(labels_of(other)):
                rules += [rule for rule in other.get("rules") or [] if rule not in rules]
    return None if rules == (role.get("rules") or []) else rules


class ClusterroleAggregation(Plugin):
    """Keeps aggregated cluster roles up to date."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._roles = self.informers.informer(CLUSTER_ROLES)
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)

        def changed(_role: Object) -> None:
            for role in self._roles.list():
                if role.get("aggregationRule") is not None:
                    self._loop.enqueue(role)

        self._roles.add_handler(changed, lambda _old, new: changed(new), changed)
        return self._loop

    def _sync(self, name: str) -> None:
        role = self._roles.get("", name)
        if role is not None:
            rules = decide(role, self._roles.list())
            if rules is not None:
                self._write(role, rules)

    def _write(self, role: Object, rules: list[Object]) -> None:
        """Apply the rules; where the server knows no apply, update the role."""
        try:
            self._apply(name_of(role), rules)
        except UnsupportedMediaType:
            self.client.update(CLUSTER_ROLES, {**role, "rules": rules})

    def _apply(self, name: str, rules: list[Object]) -> None:
        """Apply the rules, of which this controller is the manager; nothing else of the role is touched."""
        wanted = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": rules,
        }
        self.client.patch(CLUSTER_ROLES, name, wanted, patch_type=APPLY_PATCH, field_manager=FIELD_MANAGER, force=True)
