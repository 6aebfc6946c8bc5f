"""Tells of pods whose containers changed, by the daemon's own events: the kubelet need not list all every second.

Whenever the connection is new, all pods are told: what happened while nothing was heard is found like that, and events
after it are complete. The dockershim had no such stream and was relisted.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from hyperkube_runtime.docker.engine import Engine, EngineFailed, EventStream

from hyperkube.machinery.clock import Clock

POD_UID_LABEL = "io.kubernetes.pod.uid"
RECONNECT_SECONDS = 1.0
_log = logging.getLogger("hyperkube.docker")


class ContainerChanges:
    """Listens on a thread of its own from the first subscription until closed."""

    def __init__(self, engine: Engine, uids: Callable[[], Iterable[str]], clock: Clock) -> None:
        """Take the daemon, what returns the uids of all its pods, and the clock of pauses."""
        self._engine, self._uids, self._clock = engine, uids, clock
        self._lock = threading.Lock()
        self._listeners: tuple[Callable[[str], None], ...] = ()
        self._closed = threading.Event()
        self._stream: EventStream | None = None
        self._thread: threading.Thread | None = None

    def subscribe(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with a pod's uid when one of its containers was created, started, ended or removed."""
        with self._lock:
            self._listeners = (*self._listeners, notify)
            if self._thread is not None:
                return
            self._thread = threading.Thread(target=self._run, name="docker-events", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no more."""
        self._closed.set()
        with self._lock:
            stream, thread = self._stream, self._thread
        if stream is not None:
            stream.close()
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        is_away = False
        while not self._closed.is_set():
            try:
                self._listen()
                is_away = False
            except EngineFailed as error:
                if not is_away and not self._closed.is_set():
                    _log.warning("docker's events are not heard: %s", error)
                is_away = True
            self._clock.wait(self._closed, RECONNECT_SECONDS)

    def _listen(self) -> None:
        """Pass events on until the stream ends.

        Raises:
            EngineFailed: the daemon does not answer, or went away.
        """
        stream = self._engine.events()
        try:
            with self._lock:
                self._stream = stream
            if self._closed.is_set():  # `close` may have looked for a stream before there was this one
                return
            for uid in self._uids():
                self._tell(uid)
            for event in stream:
                labels = (event.get("Actor") or {}).get("Attributes") or {}
                if POD_UID_LABEL in labels:
                    self._tell(labels[POD_UID_LABEL])
        finally:
            with self._lock:
                self._stream = None
            stream.close()

    def _tell(self, uid: str) -> None:
        for notify in self._listeners:
            notify(uid)
