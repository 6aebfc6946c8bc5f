"""A store that is committed by hand, and outcomes that are waited for."""

from __future__ import annotations

import threading

LONG = 60


class Queueing:
    """A store whose writes wait until they are committed; counts the commits and their sizes."""

    def __init__(self):
        self.sizes = []
        self.threads = set()
        self.committers = set()
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Semaphore(0)
        self.committed = lambda: None
        self._pause = None
        self._queued = []

    @property
    def is_joined(self):
        return self._pause is not None

    def queue_writes(self, pause):
        self._pause = pause

    def queue_no_more(self):
        self._pause = None

    def write(self):
        self._queued.append(threading.get_ident())
        self._pause()

    def take_queued(self):
        queued, self._queued = self._queued, []

        def commit():
            self.begun.release()
            self.gate.wait(LONG)
            self.sizes.append(len(queued))
            self.threads.update(queued)
            self.committers.add(threading.get_ident())
            self.committed()

        return commit


class Gathered:
    """Outcomes of a known number of calls."""

    def __init__(self, wanted):
        self.wanted, self.outcomes, self.complete = wanted, [], threading.Event()

    def add(self, outcome):
        self.outcomes.append(outcome)
        if len(self.outcomes) == self.wanted:
            self.complete.set()
