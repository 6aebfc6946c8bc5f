"""route: makes routes in the cloud to the pod range of each node, and says on the node whether they are there.

Runs with ``--allocate-node-cidrs`` and ``--configure-cloud-routes``. A route that leads into ``--cluster-cidr`` and
to no node of that range is deleted.
Source: kubernetes ``staging/src/k8s.io/cloud-provider/controllers/route/route_controller.go``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from datetime import datetime

from hyperkube_lib.cloud_provider import CloudProvider

from hyperkube.client.actions import Patch, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Route as CloudRoute
from hyperkube.hookspecs.cloud import Routes
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import condition, with_condition
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, HyperkubeError, UsageError
from hyperkube.machinery.objects import NodeName, Object, name_of, uid_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

KEY = "routes"
Range = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Changes:
    """What is wrong with the cloud's routes: `missing` with the node of each, and `superfluous`."""

    missing: tuple[tuple[Object, CloudRoute], ...]
    superfluous: tuple[CloudRoute, ...]


def pod_ranges(node: Object) -> list[str]:
    """Return the ranges that a node's pods have their addresses from."""
    return list((node.get("spec") or {}).get("podCIDRs") or [])


def compare(nodes: Sequence[Object], routes: Iterable[CloudRoute], ranges: Sequence[Range]) -> Changes:
    """Compare the routes that are there with those that nodes need; routes outside of `ranges` are another's."""
    wanted = {(NodeName(name_of(node)), cidr): node for node in nodes for cidr in pod_ranges(node)}
    there = list(routes)
    held = {(route.target, route.destination) for route in there}
    missing = tuple(
        (node, CloudRoute(route_name(node, cidr), name, cidr))
        for (name, cidr), node in wanted.items()
        if (name, cidr) not in held
    )
    superfluous = tuple(
        route
        for route in there
        if (route.target, route.destination) not in wanted and _is_ours(route.destination, ranges)
    )
    return Changes(missing, superfluous)


def route_name(node: Object, cidr: str) -> str:
    """Return the name for a new route: the node's uid, as Kubernetes' hint; with the range if it has several."""
    several = len(pod_ranges(node)) > 1
    return f"{uid_of(node)}-{cidr.translate(_PLAIN)}" if several else uid_of(node)


_PLAIN = str.maketrans(".:/", "---")


def _is_ours(destination: str, ranges: Sequence[Range]) -> bool:
    try:
        network = ipaddress.ip_network(destination, strict=False)
    except ValueError:
        return False
    return any(network.version == own.version and network.overlaps(own) for own in ranges)


def network_condition(node: Object, now: datetime, *, created: bool) -> list[Patch]:
    """Return what tells on the node whether its routes are there; nothing if it says so already."""
    status = node.get("status") or {}
    old = condition(status, "NetworkUnavailable")
    wanted = "False" if created else "True"
    if old is not None and old.get("status") == wanted:
        return []
    reason = "RouteCreated" if created else "NoRouteCreated"
    message = "RouteController created a route" if created else "RouteController failed to create a route"
    new = {"type": "NetworkUnavailable", "status": wanted, "reason": reason, "message": message}
    conditions = with_condition(status.get("conditions") or (), new, now)
    return [Patch(NODES, name_of(node), {"status": {"conditions": conditions}}, subresource="status")]


class Settings(Record):
    """The cloud, the cluster's name and pod ranges in it, and the seconds between two looks at its routes."""

    cloud_provider: str = ""
    cluster_name: str = "kubernetes"
    cluster_cidr: str = ""
    allocate_node_cidrs: bool = False
    configure_cloud_routes: bool = True
    route_reconciliation_period: float = 10.0


class Route(Plugin):
    """Keeps the routes of all nodes."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            PluginNotFound: the cloud provider is not installed.
            UsageError: ``--cluster-cidr`` is missing or wrong.
        """
        settings = self.settings(Settings)
        self._cluster = settings.cluster_name
        self._period = settings.route_reconciliation_period
        self._recorder = EventRecorder(self.client, self.context.clock, "route_controller")
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._provider = CloudProvider(self.context)
        if not (settings.allocate_node_cidrs and settings.configure_cloud_routes):
            return self._loop
        cloud = self._provider.build(settings.cloud_provider)
        if cloud is None or cloud.routes is None:
            return self._loop
        self._ranges = _cluster_ranges(settings.cluster_cidr)
        self._routes: Routes = cloud.routes
        self._nodes = self.informers.informer(NODES)
        self._nodes.add_handler(self._seen, self._changed, self._seen)
        return self._loop

    def close(self) -> None:
        """Close the cloud provider."""
        self._provider.close()

    def _seen(self, _node: Object) -> None:
        self._loop.queue.add(KEY)

    def _changed(self, old: Object, new: Object) -> None:
        if pod_ranges(old) != pod_ranges(new):
            self._loop.queue.add(KEY)

    def _sync(self, _key: str) -> float:
        nodes = self._nodes.list()
        try:
            routes = self._routes.list(self._cluster)
        except ApiError:
            raise
        except HyperkubeError as error:
            self.context.logger.warning("Couldn't reconcile node routes: error listing routes: %s", error)
            raise NotYet(str(error)) from error
        changes = compare(nodes, routes, self._ranges)
        for route in changes.superfluous:
            self._delete(route)
        failed = {name_of(node) for node, route in changes.missing if not self._create(node, route)}
        now = self.context.clock.now()
        for node in nodes:
            if pod_ranges(node):
                perform(self.client, None, network_condition(node, now, created=name_of(node) not in failed))
        return self._period

    def _create(self, node: Object, route: CloudRoute) -> bool:
        try:
            self._routes.create(self._cluster, route)
        except HyperkubeError as error:
            text = f"Could not create route {route.name} {route.destination} for node {route.target}: {error}"
            self._recorder.event(node, "Warning", "FailedToCreateRoute", text)
            return False
        return True

    def _delete(self, route: CloudRoute) -> None:
        try:
            self._routes.delete(self._cluster, route)
        except HyperkubeError as error:
            self.context.logger.warning("Could not delete route %s %s: %s", route.name, route.destination, error)


def _cluster_ranges(text: str) -> list[Range]:
    if not text:
        raise UsageError("--cluster-cidr must be set when routes are made in the cloud (--configure-cloud-routes)")
    return [ipaddress.ip_network(part, strict=False) for part in text.split(",")]
