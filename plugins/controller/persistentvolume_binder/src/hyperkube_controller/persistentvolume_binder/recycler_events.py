"""What happens to recycler pods is told on their volumes, whose owners see no pods of other namespaces.

One watch serves all recycler pods, and there is a thread for it only while such a pod is at work. The role of the
controller allows to watch events, not to list them: an informer is not for this.
Source: kubernetes ``pkg/volume/util/recyclerclient/recycler_client.go`` (WatchPod, waitForPod).
"""

from __future__ import annotations

import threading

from hyperkube.client.client import Client, Watch
from hyperkube.client.events import EventRecorder
from hyperkube.kinds.resources import EVENTS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object

_OF_PODS = "involvedObject.kind=Pod"


class RecyclerEvents:
    """Passes the events of some pods on to the volumes that they empty; safe to use from many threads."""

    def __init__(self, client: Client, recorder: EventRecorder) -> None:
        self._client = client
        self._recorder = recorder
        self._lock = threading.Lock()
        self._volumes: dict[str, Object] = {}
        self._watch: Watch | None = None

    def follow(self, uid: str, volume: Object) -> None:
        """Tell on the volume what is told of the pod with that uid, from now on."""
        with self._lock:
            self._volumes[uid] = volume
            if self._watch is not None:
                return
            try:
                self._watch = self._client.watch(EVENTS, field_selector=_OF_PODS)
            except (ApiError, OSError):
                return  # events are for people: the volume is emptied all the same, and the next one tries again
            threading.Thread(target=self._read, args=(self._watch,), name="recycler-events", daemon=True).start()

    def leave(self, uid: str) -> None:
        """Follow this pod no longer; with the last one the watch ends."""
        with self._lock:
            self._volumes.pop(uid, None)
            if not self._volumes:
                self._end()

    def close(self) -> None:
        """Follow nothing any more."""
        with self._lock:
            self._volumes.clear()
            self._end()

    def _end(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _read(self, watch: Watch) -> None:
        try:
            for change in watch:
                if change.type == "ADDED":
                    self._pass_on(change.object)
        except (ApiError, OSError):
            return  # as above
        finally:
            with self._lock:
                if self._watch is watch:
                    self._watch = None

    def _pass_on(self, event: Object) -> None:
        with self._lock:
            volume = self._volumes.get((event.get("involvedObject") or {}).get("uid", ""))
        if volume is not None:
            text = f"Recycler pod: {event.get('message', '')}"
            self._recorder.event(volume, event.get("type", "Normal"), "RecyclerPod", text)
