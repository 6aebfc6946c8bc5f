"""When the change happened that endpoints answer to: ``endpoints.kubernetes.io/last-change-trigger-time``.

Components that program a network from endpoints measure with it how long that takes. The time is that of the oldest
change since the service was synced last: a pod that became ready or ceased to be, or the service's creation.
Source: kubernetes ``staging/src/k8s.io/endpointslice/util/trigger_time_tracker.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from sys import intern

from hyperkube_lib.endpoints.endpoint_pods import EndpointPod

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, annotations_of, metadata
from hyperkube.machinery.times import parse_time

_NONE: Mapping[int, str] = {}
LAST_CHANGE_TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"


@dataclass(frozen=True, slots=True)
class _ServiceState:
    """What was known at a service's last sync: of the pods by the hash of their names, as there are many."""

    service: str
    pods: Mapping[int, str]


class TriggerTimeTracker:
    """Remembers the trigger times of each service's last sync; thread-safe for different keys."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: dict[str, _ServiceState] = {}

    def compute(self, key: str, service: Object, pods: Iterable[EndpointPod]) -> str:
        """Return the trigger time of this sync, empty if nothing that counts has changed since the last one.

        Call it for every sync, also for those that write nothing: else the next one would tell of an old change.
        """
        times = {hash(pod.name): intern(since) for pod in pods if (since := pod.ready_transition)}
        created = str(metadata(service).get("creationTimestamp") or "")
        with self._lock:
            before = self._states.get(key)
            self._states[key] = _ServiceState(created, times or _NONE)
        if before is None:
            return created
        known = before.pods.get
        changed = [
            since
            for name, since in times.items()
            if since != (earlier := known(name, "")) and _is_after(since, earlier)  # mostly it is the same
        ]
        if _is_after(created, before.service):
            changed.append(created)
        return min(changed, key=_moment, default="")

    def forget(self, key: str) -> None:
        """Forget a service that is gone."""
        with self._lock:
            self._states.pop(key, None)


def with_trigger_time(obj: Object, trigger_time: str) -> Object:
    """Return the object with its annotation set, or without it where there is no new trigger time."""
    annotations = {key: value for key, value in annotations_of(obj).items() if key != LAST_CHANGE_TRIGGER_TIME}
    if trigger_time:
        annotations[LAST_CHANGE_TRIGGER_TIME] = trigger_time
    meta = {key: value for key, value in metadata(obj).items() if key != "annotations"}
    return {**obj, "metadata": meta | ({"annotations": annotations} if annotations else {})}


def _is_after(since: str, before: str) -> bool:
    return bool(since) and since != before and (not before or _moment(since) > _moment(before))


def _moment(text: str) -> datetime:
    return parse_time(text)
