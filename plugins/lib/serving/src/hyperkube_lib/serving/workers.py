"""The bounded pool of threads on which handlers run.

Threads are started when work arrives and none is idle, up to the size, and go when they had none for a while. When all
of them hang on something (a webhook that does not answer), so that hardly a call ends, more are started, lest others
wait for nothing; they go when the work is done. All are daemons, so a handler that hangs cannot keep the process from
ending.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

MOST_TIMES = 10
"""So many times its size a pool may grow while its threads hang."""
LINGER_SECONDS = 5.0
"""How long a thread waits for another call before it ends."""


class WorkerPool:
    """Runs calls on `size` threads, or more when they hang; `submit` and `relieve` come from one thread, the loop's."""

    def __init__(self, size: int, *, queue: int, name: str, logger: logging.Logger) -> None:
        self._size = size
        self._limit = queue
        self._name = name
        self._logger = logger
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._submitted = 0  # written by the loop's thread alone
        self._asked = 0  # how often a thread came for a call: each begins one of those submitted, or waits for one
        self._done = 0
        self._done_before = 0
        self._closed = False

    def submit(self, call: Callable[[], None], *, begun: bool = False) -> bool:
        """Have `call` made on a thread; tell False when too many wait already, or the pool is closed.

        With `begun` the call goes on with one that was let in before, so that there is always room for it.
        """
        if self._closed or (self._calls.qsize() >= self._limit and not begun):
            return False
        self._submitted += 1
        self._calls.put(call)
        # Not the queue's length against the number of idle threads: a thread that has just taken a call would count as
        # idle still, and the next call would wait behind one that perhaps waits for it.
        if self._submitted > self._asked and len(self._threads) < self._size:
            self._start()
        return True

    def relieve(self) -> None:
        """Start more threads when calls wait and fewer have ended since the last look than there are threads."""
        done, self._done_before = self._done - self._done_before, self._done
        count = len(self._threads)
        if self._closed or count < self._size or done >= count:
            return
        for _ in range(min(self._submitted - self._asked, self._size, self._size * MOST_TIMES - count)):
            self._start()

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name=f"{self._name}-{len(self._threads)}", daemon=True)
        with self._lock:
            self._threads.append(thread)
        thread.start()

    def close(self) -> None:
        """Let the threads end after the calls they are in; waits for none of them."""
        self._closed = True
        with self._lock:
            count = len(self._threads)
        for _ in range(count):
            self._calls.put(None)

    def _run(self) -> None:
        calls, lock, done = self._calls, self._lock, 0
        while True:
            with lock:
                self._done += done
                if len(self._threads) > self._size and calls.empty() and not self._closed:
                    self._threads.remove(threading.current_thread())
                    return
                self._asked += 1
            while True:
                try:
                    call = calls.get(timeout=LINGER_SECONDS)
                    break
                except Empty:
                    if self._gone():
                        return
            if call is None:
                return
            try:
                call()
            except Exception:
                self._logger.exception("a worker's call failed")
            done = 1

    def _gone(self) -> bool:
        """Take this thread off the list, unless a call has come meanwhile, which is its to make."""
        with self._lock:
            self._asked -= 1
            # `submit` puts a call before it compares: either it is seen here, or the thread is missed there.
            if self._calls.empty():
                self._threads.remove(threading.current_thread())
                return True
            self._asked += 1
            return False
