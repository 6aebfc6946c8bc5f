"""The loop over services."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from hyperkube_controller.service.balancers import (
    claim,
    counts_for_balancers,
    ensured,
    has_finalizer,
    identities,
    needs_cleanup,
    needs_update,
    released,
    targets,
    told_names,
    wanted_spec,
    wants_balancer,
)
from hyperkube_controller.service.metrics import ServiceMetrics
from hyperkube_lib.cloud_provider import CloudProvider

from hyperkube.client.actions import Action, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import ImplementedElsewhere, LoadBalancers, RetryLater, UpdatesHosts
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import NODES, SERVICES
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.errors import ApiError, HyperkubeError, NotFound
from hyperkube.machinery.objects import Object, key_of, split_key, uid_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

BACKOFF = Backoff(initial=5.0, cap=300.0)
NO_NODES = ("UnAvailableLoadBalancer", "There are no available nodes for LoadBalancer")


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
        self._sent_to: dict[str, dict[str, str]] = {}
        self._metrics = ServiceMetrics()
        self._metrics.register(self.context)
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=settings.concurrent_service_syncs,
            backoff=BACKOFF,
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
        if wants_balancer(service) or needs_cleanup(service):
            self._loop.enqueue(service)

    def _changed(self, old: Object, new: Object) -> None:
        if needs_update(old, new) or needs_cleanup(new):
            self._loop.enqueue(new)

    def _node_changed(self, old: Object, new: Object) -> None:
        if counts_for_balancers(old, new):
            self._nodes_changed(new)

    def _nodes_changed(self, _node: Object) -> None:
        for service in self._services.list():
            self._seen(service)

    def _sync(self, key: str) -> float | None:
        service = self._services.get(*split_key(key))
        held = self._made_for.get(key)
        if held is not None and uid_of(held) != uid_of(service or {}):
            self._delete_lost(key, held)
        if service is None:
            self._forget(key)
        elif wants_balancer(service):
            return self._ensure(key, service)
        elif needs_cleanup(service) or key in self._made_for:
            self._delete(key, service)
        return None

    def _forget(self, key: str) -> None:
        self._made_from.pop(key, None)
        self._made_for.pop(key, None)
        self._sent_to.pop(key, None)

    def _ensure(self, key: str, service: Object) -> float | None:
        """Make the balancer, or bring it up to date; do nothing if neither service nor nodes ask for that.

        Returns:
            the seconds after which the cloud wants to be asked again, or None.
        """
        nodes = targets(self._nodes.list())
        wanted = wanted_spec(service)
        if self._made_from.get(key) == wanted and has_finalizer(service):
            if self._sent_to.get(key) == identities(nodes) or self._update(key, service, nodes):
                return None
            del self._made_from[key]
        self._recorder.event(service, "Normal", "EnsuringLoadBalancer", "Ensuring load balancer")
        self._made_for[key] = service
        self._write(service, claim(service), "failed to add load balancer cleanup finalizer")
        if not nodes:
            self._recorder.event(service, "Warning", *NO_NODES)
        self._sent_to[key] = identities(nodes)
        try:
            balancer = self._balancers.ensure(self._cluster, service, nodes)
        except ImplementedElsewhere:
            self._made_from[key] = wanted
            return None
        except ApiError:
            raise
        except RetryLater as error:
            text = f"Error syncing load balancer: failed to ensure load balancer: {error}"
            self._recorder.event(service, "Warning", "SyncLoadBalancerFailed", text)
            return error.retry_after
        except HyperkubeError as error:
            self._failed(service, f"failed to ensure load balancer: {error}", error)
        self._write(service, ensured(service, balancer), "failed to update load balancer status")
        self._made_from[key] = wanted
        return None

    def _write(self, service: Object, actions: Sequence[Action], failure: str) -> None:
        """Carry out what tells the service of its balancer; the service may have gone meanwhile.

        Raises:
            NotYet: the server refused, which was told of.
        """
        try:
            perform(self.client, self._recorder, actions)
        except NotFound:
            return
        except ApiError as error:
            self._failed(service, f"{failure}: {error}", error)

    def _update(self, key: str, service: Object, nodes: Sequence[Object]) -> bool:
        """Tell an existing balancer of other nodes; return whether it heard, or is gone."""
        started = self.context.clock.monotonic()
        self._sent_to[key] = identities(nodes)
        try:
            if isinstance(self._balancers, UpdatesHosts):
                self._balancers.update(self._cluster, service, nodes)
            else:
                self._balancers.ensure(self._cluster, service, nodes)
        except ImplementedElsewhere:
            return True
        except ApiError:
            del self._sent_to[key]
            raise
        except HyperkubeError as error:
            return self._not_updated(service, nodes, error)
        finally:
            self._metrics.told(self.context.clock.monotonic() - started)
        if nodes:
            self._recorder.event(service, "Normal", "UpdatedLoadBalancer", "Updated load balancer with new hosts")
        else:
            self._recorder.event(service, "Warning", *NO_NODES)
        return True

    def _not_updated(self, service: Object, nodes: Sequence[Object], error: HyperkubeError) -> bool:
        """Tell that a balancer did not hear of its nodes; return True if that is so because it is gone."""
        try:
            if self._balancers.get(self._cluster, service) is None:
                return True
        except HyperkubeError as unknown:
            self.context.logger.warning(
                "failed to check if load balancer exists for service %s: %s", key_of(service), unknown
            )
        limited = f"[node names limited, total number of nodes: {len(nodes)}]"
        text = f"Error updating load balancer with new hosts {told_names(nodes)} {limited}, error: {error}"
        self._recorder.event(service, "Warning", "UpdateLoadBalancerFailed", text)
        self._metrics.failed()
        return False

    def _delete(self, key: str, service: Object) -> None:
        """Give the balancer back, then let the service go."""
        try:
            found = self._balancers.get(self._cluster, service)
        except HyperkubeError as error:
            self._failed(service, f"failed to check if load balancer exists before cleanup: {error}", error)
        if found is not None:
            self._recorder.event(service, "Normal", "DeletingLoadBalancer", "Deleting load balancer")
            try:
                self._balancers.ensure_deleted(self._cluster, service)
            except ImplementedElsewhere:
                self.context.logger.debug("the load balancer of service %s is another controller's", key)
            except ApiError:
                raise
            except HyperkubeError as error:
                self._failed(service, f"failed to delete load balancer: {error}", error)
        self._write(service, released(service), "failed to remove load balancer cleanup finalizer")
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
