"""The loop of endpointslice: observe a service, its pods and their nodes; plan its slices; give them hints; write.

Source: kubernetes ``pkg/controller/endpointslice/endpointslice_controller.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_controller.endpointslice import trafficdist
from hyperkube_controller.endpointslice.metrics import EndpointSliceMetrics
from hyperkube_controller.endpointslice.reconciler import (
    CONTROLLER,
    MAX_ENDPOINTS,
    ZONE,
    Observed,
    SlicePlan,
    plan_slices,
)
from hyperkube_controller.endpointslice.topologycache import TopologyCache, hints_enabled
from hyperkube_controller.endpointslice.writes import SliceWriter
from hyperkube_lib import endpoints

from hyperkube.client.actions import Emit
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Expectations
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import is_true
from hyperkube.kinds.resources import ENDPOINT_SLICES, NODES, PODS, SERVICES
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, labels_of, name_of, namespace_of, split_key
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

BACKOFF = Backoff(initial=1.0, cap=1000.0)
"""Slower than other controllers': a sync may write many slices."""
MAX_RETRIES = 15
MIN_SLICE_DELAY = 1.0
"""Seconds between a change of a slice and the next look at its service: several changes are answered at once."""
_TOPOLOGY = ""
"""The key in the queue that stands for the nodes; no service has it."""


class Settings(Record):
    """How many services are synced at once, how many endpoints a slice holds, how long changes of pods are gathered."""

    concurrent_service_endpoint_syncs: int = 5
    max_endpoints_per_slice: int = MAX_ENDPOINTS
    endpointslice_updates_batch_period: float = 0.0


class Endpointslice(Plugin):
    """Keeps the slices of each service that selects pods."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            UsageError: a flag is out of its bounds.
        """
        settings = self.settings(Settings)
        endpoints.check_syncs("concurrent-service-endpoint-syncs", settings.concurrent_service_endpoint_syncs)
        endpoints.check_endpoints("max-endpoints-per-slice", settings.max_endpoints_per_slice)
        self._limit = settings.max_endpoints_per_slice
        self._services = self.informers.informer(SERVICES)
        self._pods = endpoints.EndpointPods(self.informers.informer(PODS))
        self._nodes = self.informers.informer(NODES)
        slices = self.informers.informer(ENDPOINT_SLICES)
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=settings.concurrent_service_endpoint_syncs,
            backoff=BACKOFF,
            max_retries=MAX_RETRIES,
        )
        batch_period = settings.endpointslice_updates_batch_period
        self._spacing = endpoints.SyncSpacing(self.context.clock)
        endpoints.watch_services(self._loop, self._services, self._pods, self._spacing, batch_period=batch_period)
        expectations = Expectations(self.context.clock)
        self._own = endpoints.ManagedSlices(
            CONTROLLER, slices, self._loop, expectations, batch_period=max(batch_period, MIN_SLICE_DELAY)
        )
        self._trigger_times = endpoints.TriggerTimeTracker()
        self._topology = TopologyCache()
        self._nodes_changed = True
        self._nodes.add_handler(self._on_node, self._on_node_update, self._on_node)
        self._metrics = EndpointSliceMetrics(self._limit)
        self._metrics.register(self.context)
        self._writer = SliceWriter(self.client, self._own, self._metrics)
        self._recorder = EventRecorder(self.client, self.context.clock, "endpoint-slice-controller")
        return self._loop

    def _on_node(self, _node: Object) -> None:
        self._nodes_changed = True
        if self._topology.is_used:
            self._loop.queue.add(_TOPOLOGY)

    def _learn_nodes(self) -> None:
        """Look at the nodes anew if they have changed, and at the services that have too few endpoints in a zone now.

        The mark goes first: a node that changes meanwhile sets it again.
        """
        if self._nodes_changed:
            self._nodes_changed = False
            for key in self._topology.set_nodes(self._nodes.list()):
                self._loop.queue.add(key)

    def _on_node_update(self, old: Object, new: Object) -> None:
        # The CPU of a node is no reason: it hardly changes, and its status does all the time.
        if labels_of(old).get(ZONE) != labels_of(new).get(ZONE) or _is_ready(old) != _is_ready(new):
            self._on_node(new)

    def _sync(self, key: str) -> None:
        if key == _TOPOLOGY:
            self._learn_nodes()
            return
        namespace, name = split_key(key)
        service = self._services.get(namespace, name)
        if service is None:
            self._own.forget(key)
            self._trigger_times.forget(key)
            self._spacing.forget(key)
            self._metrics.forget(key)
            return  # its slices go with it, by their owner reference
        if not endpoints.is_managed(service):
            return
        if not self._own.settled(key):
            self._metrics.synced("stale")
            return
        try:
            self._reconcile(key, service)
        except (ApiError, NotYet):
            self._metrics.synced("error")
            raise
        self._metrics.synced("success")

    def _reconcile(self, key: str, service: Object) -> None:
        pods = self._pods.of(service)
        self._spacing.synced(key, len(pods))
        trigger_time = self._trigger_times.compute(key, service, pods)
        slices = self._own.of(key)
        plans = plan_slices(Observed(service, pods, lambda node: self._nodes.get("", node), slices, self._limit))
        events = [event for plan in plans for event in self._add_hints(key, service, plan)]
        distribution = "" if hints_enabled(service) else trafficdist.traffic_distribution(service)
        self._metrics.planned(key, plans, distribution)
        failures = self._writer.write(key, service, plans, trigger_time=trigger_time, distribution=distribution)
        for event in events:
            self._recorder.event(event.about, event.type, event.reason, event.message)
        if failures.texts:
            why = aggregate(failures.texts)
            where = f"{namespace_of(service)}/{name_of(service)}"
            message = f"Error updating Endpoint Slices for Service {where}: {why}"
            self._recorder.event(service, "Warning", "FailedToUpdateEndpointSlices", message)
            raise failures.refused or NotYet(why)

    def _add_hints(self, key: str, service: Object, plan: SlicePlan) -> Sequence[Emit]:
        """Give the plan the hints that the service asks for: by its annotation, or by its ``trafficDistribution``."""
        if not plan.address_type:
            for address_type in {str(each.get("addressType")) for each in plan.delete}:
                self._topology.forget(key, address_type)
            return ()
        if hints_enabled(service):
            self._learn_nodes()
            return self._topology.add_hints(key, service, plan)
        events = self._topology.disable(key, service, plan)
        if distribution := trafficdist.traffic_distribution(service):
            trafficdist.reconcile_hints(plan, distribution)
        else:
            trafficdist.remove_hints(plan)
        return events


def _is_ready(node: Object) -> bool:
    return is_true(node.get("status") or {}, "Ready")
