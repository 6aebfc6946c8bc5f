"""Writes to claims: allocations, who uses them, and what is given back.

Source of the order and texts: kubernetes ``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``
(bindClaim), ``extendeddynamicresources.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hyperkube_scheduler.dynamic_resources.claims import MOST_USERS
from hyperkube_scheduler.dynamic_resources.reasons import IN_USE, NotWritten

from hyperkube.client.client import Client
from hyperkube.kinds.resources import PODS, RESOURCE_CLAIMS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, Conflict, NotFound
from hyperkube.machinery.objects import Object, copy_object, is_being_deleted, key_of, name_of, namespace_of, uid_of
from hyperkube.machinery.times import format_time

FINALIZER = "resource.kubernetes.io/delete-protection"
TRIES = 5


@dataclass(frozen=True, slots=True)
class ClaimWriter:
    """Writes claims as the scheduler."""

    client: Client
    clock: Clock

    def reserve(self, claim: Object, pod: Object, allocation: Object | None) -> Object:
        """Write that a pod uses a claim, and what the claim gets if it has nothing yet; return it as stored.

        Raises:
            NotWritten: another client was faster, or the API refuses.
        """
        task = "allocation and reservation" if allocation is not None else "reservation"

        def attempt(current: Object) -> Object:
            if is_being_deleted(current):
                raise NotWritten(f"claim {key_of(claim)} got deleted in the meantime")
            status = current.get("status") or {}
            if allocation is not None:
                if status.get("allocation"):
                    raise NotWritten(f"claim {key_of(claim)} got allocated elsewhere in the meantime")
                current = self._protected(current)
                status = {**(current.get("status") or {}), "allocation": {**allocation}}
            elif not status.get("allocation"):
                raise NotWritten(f"claim {key_of(claim)} got deallocated in the meantime")
            users = [user for user in status.get("reservedFor") or () if user.get("uid") != uid_of(pod)]
            if len(users) >= MOST_USERS:
                raise NotWritten(IN_USE)
            user = {"resource": "pods", "name": name_of(pod), "uid": uid_of(pod)}
            fresh = {"allocationTimestamp": format_time(self.clock.now())}
            changed = {**status, "allocation": {**fresh, **status["allocation"]}, "reservedFor": [*users, user]}
            return self._status(current, changed)

        return self._retried(claim, f"add {task} to", attempt)

    def release(self, claim: Object, pod: Object) -> None:
        """Write that a pod does not use a claim after all.

        Raises:
            NotWritten: the API refuses.
        """

        def attempt(current: Object) -> Object:
            status = current.get("status") or {}
            users = [user for user in status.get("reservedFor") or () if user.get("uid") != uid_of(pod)]
            return self._status(current, {**status, "reservedFor": users})

        self._retried(claim, "remove reservation from", attempt)

    def deallocate(self, claim: Object) -> None:
        """Give back what a claim has that no pod uses, unless it changed.

        Raises:
            NotWritten: it changed, or the API refuses.
        """
        try:
            self._status(claim, {})
        except (ApiError, OSError) as error:
            raise NotWritten(str(error)) from error

    def create(self, claim: Object) -> Object:
        """Store a claim that was in memory; return it as stored.

        Raises:
            NotWritten: the API refuses.
        """
        meta = {key: value for key, value in claim["metadata"].items() if key not in {"name", "uid"}}
        try:
            return self.client.create(RESOURCE_CLAIMS, {**claim, "metadata": meta}, namespace_of(claim))
        except (ApiError, OSError) as error:
            raise NotWritten(f"create claim for extended resources {key_of(claim)}: {error}") from error

    def delete(self, claim: Object) -> None:
        """Delete a claim that the scheduler made, its protection first.

        Raises:
            NotWritten: the API refuses.
        """

        def attempt(current: Object) -> Object:
            kept = [each for each in current["metadata"].get("finalizers") or () if each != FINALIZER]
            changed = {**current, "metadata": {**current["metadata"], "finalizers": kept}}
            try:
                return self.client.update(RESOURCE_CLAIMS, changed, namespace_of(claim))
            except NotFound:
                return current

        try:
            self._retried(claim, "update", attempt)
            self.client.delete(RESOURCE_CLAIMS, name_of(claim), namespace_of(claim))
        except NotFound:
            return
        except (ApiError, OSError) as error:
            raise NotWritten(f"delete claim {key_of(claim)}: {error}") from error

    def tell_pod(self, pod: Object, claim: Object, mappings: Sequence[Object]) -> None:
        """Write into a pod's status which claim its extended resources come from.

        Raises:
            NotWritten: the API refuses.
        """
        told = {"resourceClaimName": name_of(claim), "requestMappings": [*mappings]}
        patch = {"metadata": {"uid": uid_of(pod)}, "status": {"extendedResourceClaimStatus": told}}
        try:
            self.client.patch(PODS, name_of(pod), patch, namespace_of(pod), subresource="status")
        except (ApiError, OSError) as error:
            raise NotWritten(f"update pod {key_of(pod)} ExtendedResourceClaimStatus: {error}") from error

    def _protected(self, claim: Object) -> Object:
        finalizers = claim["metadata"].get("finalizers") or []
        if FINALIZER in finalizers:
            return claim
        changed = {**claim, "metadata": {**claim["metadata"], "finalizers": [*finalizers, FINALIZER]}}
        try:
            return self.client.update(RESOURCE_CLAIMS, changed, namespace_of(claim))
        except Conflict:
            raise
        except (ApiError, OSError) as error:
            raise NotWritten(f"add finalizer to claim {key_of(claim)}: {error}") from error

    def _status(self, claim: Object, status: Object) -> Object:
        kept = {key: value for key, value in status.items() if value}
        return self.client.update(RESOURCE_CLAIMS, {**claim, "status": kept}, namespace_of(claim), subresource="status")

    def _retried(self, claim: Object, task: str, attempt: Callable[[Object], Object]) -> Object:
        """Try with the claim as it is known, then as the API has it; only a conflict is worth another try."""
        current = copy_object(claim)
        error: Exception | None = None
        for _ in range(TRIES):
            try:
                return attempt(current)
            except Conflict as conflict:
                error = conflict
            except (ApiError, OSError) as refusal:
                raise NotWritten(f"{task} claim {key_of(claim)}: {refusal}") from refusal
            try:
                current = self.client.get(RESOURCE_CLAIMS, name_of(claim), namespace_of(claim))
            except (ApiError, OSError) as refusal:
                raise NotWritten(f"get updated claim {key_of(claim)} after conflict: {refusal}") from refusal
            if uid_of(current) != uid_of(claim):
                raise NotWritten(f"claim {key_of(claim)} got deleted in the meantime")
        raise NotWritten(f"{task} claim {key_of(claim)}: {error}")
