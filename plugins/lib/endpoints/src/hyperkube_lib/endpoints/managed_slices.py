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
from hyperkube.machinery.objects import (
    Object,
    is_being_deleted,
    key_of,
    labels_of,
    namespace_of,
    resource_version_of,
)

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
        self._written: dict[str, str] = {}  # the versions that updates made of slices, until they are seen
        self._batch_period = batch_period
        self._manager = manager
        self._slices = slices
        self._loop = loop
        self._expectations = expectations
        self._index = f"{_BY_SERVICE} of {manager}"  # the informer is shared with other managers
        slices.add_index(self._index, self._keys)
        slices.add_handler(self._seen, self._updated, self._deleted)

    def of(self, key: str) -> list[Object]:
        """Return a service's slices that are there to stay."""
        return [each for each in self._slices.by_index(self._index, key) if not is_being_deleted(each)]

    def settled(self, key: str) -> bool:
        """Tell whether all that was written is seen; if not, the service is looked at again as soon as it is."""
        # Marked before it is asked: the last one may be seen meanwhile.
        self._unsettled.add(key)
        is_settled = self._expectations.satisfied(key) and not self._awaits_updates(key)
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

    def updated(self, written: Object) -> None:
        """Expect a slice to be seen as the server has answered it: an update of what it was before would be refused."""
        self._written[key_of(written)] = resource_version_of(written)

    def _awaits_updates(self, key: str) -> bool:
        written = any(each in self._written for each in self._slices.index_keys(self._index, key))
        return written and any(self._is_stale(each) for each in self.of(key))

    def _is_stale(self, present: Object) -> bool:
        return int(resource_version_of(present) or 0) < int(self._written.get(key_of(present)) or 0)

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
            self._put_off(key)

    def _updated(self, old: Object, new: Object) -> None:
        own = self._written.get(key_of(new)) == resource_version_of(new)
        if not self._is_stale(new):
            self._written.pop(key_of(new), None)
        if not own or any(key in self._unsettled for key in self._keys(new)):  # an own write is no reason to look
            self._changed(new)
        # The label may have been moved to another service, or the slice to another manager.
        if self._keys(old) != self._keys(new):
            self._changed(old)

    def _deleted(self, present: Object) -> None:
        self._written.pop(key_of(present), None)
        self._changed(present)

    def _changed(self, present: Object) -> None:
        for key in self._keys(present):
            self._put_off(key)

    def _put_off(self, key: str) -> None:
        if key in self._unsettled:
            self._loop.queue.add(key)
        else:
            self._loop.queue.add_after(key, self._batch_period)
