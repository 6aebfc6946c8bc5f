"""service: asks the cloud for a load balancer for each Service of type LoadBalancer, and gives it back.

Which cloud says ``--cloud-provider``; without one, or with one that has no load balancers, nothing happens. Services
with a ``loadBalancerClass`` are left to the implementation of that class.
Source: kubernetes ``staging/src/k8s.io/cloud-provider/controllers/service/controller.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from hyperkube_lib.cloud_provider import CloudProvider

from hyperkube.client.actions import Action, Emit, Patch, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import ImplementedElsewhere, LoadBalancers, UpdatesHosts
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import NODES, SERVICES
from hyperkube.machinery.errors import ApiError, HyperkubeError
from hyperkube.machinery.objects import (
    Object,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

FINALIZER = "service.kubernetes.io/load-balancer-cleanup"
EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers"
DOOMED = "ToBeDeletedByClusterAutoscaler"
_TOLD: dict[str, tuple[str, Any]] = {
    "loadBalancerSourceRanges": ("LoadBalancerSourceRanges", []),
    "loadBalancerIP": ("LoadbalancerIP", ""),
    "externalIPs": ("ExternalIP", []),
    "externalTrafficPolicy": ("ExternalTrafficPolicy", ""),
    "healthCheckNodePort": ("HealthCheckNodePort", 0),
}
"""Part of a service's spec → the reason of the event that tells of its change, and what it is where it is not set."""
NO_NODES = ("UnAvailableLoadBalancer", "There are no available nodes for LoadBalancer")


def wants_balancer(service: Object) -> bool:
    """Tell whether the service is to have a balancer of the cloud."""
    spec = service.get("spec") or {}
    return spec.get("type") == "LoadBalancer" and not spec.get("loadBalancerClass") and not is_being_deleted(service)


def has_finalizer(service: Object) -> bool:
    """Tell whether the service may have a balancer that is to be given back."""
    return FINALIZER in (metadata(service).get("finalizers") or [])


def targets(nodes: Iterable[Object]) -> list[Object]:
    """Return the nodes that balancers send traffic to.

    Whether a node is ready does not count: balancers check that themselves, and faster.
    """
    return [
        node
        for node in nodes
        if not is_being_deleted(node)
        and EXCLUDED not in labels_of(node)
        and not any(taint.get("key") == DOOMED for taint in (node.get("spec") or {}).get("taints") or [])
    ]


def wanted_spec(service: Object) -> Object:
    """Return what of a service its balancer is made from."""
    spec, meta = service.get("spec") or {}, metadata(service)
    parts = ("type", "loadBalancerIP", "loadBalancerSourceRanges", "externalIPs", "ports", "sessionAffinity",
             "sessionAffinityConfig", "externalTrafficPolicy", "healthCheckNodePort", "ipFamilies", "ipFamilyPolicy",
             "loadBalancerClass", "allocateLoadBalancerNodePorts")  # fmt: skip
    return {part: spec.get(part) for part in parts} | {"annotations": meta.get("annotations"), "uid": uid_of(service)}


def change(old: Object, new: Object) -> tuple[str, str] | None:
    """Return (reason, message) of the event that tells what of a service changed for its balancer, None for nothing."""
    if wants_balancer(old) != wants_balancer(new):
        return "Type", f"{_part(old, 'type')} -> {_part(new, 'type')}"
    if not wants_balancer(new):
        return None
    for part, (reason, unset) in _TOLD.items():
        before, after = _part(old, part, unset), _part(new, part, unset)
        if before != after:
            return reason, _external_ips(before, after) if part == "externalIPs" else f"{_go(before)} -> {_go(after)}"
    return None


def _part(service: Object, part: str, unset: Any = "") -> Any:
    return (service.get("spec") or {}).get(part) or unset


def _external_ips(before: list[str], after: list[str]) -> str:
    if len(before) != len(after):
        return f"Count: {len(before)} -> {len(after)}"
    return f"Added: {next(address for address, was in zip(after, before, strict=True) if address != was)}"


def _go(value: Any) -> str:
    """Return a list or a plain value as Go prints it."""
    return f"[{' '.join(value)}]" if isinstance(value, list) else str(value)


def claim(service: Object) -> list[Action]:
    """Return what makes sure, before a balancer exists, that the service does not go without giving it back."""
    if has_finalizer(service):
        return []
    return [_patch(service, finalizers=[*(metadata(service).get("finalizers") or []), FINALIZER])]


def ensured(service: Object, balancer: Object) -> list[Action]:
    """Return what tells the service of its balancer."""
    told = Emit(service, "Normal", "EnsuredLoadBalancer", "Ensured load balancer")
    if balancer == ((service.get("status") or {}).get("loadBalancer") or {}):
        return [told]
    patch = {"metadata": {"uid": uid_of(service)}, "status": {"loadBalancer": balancer}}
    return [told, Patch(SERVICES, name_of(service), patch, namespace_of(service), "status")]


def released(service: Object) -> list[Action]:
    """Return what lets a service go whose balancer was given back."""
    left = [name for name in metadata(service).get("finalizers") or [] if name != FINALIZER]
    meta = {"uid": uid_of(service), "finalizers": left}
    patch = {"metadata": meta, "status": {"loadBalancer": {"ingress": None}}}
    return [
        Patch(SERVICES, name_of(service), patch, namespace_of(service), "status"),
        Emit(service, "Normal", "DeletedLoadBalancer", "Deleted load balancer"),
    ]


def _patch(service: Object, *, finalizers: list[str]) -> Patch:
    patch = {"metadata": {"uid": uid_of(service), "finalizers": finalizers}}
    return Patch(SERVICES, name_of(service), patch, namespace_of(service), "status")


class Settings(Record):
    """The cloud that makes balancers, the cluster's name in it, and how many services are synced at once."""

    cloud_provider: str = ""
    cluster_name: str = "kubernetes"
    concurrent_service_syncs: int = 1


class Service(Plugin):
    """Keeps balancers for services."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            PluginNotFound: the cloud provider is not installed.
        """
        settings = self.settings(Settings)
        self._cluster = settings.cluster_name
        self._recorder = EventRecorder(self.client, self.context.clock, "service-controller")
        self._made_from: dict[str, Object] = {}
        self._made_for: dict[str, Object] = {}
        self._sent_to: dict[str, list[str]] = {}
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=settings.concurrent_service_syncs,
        )
        self._provider = CloudProvider(self.context)
        cloud = self._provider.build(settings.cloud_provider)
        if cloud is None or cloud.load_balancers is None:
            return self._loop
        self._balancers: LoadBalancers = cloud.load_balancers
        self._services = self.informers.informer(SERVICES)
        self._nodes = self.informers.informer(NODES)
        self._services.add_handler(self._seen, self._changed, self._loop.enqueue)
        self._nodes.add_handler(self._nodes_changed, self._node_changed, self._nodes_changed)
        return self._loop

    def close(self) -> None:
        """Close the cloud provider."""
        self._provider.close()

    def _seen(self, service: Object) -> None:
        if wants_balancer(service) or has_finalizer(service):
            self._loop.enqueue(service)

    def _changed(self, old: Object, new: Object) -> None:
        told = None if is_being_deleted(new) else change(old, new)
        if told is not None:
            self._recorder.event(new, "Normal", *told)
        self._seen(new)

    def _node_changed(self, old: Object, new: Object) -> None:
        provider_ids = [(node.get("spec") or {}).get("providerID") for node in (old, new)]
        if bool(targets([old])) != bool(targets([new])) or provider_ids[0] != provider_ids[1]:
            self._nodes_changed(new)

    def _nodes_changed(self, _node: Object) -> None:
        for service in self._services.list():
            self._seen(service)

    def _sync(self, key: str) -> None:
        service = self._services.get(*split_key(key))
        held = self._made_for.get(key)
        if held is not None and uid_of(held) != uid_of(service or {}):
            self._delete_lost(key, held)
        if service is None:
            self._forget(key)
        elif wants_balancer(service):
            self._ensure(key, service)
        elif has_finalizer(service):
            self._delete(key, service)

    def _forget(self, key: str) -> None:
        for known in (self._made_from, self._made_for, self._sent_to):
            known.pop(key, None)

    def _ensure(self, key: str, service: Object) -> None:
        """Make the balancer, or bring it up to date; do nothing if neither service nor nodes ask for that."""
        nodes = targets(self._nodes.list())
        names = [name_of(node) for node in nodes]
        wanted = wanted_spec(service)
        if self._made_from.get(key) == wanted and has_finalizer(service):
            if self._sent_to.get(key) != names:
                self._update(key, service, nodes)
            return
        perform(
            self.client, self._recorder, [Emit(service, "Normal", "EnsuringLoadBalancer", "Ensuring load balancer")]
        )
        perform(self.client, self._recorder, claim(service))
        if not nodes:
            self._recorder.event(service, "Warning", *NO_NODES)
        try:
            balancer = self._balancers.ensure(self._cluster, service, nodes)
        except ImplementedElsewhere:
            return
        except ApiError:
            raise
        except HyperkubeError as error:
            self._failed(service, f"failed to ensure load balancer: {error}", error)
        perform(self.client, self._recorder, ensured(service, balancer))
        self._made_from[key], self._made_for[key], self._sent_to[key] = wanted, service, names

    def _update(self, key: str, service: Object, nodes: list[Object]) -> None:
        """Tell an existing balancer of other nodes."""
        names = [name_of(node) for node in nodes]
        try:
            if isinstance(self._balancers, UpdatesHosts):
                self._balancers.update(self._cluster, service, nodes)
            else:
                self._balancers.ensure(self._cluster, service, nodes)
        except ImplementedElsewhere:
            self._sent_to[key] = names
            return
        except ApiError:
            raise
        except HyperkubeError as error:
            text = f"Error updating load balancer with new hosts [{' '.join(names)}]: {error}"
            self._recorder.event(service, "Warning", "UpdateLoadBalancerFailed", text)
            raise NotYet(text) from error
        if nodes:
            self._recorder.event(service, "Normal", "UpdatedLoadBalancer", "Updated load balancer with new hosts")
        else:
            self._recorder.event(service, "Warning", *NO_NODES)
        self._sent_to[key] = names

    def _delete(self, key: str, service: Object) -> None:
        """Give the balancer back, then let the service go."""
        self._recorder.event(service, "Normal", "DeletingLoadBalancer", "Deleting load balancer")
        try:
            self._balancers.ensure_deleted(self._cluster, service)
        except ImplementedElsewhere:
            return
        except ApiError:
            raise
        except HyperkubeError as error:
            self._failed(service, f"failed to delete load balancer: {error}", error)
        perform(self.client, self._recorder, released(service))
        self._forget(key)

    def _delete_lost(self, key: str, service: Object) -> None:
        """Give back the balancer of a service that went without waiting for that: its finalizer was taken off."""
        self._recorder.event(service, "Normal", "DeletingLoadBalancer", "Deleting load balancer")
        try:
            self._balancers.ensure_deleted(self._cluster, service)
        except ImplementedElsewhere:
            self._forget(key)
            return
        except HyperkubeError as error:
            text = f"Error deleting load balancer: {error}"
            self._recorder.event(service, "Warning", "DeleteLoadBalancerFailed", text)
            raise NotYet(text) from error
        self._recorder.event(service, "Normal", "DeletedLoadBalancer", "Deleted load balancer")
        self._forget(key)

    def _failed(self, service: Object, why: str, error: HyperkubeError) -> NoReturn:
        text = f"Error syncing load balancer: {why}"
        self._recorder.event(service, "Warning", "SyncLoadBalancerFailed", text)
        raise NotYet(text) from error
