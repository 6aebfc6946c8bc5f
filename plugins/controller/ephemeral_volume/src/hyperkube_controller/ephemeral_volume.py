"""ephemeral-volume: a pod's generic ephemeral volumes get claims, which live as long as the pod.

Source: kubernetes ``pkg/controller/volume/ephemeral/controller.go``.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube.client.actions import Action, Create, Emit, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from hyperkube.kinds.volumes import claim_name, not_made_for
from hyperkube.kinds.workloads import controller_reference
from hyperkube.machinery.errors import AlreadyExists, ApiError
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    copy_object,
    is_being_deleted,
    labels_of,
    name_of,
    namespace_of,
    split_key,
)
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin


def claim_of(pod: Object, volume: Object) -> Object:
    """Return the claim to create for an ephemeral volume of a pod."""
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
    meta = {
        "name": claim_name(pod, volume),
        "namespace": namespace_of(pod),
        "labels": dict(labels_of(template)),
        "annotations": dict(annotations_of(template)),
        "ownerReferences": [controller_reference(pod, "v1", "Pod")],
    }
    return {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "metadata": {key: value for key, value in meta.items() if value},
        "spec": copy_object(template.get("spec") or {}),
    }


def decide(pod: Object, find: Callable[[str], Object | None]) -> list[Action]:
    """Return the creations of the claims that are missing; `find` returns a claim of the pod's namespace by name."""
    if is_being_deleted(pod):
        return []
    actions: list[Action] = []
    for volume in spec_of(pod).get("volumes") or []:
        if "ephemeral" not in volume:
            continue
        wanted = claim_of(pod, volume)
        present = find(name_of(wanted))
        if present is None:
            actions.append(Create(PERSISTENT_VOLUME_CLAIMS, wanted))
        elif why := not_made_for(present, pod):
            actions.append(Emit(pod, "Warning", "FailedBinding", f"ephemeral volume {volume['name']}: {why}"))
    return actions


def _with_ephemeral(pod: Object) -> bool:
    return any("ephemeral" in volume for volume in spec_of(pod).get("volumes") or [])


class Settings(Record):
    """How many pods are synced at once."""

    concurrent_ephemeralvolume_syncs: int = 5


class EphemeralVolume(Plugin):
    """Creates the claims of pods' ephemeral volumes."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._recorder = EventRecorder(self.client, self.context.clock, "ephemeral_volume")
        self._pods = self.informers.informer(PODS)
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=self.settings(Settings).concurrent_ephemeralvolume_syncs,
        )

        def seen(pod: Object) -> None:
            if _with_ephemeral(pod):
                loop.enqueue(pod)

        self._pods.add_handler(seen)
        self._claims.add_handler(on_delete=loop.enqueue_owner("Pod"))
        return loop

    def _sync(self, key: str) -> None:
        namespace, name = split_key(key)
        pod = self._pods.get(namespace, name)
        if pod is None:
            return
        actions = decide(pod, lambda claim: self._claims.get(namespace, claim))
        for action in actions:
            try:
                perform(self.client, self._recorder, [action])
            except AlreadyExists:
                raise  # the cache was behind: look again
            except ApiError as error:
                claim = name_of(action.object) if isinstance(action, Create) else ""
                volume = claim.removeprefix(f"{name}-")
                text = f"ephemeral volume {volume}: create PVC {claim}: {error}"
                self._recorder.event(pod, "Warning", "FailedBinding", text)
                raise
        if any(isinstance(action, Emit) for action in actions):
            raise NotYet(f"pod {key!r} waits for claims of others to go")  # no event of these leads to the pod
