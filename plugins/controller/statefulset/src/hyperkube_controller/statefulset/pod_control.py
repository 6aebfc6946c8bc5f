"""Creating, mending and deleting the pods of stateful sets and their claims, each with an event about the set.

Source: kubernetes ``pkg/controller/statefulset/stateful_pod_control.go``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_controller.statefulset.pods import conformed, ordinals

from hyperkube.client.actions import Delete, delete
from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import Informer
from hyperkube.client.reconcile import NotYet
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from hyperkube.machinery.errors import AlreadyExists, ApiError, Conflict
from hyperkube.machinery.objects import Object, is_being_deleted, name_of, namespace_of

if TYPE_CHECKING:
    from hyperkube_controller.statefulset.decision import CreatePod, Step

_ATTEMPTS = 4
"""Writes of a pod before a conflict counts as a failure."""


class StatefulPodControl:
    """Carries out steps; thread-safe."""

    def __init__(self, client: Client, recorder: EventRecorder, claims: Informer) -> None:
        self._client = client
        self._recorder = recorder
        self._claims = claims

    def carry_out(self, stateful_set: Object, step: Step) -> None:
        """Do what the step says.

        Raises:
            NotYet: a claim that the pod needs is being deleted.
            ApiError: a request was refused.
        """
        from hyperkube_controller.statefulset.decision import CreateClaims, CreatePod, DeletePod, UpdateClaimOwners

        if isinstance(step, CreatePod):
            self._create(stateful_set, step)
        elif isinstance(step, DeletePod):
            self.delete(stateful_set, step.pod)
        elif isinstance(step, CreateClaims):
            self._create_claims(stateful_set, step.ordinal, step.pod)
            self._update_claims_for_retention_policy(stateful_set, step.ordinal, step.pod)
        elif isinstance(step, UpdateClaimOwners):
            self._update_claims_for_retention_policy(stateful_set, step.ordinal, step.pod)
        else:
            self._update(stateful_set, step.ordinal, step.pod, step.conformed)

    def delete(self, stateful_set: Object, pod: Object) -> None:
        """Delete a pod.

        Raises:
            ApiError: the request was refused.
        """
        try:
            was_there = delete(self._client, Delete.of(PODS, pod))
        except (ApiError, OSError) as error:
            self._record("delete", stateful_set, pod, error)
            raise
        if was_there:
            self._record("delete", stateful_set, pod)

    def _create(self, stateful_set: Object, step: CreatePod) -> None:
        pod = step.pod
        try:
            self._create_claims(stateful_set, step.ordinal, pod)
            self._client.create(PODS, pod, namespace_of(pod))
        except AlreadyExists:
            # Ours, which the cache does not show yet, or another one in its place: the next sync tells which.
            raise
        except (ApiError, OSError, NotYet) as error:
            self._record("create", stateful_set, pod, error)
            raise
        self._update_claims_for_retention_policy(stateful_set, step.ordinal, pod)
        self._record("create", stateful_set, pod)

    def _update(self, stateful_set: Object, ordinal: int, pod: Object, changed: Object) -> None:
        try:
            if changed is not pod:
                self._create_claims(stateful_set, ordinal, pod)
            self._update_claims_for_retention_policy(stateful_set, ordinal, pod)
            self._update_pod(stateful_set, changed)
        except (ApiError, OSError, NotYet) as error:
            self._record("update", stateful_set, pod, error)
            raise
        self._record("update", stateful_set, pod)

    def _update_pod(self, stateful_set: Object, pod: Object) -> None:
        """Write the pod; on a conflict, give what there is now its identity."""
        for _ in range(_ATTEMPTS - 1):
            try:
                self._client.update(PODS, pod, namespace_of(pod))
            except Conflict:
                fresh = conformed(stateful_set, self._client.get(PODS, name_of(pod), namespace_of(pod)))
                if fresh is None:
                    return
                pod = fresh
            else:
                return
        self._client.update(PODS, pod, namespace_of(pod))

    def _create_claims(self, stateful_set: Object, ordinal: int, pod: Object) -> None:
        """Create all claims that are missing.

        Raises:
            NotYet: some are being deleted.
            ApiError: some were refused.
        """
        from hyperkube_controller.statefulset.claims import claims_of

        problems: list[str] = []
        refused = False
        for claim in claims_of(stateful_set, ordinal):
            known = self._claims.get(namespace_of(claim), name_of(claim))
            if known is None:
                try:
                    self._create_claim(stateful_set, pod, claim)
                except (ApiError, OSError) as error:
                    refused = True
                    problems.append(f"failed to create PVC {name_of(claim)}: {error}")
            elif is_being_deleted(known):
                problems.append(f"pvc {name_of(claim)} is being deleted")
        if problems:
            text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
            raise ApiError(text) if refused else NotYet(text)

    def _create_claim(self, stateful_set: Object, pod: Object, claim: Object) -> None:
        about = f"Pod {name_of(pod)} in StatefulSet {name_of(stateful_set)}"
        try:
            self._client.create(PERSISTENT_VOLUME_CLAIMS, claim, namespace_of(claim))
        except AlreadyExists:
            return  # it outlived an earlier pod of that name, as it should; the cache does not show it yet
        except (ApiError, OSError) as error:
            text = f"create Claim {name_of(claim)} for {about} failed error: {error}"
            self._recorder.event(stateful_set, "Warning", "FailedCreate", text)
            raise
        text = f"create Claim {name_of(claim)} {about} success"
        self._recorder.event(stateful_set, "Normal", "SuccessfulCreate", text)

    def _update_claims_for_retention_policy(self, stateful_set: Object, ordinal: int, pod: Object) -> None:
        """Give the claims that are there the owners that the retention policy asks for."""
        from hyperkube_controller.statefulset.claims import (
            claim_names,
            has_unexpected_controller,
            is_claim_owner_up_to_date,
            update_claim_owners,
        )

        scaled_down = ordinal not in ordinals(stateful_set)
        for name in claim_names(stateful_set, ordinal).values():
            claim = self._claims.get(namespace_of(stateful_set), name)
            if claim is None:
                continue  # a later sync has it
            if has_unexpected_controller(claim, stateful_set, pod):
                text = (
                    f"PersistentVolumeClaim {name} has a conflicting OwnerReference that acts as a manging controller, "
                    "the retention policy is ignored for this claim"
                )
                self._recorder.event(stateful_set, "Warning", "ConflictingController", text)
            if not is_claim_owner_up_to_date(claim, stateful_set, pod, scaled_down=scaled_down):
                owned = update_claim_owners(claim, stateful_set, pod, scaled_down=scaled_down)
                self._client.update(PERSISTENT_VOLUME_CLAIMS, owned, namespace_of(claim))

    def _record(self, verb: str, stateful_set: Object, pod: Object, error: Exception | None = None) -> None:
        about = f"{verb} Pod {name_of(pod)} in StatefulSet {name_of(stateful_set)}"
        if error is None:
            self._recorder.event(stateful_set, "Normal", f"Successful{verb.title()}", f"{about} successful")
        else:
            text = f"{about} failed error: {error}"
            self._recorder.event(stateful_set, "Warning", f"Failed{verb.title()}", text)
