"""Finds out which pods' containers changed, by listing everything the runtime has ("relisting").

A runtime that reports changes by itself is listed rarely, against lost reports; any other one every second.

Source: kubernetes ``pkg/kubelet/pleg/generic.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from hyperkube_host.kubelet.container.pod_status import NO_STATUS, PodStatus, get_pod_statuses
from hyperkube_host.kubelet.pleg.evented import EventedPleg

from hyperkube.hookspecs.runtime import NotifiesChanges, Runtime, RuntimeFailed, StreamsEvents
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.durations import format_duration

RELIST_SECONDS = 1.0
SLOW_RELIST_SECONDS = 60.0
RELIST_THRESHOLD_SECONDS = 180.0
"""The time without relisting after which the kubelet is not healthy."""


class GenericPleg:
    """Compares what the runtime has with what it had; `relist` is called by one thread at a time."""

    def __init__(
        self,
        runtime: Runtime,
        clock: Clock,
        changed: Callable[[str], None],
        observed: Callable[[str], frozenset[tuple[str, str]] | None] = lambda _uid: None,
        *,
        evented: bool = False,
    ) -> None:
        """Call `changed` with the uid of each pod whose sandboxes or containers differ from the last relisting.

        What a pod's worker has seen already, as `observed` tells by its signature, is no change: mostly it is what the
        worker did itself. With `evented` a runtime that streams events is listened to, too.
        """
        self._observed = observed
        self._evented: EventedPleg | None = None
        if evented and isinstance(runtime, StreamsEvents):
            self._evented = EventedPleg(runtime, clock, changed)
        self._runtime = runtime
        self._clock = clock
        self._changed = changed
        self._notifies = isinstance(runtime, NotifiesChanges)
        self._pods: dict[str, PodStatus] = {}
        self._relisted_at = clock.monotonic()
        self._logger = logging.getLogger("hyperkube.kubelet")

    def start(self) -> None:
        """Let a runtime that can do so report its changes."""
        if isinstance(self._runtime, NotifiesChanges):
            self._runtime.subscribe(self._changed)
        if self._evented is not None:
            self._evented.start()

    def close(self) -> None:
        """Listen to the runtime no more."""
        if self._evented is not None:
            self._evented.close()

    def relist(self) -> float:
        """List all pods and report those that changed; return the seconds until the next relisting."""
        try:
            pods = get_pod_statuses(self._runtime)
        except RuntimeFailed as error:
            self._logger.warning("containers could not be listed: %s", error)
            return RELIST_SECONDS
        for uid in {*pods, *self._pods}:
            found = pods.get(uid)
            if found != self._pods.get(uid) and (found or NO_STATUS).signature() != self._observed(uid):
                self._changed(uid)
        # Of a runtime that reports its changes nothing is kept: the rare relisting then syncs every pod, which also
        # repairs a sync that came too early for the change it was meant for.
        self._pods = {} if self._notifies else pods
        # Set at the end: a runtime that never answers must make the kubelet unhealthy.
        self._relisted_at = self._clock.monotonic()
        return SLOW_RELIST_SECONDS if self._notifies else RELIST_SECONDS

    def unhealthy(self) -> str:
        """Return that the last relisting is too long ago, or the empty string."""
        elapsed = self._clock.monotonic() - self._relisted_at
        if elapsed <= RELIST_THRESHOLD_SECONDS:
            return ""
        threshold = format_duration(RELIST_THRESHOLD_SECONDS)
        return f"pleg was last seen active {format_duration(elapsed)} ago; threshold is {threshold}"
