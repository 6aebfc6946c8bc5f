"""The profiles in use, by scheduler name, and their replacement by others while scheduling goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from hyperkube_host.scheduler.config.configuration import Configuration
from hyperkube_host.scheduler.framework.algorithm import Algorithm
from hyperkube_host.scheduler.framework.runtime import FAMILY, Profile, build_profile
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.metrics.point_times import PointTimes

from hyperkube.client.client import Client
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.scheduling import PodsInHand, SchedulingPlugin
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.plugin import PluginNotFound
from hyperkube.plugin.loader import installed

DEFAULT_NAME = "default-scheduler"
NO_PROFILE = "no profile"
"""What keeps a pod back whose scheduler's name no profile has any more."""


@dataclass(frozen=True, slots=True)
class Running:
    """A loaded profile and what decides with it."""

    profile: Profile
    algorithm: Algorithm


class Profiles:
    """All profiles of a scheduler; loaded at first need, because their plugins import numpy."""

    def __init__(
        self,
        configuration: Configuration,
        client: Client,
        informers: InformerFactory,
        clock: Clock,
        options: Mapping[str, Any],
        wake: Callable[[str], None],
        pods: PodsInHand | None = None,
        metrics: SchedulerMetrics | None = None,
        random: Callable[[], Random] = Random,
    ) -> None:
        """Check that the plugins named are installed; load none of them yet.

        Raises:
            UsageError: a plugin is not installed.
        """
        _check_installed(configuration)
        self.configuration = configuration
        self._client = client
        self._informers = informers
        self._clock = clock
        self._options = options
        self._wake = wake
        self._metrics = metrics or SchedulerMetrics(clock)
        self._pods = pods
        self._random = random
        self._lock = threading.Lock()
        self._running: dict[str, Running] | None = None

    def running(self) -> dict[str, Running]:
        """Return the profiles by scheduler name, loaded now if they were not.

        Raises:
            UsageError: a plugin cannot be built, or is named for something that it does not do.
        """
        with self._lock:
            if self._running is None:
                self._running = self._load(self.configuration)
            return self._running

    def replace(self, configuration: Configuration) -> None:
        """Use other profiles from the next pod on.

        Raises:
            UsageError: the new configuration is wrong; the old one stays.
        """
        _check_installed(configuration)
        fresh = self._load(configuration)
        with self._lock:
            before, self._running = self._running or {}, fresh
            self.configuration = configuration
        for old in before.values():
            old.profile.host.close()

    def of(self, pod: Object) -> Running | None:
        """Return the profile that a pod names, or None."""
        return self.running().get(pod.get("spec", {}).get("schedulerName") or DEFAULT_NAME)

    def handles(self, pod: Object) -> bool:
        """Tell whether a pod names one of the profiles."""
        return self.of(pod) is not None

    def sort_key(self, pod: Object, queued_at: float) -> Any:
        """Return the pod's place in the queue, which all profiles share."""
        return next(iter(self.running().values())).profile.queue_sort.sort_key(pod, queued_at)

    def gate(self, pod: Object) -> str:
        """Return the plugin because of which a pod must not be tried yet, or the empty string."""
        running = self.of(pod)
        if running is None:
            return NO_PROFILE
        return next((name for name, plugin in running.profile.pre_enqueue if plugin.pre_enqueue(pod)), "")

    def wakes(self, plugin: str, change: str) -> bool:
        """Tell whether a change of that kind may help a pod that the plugin refused."""
        for running in self.running().values():
            if plugin in running.profile.host.names:
                found = running.profile.host.get(plugin)
                if isinstance(found, SchedulingPlugin) and found.wakes_on is not None:
                    return change in found.wakes_on
                return True
        return True

    def close(self) -> None:
        """Close all plugins."""
        with self._lock:
            for running in (self._running or {}).values():
                running.profile.host.close()
            self._running = {}

    def _load(self, configuration: Configuration) -> dict[str, Running]:
        loaded: dict[str, Running] = {}
        gates = self._options.get("feature-gates") or {}
        for name, provider in configuration.profiles.items():
            profile = build_profile(
                provider, client=self._client, informers=self._informers, clock=self._clock, options=self._options,
                gates=gates, wake=self._wake, pods=self._pods,
            )  # fmt: skip
            laps = PointTimes(self._metrics, name)
            algorithm = Algorithm(profile.filters, profile.scores, self._random(), laps, checks_all=provider.checks_all)
            loaded[name] = Running(profile, algorithm)
            profile.host.start()
        return loaded


def _check_installed(configuration: Configuration) -> None:
    known = installed(FAMILY)
    sorts = {provider.queue_sort for provider in configuration.profiles.values()}
    if len(sorts) > 1:
        raise UsageError(f"all profiles must use the same queue sort plugin, not {', '.join(sorted(sorts))}")
    for provider in configuration.profiles.values():
        for plugin in provider.plugin_names():
            if plugin not in known:
                raise PluginNotFound(FAMILY, plugin, known)
