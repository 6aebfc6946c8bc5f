"""The loop around the decisions: keys are names of nodes; what is attached stands in the nodes' status."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

from hyperkube_controller.attachdetach.decision import (
    Attach,
    Detach,
    Refuse,
    Step,
    Wait,
    Wanted,
    decide,
    is_managed,
    multi_attach_message,
    wants_volumes,
)
from hyperkube_lib.volume_kinds import VolumeKinds, spec_of_persistent_volume

from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.hookspecs.volume import VolumeFailed, VolumeSpec
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from hyperkube.kinds.volumes import claim_keys, claim_name, not_made_for
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

WORKERS = 10
RETRY = Backoff(initial=0.5, cap=122.0)
_BY_NODE, _BY_CLAIM = "attachdetach/node", "attachdetach/claim"


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
        self._attached: dict[str, dict[str, str]] = {}
        self._unwanted_since: dict[tuple[str, str], float] = {}
        self._refused: set[tuple[str, str]] = set()
        self._failures: dict[tuple[str, str], tuple[int, float]] = {}
        self._asked_at: dict[str, float] = {}
        self._nodes = self.informers.informer(NODES)
        self._pods = self.informers.informer(PODS)
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        self._pods.add_index(_BY_NODE, lambda pod: (spec_of(pod).get("nodeName", ""),))
        self._pods.add_index(_BY_CLAIM, claim_keys)
        self._loop = ReconcileLoop(
            self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger, workers=WORKERS
        )
        self._nodes.add_handler(self._node_seen, lambda _old, new: self._node_seen(new), self._node_seen)
        self._pods.add_handler(self._pod_seen, lambda _old, new: self._pod_seen(new), self._pod_seen)
        self._claims.add_handler(self._claim_seen, lambda _old, new: self._claim_seen(new))
        self._volumes.add_handler(self._volume_seen, lambda _old, new: self._volume_seen(new))
        return self._loop

    def close(self) -> None:
        """Close the kinds of volumes."""
        self._kinds.close()

    # what is looked at again when

    def _node_seen(self, node: Object) -> None:
        self._loop.queue.add(name_of(node))

    def _pod_seen(self, pod: Object) -> None:
        node = spec_of(pod).get("nodeName")
        if node and spec_of(pod).get("volumes"):
            self._loop.queue.add(node)

    def _claim_seen(self, claim: Object) -> None:
        self._pods_of_claim_seen(f"{namespace_of(claim)}/{name_of(claim)}")

    def _volume_seen(self, volume: Object) -> None:
        # The claim that names it may be known here before: then nothing else would bring its pods' nodes again.
        if claim := (volume.get("spec") or {}).get("claimRef"):
            self._pods_of_claim_seen(f"{claim.get('namespace')}/{claim.get('name')}")

    def _pods_of_claim_seen(self, claim: str) -> None:
        for pod in self._pods.by_index(_BY_CLAIM, claim):
            self._pod_seen(pod)

    # one node

    def _sync(self, key: str) -> float | None:
        node = self._nodes.get("", key)
        if node is not None and not is_managed(node):
            return None
        attached = self._attached_to(key, node)
        wanted = self._wanted_by(key) if node is not None else {}
        self._forget_refusals(key, wanted)
        if not wanted and not attached:
            return None
        steps = decide(
            node,
            wanted,
            attached,
            self._elsewhere(key, wanted),
            self._unwanted_seconds(key, wanted, attached),
            forces=not self._settings.disable_force_detach_on_timeout,
        )
        pauses = [self._ask_storage(key, node, wanted, attached), *(self._try(key, node, step) for step in steps)]
        return min((seconds for seconds in pauses if seconds is not None), default=None)

    def _try(self, key: str, node: Object | None, step: Step) -> float | None:
        """Take a step unless it failed a moment ago; return after how many seconds to look again.

        What failed waits by volume and not by node: each attempt changes the node's status, which brings the key back.
        """
        operation, now = (key, step.unique_name), self.context.clock.monotonic()
        failures, not_before = self._failures.get(operation, (0, now))
        if now < not_before:
            return not_before - now
        try:
            seconds = self._do(key, node, step)
        except VolumeFailed as error:
            pause = RETRY.delay(failures + 1)
            self._failures[operation] = (failures + 1, now + pause)
            self.context.logger.warning("volume %s, node %s: %s", step.unique_name, key, error)
            return pause
        self._failures.pop(operation, None)
        return seconds

    def _attached_to(self, key: str, node: Object | None) -> dict[str, str]:
        """Return unique name → device of what a node has: what this controller did, at its start what the node says."""
        with self._lock:
            known = self._attached.get(key)
            if known is None:
                rows = ((node or {}).get("status") or {}).get("volumesAttached") or ()
                known = self._attached[key] = {row["name"]: row.get("devicePath", "") for row in rows}
            return dict(known)

    def _elsewhere(self, key: str, wanted: dict[str, Wanted]) -> dict[str, list[str]]:
        for node in self._nodes.list():
            self._attached_to(name_of(node), node)
        with self._lock:
            rows = list(self._attached.items())
        return {name: sorted(node for node, has in rows if node != key and name in has) for name in wanted}

    def _unwanted_seconds(self, key: str, wanted: dict[str, Wanted], attached: dict[str, str]) -> dict[str, float]:
        now = self.context.clock.monotonic()
        with self._lock:
            for name in wanted:
                self._unwanted_since.pop((key, name), None)
            return {
                name: now - self._unwanted_since.setdefault((key, name), now) for name in attached if name not in wanted
            }

    def _wanted_by(self, node: str) -> dict[str, Wanted]:
        found: dict[str, Wanted] = {}
        for pod in self._pods.by_index(_BY_NODE, node):
            if not wants_volumes(pod):
                continue
            for spec in self._specs(pod):
                try:
                    attachable = self._kinds.attachable(spec)
                except VolumeFailed as error:
                    self.context.logger.debug("volume %s of pod %s: %s", spec.name, name_of(pod), error)
                    continue
                if attachable is not None:
                    known = found.get(attachable[0])
                    found[attachable[0]] = Wanted(spec, (*(known.pods if known else ()), pod))
        return found

    def _specs(self, pod: Object) -> Iterator[VolumeSpec]:
        """Yield the volumes of a pod as far as they are known now."""
        for spec in self._named(pod):
            try:
                yield self._kinds.as_known(spec, namespace_of(pod))
            except VolumeFailed as error:
                self.context.logger.debug("volume %s of pod %s: %s", spec.name, name_of(pod), error)

    def _named(self, pod: Object) -> Iterator[VolumeSpec]:
        for volume in spec_of(pod).get("volumes") or ():
            name = claim_name(pod, volume)
            if name is None:
                yield VolumeSpec(volume=volume)
                continue
            claim = self._claims.get(namespace_of(pod), name)
            if claim is None or ("ephemeral" in volume and not_made_for(claim, pod)):
                continue
            bound = self._volumes.get("", (claim.get("spec") or {}).get("volumeName") or "")
            if bound is None or ((bound.get("spec") or {}).get("claimRef") or {}).get("uid") != uid_of(claim):
                continue
            read_only = bool((volume.get("persistentVolumeClaim") or {}).get("readOnly"))
            yield spec_of_persistent_volume(bound, read_only=read_only)

    def _ask_storage(
        self, key: str, node: Object | None, wanted: dict[str, Wanted], attached: dict[str, str]
    ) -> float | None:
        """Forget what the storage has detached by itself, so that it is attached again; return when to ask again."""
        period, now = self._settings.attach_detach_reconcile_sync_period, self.context.clock.monotonic()
        ours = {name: wanted[name] for name in attached if name in wanted}
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
                self._forget(key, name)
                self._loop.queue.add(key)
        return period

    # steps

    def _do(self, key: str, node: Object | None, step: Step) -> float | None:
        if isinstance(step, Wait):
            return step.seconds
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
        except VolumeFailed as error:
            text = f'AttachVolume.Attach failed for volume "{name}" : {error}'
            for pod in step.wanted.pods:
                self._recorder.event(pod, "Warning", "FailedAttachVolume", text)
            raise
        for pod in step.wanted.pods:
            text = f'AttachVolume.Attach succeeded for volume "{name}" '
            self._recorder.event(pod, "Normal", "SuccessfulAttachVolume", text)
        with self._lock:
            self._attached.setdefault(key, {})[step.unique_name] = device
            self._refused.discard((key, step.unique_name))
        self._tell_node(key)

    def _refuse(self, key: str, step: Refuse) -> None:
        with self._lock:
            if (key, step.unique_name) in self._refused:
                return  # once per volume and node, as upstream
            self._refused.add((key, step.unique_name))
        others = [
            pod for node in step.nodes for pod in self._pods.by_index(_BY_NODE, node)
            if any(spec.name == step.wanted.spec.name for spec in self._specs(pod))
        ]  # fmt: skip
        for pod in step.wanted.pods:
            text = multi_attach_message(step.wanted.spec.name, pod, others)
            self._recorder.event(pod, "Warning", "FailedAttachVolume", text)

    def _detach(self, key: str, node: Object | None, step: Detach) -> None:
        found = self._kinds.by_unique_name(step.unique_name)
        with self._lock:
            device = self._attached.get(key, {}).get(step.unique_name, "")
        # Told first: a kubelet that does not see it attached any more does not begin to mount it.
        self._forget(key, step.unique_name)
        if node is not None:
            self._tell_node(key)
        if found is None:
            return
        if step.is_forced:
            self.context.logger.warning("volume %s is detached from node %s by force", step.unique_name, key)
        try:
            found[1].detach(found[0], key)
        except VolumeFailed:
            with self._lock:
                self._attached.setdefault(key, {})[step.unique_name] = device
            if node is not None:
                self._tell_node(key)
            raise
        with self._lock:
            self._unwanted_since.pop((key, step.unique_name), None)
        self._wake_refused(step.unique_name)

    def _forget_refusals(self, key: str, wanted: Mapping[str, Wanted]) -> None:
        """Let the next pod be told that its volume is elsewhere: the one that was told needs it no more."""
        with self._lock:
            self._refused -= {(node, name) for node, name in self._refused if node == key and name not in wanted}

    def _forget(self, key: str, name: str) -> None:
        with self._lock:
            self._attached.get(key, {}).pop(name, None)

    def _wake_refused(self, name: str) -> None:
        with self._lock:
            waiting = [node for node, volume in self._refused if volume == name]
        for node in waiting:
            self._loop.queue.add(node)

    def _tell_node(self, key: str) -> None:
        """Write what is attached into the node's status."""
        with self._lock:
            rows = [{"name": name, "devicePath": device} for name, device in sorted(self._attached[key].items())]
        try:
            self.client.patch(NODES, key, {"status": {"volumesAttached": rows or None}}, subresource="status")
        except NotFound:
            return  # the node went meanwhile: its key comes again
