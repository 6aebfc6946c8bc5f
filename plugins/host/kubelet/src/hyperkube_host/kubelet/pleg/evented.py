"""Listens to a runtime that streams events, so that changes of pods are known at once (gate EventedPLEG).

Source: kubernetes ``pkg/kubelet/pleg/evented.go``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from hyperkube.hookspecs.runtime import RuntimeFailed, StreamsEvents
from hyperkube.machinery.clock import Clock

RECONNECT_SECONDS = 5.0


class EventedPleg:
    """Keeps one stream of events open, on a thread of its own that ends with the runtime's connection."""

    def __init__(self, runtime: StreamsEvents, clock: Clock, changed: Callable[[str], None]) -> None:
        """Call `changed` with the uid of each pod of which the runtime tells something."""
        self._runtime = runtime
        self._clock = clock
        self._changed = changed
        self._closed = threading.Event()
        self._logger = logging.getLogger("hyperkube.kubelet")

    def start(self) -> None:
        """Begin to listen."""
        threading.Thread(target=self.run, name="evented-pleg", daemon=True).start()

    def run(self) -> None:
        """Listen until closed, again after a while whenever the stream ends; give up where there is none."""
        while not self._closed.is_set():
            try:
                self._runtime.container_events(self._changed)
            except RuntimeFailed as error:
                if error.reason == "Unimplemented":
                    self._logger.info("the runtime streams no events: its containers are listed every second")
                    return
                self._logger.warning("the stream of container events ended: %s", error)
            # What happened while nothing was heard is found by the relisting, which goes on beside this.
            self._clock.wait(self._closed, RECONNECT_SECONDS)

    def close(self) -> None:
        """Listen no more once the present stream has ended."""
        self._closed.set()
