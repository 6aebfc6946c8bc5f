"""The loop around the decisions: what to observe, and what to do about a name that is taken."""

from __future__ import annotations

from dataclasses import dataclass

from hyperkube_controller.deployment.decision import decide
from hyperkube_controller.deployment.facts import HASH_LABEL, Observed
from hyperkube_lib.controller_refs import ControllerRefManager, candidates, watch_orphans

from hyperkube.client.actions import Action, Create, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds import workloads
from hyperkube.kinds.pods import is_terminal
from hyperkube.kinds.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from hyperkube.kinds.workloads import label_selector_of
from hyperkube.machinery.errors import AlreadyExists
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.plugin import Plugin


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How many deployments are synced at once."""

    concurrent_deployment_syncs: int = 5


class Deployment(Plugin):
    """Rolls deployments out through replica sets."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._recorder = EventRecorder(self.client, self.context.clock, "deployment-controller")
        self._deployments = self.informers.informer(DEPLOYMENTS)
        self._replica_sets = self.informers.informer(REPLICA_SETS)
        self._pods = self.informers.informer(PODS)
        self._replica_sets.add_index("controller", workloads.controller_index)
        self._pods.add_index("controller", workloads.controller_index)
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=self.settings(Settings).concurrent_deployment_syncs,
        )
        self._loop.watch(self._deployments)
        self._loop.watch_owned(self._replica_sets, "Deployment")
        watch_orphans(self._loop, self._replica_sets, self._deployments, label_selector_of)
        self._pods.add_handler(on_delete=self._pod_deleted)
        return self._loop

    def _pod_deleted(self, pod: Object) -> None:
        """A deployment that recreates waits for its last old pod."""
        owner = controller_of(pod)
        if owner is None or owner.get("kind") != "ReplicaSet":
            return
        rs = self._replica_sets.get(namespace_of(pod), owner["name"])
        above = None if rs is None else controller_of(rs)
        if above is not None and above.get("kind") == "Deployment":
            self._loop.queue.add(f"{namespace_of(pod)}/{above['name']}")

    def _sync(self, key: str) -> float | None:
        deployment = self._deployments.get(*split_key(key))
        if deployment is None:
            return None
        selector = label_selector_of(deployment)
        if selector.is_empty:
            text = "This deployment is selecting all pods. A non-empty selector is required."
            self._recorder.event(deployment, "Warning", "SelectingAll", text)
            return None
        manager = ControllerRefManager(self.client, deployment, DEPLOYMENTS, "Deployment", selector)
        owned = manager.claim(REPLICA_SETS, candidates(self._replica_sets, deployment))
        observed = Observed(deployment, owned, old_pods_left=False, now=self.context.clock.now())
        if not observed.is_rolling:
            left = any(self._has_pods(rs) for rs in observed.old)
            observed = Observed(deployment, owned, old_pods_left=left, now=observed.now)
        return self._act(deployment, decide(observed))

    def _has_pods(self, rs: Object) -> bool:
        key = f"{namespace_of(rs)}/{uid_of(rs)}"
        return any(not is_terminal(pod) for pod in self._pods.by_index("controller", key))

    def _act(self, deployment: Object, actions: list[Action]) -> float | None:
        try:
            return perform(self.client, self._recorder, actions)
        except AlreadyExists:
            made = next(action.object for action in actions if isinstance(action, Create))
            self._resolve_collision(deployment, made)
            return None

    def _resolve_collision(self, deployment: Object, made: Object) -> None:
        """Count a collision when the name belongs to another template; our own replica set is on its way to the cache.

        Raises:
            AlreadyExists: it is our own: look again when the cache has it.
        """
        namespace = namespace_of(deployment)
        taken = self.client.get(REPLICA_SETS, name_of(made), namespace)
        owner = controller_of(taken)
        ours = owner is not None and owner.get("uid") == uid_of(deployment)
        wanted = made["spec"]["template"]
        if ours and workloads.same_template(taken["spec"]["template"], wanted, ignored_label=HASH_LABEL):
            raise AlreadyExists.about(REPLICA_SETS.group_resource, name_of(made))
        status = deployment.get("status") or {}
        counted = {**status, "collisionCount": status.get("collisionCount", 0) + 1}
        self.client.update(DEPLOYMENTS, {**deployment, "status": counted}, namespace, subresource="status")
