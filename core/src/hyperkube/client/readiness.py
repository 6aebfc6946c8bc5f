"""Which of many sockets has something to read: one thread waits for all of them, and there is none without a socket."""

from __future__ import annotations

import select
import threading
from collections.abc import Callable
from contextlib import suppress

LINGER_SECONDS = 5.0
"""How long the thread waits before it looks whether there is a socket left to wait for."""


class Readiness:
    """Calls a function once when a socket becomes readable; all methods are thread-safe.

    Needs Linux' ``epoll``, to which sockets may be added while another thread waits: see `is_available`.
    """

    is_available = hasattr(select, "epoll")
    """Whether this system has what it needs."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._poll: select.epoll | None = None
        self._rings: dict[int, Callable[[], None]] = {}
        self._waiting = False

    def add(self, descriptor: int, ring: Callable[[], None]) -> int:
        """Have `ring` called, on the waiting thread, when the socket can be read or is closed; return the descriptor.

        It must be short, and is called once: `watch_again` asks for the next call.
        """
        with self._lock:
            if self._poll is None:
                self._poll = select.epoll()
            self._rings[descriptor] = ring
            self._poll.register(descriptor, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLONESHOT)
            if not self._waiting:
                self._waiting = True
                threading.Thread(target=self._wait, name=self._name, daemon=True).start()
        return descriptor

    def watch_again(self, descriptor: int) -> None:
        """Have the socket's function called once more: at once if there is something to read already."""
        if self._poll is not None:
            self._poll.modify(descriptor, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLONESHOT)

    def remove(self, descriptor: int) -> None:
        """Wait for a socket no longer; before it is closed, as its number may be another one's then."""
        with self._lock:
            self._rings.pop(descriptor, None)
            if self._poll is not None:
                with suppress(OSError):  # the other end's close may have been noticed first
                    self._poll.unregister(descriptor)

    def _wait(self) -> None:
        poll = self._poll
        assert poll is not None  # noqa: S101  made before the thread
        while True:
            for descriptor, _ in poll.poll(LINGER_SECONDS):
                # A socket that was removed since, or whose number is another's by now, is rung for nothing at worst.
                if ring := self._rings.get(descriptor):
                    ring()
            with self._lock:
                if not self._rings:
                    self._waiting = False
                    return
