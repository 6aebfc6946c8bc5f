"""statefulset: pods with lasting names and volumes, started in order and stopped in the opposite one.

Source: kubernetes ``pkg/controller/statefulset/stateful_set_control.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hyperkube_lib.controller_refs import ControllerRefManager, candidates, watch_orphans
from hyperkube_lib.revisions import HASH_LABEL, surplus, template_of, track

from hyperkube.client.actions import Create, Delete, delete, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Written
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds import workloads
from hyperkube.kinds.pods import is_ready, is_terminal
from hyperkube.kinds.resources import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from hyperkube.kinds.workloads import label_selector_of
from hyperkube.machinery.errors import AlreadyExists
from hyperkube.machinery.objects import (
    Object,
    copy_object,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
)
from hyperkube.plugin import Plugin

POD_NAME, POD_INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"


@dataclass(slots=True)
class Decision:
    """What to do: ordinals to create (with the revision to use), and pods to delete."""

    create: list[tuple[int, Object]] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)


def ordinal_of(stateful_set: Object, pod: Object) -> int:
    """Return the number at the end of the pod's name, or -1 when the name is not the set's."""
    parent, _, number = name_of(pod).rpartition("-")
    return int(number) if parent == name_of(stateful_set) and number.isdigit() else -1


def decide(stateful_set: Object, pods: Sequence[Object], current: Object, update: Object, now: datetime) -> Decision:
    """Return the next step towards the wanted pods, in order unless the set says ``Parallel``."""
    spec = stateful_set.get("spec") or {}
    start = (spec.get("ordinals") or {}).get("start", 0)
    wanted = range(start, start + spec.get("replicas", 1))
    parallel = spec.get("podManagementPolicy") == "Parallel"
    by_ordinal = {ordinal_of(stateful_set, pod): pod for pod in pods}
    min_ready = spec.get("minReadySeconds", 0)
    decision = Decision()
    for ordinal in wanted:
        pod = by_ordinal.get(ordinal)
        if pod is None:
            decision.create.append((ordinal, _revision_for(spec, ordinal - start, current, update)))
        elif is_terminal(pod) and not is_being_deleted(pod):
            decision.delete.append(pod)  # it comes back under its name
        elif parallel or _is_healthy(pod, min_ready, now):
            continue
        if not parallel:
            return decision
    condemned = sorted((number for number in by_ordinal if number not in wanted and number >= 0), reverse=True)
    unhealthy = [number for number in condemned if not _is_healthy(by_ordinal[number], min_ready, now)]
    for number in condemned:
        # In order, only the first unhealthy pod of all goes as it is: others wait until they are well, since what makes
        # them unhealthy may be that the set as a whole is.
        blocked = not parallel and number in unhealthy and number != unhealthy[-1]
        if not blocked and not is_being_deleted(by_ordinal[number]):
            decision.delete.append(by_ordinal[number])
        if not parallel:
            return decision
    if not decision.create and not decision.delete and not condemned:
        decision.delete = _outdated(spec, [by_ordinal[number] for number in wanted], update, now)
    return decision


def _is_healthy(pod: Object, min_ready: int, now: datetime) -> bool:
    """Tell whether the pod runs, has been ready long enough, and is not being deleted."""
    return not is_being_deleted(pod) and workloads.is_available(pod, min_ready, now)


def _partition(spec: Object) -> int:
    rolling = (spec.get("updateStrategy") or {}).get("rollingUpdate") or {}
    return int(rolling.get("partition") or 0)


def _revision_for(spec: Object, position: int, current: Object, update: Object) -> Object:
    return current if position < _partition(spec) else update


def _outdated(spec: Object, pods: Sequence[Object], update: Object, now: datetime) -> list[Object]:
    """Return the next pod to replace: from the last down to the partition, each once the one before is well."""
    if (spec.get("updateStrategy") or {}).get("type") == "OnDelete":
        return []
    for pod in reversed(pods[_partition(spec) :]):
        if is_being_deleted(pod):
            return []
        if labels_of(pod).get(HASH_LABEL) != name_of(update):
            return [pod]
        if not workloads.is_available(pod, spec.get("minReadySeconds", 0), now):
            return []
    return []


def status_of(
    stateful_set: Object, pods: Sequence[Object], current: Object, update: Object, now: datetime
) -> dict[str, Any]:
    """Return the status that the pods amount to; a finished update makes the update revision the current one."""
    spec = stateful_set.get("spec") or {}

    def of(revision: Object) -> int:
        return sum(labels_of(pod).get(HASH_LABEL) == name_of(revision) and not is_being_deleted(pod) for pod in pods)

    ready = sum(is_ready(pod) for pod in pods)
    updated = of(update)
    done = updated == len(pods) == ready == spec.get("replicas", 1) and not _partition(spec)
    current = update if done else current
    return {
        "observedGeneration": metadata(stateful_set).get("generation"),
        "replicas": len(pods),
        "readyReplicas": ready or None,
        "availableReplicas": sum(workloads.is_available(pod, spec.get("minReadySeconds", 0), now) for pod in pods),
        "currentReplicas": of(current) or None,
        "updatedReplicas": updated or None,
        "currentRevision": name_of(current),
        "updateRevision": name_of(update),
        "collisionCount": (stateful_set.get("status") or {}).get("collisionCount", 0),
    }


def claim_names(stateful_set: Object, ordinal: int) -> dict[str, str]:
    """Return the claim of each claim template for one ordinal: ``{template: template-set-ordinal}``."""
    templates = (stateful_set.get("spec") or {}).get("volumeClaimTemplates") or []
    return {name_of(entry): f"{name_of(entry)}-{name_of(stateful_set)}-{ordinal}" for entry in templates}


def claims_of(stateful_set: Object, ordinal: int) -> list[Object]:
    """Return the volume claims that the pod of an ordinal needs."""
    made = []
    names = claim_names(stateful_set, ordinal)
    selected = ((stateful_set.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    for template in (stateful_set.get("spec") or {}).get("volumeClaimTemplates") or []:
        claim = copy_object({key: value for key, value in template.items() if key != "status"})
        meta = {key: value for key, value in metadata(claim).items() if key in {"annotations", "labels"}}
        meta |= {"name": names[name_of(template)], "namespace": namespace_of(stateful_set)}
        meta["labels"] = {**(meta.get("labels") or {}), **selected}
        made.append({**claim, "kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": meta})
    return made


def pod_of(stateful_set: Object, ordinal: int, revision: Object) -> Object:
    """Return the pod of an ordinal, of the template that the revision keeps."""
    reference = workloads.controller_reference(stateful_set, "apps/v1", "StatefulSet")
    name = f"{name_of(stateful_set)}-{ordinal}"
    pod = workloads.pod_from_template(template_of(revision), stateful_set, reference, name=name)
    marks = {HASH_LABEL: name_of(revision), POD_NAME: name, POD_INDEX: str(ordinal)}
    pod["metadata"]["labels"] = {**labels_of(pod), **marks}
    spec = pod["spec"]
    spec["hostname"] = name
    if (stateful_set.get("spec") or {}).get("serviceName"):
        spec["subdomain"] = stateful_set["spec"]["serviceName"]
    names: Mapping[str, str] = claim_names(stateful_set, ordinal)
    kept = [volume for volume in spec.get("volumes") or [] if volume.get("name") not in names]
    own = [{"name": volume, "persistentVolumeClaim": {"claimName": claim}} for volume, claim in names.items()]
    if kept or own:
        spec["volumes"] = [*own, *kept]
    return pod


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How many stateful sets are synced at once."""

    concurrent_statefulset_syncs: int = 5


class Statefulset(Plugin):
    """Keeps the pods of stateful sets."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        clock = self.context.clock
        self._recorder = EventRecorder(self.client, clock, "statefulset-controller")
        self._written = Written()
        self._sets = self.informers.informer(STATEFUL_SETS)
        self._pods = self.informers.informer(PODS)
        self._revisions = self.informers.informer(CONTROLLER_REVISIONS)
        for informer in (self._pods, self._revisions):
            informer.add_index("controller", workloads.controller_index)
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=clock,
            logger=self.context.logger,
            workers=self.settings(Settings).concurrent_statefulset_syncs,
        )
        self._loop.watch(self._sets)
        self._loop.watch_owned(self._pods, "StatefulSet")
        self._loop.watch_owned(self._revisions, "StatefulSet")
        watch_orphans(self._loop, self._pods, self._sets, label_selector_of)
        return self._loop

    def _sync(self, key: str) -> float | None:
        stateful_set = self._sets.get(*split_key(key))
        if stateful_set is None:
            self._written.forget(key)
            return None
        if is_being_deleted(stateful_set) or self._written.is_stale(key, stateful_set):
            return None
        now = self.context.clock.now()
        manager = ControllerRefManager(
            self.client, stateful_set, STATEFUL_SETS, "StatefulSet", label_selector_of(stateful_set)
        )
        revisions = manager.claim(CONTROLLER_REVISIONS, candidates(self._revisions, stateful_set))
        history = track(stateful_set, "apps/v1", "StatefulSet", revisions)
        if history.actions:
            perform(self.client, self._recorder, history.actions)
            return None  # the new revision comes with an event
        update = history.update
        running = (stateful_set.get("status") or {}).get("currentRevision", "")
        current = next((revision for revision in revisions if name_of(revision) == running), update)
        pods = manager.claim(PODS, candidates(self._pods, stateful_set), lambda pod: ordinal_of(stateful_set, pod) >= 0)
        self._write_status(key, stateful_set, status_of(stateful_set, pods, current, update, now))
        self._act(stateful_set, decide(stateful_set, pods, current, update, now))
        live = {name_of(current), name_of(update), *(labels_of(pod).get(HASH_LABEL, "") for pod in pods)}
        perform(self.client, self._recorder, surplus(stateful_set, revisions, live))
        return workloads.available_in(pods, (stateful_set.get("spec") or {}).get("minReadySeconds", 0), now)

    def _write_status(self, key: str, stateful_set: Object, status: dict[str, Any]) -> None:
        changed = workloads.merged_status(stateful_set, status)
        if changed is not None:
            written = self.client.update(STATEFUL_SETS, changed, namespace_of(stateful_set), subresource="status")
            self._written.note(key, written)

    def _act(self, stateful_set: Object, decision: Decision) -> None:
        name = name_of(stateful_set)
        for pod in decision.delete:
            if delete(self.client, Delete.of(PODS, pod)):
                message = f"delete Pod {name_of(pod)} in StatefulSet {name} successful"
                self._recorder.event(stateful_set, "Normal", "SuccessfulDelete", message)
        for ordinal, revision in decision.create:
            pod = pod_of(stateful_set, ordinal, revision)
            self._make_claims(stateful_set, ordinal, name_of(pod))
            try:
                self.client.create(PODS, pod, namespace_of(pod))
            except AlreadyExists:
                continue  # the name tells that it is ours, or that it is in the way: the next look shows which
            message = f"create Pod {name_of(pod)} in StatefulSet {name} successful"
            self._recorder.event(stateful_set, "Normal", "SuccessfulCreate", message)

    def _make_claims(self, stateful_set: Object, ordinal: int, pod: str) -> None:
        for claim in claims_of(stateful_set, ordinal):
            try:
                perform(self.client, None, [Create(PERSISTENT_VOLUME_CLAIMS, claim)])
            except AlreadyExists:
                continue  # it outlived an earlier pod of that name, as it should
            text = f"create Claim {name_of(claim)} Pod {pod} in StatefulSet {name_of(stateful_set)} success"
            self._recorder.event(stateful_set, "Normal", "SuccessfulCreate", text)
