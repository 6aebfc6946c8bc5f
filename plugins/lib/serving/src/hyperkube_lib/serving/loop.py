"""The one thread per process on which all network traffic is pumped.

Several servers (API server, kubelet, scheduler) of one process may share one `EdgeLoop`. Other threads reach it through
`post`, which wakes the loop once for any number of posts, and through `ring`, which asks for a stream to be flushed.
Streams are flushed in the order in which they rang, for a slice of time between what the loop does for its sockets, and
for as long as that took where it is more. So an idle server sends at once, a thousand watchers do not keep requests
from being read, and a busy server gathers: what happens while a stream waits for its flush costs one write with it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from email.utils import format_datetime
from math import inf
from typing import Any, Protocol, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from hyperkube.machinery.clock import Clock, SystemClock

Result = TypeVar("Result")
AsyncioLoop: TypeAlias = asyncio.AbstractEventLoop

SHORTEST_SLICE, LONGEST_SLICE = 0.001, 0.02
"""Seconds of flushes between two looks at the sockets: as many as all else has taken since the last, within these."""

LONGEST_WAY = 0.05
"""Seconds for which others give way to the loop at most."""

SLICE_SECONDS = 0.003
"""For how long a thread beside the loop computes before it gives way: with 1 ms requests wait as long, and it is woken
three times as often."""

_STUCK_SECONDS = 1.0
_TICK = 1.0
_monotonic = SystemClock().monotonic  # of the machine, whatever the cluster's time


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
        self._slice_due = False
        self._slice_ended = inf
        """When the slice ended behind which the next one follows, without a rest."""
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

    @property
    def is_here(self) -> bool:
        """Whether the caller is on the loop's thread."""
        return self._thread is not None and self._thread.ident == threading.get_ident()

    def ring(self, stream: Flushable) -> None:
        """Flush a stream behind those that rang before; from any thread. It keeps itself from ringing twice."""
        self._rung.append(stream)
        if not self._slice_due:
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

    def after_flushes(self, seconds: float, call: Callable[..., object], *args: Any) -> None:
        """Make a call once the streams that have rung are flushed, or after so many seconds; only on the loop."""
        if self._rung:
            after = _AfterFlushes(call, args)
            after.timer = self.asyncio.call_later(seconds, after.flush)
            self._rung.append(after)
        else:
            call(*args)

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
        if self._rung and not self._slice_due:
            self._flush_some()
        else:
            self._end_turn()

    def _flush_some(self) -> None:
        """Flush for a slice of time the streams that have rung; the next slice comes behind the sockets."""
        self._slice_due = False
        self._in_turn = True
        rung, begun = self._rung, _monotonic()
        until = begun + min(max(begun - self._slice_ended, SHORTEST_SLICE), LONGEST_SLICE)
        while rung:
            stream = rung.popleft()
            try:
                stream.flush()
            except Exception:
                self._logger.exception("a stream could not be flushed")
            if _monotonic() >= until:
                break
        self._end_turn()
        self._slice_ended = inf
        if rung:
            self._slice_due, self._slice_ended = True, _monotonic()
            self.asyncio.call_soon(self._flush_some)

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


class TimeSlices:
    """Threads that compute for long beside a loop, and give way to it at times; any number may share it.

    A slice is 3 ms, or as long as the loop has taken before it: a busy one leaves half of the time. One that
    has not come to it in `LONGEST_WAY` may wait for what such a thread does, and is given way to after a second again.
    """

    def __init__(self, loop: EdgeLoop | None) -> None:
        """Give way to a loop; with None, to none."""
        self._loop = loop
        self._until = 0.0

    def rest(self) -> None:
        """Give way if the slice is over; on the loop's own thread nothing is done. The caller holds no lock."""
        loop, begun = self._loop, _monotonic()
        if loop is None or begun < self._until or loop.is_here:
            return
        loop.give_way()
        ended = _monotonic()
        took = ended - begun
        self._until = ended + (_STUCK_SECONDS if took >= LONGEST_WAY else max(took, SLICE_SECONDS))


class _AfterFlushes:
    """A call that waits between streams for its turn, and not longer than its timer."""

    __slots__ = ("_args", "_call", "timer")

    timer: asyncio.TimerHandle

    def __init__(self, call: Callable[..., object], args: tuple[Any, ...]) -> None:
        self._call: Callable[..., object] | None = call
        self._args = args

    def flush(self) -> None:
        """Make the call, the first time."""
        call, self._call = self._call, None
        if call is not None:
            self.timer.cancel()
            call(*self._args)


_shared: WeakValueDictionary[int, EdgeLoop] = WeakValueDictionary()
"""The loop that all of a cluster's process may share, by the identity of its clock, which it keeps alive."""


def shared_loop(clock: Clock) -> EdgeLoop | None:
    """Return the running loop that those who go by a clock share; None: an edge makes its own, of 300 KiB."""
    loop = _shared.get(id(clock))
    return loop if loop is not None and loop.runs else None
