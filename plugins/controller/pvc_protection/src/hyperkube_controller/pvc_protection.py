"""pvc-protection: a claim that is being deleted stays while a pod on a node uses it.

Source: kubernetes ``pkg/controller/volume/pvcprotection/pvc_protection_controller.go``.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube.client.actions import Action, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.pods import is_scheduled
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from hyperkube.kinds.volumes import claim_keys, claim_names, not_made_for
from hyperkube.machinery.objects import (
    Object,
    has_finalizer,
    is_being_deleted,
    metadata,
    name_of,
    namespace_of,
    split_key,
    uid_of,
    with_finalizer,
    without_finalizer,
)
from hyperkube.plugin import Plugin

FINALIZER = "kubernetes.io/pvc-protection"


def is_used(claim: Object, pods: Iterable[Object]) -> bool:
    """Tell whether a pod of the claim's namespace that a kubelet may know of uses it."""
    return any(is_scheduled(pod) and _uses(pod, claim) for pod in pods)


def is_shut_down(pod: Object) -> bool:
    """Tell whether the kubelet is done with a pod, or it was deleted by force; only finalizers hold it yet."""
    return is_being_deleted(pod) and metadata(pod).get("deletionGracePeriodSeconds") == 0


def _uses(pod: Object, claim: Object) -> bool:
    # A claim made for the pod is deleted with it, perhaps before it: were it in use by a pod that is shut down, the
    # claim would wait for the pod and a finalizer of the pod could wait for the claim, for ever.
    return any(
        name == name_of(claim) and (not ephemeral or (not is_shut_down(pod) and not not_made_for(claim, pod)))
        for name, ephemeral in claim_names(pod)
    )


def decide(claim: Object, *, used: bool) -> list[Action]:
    """Return the update that puts the finalizer on, or takes it off a deleted claim that is not in use."""
    held = has_finalizer(claim, FINALIZER)
    if not is_being_deleted(claim) and not held:
        return [Update(PERSISTENT_VOLUME_CLAIMS, with_finalizer(claim, FINALIZER))]
    if is_being_deleted(claim) and held and not used:
        return [Update(PERSISTENT_VOLUME_CLAIMS, without_finalizer(claim, FINALIZER))]
    return []


class PvcProtection(Plugin):
    """Holds claims back while pods use them."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._pods = self.informers.informer(PODS)
        self._pods.add_index("claim", claim_keys)
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._claims.add_handler(self._loop.enqueue, self._loop.enqueue_update)
        self._pods.add_handler(on_update=self._pod_changed, on_delete=self._pod_gone)
        return self._loop

    def _pod_changed(self, old: Object, new: Object) -> None:
        if uid_of(old) != uid_of(new):
            self._pod_gone(old)  # the watch missed that it was deleted and made anew
        if is_shut_down(new) and not is_shut_down(old):
            self._pod_gone(new)

    def _pod_gone(self, pod: Object) -> None:
        for key in claim_keys(pod):
            self._loop.queue.add(key)

    def _sync(self, key: str) -> None:
        claim = self._claims.get(*split_key(key))
        if claim is None:
            return
        perform(self.client, None, decide(claim, used=self._is_used(claim)))

    def _is_used(self, claim: Object) -> bool:
        """Tell whether the claim is used; that it is not is believed from the server alone."""
        if not is_being_deleted(claim):
            return True  # does not matter yet
        namespace = namespace_of(claim)
        if is_used(claim, self._pods.by_index("claim", f"{namespace}/{name_of(claim)}")):
            return True
        return is_used(claim, self.client.list(PODS, namespace).items)
