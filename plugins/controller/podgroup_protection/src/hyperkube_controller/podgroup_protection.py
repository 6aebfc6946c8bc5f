"""podgroup-protection: a group of pods that is being deleted stays while a pod of it may still run.

Works where the feature gate GenericWorkload is on. Source: kubernetes
``pkg/controller/scheduling/podgroupprotection/podgroup_protection_controller.go``.
"""

from __future__ import annotations

from hyperkube.client.actions import Action, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.pods import is_terminal, spec_of
from hyperkube.kinds.resources import POD_GROUPS, PODS
from hyperkube.machinery.objects import (
    Object,
    has_finalizer,
    is_being_deleted,
    key_of,
    namespace_of,
    split_key,
    with_finalizer,
    without_finalizer,
)
from hyperkube.plugin import Plugin

FINALIZER = "scheduling.k8s.io/podgroup-protection"
_GATE = "GenericWorkload"
_INDEX = "podgroup"


def decide(group: Object, *, used: bool) -> list[Action]:
    """Return the update that puts the finalizer on a group with pods, or takes it off a deleted one without any."""
    held, going = has_finalizer(group, FINALIZER), is_being_deleted(group)
    if used and not held and not going:
        return [Update(POD_GROUPS, with_finalizer(group, FINALIZER))]
    if held and going and not used:
        return [Update(POD_GROUPS, without_finalizer(group, FINALIZER))]
    return []


def _group_of(pod: Object) -> tuple[str, ...]:
    name = (spec_of(pod).get("schedulingGroup") or {}).get("podGroupName")
    return (f"{namespace_of(pod)}/{name}",) if name else ()


class PodgroupProtection(Plugin):
    """Holds groups back while pods of theirs run."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop; it has nothing to do where groups are not served."""
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        if not self.context.gates.get(_GATE, False):
            return self._loop
        self._groups = self.informers.informer(POD_GROUPS)
        self._pods = self.informers.informer(PODS)
        self._pods.add_index(_INDEX, _group_of)
        self._groups.add_handler(self._loop.enqueue, self._loop.enqueue_update)
        self._pods.add_handler(self._pod_seen, lambda _old, new: self._pod_seen(new), self._pod_gone)
        return self._loop

    def _pod_seen(self, pod: Object) -> None:
        if is_terminal(pod) or not spec_of(pod).get("nodeName"):
            self._pod_gone(pod)

    def _pod_gone(self, pod: Object) -> None:
        for key in _group_of(pod):
            self._loop.queue.add(key)

    def _sync(self, key: str) -> None:
        group = self._groups.get(*split_key(key))
        if group is not None:
            used = any(not is_terminal(pod) for pod in self._pods.by_index(_INDEX, key_of(group)))
            perform(self.client, None, decide(group, used=used))
