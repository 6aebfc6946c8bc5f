"""The profiles in use, by scheduler name, and their replacement by others while scheduling goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from hyperkube_host.scheduler.config.configuration import Configuration
from hyperkube_host.scheduler.framework.runtime import FAMILY, Framework, new_framework
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.metrics.point_times import PointTimes
from hyperkube_host.scheduler.profile.linear_algebra import without_threads

from hyperkube.client.client import Client
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.scheduling import FrameworkHandle, SchedulingPlugin
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.plugin import PluginNotFound
from hyperkube.plugin.loader import installed, one_look

if TYPE_CHECKING:
    from hyperkube_host.scheduler.framework.algorithm import Algorithm

DEFAULT_NAME = "default-scheduler"
NO_PROFILE = "no profile"
"""What keeps a pod back whose scheduler's name no profile has any more."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A loaded profile and what decides with it."""

    framework: Framework
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
        pods: FrameworkHandle | None = None,
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
        self._loaded: dict[str, Profile] | None = None

    def loaded(self) -> dict[str, Profile]:
        """Return the profiles by scheduler name, loaded now if they were not.

        Raises:
            UsageError: a plugin cannot be built, or is named for something that it does not do.
        """
        loaded = self._loaded
        if loaded is not None:  # replaced as a whole, so that it needs no lock
            return loaded
        with self._lock:
            if self._loaded is None:
                with one_look(), without_threads():
                    self._loaded = self._load(self.configuration)
            return self._loaded

    def replace(self, configuration: Configuration) -> None:
        """Use other profiles from the next pod on.

        Raises:
            UsageError: the new configuration is wrong; the old one stays.
        """
        _check_installed(configuration)
        fresh = self._load(configuration)
        with self._lock:
            before, self._loaded = self._loaded or {}, fresh
            self.configuration = configuration
        for old in before.values():
            old.framework.host.close()

    def of(self, pod: Object) -> Profile | None:
        """Return the profile that a pod names, or None."""
        return self.loaded().get(pod.get("spec", {}).get("schedulerName") or DEFAULT_NAME)

    def handles(self, pod: Object) -> bool:
        """Tell whether a pod names one of the profiles."""
        return self.of(pod) is not None

    def sort_key(self, pod: Object, queued_at: float) -> Any:
        """Return the pod's place in the queue, which all profiles share."""
        return next(iter(self.loaded().values())).framework.queue_sort.sort_key(pod, queued_at)

    def gate(self, pod: Object) -> str:
        """Return the plugin because of which a pod must not be scheduled yet, or the empty string."""
        profile = self.of(pod)
        if profile is None:
            return NO_PROFILE
        return next((name for name, plugin in profile.framework.pre_enqueue if plugin.pre_enqueue(pod)), "")

    def queueing_hint(self, plugin: str, change: str) -> bool:
        """Tell whether a change of that kind may help a pod that the plugin refused."""
        for profile in self.loaded().values():
            if plugin in profile.framework.host.names:
                found = profile.framework.host.get(plugin)
                if isinstance(found, SchedulingPlugin) and found.events_to_register is not None:
                    return change in found.events_to_register
                return True
        return True

    def close(self) -> None:
        """Close all plugins."""
        with self._lock:
            for profile in (self._loaded or {}).values():
                profile.framework.host.close()
            self._loaded = {}

    def _load(self, configuration: Configuration) -> dict[str, Profile]:
        from hyperkube_host.scheduler.framework.algorithm import Algorithm

        loaded: dict[str, Profile] = {}
        gates = self._options.get("feature-gates") or {}
        for name, provider in configuration.profiles.items():
            framework = new_framework(
                provider, client=self._client, informers=self._informers, clock=self._clock, options=self._options,
                gates=gates, wake=self._wake, pods=self._pods,
            )  # fmt: skip
            timer = PointTimes(self._metrics, name)
            algorithm = Algorithm(
                framework.filters, framework.scores, self._random(), timer, checks_all=provider.checks_all
            )
            loaded[name] = Profile(framework, algorithm)
            framework.host.start()
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
