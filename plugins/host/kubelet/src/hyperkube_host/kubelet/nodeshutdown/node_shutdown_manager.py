"""Ends the pods of a node in order of their priority before the machine shuts down, and takes no new ones meanwhile.

The manager holds a lock that delays shutdowns. When one begins it stops the pods of the lowest priority, waits for them
as long as their grace period says, goes on to the next, and then lets the machine go.

Sources: kubernetes ``pkg/kubelet/nodeshutdown/nodeshutdown_manager{,_linux}.go``, ``storage.go``.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from hyperkube_host.kubelet.nodeshutdown.grace_periods import GracePeriod, PodGroup, group_by_priority
from hyperkube_host.kubelet.nodeshutdown.logind import InhibitLock, Logind, LogindFailed
from hyperkube_host.kubelet.types.pod_status import TERMINATION_BY_KUBELET, Failure

from hyperkube.kinds.pods import disruption_target
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.durations import format_duration
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import format_time, parse_time

STATE_FILE = "graceful_node_shutdown_state"
RECONNECT_SECONDS = 1.0
POLL_SECONDS = 0.1
"""How often it is asked whether the pods of a group have ended."""
TERMINATED = Failure("Terminated", "Pod was terminated in response to imminent node shutdown.")
NOT_ADMITTED = Failure("NodeShutdown", "Pod was rejected as the node is shutting down.")
_log = logging.getLogger("hyperkube.kubelet")


class NodeShutdownServices(Record):
    """What the manager acts by.

    Attributes:
        connect: returns the login manager, raises `LogindFailed`.
        active_pods: returns the pods whose containers run or will.
        stop: (pod, failure, condition, grace seconds) stops a pod for good.
        is_stopped: tells of a pod's uid whether it has ended and its volumes are given back.
        sync_node: has the node's status written soon.
        node_event: (kind, reason, message) about the node.
    """

    connect: Callable[[], Logind]
    active_pods: Callable[[], Sequence[Object]]
    stop: Callable[[Object, Failure, Object, float], None]
    is_stopped: Callable[[str], bool]
    sync_node: Callable[[], None]
    node_event: Callable[[str, str, str], None]


class NodeShutdownManager:
    """Waits on a thread of its own; without grace periods there is none, and shutdowns are immediate."""

    def __init__(
        self, periods: Sequence[GracePeriod], services: NodeShutdownServices, clock: Clock, folder: Path
    ) -> None:
        """Take the grace periods, lowest priority first; `folder` keeps when the last shutdown was."""
        self._periods = periods
        self._services = services
        self._clock = clock
        self._state_file = folder / STATE_FILE
        self._closed = threading.Event()
        self._is_shutting_down = False
        self._logind: Logind | None = None
        self._lock: InhibitLock | None = None
        self._thread: threading.Thread | None = None

    def problem(self) -> str:
        """Return why the node is not ready, the empty string if it does not shut down."""
        return "node is shutting down" if self._is_shutting_down else ""

    def admit(self, pod: Object) -> Failure | None:
        """Return why no pod may start now, None when it may."""
        return NOT_ADMITTED if self._is_shutting_down else None

    def times(self) -> tuple[float, float]:
        """Return when the last graceful shutdown began and ended, in seconds since the epoch; 0 for never."""
        try:
            state = json.loads(self._state_file.read_text(encoding="utf-8"))
            return _seconds(state.get("startTime")), _seconds(state.get("endTime"))
        except FileNotFoundError:
            return 0.0, 0.0
        except (OSError, ValueError, AttributeError) as error:
            _log.warning("failed to load graceful shutdown state: %s: %s", self._state_file, error)
            return 0.0, 0.0

    def start(self) -> None:
        """Take the lock and begin to watch; where the login manager does not answer, a line says so."""
        if not self._periods:
            return
        try:
            logind = self._connect()
        except LogindFailed as error:
            _log.error("failed to start node shutdown manager, shutdowns are immediate: %s", error)
            return
        self._thread = threading.Thread(target=self._run, args=(logind,), name="node-shutdown", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Watch no more, and let shutdowns go on; idempotent."""
        self._closed.set()
        if self._logind is not None:
            self._logind.close()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _connect(self) -> Logind:
        """Return the login manager, with the lock taken.

        Raises:
            LogindFailed: it cannot be reached, or does not wait as long as the grace periods need.
        """
        logind = self._logind = self._services.connect()
        try:
            self._ensure_delay(logind)
            self._lock = logind.inhibit()
        except LogindFailed:
            logind.close()
            raise
        return logind

    def _ensure_delay(self, logind: Logind) -> None:
        needed = float(sum(period.seconds for period in self._periods))
        if needed <= logind.inhibit_delay():
            return
        logind.raise_inhibit_delay(needed)
        delay = logind.inhibit_delay()
        if needed > delay:
            shown = format_duration(needed), format_duration(delay)
            raise LogindFailed(
                f"node shutdown manager was unable to update logind InhibitDelayMaxSec to {shown[0]}"
                f" (ShutdownGracePeriod), current value of InhibitDelayMaxSec ({shown[1]}) is less than requested"
                " ShutdownGracePeriod"
            )

    def _run(self, logind: Logind | None) -> None:
        while True:
            if logind is not None:
                self._watch(logind)
                logind.close()
            self._release()
            if self._clock.wait(self._closed, RECONNECT_SECONDS):
                return
            try:
                logind = self._connect()
            except LogindFailed as error:
                logind = None
                _log.warning("unable to watch the node for shutdown events: %s", error)
            # A close during the connect has closed the one before: either it is seen here, or it sees the new one.
            if logind is not None and self._closed.is_set():
                logind.close()

    def _watch(self, logind: Logind) -> None:
        """Follow what the login manager tells until it tells no more."""
        try:
            for shuts_down in logind.shutdowns():
                self._is_shutting_down = shuts_down
                what = "event" if shuts_down else "cancellation"
                self._services.node_event("Normal", "NodeShutdown", f"Shutdown manager detected shutdown {what}")
                self._services.sync_node()
                if shuts_down:
                    self._shut_down()
                else:
                    self._release()
                    self._lock = logind.inhibit()
        except LogindFailed as error:
            if not self._closed.is_set():
                _log.warning("%s", error)

    def _shut_down(self) -> None:
        begun = self._clock.now()
        self._remember(begun, None)
        try:
            for group in group_by_priority(self._periods, self._services.active_pods()):
                self._end(group)
        finally:
            self._remember(begun, self._clock.now())
            self._release()

    def _end(self, group: PodGroup) -> None:
        """Stop the pods of a group, and wait for them as long as they may take."""
        condition = disruption_target(TERMINATION_BY_KUBELET, TERMINATED.message)
        for pod in group.pods:
            own = pod["spec"].get("terminationGracePeriodSeconds")
            grace = group.period.seconds if own is None else min(group.period.seconds, own)
            self._services.stop(pod, TERMINATED, condition, float(grace))
        deadline = self._clock.monotonic() + group.period.seconds
        waiting = [uid_of(pod) for pod in group.pods]
        while waiting := [uid for uid in waiting if not self._services.is_stopped(uid)]:
            left = deadline - self._clock.monotonic()
            if left <= 0:
                text = "shutdown: %d pods of priority %d and above did not end within %ds"
                _log.warning(text, len(waiting), group.period.priority, group.period.seconds)
                return
            if self._clock.wait(self._closed, min(POLL_SECONDS, left)):
                return

    def _release(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.close()

    def _remember(self, begun: datetime, ended: datetime | None) -> None:
        state = {"startTime": format_time(begun), "endTime": None if ended is None else format_time(ended)}
        try:
            self._state_file.write_text(json.dumps(state), encoding="utf-8")
        except OSError as error:
            _log.warning("failed to store graceful shutdown state: %s", error)


def _seconds(time: str | None) -> float:
    return parse_time(time).timestamp() if time else 0.0
