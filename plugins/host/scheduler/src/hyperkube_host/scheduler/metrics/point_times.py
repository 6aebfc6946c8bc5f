"""Takes the times of extension points, and of single plugins in every tenth attempt or so.

Source of the share: kubernetes ``pkg/scheduler/scheduler.go`` (pluginMetricsSamplePercent).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import random
from typing import TYPE_CHECKING, Protocol, TypeVar

from hyperkube_host.scheduler.metrics.evaluation_counts import Votes
from hyperkube_host.scheduler.queue.scheduling_queue import EVENTS

if TYPE_CHECKING:
    from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics

    from hyperkube.hookspecs.scheduling import PodInfo
    from hyperkube.machinery.objects import NodeName

SAMPLED = 0.1
EVERY_HINT = 16
REFUSING = frozenset(("PreFilter", "Filter", "Reserve", "Permit", "PreBind"))
"""Points at which a plugin may say no."""
Said = TypeVar("Said")


class Laps(Protocol):
    """Takes the time of the parts of a cycle, which has no clock itself.

    Attributes:
        samples: whether this cycle's plugins are timed one by one: whoever calls them tells `mark` and `note` then.
    """

    samples: bool

    def begin(self) -> None:
        """Start a cycle and its first lap."""

    def lap(self, point: str, status: str) -> None:
        """End a lap, which was spent at an extension point, and start the next."""

    def mark(self) -> None:
        """Plugins are about to be called."""

    def note(self, plugin: str, point: str, said: object) -> None:
        """A plugin was called, and said that; nothing else was done since the last one, or since `mark`."""

    def evaluated(self, names: tuple[str, ...], point: str) -> None:
        """Note the plugins that had a say at a point, beside those behind a template's kept answers."""

    def votes(self, filters: Iterable[str], scores: Iterable[str]) -> Votes:
        """Return where to count the pods at which these plugins have a say."""


class NoLaps:
    """Takes no times."""

    samples = False

    def begin(self) -> None:
        """Do nothing."""

    def lap(self, point: str, status: str) -> None:
        """Do nothing."""

    def mark(self) -> None:
        """Do nothing."""

    def note(self, plugin: str, point: str, said: object) -> None:
        """Do nothing."""

    def evaluated(self, names: tuple[str, ...], point: str) -> None:
        """Do nothing."""

    def votes(self, filters: Iterable[str], scores: Iterable[str]) -> Votes:
        """Return one that nobody reads."""
        return Votes(filters, scores)


class PointTimes:
    """Takes the times of one profile's extension points; implements `Laps`. For one thread."""

    def __init__(self, metrics: SchedulerMetrics, profile: str, share: float = SAMPLED) -> None:
        """Take where times go, and the share of cycles whose plugins are timed one by one."""
        self._metrics = metrics
        self._profile = profile
        self._share = share
        self._since = self._marked = 0.0
        self._noted: list[tuple[tuple[str, str, str], float]] = []
        self.samples = False

    def begin(self) -> None:
        """Start a cycle and its first lap."""
        self.samples = random() < self._share  # noqa: S311  which cycles are timed is no secret
        self._since = self._metrics.clock.monotonic()

    def lap(self, point: str, status: str) -> None:
        """End a lap, and start the next."""
        now = self._metrics.clock.monotonic()
        self._metrics.point(point, status, self._profile, now - self._since)
        self._since = now
        if self._noted:
            noted, self._noted = self._noted, []
            self._metrics.plugins(noted)

    def mark(self) -> None:
        """Plugins are about to be called."""
        self._marked = self._metrics.clock.monotonic()

    def note(self, plugin: str, point: str, said: object) -> None:
        """A plugin was called, and said that."""
        now = self._metrics.clock.monotonic()
        refused = point in REFUSING and _refuses(said)
        self._noted.append(((plugin, point, "Unschedulable" if refused else "Success"), now - self._marked))
        self._marked = now

    def ask(
        self, plugin: str, point: str, call: Callable[[PodInfo, NodeName], Said], pod: PodInfo, node: NodeName
    ) -> Said:
        """Call a plugin about a pod that has its node, and take its time if this cycle's are taken."""
        if not self.samples:
            return call(pod, node)
        self.mark()
        try:
            said = call(pod, node)
        except BaseException:
            self._noted.append(((plugin, point, "Error"), self._metrics.clock.monotonic() - self._marked))
            raise
        self.note(plugin, point, said)
        return said

    def evaluated(self, names: tuple[str, ...], point: str) -> None:
        """Note the plugins that had a say at a point."""
        if names:
            self._metrics.evaluated(names, point, self._profile)

    def votes(self, filters: Iterable[str], scores: Iterable[str]) -> Votes:
        """Return where to count the pods at which these plugins have a say; the same one for the same plugins."""
        return self._metrics.votes(tuple(filters), tuple(scores), self._profile)


class HintTimes:
    """Tells whether a change may help a pod that a plugin refused, and times the answer now and then."""

    def __init__(self, wakes: Callable[[str, str], bool], metrics: SchedulerMetrics) -> None:
        """Take who knows, by plugin and change."""
        self._wakes = wakes
        self._metrics = metrics
        self._asked = 0

    def __call__(self, plugin: str, change: str) -> bool:
        """Tell it; a lost count of two threads costs one measurement."""
        self._asked += 1
        if self._asked % EVERY_HINT:
            return self._wakes(plugin, change)
        since = self._metrics.clock.monotonic()
        helps = self._wakes(plugin, change)
        hint = "Queue" if helps else "QueueSkip"
        self._metrics.hint(plugin, EVENTS.get(change, change), hint, self._metrics.clock.monotonic() - since)
        return helps


def _refuses(said: object) -> bool:
    """Tell whether a plugin's answer lets the pod go nowhere: a reason, or a mask without a node."""
    mask = getattr(said, "mask", None)
    if mask is not None:
        return not mask.any()
    if isinstance(said, str):
        return bool(said)
    return bool(getattr(said, "reason", "")) or getattr(said, "allowed", True) is False
