"""`ApiServer`: builds one API server from its options, out of the plugins that they name, and runs it.

Nothing here is global: two servers in one process share nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hyperkube_host.apiserver.assembly.access import build_access
from hyperkube_host.apiserver.assembly.controllers import build_controllers
from hyperkube_host.apiserver.assembly.foundation import LOGGER, Foundation, lay_foundation
from hyperkube_host.apiserver.assembly.model import Model, build_model
from hyperkube_host.apiserver.assembly.serving import build_serving
from hyperkube_host.apiserver.assembly.stores import open_stores
from hyperkube_host.apiserver.assembly.verbs import build_services
from hyperkube_host.apiserver.assembly.warm_state import WarmState
from hyperkube_host.apiserver.controlplane.component_status import ComponentHealth
from hyperkube_host.apiserver.health.post_start_hooks import Part
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.pipeline.insecure import InsecureHandler
from hyperkube_host.apiserver.storage.store_health import StoreAnswers, wait_for_store
from hyperkube_lib.protobuf import Protobuf
from hyperkube_lib.serving.turns import Turns
from hyperkube_lib.watch_cache.resource_cache import ANY_REVISION

from hyperkube.client.client import Client
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin.loader import one_look
from hyperkube.storage.store import QueuesWrites, Store, prefix_end
from hyperkube.storage.subscriptions import Subscribable

if TYPE_CHECKING:
    from hyperkube_host.apiserver.connect.ssh_keys import SshKeyInstaller
    from hyperkube_lib.serving.loop import EdgeLoop

MOST_WAITING = 2000
"""Writes that may wait for their turn; then clients are asked to come again."""


class ApiServer:
    """One API server.

    Args:
        options: typed, or flag name → value, with Kubernetes' spelling; what is missing has its default.
        clock: the cluster's time.
        store: replaces what ``--storage-backend`` names; the server does not close it.
        warm: of a server with the same plugins, if `store` is a fork of its store.
        loop: has the connections; what computes for long beside it gives way to it at times.
    """

    @one_look()
    def __init__(
        self,
        *,
        options: Options | Mapping[str, Any],
        clock: Clock | None = None,
        store: Store | None = None,
        warm: WarmState | None = None,
        loop: EdgeLoop | None = None,
    ) -> None:
        foundation = self._foundation = lay_foundation(
            options if isinstance(options, Options) else Options.of(dict(options)), clock or SystemClock(), loop
        )
        protobuf = Protobuf()
        self._stores = open_stores(foundation, store)
        self._model = build_model(foundation, self._stores, warm.cache if warm is not None else None)
        # Writes take turns on one thread where the store takes those of several at once.
        store = self._model.store
        self._turns = _turns_for(store) if isinstance(store, QueuesWrites) else None
        self._access = build_access(foundation, self._turns)
        self.components = _component_health(foundation, self._model)
        self._ssh_keys = _ssh_keys(foundation)
        services = build_services(foundation, self._model, self._access, protobuf, self.components, self._turns)
        self._ssh_tunnels = services.ssh_tunnels
        self._serving = build_serving(
            foundation, self._stores, self._model, self._access, services, protobuf, self._turns
        )
        self._controllers = build_controllers(
            foundation,
            self._model,
            self._access,
            services,
            self._serving,
            bootstrapped=warm is not None and warm.bootstrapped,
        )
        self.informers = foundation.informers
        self.hosts = foundation.hosts
        self.authentication = self._access.authentication
        self.cache = self._model.cache
        self.registry = self._model.registry
        self.health = self._serving.health
        self.paths = self._serving.paths
        self.handler = self._serving.handler
        self.insecure_handler = InsecureHandler(self.handler)
        self.request_path = foundation.request_path.get
        self._closed = threading.Event()
        for line in foundation.plugin_settings.without_effect():
            LOGGER.warning("%s", line)

    def client(self, user: UserInfo) -> Client:
        """Return the API as `user` sees it, without a socket."""
        return self._foundation.client(user)

    def start(self) -> None:
        """Begin to serve: follow the store, start the plugins, create what must exist."""
        hooks, controllers = self._serving.hooks, self._controllers
        patience = self._foundation.options.storage.storage_initialization_timeout
        for cache in self._model.caches:
            wait_for_store(cache.store, SystemClock(), patience)
            cache.start()
        hooks.finish(Part.STORES)
        controllers.bootstrap.run()
        controllers.definitions.start()
        controllers.api_services.start()
        hooks.finish(Part.REGISTRATIONS)
        self.hosts.start()
        hooks.finish(Part.PLUGINS)
        self._access.reload.start()
        self.informers.start()
        hooks.finish(Part.INFORMERS)
        for part in (controllers.flows, controllers.identity, self._ssh_keys):
            if part is not None:
                part.start()

    def warm_state(self) -> WarmState:
        """Return what a server on a fork of this one's store can begin with; the fork is made afterwards.

        Every resource that has objects is read into the cache first: once here and not in each of the forks.
        """
        for storage in {served.storage for served in self.registry.resources() if served.storage is not None}:
            if storage.store.count(storage.prefix, prefix_end(storage.prefix)):
                self.cache.wait_for(storage.cache, ANY_REVISION)
        return WarmState(self.cache.state(), self._controllers.bootstrap.done)

    def ready(self) -> bool:
        """Tell whether all readiness checks pass."""
        return self.health.ready()

    def announce_end(self) -> None:
        """Say that the server is no longer ready for new clients, while it goes on serving."""
        self._serving.shutting_down.set()

    def close(self) -> None:
        """Stop: end watches, close plugins and, if it is the server's own, the store; idempotent."""
        if self._closed.is_set():
            return
        self._closed.set()
        self.announce_end()
        if self._stores.encryption is not None:
            self._stores.encryption.close()
        self._controllers.close()
        self.informers.stop()
        self._foundation.threads.close()
        self._access.reload.close()
        if self._turns is not None:
            self._turns.close()
        for part in (self._ssh_keys, self._ssh_tunnels):
            if part is not None:
                part.close()
        self.hosts.close()
        for cache in self._model.caches:
            cache.close()
        if self._serving.audit is not None:
            self._serving.audit.close()
        if self._serving.handler.tracer is not None:
            self._serving.handler.tracer.close()
        if self._stores.opened is not None:
            self._model.store.close()


def _turns_for(store: QueuesWrites) -> Turns:
    """Return where writes take turns: on the loop, or beside it where what they read may come late."""
    if isinstance(store, Subscribable):
        from hyperkube_lib.serving.loop_turns import LoopTurns

        return LoopTurns(store, limit=MOST_WAITING, name="writes", logger=LOGGER)
    from hyperkube_lib.serving.thread_turns import ThreadTurns

    return ThreadTurns(store, limit=MOST_WAITING, name="writes", logger=LOGGER)


def _ssh_keys(foundation: Foundation) -> SshKeyInstaller | None:
    if not foundation.options.kubelets.ssh_user:
        return None
    from hyperkube_host.apiserver.connect.ssh_keys import key_installer

    return key_installer(foundation.options, foundation.context, foundation.clock)


def _component_health(foundation: Foundation, model: Model) -> ComponentHealth:
    options = foundation.options
    store = StoreAnswers(model.store.revision, foundation.clock, options.storage.etcd_healthcheck_timeout)
    return ComponentHealth(options.control_plane.component_statuses, store)
