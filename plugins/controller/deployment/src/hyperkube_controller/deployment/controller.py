"""The loop around the decisions: what to observe, and what to do about a name that is taken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hyperkube_lib.controller_refs import ControllerRefManager, candidates, watch_orphans

from hyperkube.client.actions import Action, Create, Update, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Written
from hyperkube.client.reconcile import ReconcileLoop, namespace_is_going
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds import workloads
from hyperkube.kinds.pods import is_terminal
from hyperkube.kinds.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from hyperkube.kinds.workloads import label_selector_of
from hyperkube.machinery.errors import AlreadyExists, ApiError
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    key_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from hyperkube_controller.deployment.facts import Observed

TERMINATING_REPLICAS = "DeploymentReplicaSetTerminatingReplicas"
MAX_RETRIES = 15


class Settings(Record):
    """How many deployments are synced at once."""

    concurrent_deployment_syncs: int = 5


class Deployment(Plugin):
    """Rolls deployments out through replica sets."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._recorder = EventRecorder(self.client, self.context.clock, "deployment-controller")
        self._written = Written()
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
            max_retries=MAX_RETRIES,
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
        from hyperkube_controller.deployment.decision import decide
        from hyperkube_controller.deployment.facts import Observed

        deployment = self._deployments.get(*split_key(key))
        if deployment is None:
            self._written.forget(key)
            return None
        if self._written.is_stale(key, deployment):
            return None  # what is missing comes with an event
        selector = label_selector_of(deployment)
        if selector.is_empty:
            text = "This deployment is selecting all pods. A non-empty selector is required."
            self._recorder.event(deployment, "Warning", "SelectingAll", text)
            self._observe_generation(deployment)
            return None
        manager = ControllerRefManager(self.client, deployment, DEPLOYMENTS, "Deployment", selector)
        owned = manager.claim(REPLICA_SETS, candidates(self._replica_sets, deployment))
        shows_terminating = self.context.gates.get(TERMINATING_REPLICAS, True)
        now = self.context.clock.now()
        observed = Observed(deployment, owned, old_pods_left=False, now=now, shows_terminating=shows_terminating)
        if not observed.is_rolling:
            observed = replace(observed, old_pods_left=any(self._has_pods(rs) for rs in observed.old))
        return self._act(observed, decide(observed))

    def _observe_generation(self, deployment: Object) -> None:
        """Show that the present spec was seen, though nothing is done about it."""
        status, generation = deployment.get("status") or {}, metadata(deployment).get("generation", 0)
        if status.get("observedGeneration", 0) < generation:
            self._write_status(deployment, {**status, "observedGeneration": generation})

    def _write_status(self, deployment: Object, status: Object) -> None:
        self._update(Update(DEPLOYMENTS, {**deployment, "status": status}, "status"))

    def _has_pods(self, rs: Object) -> bool:
        key = f"{namespace_of(rs)}/{uid_of(rs)}"
        return any(not is_terminal(pod) for pod in self._pods.by_index("controller", key))

    def _act(self, observed: Observed, actions: list[Action]) -> float | None:
        made = next((action.object for action in actions if isinstance(action, Create)), None)
        if made is not None:
            try:
                self.client.create(REPLICA_SETS, made, namespace_of(made))
            except AlreadyExists:
                self._resolve_collision(observed.deployment, made)
                return None
            except ApiError as error:
                if not namespace_is_going(error):
                    self._tell_create_error(observed, made, error)
                raise
        waits = [self._perform(action) for action in actions if not isinstance(action, Create)]
        return min((seconds for seconds in waits if seconds is not None), default=None)

    def _perform(self, action: Action) -> float | None:
        if isinstance(action, Update) and action.resource == DEPLOYMENTS:
            self._update(action)
            return None
        return perform(self.client, self._recorder, [action])

    def _update(self, action: Update) -> None:
        """Write a deployment, which is not looked at again before the cache has what was written.

        The news of its replica set comes sooner; what was then written on the old version would be refused.
        """
        place = namespace_of(action.object)
        written = self.client.update(DEPLOYMENTS, action.object, place, subresource=action.subresource)
        self._written.note(key_of(action.object), written)

    def _tell_create_error(self, observed: Observed, made: Object, error: ApiError) -> None:
        from hyperkube_controller.deployment.status import CREATE_ERROR, with_create_error

        status, text = with_create_error(observed, made, error)
        if status != (observed.deployment.get("status") or {}):
            self._write_status(observed.deployment, status)
        self._recorder.event(observed.deployment, "Warning", CREATE_ERROR, text)

    def _resolve_collision(self, deployment: Object, made: Object) -> None:
        """Count a collision when the name belongs to another template; our own replica set is on its way to the cache.

        Raises:
            AlreadyExists: it is our own: look again when the cache has it.
        """
        from hyperkube_controller.deployment.facts import HASH_LABEL

        namespace = namespace_of(deployment)
        taken = self.client.get(REPLICA_SETS, name_of(made), namespace)
        owner = controller_of(taken)
        ours = owner is not None and owner.get("uid") == uid_of(deployment)
        wanted = made["spec"]["template"]
        if ours and workloads.same_template(taken["spec"]["template"], wanted, ignored_label=HASH_LABEL):
            raise AlreadyExists.about(REPLICA_SETS.group_resource, name_of(made))
        status = deployment.get("status") or {}
        self._write_status(deployment, {**status, "collisionCount": status.get("collisionCount", 0) + 1})
