"""The one thread per process on which all network traffic is pumped.

Several servers (API server, kubelet, scheduler) of one process may share one `EdgeLoop`. Other threads reach it through
`post`, which wakes the loop once for any number of posts, and through `ring`, which asks for a stream to be flushed.
Rings are answered in rounds, and a round is followed by a rest as long as the round took: an idle server answers at
once, a busy one gathers events, so that a thousand watchers cost one write each per round instead of one per event.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from email.utils import format_datetime
from typing import Any, Protocol, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from hyperkube.machinery.clock import Clock, SystemClock

Result = TypeVar("Result")
AsyncioLoop: TypeAlias = asyncio.AbstractEventLoop

LONGEST_REST = 0.02
"""Seconds that a round of flushes rests at most."""

SHORTEST_REST = 0.0005
"""Seconds of work below which a round needs no rest."""

LONGEST_WAY = 0.05
"""Seconds for which others give way to the loop at most."""

_TICK = 1.0


class Flushable(Protocol):
    """A stream that can be asked to send what it has."""

    def flush(self) -> None:
        """Send what is there; called on the loop."""


class EdgeLoop:
    """An event loop on a thread of its own; starts no signal handlers and touches nothing process-wide."""

    def __init__(self, *, logger: logging.Logger | None = None, clock: Clock | None = None, name: str = "edge") -> None:
        self._logger = logger or logging.getLogger("hyperkube.serving")
        self._clock = clock or SystemClock()
        self._name = name
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._mail: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._woken = False
        self._rung: deque[Flushable] = deque()
        self._round_due = False
        self._in_turn = False
        self._behind: list[Callable[[], object]] = []
        self._tickers: list[Callable[[], None]] = []
        self._date = b""
        self._date_until = -1.0

    def share(self) -> EdgeLoop:
        """Let all that goes by this loop's clock use it (`shared_loop`); their edges end before the loop does."""
        _shared[id(self._clock)] = self
        return self

    @property
    def runs(self) -> bool:
        """Whether it was started and not closed."""
        return self._loop is not None

    @property
    def asyncio(self) -> asyncio.AbstractEventLoop:
        """The asyncio loop; only for code that runs on it."""
        if self._loop is None:
            raise RuntimeError("the edge loop is not running")
        return self._loop

    def start(self) -> None:
        """Start the thread; harmless when it runs already."""
        if self._thread is not None:
            return
        import uvloop

        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the loop and wait for its thread; harmless when it does not run."""
        thread, loop = self._thread, self._loop
        if thread is None or loop is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        self._thread = self._loop = None

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine on the loop and wait for it; from any thread but the loop's."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.asyncio).result()

    def post(self, call: Callable[..., object], *args: Any) -> None:
        """Make a call on the loop soon, after those posted before; from any thread; ignored after `close`."""
        self._mail.append((call, args))
        self._wake()

    def leave(self, call: Callable[..., object], *args: Any) -> None:
        """Have a call made on the loop once it is woken, after those posted before; from any thread; see `wake`."""
        self._mail.append((call, args))

    def wake(self) -> None:
        """Have the calls made that were left; from any thread, cheap when there are none."""
        if self._mail:
            self._wake()

    def give_way(self, seconds: float = LONGEST_WAY) -> None:
        """Return once the loop has done all that it has to do now, or after so many seconds; off the loop's thread.

        uvloop takes the interpreter anew for each callback, and OpenSSL gives it away for each piece that it reads or
        writes. So beside a thread that computes the loop waits for the switch interval several times a request. While
        that thread waits here, it does not.
        """
        if self._loop is None:
            return
        done = threading.Lock()
        done.acquire()
        self.post(done.release)  # made when the sockets that were ready have been served
        done.acquire(timeout=seconds)

    def ring(self, stream: Flushable) -> None:
        """Flush a stream in the next round; from any thread. The stream keeps itself from ringing twice."""
        self._rung.append(stream)
        if not self._round_due:
            self._wake()

    def behind(self, call: Callable[[], object]) -> None:
        """Make a call behind the posted calls and the flushes that are being made, else in the loop's next turn.

        Only on the loop. What several of them give a connection is written together so, without another look at all
        sockets in between.
        """
        if self._in_turn:
            self._behind.append(call)
        else:
            self.asyncio.call_soon(call)

    def every_second(self, call: Callable[[], None]) -> Callable[[], None]:
        """Make a call once a second, on the loop; returns the function that ends it. Only on the loop."""
        self._tickers.append(call)
        if len(self._tickers) == 1:
            self.asyncio.call_later(_TICK, self._tick)
        return lambda: self._tickers.remove(call)

    def date(self) -> bytes:
        """Return the current ``Date`` header line with its line end; only on the loop."""
        now = self.asyncio.time()
        if now >= self._date_until:
            self._date = f"Date: {format_datetime(self._clock.now(), usegmt=True)}\r\n".encode()
            self._date_until = now + 0.5
        return self._date

    def _wake(self) -> None:
        # Callers append first and look at `_woken` then; `_deliver` clears it first and takes what was appended then.
        # Whichever comes first, no entry stays behind: at worst the loop is woken once too often.
        loop = self._loop
        if not self._woken and loop is not None:
            self._woken = True
            try:
                loop.call_soon_threadsafe(self._deliver)
            except RuntimeError:  # closed between the look and the call: no one is left to tell
                self._woken = False

    def _deliver(self) -> None:
        self._woken = False
        self._in_turn = True
        mail = self._mail
        for _ in range(len(mail)):  # not until it is empty: calls that post calls must not keep out the sockets
            call, args = mail.popleft()
            try:
                call(*args)
            except Exception:
                self._logger.exception("a posted call failed")
        if self._rung and not self._round_due:
            self._round()
        else:
            self._end_turn()

    def _round(self) -> None:
        self._round_due = False
        self._in_turn = True
        rung, loop = self._rung, self.asyncio
        begun = self._clock.monotonic()
        for _ in range(len(rung)):
            stream = rung.popleft()
            try:
                stream.flush()
            except Exception:
                self._logger.exception("a stream could not be flushed")
        self._end_turn()
        # The next round is put off by as long as this one took: events that come meanwhile are sent together, and at
        # least half of the loop's time is left for everything else.
        spent = self._clock.monotonic() - begun
        if spent > SHORTEST_REST or rung:
            self._round_due = True
            loop.call_later(min(spent, LONGEST_REST), self._round)

    def _end_turn(self) -> None:
        self._in_turn = False
        if not self._behind:
            return
        behind, self._behind = self._behind, []
        for call in behind:
            try:
                call()
            except Exception:
                self._logger.exception("a call behind the others failed")

    def _tick(self) -> None:
        for call in list(self._tickers):
            try:
                call()
            except Exception:
                self._logger.exception("a ticker failed")
        if self._tickers:
            self.asyncio.call_later(_TICK, self._tick)

    def _run(self) -> None:
        loop = self.asyncio
        asyncio.set_event_loop(loop)
        loop.set_exception_handler(self._complain)
        try:
            loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            if tasks:
                loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            asyncio.set_event_loop(None)
            try:
                loop.close()
            except OSError as error:  # uvloop cannot let go of a TLS handshake that is under way; nothing waits for it
                self._logger.debug("the loop was left as it is: %s", error)

    def _complain(self, _loop: AsyncioLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError):  # a client that hangs up in the middle of a handshake is no news
            self._logger.debug("%s: %s", context.get("message", "connection error"), error)
            return
        self._logger.error("%s", context.get("message", "event loop error"), exc_info=error)


_shared: WeakValueDictionary[int, EdgeLoop] = WeakValueDictionary()
"""The loop that all of a cluster's process may share, by the identity of its clock, which it keeps alive."""


def shared_loop(clock: Clock) -> EdgeLoop | None:
    """Return the running loop that those who go by a clock share; None: an edge makes its own, of 300 KiB."""
    loop = _shared.get(id(clock))
    return loop if loop is not None and loop.runs else None
