"""endpointslicemirroring: endpoints that were written by hand are shown as slices too.

That is for services without a selector; those with one have slices of their own.
Source: kubernetes ``pkg/controller/endpointslicemirroring``, its ``metrics``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from ipaddress import ip_address
from typing import TYPE_CHECKING

from hyperkube_lib.controller_metrics import ControllerMetrics
from hyperkube_lib.endpoints import (
    LAST_CHANGE_TRIGGER_TIME,
    MANAGED_BY,
    SERVICE_NAME,
    ManagedSlices,
    check_endpoints,
    check_syncs,
    selector_of,
)

from hyperkube.client.actions import Action, Create, Delete, Emit, Update, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Expectations
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import ENDPOINT_SLICES, ENDPOINTS, SERVICES
from hyperkube.kinds.workloads import controller_reference
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.metric_families import Gauge, Histogram, growing
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
)
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

CONTROLLER = "endpointslicemirroring-controller.k8s.io"
PREFIX = "endpoint_slice_mirroring_controller_"
SKIP = "endpointslice.kubernetes.io/skip-mirror"
LEADER = "control-plane.alpha.kubernetes.io/leader"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
MAX_ENDPOINTS_PER_SUBSET = 1000
BACKOFF = Backoff(initial=1.0, cap=100.0)
MAX_RETRIES = 15
_NAME_LIMIT = 253


def is_mirrored(endpoints: Object, service: Object | None) -> bool:
    """Tell whether endpoints are to be shown as slices."""
    if service is None or is_being_deleted(service) or selector_of(service):
        return False
    return may_be_mirrored(endpoints)


def may_be_mirrored(endpoints: Object) -> bool:
    """Tell whether nothing in the endpoints themselves speaks against it: no label, no lock for leader election."""
    return labels_of(endpoints).get(SKIP) != "true" and LEADER not in annotations_of(endpoints)


@dataclass(slots=True)
class Wanted:
    """What the slices are to say, and what of the endpoints they cannot.

    Attributes:
        slices: by address type and ports; subsets with equal ports are shown as one.
        invalid: how many addresses are none.
        skipped: how many are left out, the invalid ones among them.
    """

    slices: dict[tuple[str, str], Object] = field(default_factory=dict)
    invalid: int = 0
    skipped: int = 0


def wanted_slices(endpoints: Object, limit: int = MAX_ENDPOINTS_PER_SUBSET) -> Wanted:
    """Return what slices are to say: at most `limit` addresses of each subset, those of ready ones first."""
    wanted = Wanted()
    for subset in endpoints.get("subsets") or []:
        ports = [{"name": "", "protocol": "TCP", **port} for port in subset.get("ports") or []]
        added = 0
        for part, ready in (("addresses", True), ("notReadyAddresses", False)):
            for address in subset.get(part) or []:
                if added >= limit:
                    wanted.skipped += 1
                    continue
                try:
                    ip = ip_address(address["ip"])
                except ValueError:
                    wanted.invalid += 1
                    wanted.skipped += 1
                    continue
                family = f"IPv{ip.version}"
                made: Object = {"addressType": family, "endpoints": [], "ports": ports}
                key = family, repr(sorted(ports, key=repr))
                wanted.slices.setdefault(key, made)["endpoints"].append(_endpoint(address, str(ip), ready=ready))
                added += 1
    return wanted


def _endpoint(address: Object, ip: str, *, ready: bool) -> Object:
    entry: Object = {"addresses": [ip], "conditions": {"ready": ready}}
    for part in ("hostname", "nodeName", "targetRef"):
        if address.get(part):
            entry[part] = address[part]
    return entry


def decide(endpoints: Object, slices: Sequence[Object], limit: int = MAX_ENDPOINTS_PER_SUBSET) -> list[Action]:
    """Return the fewest writes after which the slices say what the endpoints say, and events on what they cannot."""
    return _decide(endpoints, slices, wanted_slices(endpoints, limit), limit)


def _decide(endpoints: Object, slices: Sequence[Object], found: Wanted, limit: int) -> list[Action]:
    hidden = {LAST_CHANGE_TRIGGER_TIME, LAST_APPLIED}
    labels = {**labels_of(endpoints), SERVICE_NAME: name_of(endpoints), MANAGED_BY: CONTROLLER}
    annotations = {key: value for key, value in annotations_of(endpoints).items() if key not in hidden}
    left = list(slices)
    actions = _events(endpoints, found, limit)
    exact = {key: _exact(wanted, left) for key, wanted in found.slices.items()}
    for key, wanted in found.slices.items():
        # A slice that has no use is overwritten rather than deleted, unless another group of ports still wants it.
        present = exact[key] or _unused(wanted, left, exact.values())
        meta: Object = {"labels": labels} | ({"annotations": annotations} if annotations else {})
        if present is None:
            meta |= {
                "generateName": _prefix(name_of(endpoints)),
                "namespace": namespace_of(endpoints),
                "ownerReferences": [controller_reference(endpoints, "v1", "Endpoints")],
            }
            made = {"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "metadata": meta, **wanted}
            actions.append(Create(ENDPOINT_SLICES, made))
            continue
        left.remove(present)
        same = all(present.get(part) == value for part, value in wanted.items())
        if not same or labels_of(present) != labels or annotations_of(present) != annotations:
            kept = {key: value for key, value in metadata(present).items() if key != "annotations"}
            actions.append(Update(ENDPOINT_SLICES, {**present, **wanted, "metadata": {**kept, **meta}}))
    return actions + [Delete.of(ENDPOINT_SLICES, present) for present in left]


def _exact(wanted: Object, slices: Sequence[Object]) -> Object | None:
    """Return the slice that has the ports already."""
    same = (each for each in slices if all(each.get(part) == wanted[part] for part in ("addressType", "ports")))
    return next(same, None)


def _unused(wanted: Object, slices: Sequence[Object], used: Iterable[Object | None]) -> Object | None:
    """Return a slice of the same address type that no group of ports has: its address type cannot be changed."""
    taken = [id(each) for each in used]
    free = (each for each in slices if each.get("addressType") == wanted["addressType"] and id(each) not in taken)
    return next(free, None)


def _prefix(name: str) -> str:
    prefix = f"{name}-"
    return prefix if len(prefix) <= _NAME_LIMIT else name


def _events(endpoints: Object, wanted: Wanted, limit: int) -> list[Action]:
    events: list[Action] = []
    if wanted.invalid:
        text = f"Skipped {wanted.invalid} invalid IP addresses when mirroring to EndpointSlices"
        events.append(Emit(endpoints, "Warning", "InvalidIPAddress", text))
    if wanted.skipped > wanted.invalid:
        text = f"A max of {limit} addresses can be mirrored to EndpointSlices per Endpoints subset."
        text = f"{text} {wanted.skipped} addresses were skipped"
        events.append(Emit(endpoints, "Warning", "TooManyAddressesToMirror", text))
    return events


class MirroringMetrics(ControllerMetrics):
    """What syncs change, and what all endpoints have and should have; thread-safe.

    Args:
        limit: how many endpoints of a subset are shown at most.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._histograms = {
            name: Histogram(f"{PREFIX}{name}_per_sync", f"Number of {text}", growing(2, 2, 15))
            for name, text in (
                ("endpoints_added", "endpoints added on each Endpoints sync"),
                ("endpoints_updated", "endpoints updated on each Endpoints sync"),
                ("endpoints_removed", "endpoints removed on each Endpoints sync"),
                (
                    "addresses_skipped",
                    "addresses skipped on each Endpoints sync due to being invalid or exceeding MaxEndpointsPerSubset",
                ),
            )
        }
        self._duration = Histogram(
            f"{PREFIX}endpoints_sync_duration", "Duration of syncEndpoints() in seconds", growing(0.001, 2, 15)
        )
        super().__init__(*self._histograms.values(), self._duration)
        self._changes: dict[str, int] = {}
        self._sizes: dict[str, tuple[int, int, int]] = {}

    def planned(self, key: str, slices: Sequence[Object], actions: Sequence[Action], found: Wanted) -> None:
        """Take what a sync found, and how many endpoints its writes bring, change and take away."""
        changes = dict.fromkeys(self._histograms, 0) | {"addresses_skipped": found.skipped}
        present = {name_of(each): _by_address(each) for each in slices}
        made = 0
        for action in actions:
            if isinstance(action, Create | Update):
                before, after = present.get(name_of(action.object), {}), _by_address(action.object)
                changes["endpoints_added"] += len(after.keys() - before.keys())
                changes["endpoints_updated"] += sum(before[each] != after[each] for each in before.keys() & after)
                changes["endpoints_removed"] += len(before.keys() - after.keys())
                made += isinstance(action, Create)
            elif isinstance(action, Delete):
                changes["endpoints_removed"] += len(present.get(action.name, ()))
                made -= 1
        for name, count in changes.items():
            self.observe(self._histograms[name], count)
        counts = [len(each["endpoints"]) for each in found.slices.values()]
        with self._lock:
            self._sizes[key] = sum(counts), len(slices) + made, sum(-(-count // self._limit) for count in counts)

    def written(self, actions: Iterable[Action]) -> None:
        """Count the writes of a sync."""
        with self._lock:
            for action in actions:
                kind = type(action).__name__.lower()
                if kind != "emit":
                    self._changes[kind] = self._changes.get(kind, 0) + 1

    def synced(self, seconds: float) -> None:
        """Take how long a sync took."""
        self.observe(self._duration, seconds)

    def forget(self, key: str) -> None:
        """Forget endpoints that are not mirrored any more."""
        with self._lock:
            self._sizes.pop(key, None)

    def collect(self) -> Iterator[Metric]:
        """Return the families as of now."""
        from prometheus_client.metrics_core import UnknownMetricFamily

        yield from super().collect()
        with self._lock:
            changes, sizes = dict(self._changes), list(self._sizes.values())
        texts = (
            ("endpoints_desired", "Number of endpoints desired"),
            ("num_endpoint_slices", "Number of EndpointSlices"),
            ("desired_endpoint_slices", "Number of EndpointSlices that would exist with perfect endpoint allocation"),
        )
        for index, (name, text) in enumerate(texts):
            yield Gauge(PREFIX + name, text).family({(): sum(size[index] for size in sizes)})
        # Kubernetes' name lacks the ending that Prometheus' library gives to each counter.
        family = UnknownMetricFamily(f"{PREFIX}changes", "Number of EndpointSlice changes", labels=("operation",))
        for kind, count in sorted(changes.items()):
            family.add_metric((kind,), count)
        yield family


def _by_address(slice_: Object) -> dict[str, Object]:
    """Return the endpoints by what tells them apart: their addresses and what they are of."""
    return {repr((each["addresses"], each.get("targetRef"))): each for each in slice_.get("endpoints") or ()}


class Settings(Record):
    """How many endpoints are mirrored at once, how many addresses of a subset, how long changes of slices may wait."""

    mirroring_concurrent_service_endpoint_syncs: int = 5
    mirroring_max_endpoints_per_subset: int = MAX_ENDPOINTS_PER_SUBSET
    mirroring_endpointslice_updates_batch_period: float = 0.0


class Endpointslicemirroring(Plugin):
    """Keeps slices of hand-written endpoints."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            UsageError: a flag is out of its bounds.
        """
        settings = self.settings(Settings)
        check_syncs("mirroring-concurrent-service-endpoint-syncs", settings.mirroring_concurrent_service_endpoint_syncs)
        check_endpoints("mirroring-max-endpoints-per-subset", settings.mirroring_max_endpoints_per_subset)
        self._limit = settings.mirroring_max_endpoints_per_subset
        self._metrics = MirroringMetrics(self._limit)
        self._metrics.register(self.context)
        self._endpoints = self.informers.informer(ENDPOINTS)
        self._services = self.informers.informer(SERVICES)
        slices = self.informers.informer(ENDPOINT_SLICES)
        self._recorder = EventRecorder(self.client, self.context.clock, "endpoint-slice-mirroring-controller")
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=settings.mirroring_concurrent_service_endpoint_syncs,
            backoff=BACKOFF,
            max_retries=MAX_RETRIES,
        )
        self._watch_endpoints()
        self._watch_services()
        self._own = ManagedSlices(
            CONTROLLER,
            slices,
            self._loop,
            Expectations(self.context.clock),
            batch_period=settings.mirroring_endpointslice_updates_batch_period,
        )
        return self._loop

    def _watch_endpoints(self) -> None:
        """Look at endpoints that may be mirrored, or might have been before they changed.

        Those of a service that selects pods change all the time, and are not mirrored before the service changes.
        """

        def selects(present: Object) -> bool:
            service = self._services.get(namespace_of(present), name_of(present))
            return service is not None and bool(selector_of(service))

        def enqueue(present: Object) -> None:
            if may_be_mirrored(present) and not selects(present):
                self._loop.enqueue(present)

        def on_update(old: Object, new: Object) -> None:
            if (may_be_mirrored(old) or may_be_mirrored(new)) and not selects(new):
                self._loop.enqueue(new)

        self._endpoints.add_handler(enqueue, on_update, enqueue)

    def _watch_services(self) -> None:
        """Look at the endpoints of services without a selector, and of those that get one or lose it."""

        def enqueue(service: Object) -> None:
            if not selector_of(service):
                self._loop.enqueue(service)

        def on_update(old: Object, new: Object) -> None:
            if bool(selector_of(old)) != bool(selector_of(new)):
                self._loop.enqueue(new)

        self._services.add_handler(enqueue, on_update, enqueue)

    def _sync(self, key: str) -> None:
        begun = self.context.clock.monotonic()
        try:
            self._mirror(key)
        finally:
            self._metrics.synced(self.context.clock.monotonic() - begun)

    def _mirror(self, key: str) -> None:
        namespace, name = split_key(key)
        slices = self._own.of(key)
        endpoints = self._endpoints.get(namespace, name)
        if endpoints is None or not is_mirrored(endpoints, self._services.get(namespace, name)):
            self._own.forget(key)
            self._metrics.forget(key)
            gone = [Delete.of(ENDPOINT_SLICES, each) for each in slices]
            perform(self.client, None, gone)
            self._metrics.written(gone)
            return
        if is_being_deleted(endpoints) or not self._own.settled(key):
            return
        found = wanted_slices(endpoints, self._limit)
        actions = _decide(endpoints, slices, found, self._limit)
        self._metrics.planned(key, slices, actions, found)
        self._own.perform(self.client, key, actions, self._recorder)
        self._metrics.written(actions)
