"""Carrying the plans of a service out, one address type after the other, and telling of what is refused.

A refusal ends the writes of its address type; those of the other one are made all the same.
Source: kubernetes ``staging/src/k8s.io/endpointslice/reconciler.go`` (finalize, deleteEndpointSlice).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from hyperkube_controller.endpointslice.metrics import EndpointSliceMetrics
from hyperkube_controller.endpointslice.reconciler import SliceAction, SlicePlan
from hyperkube_controller.endpointslice.topologycache import hints_enabled
from hyperkube_lib import endpoints

from hyperkube.client.actions import Create, Delete, Update, delete, perform
from hyperkube.client.client import Client
from hyperkube.client.reconcile import namespace_is_going
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, is_being_deleted, name_of, namespace_of

_VERBS = {Create: "create", Update: "update", Delete: "delete"}


@dataclass(slots=True)
class Failures:
    """What went wrong in a sync: the texts for its event, and the first refusal."""

    texts: list[str] = field(default_factory=list)
    refused: ApiError | None = None

    def add(self, text: str, error: ApiError) -> None:
        """Add a refusal."""
        self.texts.append(text)
        self.refused = self.refused or error


class SliceWriter:
    """Writes the slices of services; thread-safe for different keys."""

    def __init__(self, client: Client, own: endpoints.ManagedSlices, metrics: EndpointSliceMetrics) -> None:
        self._client = client
        self._own = own
        self._metrics = metrics

    def write(
        self, key: str, service: Object, plans: Sequence[SlicePlan], *, trigger_time: str, distribution: str
    ) -> Failures:
        """Carry the plans out; return what went wrong, with why pods were left out of them.

        Args:
            key: the service's, ``namespace/name``.
            service: whose slices they are.
            plans: one for each address type, with its hints.
            trigger_time: for the annotation of what is written; may be empty.
            distribution: the ``trafficDistribution`` that the hints follow, for the metrics; may be empty.

        Raises:
            OSError: there is no server.
        """
        batches = [(plan, plan.actions(service)) for plan in plans]
        creations = sum(isinstance(action, Create) for _, actions in batches for action in actions)
        self._own.expect(key, 0 if is_being_deleted(service) else creations)
        failures = Failures()
        try:
            for plan, actions in batches:
                failures.texts += plan.skipped
                if not plan.address_type:
                    self._delete_others(service, actions, failures)
                elif self._finalize(key, service, actions, trigger_time, failures):
                    topology = hints_enabled(service)
                    self._metrics.changed(len(actions), topology=topology, distribution=distribution)
        except BaseException:
            self._own.forget(key)
            raise
        return failures

    def _finalize(
        self, key: str, service: Object, actions: Sequence[SliceAction], trigger_time: str, failures: Failures
    ) -> bool:
        """Make the writes of one address type up to the first that is refused; tell whether none was."""
        for number, action in enumerate(actions):
            if isinstance(action, Create) and is_being_deleted(service):
                continue  # the garbage collector deletes its slices; new ones would only be in its way
            try:
                self._write(action, trigger_time)
            except ApiError as error:
                self._own.lower(key, sum(isinstance(each, Create) for each in actions[number:]))
                # In a namespace that is being deleted each creation is refused: there is nothing to try again.
                if not (isinstance(action, Create) and namespace_is_going(error)):
                    slice_name = "" if isinstance(action, Create) else f"{_name(action)} "
                    what = f"{_VERBS[type(action)]} {slice_name}EndpointSlice for Service {_where(service)}"
                    failures.add(f"failed to {what}: {error}", error)
                return False
        return True

    def _delete_others(self, service: Object, actions: Sequence[SliceAction], failures: Failures) -> None:
        """Delete the slices of address types that the service does not have."""
        for action in actions:
            try:
                self._write(action, "")
            except ApiError as error:
                what = f"{_name(action)} EndpointSlice for Service {_where(service)}"
                failures.add(f"error deleting {what}: {error}", error)

    def _write(self, action: SliceAction, trigger_time: str) -> None:
        if isinstance(action, Delete):
            if delete(self._client, action):
                self._metrics.written("delete")
            return
        stamped = endpoints.with_trigger_time(action.object, trigger_time)
        if isinstance(action, Update):
            self._own.updated(self._client.update(action.resource, stamped, namespace_of(stamped)))
        else:
            perform(self._client, None, [Create(action.resource, stamped)])
        self._metrics.written(_VERBS[type(action)])


def _name(action: SliceAction) -> str:
    return action.name if isinstance(action, Delete) else name_of(action.object)


def _where(service: Object) -> str:
    return f"{namespace_of(service)}/{name_of(service)}"
