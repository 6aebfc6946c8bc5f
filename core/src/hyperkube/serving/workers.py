"""The bounded pool of threads on which handlers run.

Threads are started when work arrives and none is idle, never more than the limit; they are daemons, so a handler that
hangs cannot keep the process from ending.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue


class WorkerPool:
    """Runs calls on at most `size` threads; `submit` comes from one thread, the loop's."""

    def __init__(self, size: int, *, queue: int, name: str, logger: logging.Logger) -> None:
        self._size = size
        self._limit = queue
        self._name = name
        self._logger = logger
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._closed = False

    def submit(self, call: Callable[[], None], *, begun: bool = False) -> bool:
        """Have `call` made on a thread; tell False when too many wait already, or the pool is closed.

        With `begun` the call goes on with one that was let in before, so that there is always room for it.
        """
        if self._closed or (self._calls.qsize() >= self._limit and not begun):
            return False
        self._calls.put(call)
        if self._calls.qsize() > self._idle and len(self._threads) < self._size:
            thread = threading.Thread(target=self._run, name=f"{self._name}-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return True

    def close(self) -> None:
        """Let the threads end after the calls they are in; waits for none of them."""
        self._closed = True
        for _ in self._threads:
            self._calls.put(None)

    def _run(self) -> None:
        calls, lock = self._calls, self._lock
        while True:
            with lock:
                self._idle += 1
            call = calls.get()
            with lock:
                self._idle -= 1
            if call is None:
                return
            try:
                call()
            except Exception:
                self._logger.exception("a worker's call failed")
