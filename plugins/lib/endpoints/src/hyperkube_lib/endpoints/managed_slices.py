"""The EndpointSlices that one controller manages.

Source: kubernetes ``staging/src/k8s.io/endpointslice/util/endpointslice_tracker.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube.client.actions import Action, Create, perform
from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Expectations
from hyperkube.client.informer import Informer
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.machinery.objects import Object, is_being_deleted, labels_of, namespace_of

SERVICE_NAME = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_BY_SERVICE = "service"


class ManagedSlices:
    """The EndpointSlices that one controller manages, and what it has created but does not see yet.

    Keys are those of the services, ``namespace/name``.
    """

    def __init__(
        self,
        manager: str,
        slices: Informer,
        loop: ReconcileLoop,
        expectations: Expectations,
        *,
        batch_period: float = 0.0,
    ) -> None:
        """Index the slices that bear the label of `manager`, and enqueue a service when one of its own changes.

        Args:
            manager: the value of the label.
            slices: all slices.
            loop: what looks at services.
            expectations: what was created and is not seen yet.
            batch_period: for how many seconds changes that others made are gathered.
        """
        self._unsettled: set[str] = set()
        self._batch_period = batch_period
        self._manager = manager
        self._slices = slices
        self._loop = loop
        self._expectations = expectations
        self._index = f"{_BY_SERVICE} of {manager}"  # the informer is shared with other managers
        slices.add_index(self._index, self._keys)
        slices.add_handler(self._seen, self._updated, self._changed)

    def of(self, key: str) -> list[Object]:
        """Return a service's slices that are there to stay."""
        return [each for each in self._slices.by_index(self._index, key) if not is_being_deleted(each)]

    def settled(self, key: str) -> bool:
        """Tell whether all that was created is seen; if not, the service is looked at again as soon as it is."""
        # Marked before it is asked: the last one may be seen meanwhile.
        self._unsettled.add(key)
        is_settled = self._expectations.satisfied(key)
        if is_settled:
            self._unsettled.discard(key)
        return is_settled

    def forget(self, key: str) -> None:
        """Expect nothing more of a service that is gone."""
        self._unsettled.discard(key)
        self._expectations.forget(key)

    def expect(self, key: str, creations: int) -> None:
        """Expect so many slices of the service to appear: call it before they are created."""
        if creations:
            self._expectations.expect(key, creations=creations)

    def lower(self, key: str, creations: int) -> None:
        """Expect so many slices fewer: they were refused, or were not asked for."""
        if creations:
            self._expectations.creation_observed(key, creations)

    def perform(
        self, client: Client, key: str, actions: Sequence[Action], recorder: EventRecorder | None = None
    ) -> None:
        """Carry a service's actions out, and expect what they create unless they fail."""
        self.expect(key, sum(isinstance(action, Create) for action in actions))
        try:
            perform(client, recorder, actions)
        except BaseException:
            self._expectations.forget(key)
            raise

    def _keys(self, present: Object) -> tuple[str, ...]:
        labels = labels_of(present)
        if labels.get(MANAGED_BY) != self._manager or not labels.get(SERVICE_NAME):
            return ()
        return (f"{namespace_of(present)}/{labels[SERVICE_NAME]}",)

    def _seen(self, present: Object) -> None:
        for key in self._keys(present):
            self._expectations.creation_observed(key)
            if key in self._unsettled:
                self._loop.queue.add(key)
            else:
                self._put_off(key)

    def _updated(self, old: Object, new: Object) -> None:
        # The label may have been moved to another service, or the slice to another manager.
        self._changed(new)
        if self._keys(old) != self._keys(new):
            self._changed(old)

    def _changed(self, present: Object) -> None:
        for key in self._keys(present):
            self._put_off(key)

    def _put_off(self, key: str) -> None:
        self._loop.queue.add_after(key, self._batch_period)
