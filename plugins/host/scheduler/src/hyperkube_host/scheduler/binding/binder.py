"""From a decision to a bound pod: reserve and permit beside the loop, pre-bind and bind on a few threads."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from hyperkube_host.scheduler.binding.bind_rate import BindPodsRateLimiter
from hyperkube_host.scheduler.framework.runtime import Framework
from hyperkube_host.scheduler.metrics.metrics import SCHEDULED, UNSCHEDULABLE, SchedulerMetrics
from hyperkube_host.scheduler.metrics.point_times import PointTimes
from hyperkube_lib.serving.workers import WorkerPool

from hyperkube.hookspecs.scheduling import PodInfo
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, HyperkubeError, NotFound
from hyperkube.machinery.objects import NodeName, Object, name_of

THREADS = 32
"""Bindings under way at once: fewer wait in a line behind everything else that the API server is asked meanwhile.

Twenty pods a second need 24 where each call takes 1.2 s; upstream has no limit but its client's rate.
"""

_log = logging.getLogger("hyperkube.scheduler")

Finished = Callable[["NotBound | None"], None]
"""Called once for each binding that was submitted, on a binder's thread."""
Arguments = ParamSpec("Arguments")
Said = TypeVar("Said")
Stored = Callable[[PodInfo, NodeName], bool]
"""Asks the API whether a pod is on a node; raises what the client raises."""
ASK_AGAIN_SECONDS = 1.0


class NotBound(HyperkubeError):
    """A plugin refused, or the API did; the message says why.

    `rejected` tells a plugin's refusal from a failure; `gone`: there is no such pod any more.
    """

    def __init__(self, message: str, *, rejected: bool, plugin: str = "", gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone
        self.rejected = rejected
        self.plugin = plugin


@dataclass(slots=True)
class _Waiting:
    event: threading.Event
    reason: str = ""


class Binder:
    """Binds decided pods; a pod that has to wait for something gets a thread of its own."""

    def __init__(
        self,
        clock: Clock,
        metrics: SchedulerMetrics | None = None,
        rate: BindPodsRateLimiter | None = None,
        stored: Stored = lambda _pod, _node: False,
        settle: Callable[[str], None] = lambda _key: None,
        wanted: Callable[[Object], bool] = lambda _pod: True,
    ) -> None:
        """Take the parts.

        Args:
            clock: the cluster's time.
            metrics: counts bindings.
            rate: limits them.
            stored: asks the API about one whose answer was an error.
            settle: called with the pod's key before it is bound: ends what is written about it still.
            wanted: tells whether a pod is to be bound still: it may be deleted while its binding waits for a thread.
        """
        self._clock = clock
        self._stored = stored
        self._settle = settle
        self._wanted = wanted
        self._rate = rate or BindPodsRateLimiter(clock, 0.0, 0)
        self._closing = threading.Event()
        self._metrics = metrics or SchedulerMetrics(clock)
        self._lock = threading.Lock()
        self._waiting: dict[str, _Waiting] = {}
        self._under_way = 0
        self._pool = WorkerPool(THREADS, queue=sys.maxsize, name="binder", logger=_log)
        self._pooled = 0
        self._pool_rests = threading.Condition(self._lock)

    def submit(self, framework: Framework, pod: PodInfo, node: NodeName, finished: Finished) -> None:
        """Reserve and ask for permission now, on the caller's thread; then bind in the background.

        Raises:
            NotBound: a plugin refused; everything reserved was given back, and `finished` will not be called.
        """
        timer = PointTimes(self._metrics, _profile_name(pod))
        timer.begin()
        _timed(timer, "Reserve", self._reserve, framework, pod, node, timer)
        self._submit_reserved(framework, pod, node, finished, timer)

    def reserve(self, framework: Framework, pod: PodInfo, node: NodeName) -> None:
        """Reserve only.

        Raises:
            NotBound: a plugin refused; everything reserved was given back.
        """
        timer = PointTimes(self._metrics, _profile_name(pod))
        timer.begin()
        _timed(timer, "Reserve", self._reserve, framework, pod, node, timer)

    def unreserve(self, framework: Framework, pod: PodInfo, node: NodeName) -> None:
        """Give back what was reserved."""
        self._unreserve(framework, pod, node)

    def submit_reserved(self, framework: Framework, pod: PodInfo, node: NodeName, finished: Finished) -> None:
        """Ask for permission now, on the caller's thread; then bind in the background.

        Raises:
            NotBound: a plugin refused; everything reserved was given back, and `finished` will not be called.
        """
        timer = PointTimes(self._metrics, _profile_name(pod))
        timer.begin()
        self._submit_reserved(framework, pod, node, finished, timer)

    def under_way(self) -> int:
        """Return how many bindings were submitted and have not ended."""
        with self._lock:
            return self._under_way

    def allow(self, key: str) -> None:
        """Let a pod go on that a permit plugin made wait."""
        self._end_wait(key, "")

    def reject(self, key: str, reason: str) -> bool:
        """Refuse a pod that a permit plugin made wait; tell whether it did."""
        return self._end_wait(key, reason)

    def close(self) -> None:
        """Finish what is under way and refuse more."""
        with self._lock:
            self._closing.set()
            waiting = list(self._waiting)
        for key in waiting:
            self.reject(key, "the scheduler is shutting down")
        self._pool.close()
        with self._pool_rests:
            self._pool_rests.wait_for(lambda: not self._pooled)

    def _submit_reserved(
        self, framework: Framework, pod: PodInfo, node: NodeName, finished: Finished, timer: PointTimes
    ) -> None:
        try:
            waits = _timed(timer, "Permit", self._permit, framework, pod, node, timer)
        except NotBound:
            self._unreserve(framework, pod, node)
            raise
        in_pool = waits is None and not _may_wait(framework, pod)
        with self._lock:
            self._under_way += 1
            self._pooled += in_pool
        if in_pool:
            if not self._pool.submit(lambda: self._run_in_pool(framework, pod, node, finished), begun=True):
                self._leave_pool()  # it was closed meanwhile
        else:
            arguments = (framework, pod, node, finished, waits)
            threading.Thread(target=self._run, args=arguments, name=f"bind-{pod.key}", daemon=True).start()

    def _run_in_pool(self, framework: Framework, pod: PodInfo, node: NodeName, finished: Finished) -> None:
        """Bind, unless the scheduler ended before it came to this."""
        try:
            if not self._closing.is_set():
                self._run(framework, pod, node, finished, None)
        finally:
            self._leave_pool()

    def _leave_pool(self) -> None:
        with self._lock:
            self._pooled -= 1
            if not self._pooled and self._closing.is_set():
                self._pool_rests.notify_all()

    def _reserve(self, framework: Framework, pod: PodInfo, node: NodeName, timer: PointTimes) -> None:
        for name, plugin in framework.reserves:
            reason = timer.ask(name, "Reserve", plugin.reserve, pod, node)
            if reason:
                self._unreserve(framework, pod, node)
                raise NotBound(f"reserve plugin {name!r}: {reason}", rejected=True, plugin=name)

    def _permit(
        self, framework: Framework, pod: PodInfo, node: NodeName, timer: PointTimes
    ) -> tuple[str, float, _Waiting] | None:
        """Return the plugin that makes the pod wait, and for how long, if one does."""
        longest: tuple[str, float, _Waiting] | None = None
        for name, plugin in framework.permits:
            waiting = _Waiting(threading.Event())
            with self._lock:
                self._waiting.setdefault(pod.key, waiting)
                waiting = self._waiting[pod.key]
            permission = timer.ask(name, "Permit", plugin.permit, pod, node)
            if permission.wait_seconds:
                if longest is None or permission.wait_seconds < longest[1]:
                    longest = (name, permission.wait_seconds, waiting)
            elif not permission.allowed:
                self._stop_waiting(pod.key)
                raise NotBound(f"permit plugin {name!r}: {permission.reason}", rejected=True, plugin=name)
        if longest is None:
            self._stop_waiting(pod.key)
        return longest

    def _run(
        self,
        framework: Framework,
        pod: PodInfo,
        node: NodeName,
        finished: Finished,
        waits: tuple[str, float, _Waiting] | None,
    ) -> None:
        error: NotBound | None = None
        try:
            if waits is not None:
                self._wait(pod.key, *waits)
            self._bind_in_turn(framework, pod, node)
        except NotBound as refusal:
            error = refusal
        except NotFound as failure:
            is_pod = (failure.details.get("kind"), failure.details.get("name")) == ("pods", name_of(pod.pod))
            error = NotBound(str(failure), rejected=False, gone=is_pod)
        except (ApiError, OSError) as failure:
            if not self._bound_after_all(pod, node):
                error = NotBound(str(failure), rejected=False)
        except Exception as bug:  # noqa: BLE001  a plugin's bug fails one binding; it is logged
            _log.exception("binding %s failed", pod.key)
            error = NotBound(f"internal error: {bug}", rejected=False)
        if error is not None:
            self._unreserve(framework, pod, node)
        with self._lock:
            self._under_way -= 1
        finished(error)

    def _bind_in_turn(self, framework: Framework, pod: PodInfo, node: NodeName) -> None:
        self._rate.take(self._closing)
        if not self._wanted(pod.pod):
            raise NotBound(f"pod {pod.key} is gone", rejected=False, gone=True)
        self._settle(pod.key)
        _bind(framework, pod, node, PointTimes(self._metrics, _profile_name(pod)))

    def _bound_after_all(self, pod: PodInfo, node: NodeName) -> bool:
        """Find out what became of a binding whose answer is lost: room that is taken must not be given away."""
        while not self._closing.is_set():
            try:
                return self._stored(pod, node)
            except (ApiError, OSError) as error:
                if isinstance(error, ApiError) and error.status_code < 500:
                    return False
                self._clock.wait(self._closing, ASK_AGAIN_SECONDS)
        return False

    def _wait(self, key: str, name: str, seconds: float, waiting: _Waiting) -> None:
        since, result = self._clock.monotonic(), UNSCHEDULABLE
        try:
            if not self._clock.wait(waiting.event, seconds):
                raise NotBound(f"permit plugin {name!r}: not allowed within {seconds:g} s", rejected=True, plugin=name)
            if waiting.reason:
                raise NotBound(f"permit plugin {name!r}: {waiting.reason}", rejected=True, plugin=name)
            result = SCHEDULED
        finally:
            self._metrics.waited(result, self._clock.monotonic() - since)
            self._stop_waiting(key)

    def _stop_waiting(self, key: str) -> None:
        with self._lock:
            self._waiting.pop(key, None)

    def _end_wait(self, key: str, reason: str) -> bool:
        with self._lock:
            waiting = self._waiting.get(key)
            if waiting is not None:
                waiting.reason = reason
                waiting.event.set()
            return waiting is not None

    def _unreserve(self, framework: Framework, pod: PodInfo, node: NodeName) -> None:
        for name, plugin in reversed(framework.reserves):
            try:
                plugin.unreserve(pod, node)
            except Exception:  # noqa: BLE001  the other plugins must give back all the same
                _log.exception("unreserve plugin %r failed for %s", name, pod.key)


def _bind(framework: Framework, pod: PodInfo, node: NodeName, timer: PointTimes) -> None:
    timer.begin()
    _timed(timer, "PreBind", _run_pre_binds, framework, pod, node, timer)
    _timed(timer, "Bind", _run_binds, framework, pod, node, timer)
    _timed(timer, "PostBind", _run_post_binds, framework, pod, node, timer)


def _run_pre_binds(framework: Framework, pod: PodInfo, node: NodeName, timer: PointTimes) -> None:
    for name, plugin in framework.pre_binds:
        reason = timer.ask(name, "PreBind", plugin.pre_bind, pod, node)
        if reason:
            raise NotBound(f"pre-bind plugin {name!r}: {reason}", rejected=True, plugin=name)


def _run_binds(framework: Framework, pod: PodInfo, node: NodeName, timer: PointTimes) -> None:
    for name, plugin in framework.binds:
        if timer.ask(name, "Bind", plugin.bind, pod, node):
            return
    raise NotBound("no bind plugin bound the pod", rejected=False)


def _run_post_binds(framework: Framework, pod: PodInfo, node: NodeName, timer: PointTimes) -> None:
    for name, plugin in framework.post_binds:
        timer.ask(name, "PostBind", plugin.post_bind, pod, node)


def _may_wait(framework: Framework, pod: PodInfo) -> bool:
    for _, plugin in framework.pre_binds:  # noqa: SIM110  a generator costs more than it says
        if plugin.may_wait(pod):
            return True
    return False


def _timed(
    timer: PointTimes,
    point: str,
    work: Callable[Arguments, Said],
    *arguments: Arguments.args,
    **words: Arguments.kwargs,
) -> Said:
    """Do the work of one extension point for one pod; take its time, and how it ended."""
    status = "Error"
    try:
        done = work(*arguments, **words)
        status = "Success"
    except NotBound as refusal:
        status = "Unschedulable" if refusal.rejected else "Error"
        raise
    finally:
        timer.observe_point(point, status)
    return done


def _profile_name(pod: PodInfo) -> str:
    return str(pod.pod.get("spec", {}).get("schedulerName") or "default-scheduler")
