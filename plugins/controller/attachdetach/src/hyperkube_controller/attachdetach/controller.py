"""The loop around the decisions: keys are names of nodes.

Sources: kubernetes ``pkg/controller/volume/attachdetach/attach_detach_controller.go``, ``reconciler/reconciler.go``,
``statusupdater/node_status_updater.go`` and ``pkg/volume/util/operationexecutor/operation_generator.go``.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from hyperkube_controller.attachdetach.actual_state_of_world import ActualStateOfWorld, AttachState
from hyperkube_controller.attachdetach.decision import (
    Attach,
    Detach,
    Operation,
    Refuse,
    Step,
    Wait,
    Wanted,
    decide,
    is_managed,
    multi_attach_message,
)
from hyperkube_controller.attachdetach.desired_state_of_world import DesiredStateOfWorld, has_volumes_of_storage
from hyperkube_controller.attachdetach.metrics import AttachDetachMetrics, kind_of
from hyperkube_lib.volume_kinds import VolumeKinds, spec_of_persistent_volume

from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.hookspecs.volume import VolumeAttachedElsewhere, VolumeFailed
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.resources import (
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    VOLUME_ATTACHMENTS,
)
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

WORKERS = 10
OPERATIONS = 8
"""Volumes of one node that are attached or detached at once."""
RETRY = Backoff(initial=0.5, cap=122.0)


class AttachdetachSettings(Record):
    """Settings of the controller.

    Attributes:
        disable_force_detach_on_timeout: wait for unreachable nodes for ever.
        disable_attach_detach_reconcile_sync: do not ask the storage whether volumes are still attached.
        attach_detach_reconcile_sync_period: how often it is asked, in seconds.
    """

    disable_force_detach_on_timeout: bool = False
    disable_attach_detach_reconcile_sync: bool = False
    attach_detach_reconcile_sync_period: float = 60.0


class Attachdetach(Plugin):
    """Attaches and detaches."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._settings = self.settings(AttachdetachSettings)
        self._recorder = EventRecorder(self.client, self.context.clock, "attachdetach-controller")
        self._kinds = VolumeKinds(self.context)
        self._lock = threading.Lock()
        self._actual = ActualStateOfWorld()
        self._desired = DesiredStateOfWorld(self.informers, self._kinds, self.context.logger)
        self._metrics = AttachDetachMetrics(self._desired_kinds, self._actual_kinds, self._desired.in_use)
        self._metrics.register(self.context)
        self._report_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._gone_in_use: dict[str, frozenset[str]] = {}
        self._refused: set[tuple[str, str]] = set()
        self._failures: dict[tuple[str, str], tuple[int, float]] = {}
        self._asked_at: dict[str, float] = {}
        self._is_recovered = False
        self._nodes = self.informers.informer(NODES)
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        self._attachments = self.informers.informer(VOLUME_ATTACHMENTS)
        self._loop = ReconcileLoop(
            self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger, workers=WORKERS
        )
        self._watch()
        return self._loop

    def close(self) -> None:
        """Close the kinds of volumes."""
        self._kinds.close()

    # what is looked at again when

    def _watch(self) -> None:
        pods, claims = self.informers.informer(PODS), self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._nodes.add_handler(self._node_seen, lambda _old, new: self._node_seen(new), self._node_gone)
        pods.add_handler(self._pod_seen, lambda _old, new: self._pod_seen(new), self._pod_seen)
        claims.add_handler(self._claim_seen, lambda _old, new: self._claim_seen(new))
        self._volumes.add_handler(self._volume_seen, lambda _old, new: self._volume_seen(new))
        self._attachments.add_handler(self._attachment_seen)

    def _node_seen(self, node: Object) -> None:
        self._actual.populate(node)
        with self._lock:
            self._gone_in_use.pop(name_of(node), None)
        self._loop.queue.add(name_of(node))

    def _node_gone(self, node: Object) -> None:
        with self._lock:
            self._gone_in_use[name_of(node)] = _in_use(node)
        self._loop.queue.add(name_of(node))

    def _pod_seen(self, pod: Object) -> None:
        node = spec_of(pod).get("nodeName")
        if node and has_volumes_of_storage(pod):
            self._loop.queue.add(node)

    def _claim_seen(self, claim: Object) -> None:
        self._pods_of_claim_seen(f"{namespace_of(claim)}/{name_of(claim)}")

    def _volume_seen(self, volume: Object) -> None:
        # The claim that names it may be known here before: then nothing else would bring its pods' nodes again.
        if claim := (volume.get("spec") or {}).get("claimRef"):
            self._pods_of_claim_seen(f"{claim.get('namespace')}/{claim.get('name')}")

    def _pods_of_claim_seen(self, claim: str) -> None:
        for pod in self._desired.pods_with_claim(claim):
            self._pod_seen(pod)

    def _attachment_seen(self, attachment: Object) -> None:
        # At the start only: it may be all that is left of a node. Later ones are this controller's own.
        if not self._is_recovered:
            self._loop.queue.add((attachment.get("spec") or {}).get("nodeName", ""))

    # one node

    def _sync(self, key: str) -> float | None:
        self._recover()
        node = self._nodes.get("", key)
        if node is not None and not is_managed(node):
            return None
        wanted = self._desired.wanted_by(node) if node is not None else {}
        self._forget_refusals(key, wanted)
        attached = self._actual.attached_to(key)
        if node is None and not attached:
            self._forget(key)
            return None
        steps = decide(
            node,
            wanted,
            attached,
            {name: [other for other in self._actual.nodes_with(name) if other != key] for name in wanted},
            self._actual.unwanted_seconds(key, wanted, self.context.clock.monotonic()),
            in_use=self._in_use(key, node),
            forces=not self._settings.disable_force_detach_on_timeout,
        )
        pauses = [self._ask_storage(key, node, wanted, attached), *self._carry_out(key, node, steps)]
        self._report(key)
        return min((seconds for seconds in pauses if seconds is not None), default=None)

    def _carry_out(self, key: str, node: Object | None, steps: Sequence[Step]) -> list[float | None]:
        """Take the steps, what is detached first, several volumes at once; return when to look again for each."""
        pauses = [step.seconds for step in steps if isinstance(step, Wait)]
        detached = [step for step in steps if isinstance(step, Detach)]
        others = [step for step in steps if not isinstance(step, Detach | Wait)]
        if len(detached) + len(others) <= 1:
            return pauses + [self._try(key, node, step) for step in (*detached, *others)]
        with ThreadPoolExecutor(OPERATIONS, thread_name_prefix="attachdetach") as pool:
            for batch in (detached, others):
                pauses += pool.map(lambda step: self._try(key, node, step), batch)
        return pauses

    def _try(self, key: str, node: Object | None, step: Operation) -> float | None:
        """Take a step unless it failed a moment ago; return after how many seconds to look again.

        What failed waits by volume and not by node: each attempt changes the node's status, which brings the key back.
        """
        operation, now = (key, step.unique_name), self.context.clock.monotonic()
        failures, not_before = self._failures.get(operation, (0, now))
        if now < not_before:
            return not_before - now
        try:
            seconds = self._do(key, node, step)
        except (VolumeFailed, ApiError, OSError) as error:
            pause = RETRY.delay(failures + 1)
            self._failures[operation] = (failures + 1, now + pause)
            self.context.logger.warning("volume %s, node %s: %s", step.unique_name, key, error)
            return pause
        self._failures.pop(operation, None)
        return seconds

    def _in_use(self, key: str, node: Object | None) -> frozenset[str] | None:
        """Return what a node said last that it has mounted."""
        if node is not None:
            return _in_use(node)
        with self._lock:
            return self._gone_in_use.get(key)

    def _forget(self, key: str) -> None:
        """Keep nothing of a node that is gone and has no volumes any more."""
        self._actual.forget(key)
        with self._lock:
            self._gone_in_use.pop(key, None)
            self._report_locks.pop(key, None)
            self._asked_at.pop(key, None)

    def _recover(self) -> None:
        """At the start, suspect of each VolumeAttachment that its volume may be attached where no status says so.

        Such a one is left where the controller ended between a request to the storage and its answer.
        """
        with self._lock:
            if self._is_recovered:
                return
            for node in self._nodes.list():
                self._actual.populate(node)
            self._is_recovered = True
        for attachment in self._attachments.list():
            spec = attachment.get("spec") or {}
            where, volume = spec.get("nodeName", ""), (spec.get("source") or {}).get("persistentVolumeName")
            name = self._unique_name(volume) if volume else None
            if name is not None and name not in self._actual.attached_to(where):
                self._actual.mark_uncertain(where, name)
                self._loop.queue.add(where)

    def _unique_name(self, volume: str) -> str | None:
        found = self._volumes.get("", volume)
        try:
            spec = None if found is None else self._kinds.as_known(spec_of_persistent_volume(found), "")
            attachable = None if spec is None else self._kinds.attachable(spec)
        except VolumeFailed as error:
            self.context.logger.warning("volume %s has an attachment: %s", volume, error)
            return None
        return None if attachable is None else attachable[0]

    def _ask_storage(
        self, key: str, node: Object | None, wanted: Mapping[str, Wanted], attached: Mapping[str, AttachState]
    ) -> float | None:
        """Forget what the storage has detached by itself, so that it is attached again; return when to ask again."""
        period, now = self._settings.attach_detach_reconcile_sync_period, self.context.clock.monotonic()
        sure = {name for name, state in attached.items() if state is AttachState.ATTACHED}
        ours = {name: wanted[name] for name in wanted if name in sure}
        if self._settings.disable_attach_detach_reconcile_sync or node is None or not ours:
            return None
        asked = self._asked_at.setdefault(key, now)
        if now - asked < period:
            return period - (now - asked)
        self._asked_at[key] = now
        for name, volume in ours.items():
            found = self._kinds.by_unique_name(name)
            if found is not None and not found[1].volumes_are_attached([volume.spec], node).get(volume.spec.name, True):
                self.context.logger.warning("volume %s is not attached to node %s any more", name, key)
                self._actual.mark_detached(key, name)
                self._loop.queue.add(key)
        return period

    # steps

    def _do(self, key: str, node: Object | None, step: Operation) -> float | None:
        if isinstance(step, Detach):
            self._detach(key, node, step)
        elif isinstance(step, Refuse):
            self._refuse(key, step)
            return 1.0
        elif node is not None:
            self._attach(key, node, step)
        return None

    def _attach(self, key: str, node: Object, step: Attach) -> None:
        found = self._kinds.by_unique_name(step.unique_name)
        if found is None:
            return
        name = step.wanted.spec.name
        try:
            device = found[1].attach(step.wanted.spec, node)
        except (VolumeFailed, ApiError, OSError) as error:
            # The storage may have it, or the next one who asks: it is detached from there once no pod wants it.
            at = error.node if isinstance(error, VolumeAttachedElsewhere) else key
            self._actual.mark_uncertain(at, step.unique_name)
            self._loop.queue.add(at)
            text = f'AttachVolume.Attach failed for volume "{name}" : {error}'
            for pod in step.wanted.pods:
                self._recorder.event(pod, "Warning", "FailedAttachVolume", text)
            raise
        for pod in step.wanted.pods:
            text = f'AttachVolume.Attach succeeded for volume "{name}" '
            self._recorder.event(pod, "Normal", "SuccessfulAttachVolume", text)
        self._actual.mark_attached(key, step.unique_name, device)
        with self._lock:
            self._refused.discard((key, step.unique_name))
        self._report(key)

    def _refuse(self, key: str, step: Refuse) -> None:
        with self._lock:
            if (key, step.unique_name) in self._refused:
                return  # once per volume and node, as upstream
            self._refused.add((key, step.unique_name))
        others = self._desired.pods_with_volume(step.nodes, step.wanted.spec.name)
        for pod in step.wanted.pods:
            text = multi_attach_message(step.wanted.spec.name, pod, others)
            self._recorder.event(pod, "Warning", "FailedAttachVolume", text)

    def _detach(self, key: str, node: Object | None, step: Detach) -> None:
        found = self._kinds.by_unique_name(step.unique_name)
        if found is None:
            self._actual.mark_detached(key, step.unique_name)
            return
        # Told first: a kubelet that does not see it attached any more does not begin to mount it.
        self._actual.set_reported(key, step.unique_name, is_reported=False)
        try:
            self._report(key)
        except (ApiError, OSError):
            self._actual.set_reported(key, step.unique_name, is_reported=True)
            raise
        try:
            if step.force_reason:
                self._metrics.forced(step.force_reason)
                text = "volume %s is detached from node %s by force: %s"
                self.context.logger.warning(text, step.unique_name, key, step.force_reason)
            elif node is not None:
                self._verify_not_in_use(key, step.unique_name)
            found[1].detach(found[0], key)
        except (VolumeFailed, ApiError, OSError):
            # It has to be attached again, and that to succeed, before the node is told that it is.
            self._actual.mark_uncertain(key, step.unique_name)
            raise
        self._actual.mark_detached(key, step.unique_name)
        self._wake_refused(step.unique_name)

    def _verify_not_in_use(self, key: str, volume: str) -> None:
        """Read the node anew: its kubelet may have begun to mount the volume before it was told.

        Raises:
            VolumeFailed: it has.
        """
        try:
            node = self.client.get(NODES, key)
        except NotFound:
            return
        if volume in _in_use(node):
            raise VolumeFailed("DetachVolume failed: volume is still in use by node, according to Node status")

    def _forget_refusals(self, key: str, wanted: Mapping[str, Wanted]) -> None:
        """Let the next pod be told that its volume is elsewhere: the one that was told needs it no more."""
        with self._lock:
            self._refused -= {(node, name) for node, name in self._refused if node == key and name not in wanted}

    def _wake_refused(self, name: str) -> None:
        with self._lock:
            waiting = [node for node, volume in self._refused if volume == name]
        for node in waiting:
            self._loop.queue.add(node)

    def _report(self, key: str) -> None:
        """Write what is attached into the node's status, where that is not there yet."""
        # One after the other: of two operations on a node, the later list must be written last.
        with self._report_locks[key]:
            rows = self._actual.take_report(key)
            if rows is None or self._nodes.get("", key) is None:
                return
            try:
                self.client.patch(NODES, key, {"status": {"volumesAttached": rows or None}}, subresource="status")
            except NotFound:
                return  # the node went meanwhile: its key comes again
            except (ApiError, OSError):
                self._actual.return_report(key)
                raise

    # numbers

    def _desired_kinds(self) -> Iterator[str]:
        for node in self._nodes.list():
            if is_managed(node):
                yield from map(self._kind_of, self._desired.wanted_by(node))

    def _actual_kinds(self) -> Iterator[str]:
        for _node, volume in self._actual.all():
            yield self._kind_of(volume)

    def _kind_of(self, unique_name: str) -> str:
        found = self._kinds.by_unique_name(unique_name)
        return "N/A" if found is None else kind_of(unique_name, found[0])


def _in_use(node: Object) -> frozenset[str]:
    return frozenset((node.get("status") or {}).get("volumesInUse") or ())
