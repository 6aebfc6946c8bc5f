"""Leader election: of several processes that could do the work, one does it, as long as it renews its lock.

The lock is a Lease (or, as in the 1.x line, an annotation of an Endpoints or ConfigMap object). What the holder wrote
is timed by the observer's clock, so clocks need not agree.
Source: client-go ``tools/leaderelection``.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import orjson

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.kinds.resources import CONFIG_MAPS, ENDPOINTS, LEASES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, NotFound, UsageError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, annotations_of
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import format_micro_time, format_time

ANNOTATION = "control-plane.alpha.kubernetes.io/leader"
TOLERATED_SECONDS = 20.0
_LOCKS = {"leases": (LEASES, "Lease"), "endpoints": (ENDPOINTS, "Endpoints"), "configmaps": (CONFIG_MAPS, "ConfigMap")}


def make_identity() -> str:
    """Return ``HOST_UUID``: two processes on one host never have the same."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


def end_at_once() -> NoReturn:
    """End this process, which led, without another word to the API server: another one may lead by now.

    What its threads are about to do, or do again where a connection broke, must not be done any more. So nothing is
    closed and none is waited for.
    Source: kubernetes ``cmd/kube-controller-manager/app/controllermanager.go``, ``cmd/kube-scheduler/app/server.go``
    (OnStoppedLeading).
    """
    logging.shutdown()
    sys.stderr.write("error: leaderelection lost\n")
    sys.stderr.flush()
    os._exit(1)


class ElectionOptions(Record):
    """What is locked, and for how long: seconds, with Kubernetes' defaults."""

    name: str
    namespace: str = "kube-system"
    lock: str = "leases"
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0


def election_options(options: Mapping[str, Any], name: str) -> ElectionOptions:
    """Return what the ``leader-elect…`` flags of a server say; `name` is the lock's unless they name another."""
    return ElectionOptions(
        name=options.get("leader-elect-resource-name") or name,
        namespace=options.get("leader-elect-resource-namespace") or "kube-system",
        lock=options.get("leader-elect-resource-lock") or "leases",
        lease_duration=float(options.get("leader-elect-lease-duration") or 15.0),
        renew_deadline=float(options.get("leader-elect-renew-deadline") or 10.0),
        retry_period=float(options.get("leader-elect-retry-period") or 2.0),
    )


class LeaderElector:
    """Tries to take the lock, keeps it, and says when it was won and lost."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        options: ElectionOptions,
        *,
        identity: str,
        on_started: Callable[[], None],
        on_stopped: Callable[[], None],
        recorder: EventRecorder | None = None,
    ) -> None:
        """Prepare; `on_started` and `on_stopped` are called on the elector's thread, each at most once.

        Raises:
            UsageError: an unknown kind of lock, or durations that cannot work together.
        """
        if options.lock not in _LOCKS:
            raise UsageError(f"leader election lock {options.lock!r} is unknown (known: {', '.join(sorted(_LOCKS))})")
        if not options.lease_duration > options.renew_deadline > options.retry_period > 0:
            raise UsageError("leader election needs leaseDuration > renewDeadline > retryPeriod > 0")
        self.identity = identity
        self._client = client
        self._clock = clock
        self._options = options
        self._resource, self._kind = _LOCKS[options.lock]
        self._on_started = on_started
        self._on_stopped = on_stopped
        self._recorder = recorder
        self._logger = logging.getLogger("hyperkube.leaderelection")
        self._stopping, self._ended = threading.Event(), threading.Event()
        self._renewed = 0.0
        self._thread: threading.Thread | None = None
        self._observed: Object = {}
        self._observed_at = 0.0
        self._leading = False
        self._gives_up = True

    @property
    def lock(self) -> str:
        """The name of the lock."""
        return self._options.name

    @property
    def is_leader(self) -> bool:
        """Whether this process holds the lock, as far as it knows."""
        return self._leading

    def overdue(self) -> str:
        """Return why this process, which leads, should be restarted; empty when all is well or another one leads.

        A leader that cannot renew steps down by itself; this tells of one that did not even do that.
        Source: client-go ``tools/leaderelection/leaderelection.go`` (Check), whose tolerance servers set to 20 s.
        """
        since = self._clock.monotonic() - self._renewed
        if self._leading and since > self._options.lease_duration + TOLERATED_SECONDS:
            return f"failed election to renew leadership on lease {self._options.name}"
        return ""

    def start(self) -> None:
        """Run the election on a daemon thread."""
        self._thread = threading.Thread(target=self.run, name="leader-election", daemon=True)
        self._thread.start()

    def stop(self, *, release: bool = True) -> None:
        """End; idempotent, from any thread.

        Args:
            release: give the lock up. Who may still write what only the holder may leaves it to run out instead.
        """
        self._gives_up = release
        self._stopping.set()
        self._ended.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(self._options.renew_deadline)

    def run(self) -> None:
        """Take part until the lock was held and lost, or `stop` is called."""
        if not self._acquire():
            return
        failed = True
        try:
            self._on_started()
            self._renew()
            failed = False
        finally:
            self._leading = False
            # A leader that could not begin leaves the work to another at once.
            if failed or (self._stopping.is_set() and self._gives_up):
                self._release()
            self._on_stopped()

    def _acquire(self) -> bool:
        while not self._stopping.is_set():
            if self._try():
                self._renewed = self._clock.monotonic()
                self._leading = True
                self._logger.info("became leader of %s/%s", self._options.namespace, self._options.name)
                return True
            self._clock.wait(self._stopping, self._options.retry_period)
        return False

    def _renew(self) -> None:
        """Return when the lock is lost, or given up by `stop`.

        A request that brings no answer must not delay that: the others count from the last renewal that they saw. So
        requests are made on a thread of their own, and the deadline counts from when a request that succeeded was sent.
        """
        self._renewed = self._clock.monotonic()
        keeper = threading.Thread(target=self._keep, name="leader-renewal", daemon=True)
        keeper.start()
        while not self._ended.is_set():
            left = self._renewed + self._options.renew_deadline - self._clock.monotonic()
            if left <= 0:
                break
            self._clock.wait(self._ended, left)
        if self._stopping.is_set():
            keeper.join(self._options.retry_period)
        else:
            self._logger.error("leader election lost")
            self._ended.set()

    def _keep(self) -> None:
        """Renew the lock until it is lost or given up."""
        while not self._clock.wait(self._ended, self._options.retry_period):
            # Counted from before the request: the others count from when they see the renewal, which cannot be earlier,
            # so that this one stops leading before another one may begin.
            sent = self._clock.monotonic()
            if self._try():
                self._renewed = sent
            elif self._is_taken():
                self._ended.set()

    def _is_taken(self) -> bool:
        return bool(self._observed) and self._observed["holderIdentity"] != self.identity

    def _try(self) -> bool:
        """Take or renew the lock; False when another one holds it or the server does not answer in time."""
        sent = self._clock.monotonic()
        try:
            return self._take() and self._clock.monotonic() - sent < self._options.renew_deadline
        except (ApiError, OSError) as error:
            self._logger.debug("leader election: %s", error)
            return False

    def _take(self) -> bool:
        record = self._record()
        try:
            held = self._client.get(self._resource, self._options.name, self._options.namespace)
        except NotFound:
            self._create(record)
            self._observe(record)
            self._announce({}, record)
            return True
        old = _read(held)
        # Clocks of different machines differ: what counts is for how long the record has not changed before one's own
        # eyes, not the times that are written in it.
        if old != self._observed:
            self._observe(old)
        mine = old.get("holderIdentity") == self.identity
        fresh = self._clock.monotonic() < self._observed_at + float(old.get("leaseDurationSeconds", 0))
        if old.get("holderIdentity") and fresh and not mine:
            return False
        record["leaderTransitions"] = old.get("leaderTransitions", 0) + (0 if mine else 1)
        if mine:
            record["acquireTime"] = old["acquireTime"]
        # The update carries the resourceVersion that was read: of several candidates the server lets one through, the
        # others get a Conflict and read again.
        self._client.update(self._resource, _write(held, record), self._options.namespace)
        self._observe(record)
        if not mine:
            self._announce(held, record)
        return True

    def _record(self) -> Object:
        now = format_micro_time(self._clock.now())
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": int(self._options.lease_duration),
            "acquireTime": now,
            "renewTime": now,
            "leaderTransitions": 0,
        }

    def _create(self, record: Object) -> None:
        obj: Object = {
            "kind": self._kind,
            "apiVersion": self._resource.api_version,
            "metadata": {"name": self._options.name, "namespace": self._options.namespace},
        }
        self._client.create(self._resource, _write(obj, record), self._options.namespace)

    def _observe(self, record: Object) -> None:
        self._observed = record
        self._observed_at = self._clock.monotonic()

    def _announce(self, _held: Object, record: Object) -> None:
        if self._recorder is not None:
            about = {
                "kind": self._kind,
                "apiVersion": self._resource.api_version,
                "namespace": self._options.namespace,
                "name": self._options.name,
            }
            self._recorder.event(about, "Normal", "LeaderElection", f"{record['holderIdentity']} became leader")

    def _release(self) -> None:
        """Let the next one in at once instead of after the lease has run out."""
        try:
            held = self._client.get(self._resource, self._options.name, self._options.namespace)
            old = _read(held)
            if old.get("holderIdentity") == self.identity:
                released = {**old, "holderIdentity": "", "leaseDurationSeconds": 1}
                self._client.update(self._resource, _write(held, released), self._options.namespace)
        except (ApiError, OSError) as error:
            self._logger.info("could not give up the lock, it will run out: %s", error)


def _read(held: Object) -> Object:
    """Return the election record of a lock object."""
    if held.get("kind") == "Lease" or "spec" in held:
        spec = held.get("spec") or {}
        return {
            "holderIdentity": spec.get("holderIdentity", ""),
            "leaseDurationSeconds": spec.get("leaseDurationSeconds", 0),
            "acquireTime": spec.get("acquireTime", ""),
            "renewTime": spec.get("renewTime", ""),
            "leaderTransitions": spec.get("leaseTransitions", 0),
        }
    text = annotations_of(held).get(ANNOTATION)
    record: Object = orjson.loads(text) if text else {}
    return record


def _write(held: Object, record: Object) -> Object:
    """Return the lock object with the record in it."""
    if held.get("kind") == "Lease":
        spec = {key: value for key, value in record.items() if key != "leaderTransitions"}
        return {**held, "spec": {**spec, "leaseTransitions": record["leaderTransitions"]}}
    seconds = {key: _whole_seconds(value) for key, value in record.items()}
    meta = {**held["metadata"], "annotations": {**annotations_of(held), ANNOTATION: orjson.dumps(seconds).decode()}}
    return {**held, "metadata": meta}


def _whole_seconds(value: object) -> object:
    """Cut the fraction off a time: the annotation holds a ``metav1.Time``."""
    from hyperkube.machinery.times import TimeError, parse_micro_time

    if not isinstance(value, str):
        return value
    try:
        return format_time(parse_micro_time(value))
    except TimeError:
        return value


def lock_resource(lock: str) -> GroupVersionResource:
    """Return the resource that a kind of lock is written to."""
    return _LOCKS[lock][0]
