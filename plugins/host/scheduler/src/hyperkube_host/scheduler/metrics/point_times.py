"""Takes the times of extension points, and of single plugins in every tenth attempt or so.

Source of the share: kubernetes ``pkg/scheduler/scheduler.go`` (pluginMetricsSamplePercent).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import random
from typing import TYPE_CHECKING, Protocol, TypeVar

from hyperkube_host.scheduler.metrics.evaluation_counts import EvaluationCounts
from hyperkube_host.scheduler.queue.cluster_events import QueueingHint, label

if TYPE_CHECKING:
    from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics

    from hyperkube.hookspecs.scheduling import PodInfo
    from hyperkube.machinery.objects import NodeName

SAMPLED = 0.1
EVERY_HINT = 16
REFUSING = frozenset(("PreFilter", "Filter", "Reserve", "Permit", "PreBind"))
"""Points at which a plugin may say no."""
Said = TypeVar("Said")


class CycleTimer(Protocol):
    """Takes the time of the parts of a cycle, which has no clock itself.

    Attributes:
        samples_plugins: whether this cycle's plugins are timed one by one, by `start_plugins` and `observe_plugin`.
    """

    samples_plugins: bool

    def begin(self) -> None:
        """Start a cycle, and the time of its first extension point."""

    def observe_point(self, point: str, status: str) -> None:
        """Record the time spent at an extension point, and start that of the next."""

    def start_plugins(self) -> None:
        """Plugins are about to be called."""

    def observe_plugin(self, plugin: str, point: str, answer: object) -> None:
        """A plugin was called and answered that; nothing else was done since the last one, or `start_plugins`."""

    def evaluated(self, names: tuple[str, ...], point: str) -> None:
        """Count the plugins that were evaluated at a point, beside those behind cached answers."""

    def evaluation_counts(self, filters: Iterable[str], scores: Iterable[str]) -> EvaluationCounts:
        """Return the counts of pods for which these plugins are evaluated."""


class NoTimer:
    """Takes no times."""

    samples_plugins = False

    def begin(self) -> None:
        """Do nothing."""

    def observe_point(self, point: str, status: str) -> None:
        """Do nothing."""

    def start_plugins(self) -> None:
        """Do nothing."""

    def observe_plugin(self, plugin: str, point: str, answer: object) -> None:
        """Do nothing."""

    def evaluated(self, names: tuple[str, ...], point: str) -> None:
        """Do nothing."""

    def evaluation_counts(self, filters: Iterable[str], scores: Iterable[str]) -> EvaluationCounts:
        """Return counts that are not collected."""
        return EvaluationCounts(filters, scores)


class PointTimes:
    """Takes the times of one profile's extension points; implements `CycleTimer`. For one thread."""

    def __init__(self, metrics: SchedulerMetrics, profile: str, share: float = SAMPLED) -> None:
        """Take where times go, and the share of cycles whose plugins are timed one by one."""
        self._metrics = metrics
        self._profile = profile
        self._share = share
        self._since = self._marked = 0.0
        self._noted: list[tuple[tuple[str, str, str], float]] = []
        self.samples_plugins = False

    def begin(self) -> None:
        """Start a cycle, and the time of its first extension point."""
        self.samples_plugins = random() < self._share  # noqa: S311  which cycles are timed is no secret
        self._since = self._metrics.clock.monotonic()

    def observe_point(self, point: str, status: str) -> None:
        """Record the time spent at an extension point, and start that of the next."""
        now = self._metrics.clock.monotonic()
        self._metrics.point(point, status, self._profile, now - self._since)
        self._since = now
        if self._noted:
            noted, self._noted = self._noted, []
            self._metrics.plugins(noted)

    def start_plugins(self) -> None:
        """Plugins are about to be called."""
        self._marked = self._metrics.clock.monotonic()

    def observe_plugin(self, plugin: str, point: str, answer: object) -> None:
        """A plugin was called, and answered that."""
        now = self._metrics.clock.monotonic()
        refused = point in REFUSING and _refuses(answer)
        self._noted.append(((plugin, point, "Unschedulable" if refused else "Success"), now - self._marked))
        self._marked = now

    def ask(
        self, plugin: str, point: str, call: Callable[[PodInfo, NodeName], Said], pod: PodInfo, node: NodeName
    ) -> Said:
        """Call a plugin about a pod that has its node, and take its time if this cycle's are taken."""
        if not self.samples_plugins:
            return call(pod, node)
        self.start_plugins()
        try:
            answer = call(pod, node)
        except BaseException:
            self._noted.append(((plugin, point, "Error"), self._metrics.clock.monotonic() - self._marked))
            raise
        self.observe_plugin(plugin, point, answer)
        return answer

    def evaluated(self, names: tuple[str, ...], point: str) -> None:
        """Count the plugins that were evaluated at a point."""
        if names:
            self._metrics.evaluated(names, point, self._profile)

    def evaluation_counts(self, filters: Iterable[str], scores: Iterable[str]) -> EvaluationCounts:
        """Return the counts of pods for which these plugins are evaluated; the same one for the same plugins."""
        return self._metrics.evaluation_counts(tuple(filters), tuple(scores), self._profile)


class TimedQueueingHint:
    """A queueing hint that times the answers of another now and then."""

    def __init__(self, queueing_hint: QueueingHint, metrics: SchedulerMetrics) -> None:
        """Take the hint to ask, and where its times go."""
        self._queueing_hint = queueing_hint
        self._metrics = metrics
        self._ask_filters = 0

    def __call__(self, plugin: str, event: str) -> bool:
        """Return the other's answer; a count that two threads lose costs one measurement."""
        self._ask_filters += 1
        if self._ask_filters % EVERY_HINT:
            return self._queueing_hint(plugin, event)
        since = self._metrics.clock.monotonic()
        helps = self._queueing_hint(plugin, event)
        hint = "Queue" if helps else "QueueSkip"
        self._metrics.hint(plugin, label(event), hint, self._metrics.clock.monotonic() - since)
        return helps


def _refuses(answer: object) -> bool:
    """Tell whether a plugin's answer lets the pod go nowhere: a reason, or a mask without a node."""
    mask = getattr(answer, "mask", None)
    if mask is not None:
        return not mask.any()
    if isinstance(answer, str):
        return bool(answer)
    return bool(getattr(answer, "reason", "")) or getattr(answer, "allowed", True) is False
