"""serviceaccount: every namespace has a service account ``default``, for pods that name none.

Source: kubernetes ``pkg/controller/serviceaccount/serviceaccounts_controller.go``.
"""

from __future__ import annotations

from hyperkube.client.actions import Action, Create, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import NAMESPACES, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import AlreadyExists
from hyperkube.machinery.objects import Object, is_being_deleted, name_of, namespace_of
from hyperkube.plugin import Plugin

DEFAULT = "default"


def decide(namespace: Object, *, has_default: bool) -> list[Action]:
    """Return the creation of the default account where it is missing and can live."""
    if has_default or is_being_deleted(namespace):
        return []
    meta = {"name": DEFAULT, "namespace": name_of(namespace)}
    return [Create(SERVICE_ACCOUNTS, {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": meta})]


class Serviceaccount(Plugin):
    """Gives each namespace its default service account, again when it is deleted."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._namespaces = self.informers.informer(NAMESPACES)
        self._accounts = self.informers.informer(SERVICE_ACCOUNTS)
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._namespaces.add_handler(loop.enqueue, loop.enqueue_update)
        self._accounts.add_handler(on_delete=lambda account: loop.queue.add(namespace_of(account)))
        return loop

    def _sync(self, name: str) -> None:
        namespace = self._namespaces.get("", name)
        if namespace is None:
            return
        actions = decide(namespace, has_default=self._accounts.get(name, DEFAULT) is not None)
        try:
            perform(self.client, None, actions)
        except AlreadyExists:
            return  # the cache was behind
