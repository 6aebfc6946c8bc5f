"""Creating and deleting the pods of an owner, so that its expectations hold whatever happens to the requests.

Sources: kubernetes ``pkg/controller/controller_utils.go`` (RealPodControl) and
``pkg/controller/replicaset/replica_set.go`` (manageReplicas).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from hyperkube_lib.pod_control.slow_start import Failure, all_at_once, slow_start_batch

from hyperkube.client.actions import Delete, delete
from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Expectations
from hyperkube.client.reconcile import namespace_is_going
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, Conflict
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the requests for the pods of an owner.

    Attributes:
        created: how many pods there are now that were not there before.
        deleted: the pods that are going, or gone.
        failures: what failed; nothing when only the namespace is being deleted.
    """

    created: int = 0
    deleted: list[Object] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


class PodControl:
    """Carries out what a controller decided about the pods of one owner; thread-safe."""

    def __init__(self, client: Client, recorder: EventRecorder, expectations: Expectations) -> None:
        self._client = client
        self._recorder = recorder
        self._expectations = expectations

    def manage(
        self, key: str, owner: Object, *, create: Sequence[Object] = (), delete: Sequence[Object] = ()
    ) -> list[Failure]:
        """Carry out the requests as `carry_out` does; return what failed."""
        return self.carry_out(key, owner, create=create, delete=delete).failures

    def carry_out(
        self,
        key: str,
        owner: Object,
        *,
        create: Sequence[Object] = (),
        delete: Sequence[Object] = (),
        before_delete: Callable[[Object], None] | None = None,
    ) -> Outcome:
        """Create pods in slow-start batches, then delete others; record an event about the owner for each.

        The expectations are set before the first request, since the watch may be faster than the answer. What was not
        requested, was refused or got no answer is no longer expected: an expectation that nothing fulfils would stop
        the owner's syncs for five minutes. (A pod of a request that got no answer may be there all the same: then the
        watch shows it, and the next sync counts it.)

        Args:
            key: the owner's.
            owner: is told of in the events.
            create: pods to create.
            delete: pods to delete.
            before_delete: is called for each pod before its deletion, which is not asked for where that fails.
        """
        if not create and not delete:
            return Outcome()
        self._expectations.expect(key, creations=len(create), deletions=[uid_of(pod) for pod in delete])
        try:
            created, refused = slow_start_batch(create, lambda pod: self._create(owner, pod))
            self._expectations.creation_observed(key, len(create) - created)
            outcome = self.delete(key, owner, delete, before_delete)
        except BaseException:
            # A bug: how much was done is not known, so the next sync counts what the cache shows.
            self._expectations.forget(key)
            raise
        failures = [each for each in refused if isinstance(each, OSError) or not namespace_is_going(each)]
        return Outcome(created, outcome.deleted, failures + outcome.failures)

    def delete(
        self, key: str, owner: Object, pods: Sequence[Object], before: Callable[[Object], None] | None = None
    ) -> Outcome:
        """Delete pods without expecting to see it; record an event about the owner for each."""
        deleted: list[Object] = []

        def delete_one(pod: Object) -> None:
            try:
                if before is not None:
                    before(pod)
            except (ApiError, OSError):
                self._expectations.deletion_observed(key, uid_of(pod))
                raise
            self._delete(key, owner, pod)
            deleted.append(pod)

        failures = all_at_once(pods, delete_one)
        kept = [each for each in failures if isinstance(each, OSError) or not namespace_is_going(each)]
        return Outcome(0, deleted, kept)

    def _create(self, owner: Object, pod: Object) -> None:
        try:
            made = self._client.create(PODS, pod, namespace_of(owner))
        except (ApiError, OSError) as error:
            if isinstance(error, OSError) or not namespace_is_going(error):
                self._recorder.event(owner, "Warning", "FailedCreate", f"Error creating: {error}")
            raise
        self._recorder.event(owner, "Normal", "SuccessfulCreate", f"Created pod: {name_of(made)}")

    def _delete(self, key: str, owner: Object, pod: Object) -> None:
        try:
            was_there = delete(self._client, Delete.of(PODS, pod))
        except Conflict:
            was_there = False  # another pod has the name by now: this one is gone
        except (ApiError, OSError) as error:
            # No event of the watch will lower the expectation.
            self._expectations.deletion_observed(key, uid_of(pod))
            self._recorder.event(owner, "Warning", "FailedDelete", f"Error deleting: {error}")
            raise
        if was_there:
            self._recorder.event(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {name_of(pod)}")
        else:
            self._expectations.deletion_observed(key, uid_of(pod))
