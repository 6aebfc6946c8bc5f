"""The controller manager: builds the chosen controllers, gives each its identity, and runs them while it may.

All share one set of informers, which watch as the server's own user; each writes as its own service account. With
leader election nothing is built before the lock is held, and losing it ends the manager.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from hyperkube_lib.component_base.informer_pauses import pauses
from hyperkube_lib.compressed_cache import compressed
from hyperkube_lib.controller_manager.controller_descriptors import chosen, descriptors, gated
from hyperkube_lib.controller_manager.options import ManagerOptions
from hyperkube_lib.controller_manager.renewed_cache import RenewedCache
from hyperkube_lib.leader_election import LeaderElector, make_identity

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import CacheMaker, InformerFactory
from hyperkube.client.queue_metrics import QueueMeters, measuring
from hyperkube.hookspecs import controller as specs
from hyperkube.hookspecs.controller import Controller, ControllerHooks, RestingController
from hyperkube.kinds.resources import (
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    ENDPOINTS,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
)
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import UserInfo, service_account
from hyperkube.plugin import PluginContext, PluginHost, load
from hyperkube.plugin.loader import installed
from hyperkube.plugin.settings import PluginSettings

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric
    from prometheus_client.registry import Collector

NAMESPACE = "kube-system"
HOT = {PODS: 320, ENDPOINTS: 64, ENDPOINT_SLICES: 64, NODES: None, LEASES: None, NAMESPACES: None}
"""How many objects of a resource are dicts, see `compressed`: all of those that are few, or change all the time."""


GATHER = 0.1
PAUSE = {LEASES: 1.0} | dict.fromkeys((PODS, REPLICA_SETS, DEPLOYMENTS, ENDPOINTS, ENDPOINT_SLICES), GATHER)
"""For how many seconds after events of a resource others gather, as each reading costs more than an event.

Leases change a hundred times a second where there are a thousand nodes, which are given up after forty seconds; pods
change several times while they start, and what counts them changes with each. What comes after a rest is read at once.
"""


def _cache_of(client: Client) -> Callable[[GroupVersionResource], CacheMaker]:
    """Return what makes the caches of informers."""
    others = compressed(client, HOT)
    return lambda resource: RenewedCache if resource == LEASES else others(resource)


class PluginCollectors:
    """The collectors of controllers: a registry that needs none of Prometheus' modules before it is read."""

    def __init__(self) -> None:
        self._registered: list[Collector] = []

    def register(self, collector: Collector) -> None:
        """Take a collector of a controller that is being built."""
        self._registered.append(collector)

    def collect(self) -> Iterator[Metric]:
        """Return the families of all, in the order in which they were registered."""
        for collector in self._registered:
            yield from collector.collect()


@dataclass(slots=True)
class _Running:
    """One built controller, what it must have seen before it runs, and its thread."""

    name: str
    controller: Controller
    informers: InformerFactory
    thread: threading.Thread | None = None
    failed: bool = False


class ControllerManager:
    """The host of a family of controllers."""

    def __init__(
        self,
        *,
        client_for: Callable[[UserInfo], Client],
        options: ManagerOptions,
        clock: Clock | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        """Prepare; nothing is asked of the API yet.

        Args:
            client_for: makes a client that acts as the given user.
            options: which server it is, which controllers, whether they need the lock, and the flags of plugins.
            clock: the cluster's time.
            on_lost: called when leadership was lost: the process should end.

        Raises:
            UsageError: ``controllers`` names one that is not installed.
        """
        self._client_for = client_for
        self.spec = spec = options.spec
        """Which server it is."""
        self._options = options
        self._settings = PluginSettings(spec.name, spec.families, options.values, spec.flags)
        self._clock = clock or SystemClock()
        self.collectors = PluginCollectors()
        """What the controllers count themselves."""
        self._on_lost = on_lost
        self._logger = logging.getLogger("hyperkube.controllers")
        self._client = client_for(spec.user)
        self._lock = threading.Lock()
        self._closed = False
        self._ending = threading.Event()
        self._informers: InformerFactory | None = None
        self._host: PluginHost[ControllerHooks] | None = None
        self._running: list[_Running] = []
        self._elector: LeaderElector | None = None
        self.descriptors = descriptors(installed(spec.family))
        """What is known of the installed controllers."""
        self.queues = QueueMeters({alias: each.queue for alias, each in self.descriptors.items()})
        """What the controllers' queues count."""
        wanted = [name for name in chosen(self.descriptors, options.controllers) if name not in options.switched_off]
        self.names = gated(self.descriptors, wanted, options.gates)

    def start(self) -> None:
        """Run the controllers now or, with ``leader-elect``, once the lock is held; returns at once.

        Raises:
            PluginLoadFailed: a controller could not be imported or built (without leader election).
        """
        if self._options.election is None:
            self._run()
            return
        recorder = EventRecorder(self._client, self._clock, self.spec.name)
        self._elector = LeaderElector(
            self._client,
            self._clock,
            self._options.election,
            identity=make_identity(),
            on_started=self._run,
            on_stopped=self._stepped_down,
            recorder=recorder,
        )
        self._elector.start()

    def ready(self) -> bool:
        """Tell whether all controllers run, or another process leads and this one waits."""
        if self._elector is not None and not self._elector.is_leader:
            return not self._closed
        running = self._running
        return bool(self._host) and all(entry.informers.has_synced() and not entry.failed for entry in running)

    def wait_ready(self, timeout: float) -> bool:
        """Wait until all controllers' informers have synced, at most `timeout` seconds; tell whether they have."""
        deadline = self._clock.monotonic() + timeout
        while not self.ready():  # controllers may ask for more informers while they start
            if self._closed or self._clock.monotonic() >= deadline:
                return False
            self._clock.sleep(0.01)
        return True

    def close(self) -> None:
        """Stop all controllers and informers, and give the lock up if none works any more; idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._ending.set()
        ended = self._stop_controllers()
        if self._elector is not None:
            self._elector.stop(release=ended)
        if self._informers is not None:
            self._informers.stop()
        if self._host is not None:
            self._host.close()

    def health(self) -> dict[str, bool]:
        """Return, per controller, whether it runs: what ``/healthz`` shows."""
        return {entry.name: not entry.failed for entry in self._running}

    def configuration(self) -> dict[str, Any]:
        """Return what ``/configz`` shows: the options and which controllers are enabled."""
        return {"options": dict(self._options.values), "controllers": self.names}

    def leads(self) -> Mapping[str, bool]:
        """Return by its lock's name whether this process leads; empty without leader election."""
        return {} if self._elector is None else {self._elector.lock: self._elector.is_leader}

    def election_failure(self) -> str:
        """Return why this process should be restarted as leader, or the empty string."""
        return self._elector.overdue() if self._elector is not None else ""

    def _context(self, name: str) -> PluginContext:
        assert self._informers is not None  # noqa: S101  made by _run before any plugin
        return PluginContext(
            name=name,
            clock=self._clock,
            logger=logging.getLogger(f"hyperkube.controller.{name}"),
            gates=self._options.gates,
            settings=self._settings.of(self.spec.family, name),
            settings_of=self._settings.of,
            client=self._client_of(name),
            informers=self._informers,
            metrics=self.collectors,
        )

    def _client_of(self, name: str) -> Client:
        descriptor = self.descriptors[name]
        if descriptor.requires_special_handling:
            return self._client
        return self._client_for(service_account(NAMESPACE, descriptor.service_account))

    def _run(self) -> None:
        """Build all controllers, then start the informers, then let each work as soon as its informers are filled."""
        with self._lock:
            if self._closed:
                return
            self._informers = InformerFactory(
                self._client, self._clock, cache_of=_cache_of(self._client), pause_of=pauses(self._client, PAUSE)
            )
            with measuring(self.queues):
                host: PluginHost[ControllerHooks] = load(self.spec.family, self.names, specs, self._context)
                host.start()
                for name, plugin, built in zip(host.names, host.plugins, host.hook.controller_build(), strict=True):
                    self._running.append(_Running(name, built, plugin.informers))
            for line in self._settings.without_effect():
                self._logger.warning("%s", line)
            self._host = host
            self._informers.start()
            for index, entry in enumerate(self._running):
                delay = index * self._options.start_interval
                entry.thread = threading.Thread(
                    target=self._work, args=(entry, delay), name=f"controller-{entry.name}", daemon=True
                )
                entry.thread.start()

    def _work(self, entry: _Running, delay: float) -> None:
        if delay and self._clock.wait(self._ending, delay):
            return
        while not entry.informers.wait_synced(1.0):
            if self._closed:
                return
        try:
            if (resting := _resting(entry.controller)) is not None:
                resting.begin()
            else:
                entry.controller.run()
        except Exception:  # the others go on; health tells of this one
            entry.failed = True
            self._logger.exception("controller %r has ended", entry.name)

    def _stop_controllers(self) -> bool:
        """Stop all and wait a little for each; tell whether none works any more."""
        for entry in self._running:
            entry.controller.stop()
        ended = True
        for entry in self._running:
            if entry.thread is not None:
                entry.thread.join(2)
                ended = ended and not entry.thread.is_alive()
            if (resting := _resting(entry.controller)) is not None:
                ended = resting.wait_ended(2) and ended
        return ended

    def _stepped_down(self) -> None:
        if self._closed:
            return
        self._logger.error("leaderelection lost")
        if self._on_lost is not None:  # first: to wait for controllers would leave them the time to write
            self._on_lost()
        self._stop_controllers()


def _resting(controller: Controller) -> RestingController | None:
    return cast("RestingController", controller) if hasattr(controller, "begin") else None
