"""Why a pod is where it is, or nowhere: the latest decisions, by pod, in memory and on disk, each within a bound."""

from __future__ import annotations

import logging
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

from hyperkube_host.scheduler.explain.explanation_file import ExplanationFile

from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import forgets

if TYPE_CHECKING:
    from hyperkube_host.scheduler.framework.schedule_result import ScheduleResult

LIMIT = 1000
LIMIT_BYTES = 8_000_000
BOTH = 64
"""Of the decisions that are in the file so many, the latest, are in memory as well."""
PATIENCE_SECONDS = 2.0
"""The longest that a decision waits to be written, while there are pods to be scheduled."""

_log = logging.getLogger("hyperkube.scheduler")


class Explanations:
    """The latest decision on each of the last pods; thread-safe.

    With a file they are written beside the scheduling, on a thread that lives while there is something to write: what a
    burst pushes out of memory before that is not written.
    """

    def __init__(
        self,
        limit: int = LIMIT,
        limit_bytes: int = LIMIT_BYTES,
        file: ExplanationFile | None = None,
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take the bounds, where to write, and what tells whether there are pods to be scheduled now."""
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._file = file
        self._busy = busy
        self._bytes = 0
        self._condition = threading.Condition()
        self._decisions: OrderedDict[str, ScheduleResult] = OrderedDict()
        self._unwritten: dict[str, ScheduleResult] = {}
        self._in_file: dict[str, None] = {}  # of those in memory, in the order in which they were written
        self._writer: threading.Thread | None = None
        self._closing = False
        self._warned = False
        forgets(self)

    def record(self, key: str, decision: ScheduleResult) -> None:
        """Remember a decision, forgetting the oldest ones over the limits."""
        with self._condition:
            before = self._decisions.pop(key, None)
            self._in_file.pop(key, None)
            self._bytes += decision.trace.size - (before.trace.size if before else 0)
            self._decisions[key] = decision
            while len(self._decisions) > self._limit or (self._bytes > self._limit_bytes and len(self._decisions) > 1):
                forgotten, oldest = self._decisions.popitem(last=False)
                self._bytes -= oldest.trace.size
                self._unwritten.pop(forgotten, None)
                self._in_file.pop(forgotten, None)

    def forget(self) -> None:
        """Leave to the file what is in it."""
        with self._condition:
            self._leave_to_file(0)

    def persist(self, key: str, decision: ScheduleResult) -> None:
        """Have a decision written, now that its message is complete; nothing without a file."""
        if self._file is None:
            return
        with self._condition:
            if self._decisions.get(key) is decision:
                self._unwritten[key] = decision
                if self._writer is None and not self._closing:
                    self._writer = threading.Thread(target=self._write, name="scheduler-explanations", daemon=True)
                    self._writer.start()

    def explain(self, key: str) -> Object | None:
        """Return the decision on a pod as plain data: chosen node, refusals, scores; None if none is known."""
        with self._condition:
            decision = self._decisions.get(key)
        if decision is None and self._file is not None:
            decision = self._read(self._file, key)
        return decision.explain(key) if decision is not None else None

    def close(self) -> None:
        """Write what is left."""
        with self._condition:
            self._closing = True
            writer = self._writer
            self._condition.notify_all()
        if writer is not None:
            writer.join(PATIENCE_SECONDS)

    def _read(self, file: ExplanationFile, key: str) -> ScheduleResult | None:
        try:
            return file.find(key)
        except (OSError, ValueError, KeyError, zlib.error) as error:
            _log.warning("cannot read the explanations: %s", error)
            return None

    def _write(self) -> None:
        while True:
            with self._condition:
                if self._busy():
                    self._condition.wait_for(lambda: self._closing or not self._busy(), PATIENCE_SECONDS)
                batch, self._unwritten = self._unwritten, {}
                if not batch:
                    self._writer = None
                    return
            try:
                if self._file is not None:
                    self._file.append(batch.items())
                with self._condition:
                    self._in_file |= {key: None for key, one in batch.items() if self._decisions.get(key) is one}
                    self._leave_to_file(BOTH)
            except OSError as error:
                if not self._warned:
                    self._warned = True
                    _log.warning("cannot write the explanations: %s", error)

    def _leave_to_file(self, few: int) -> None:
        """Let go of what is in the file, but for the latest few; the lock is held."""
        for key in tuple(islice(self._in_file, max(0, len(self._in_file) - few))):
            del self._in_file[key]
            self._bytes -= self._decisions.pop(key).trace.size
