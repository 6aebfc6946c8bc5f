"""Sparing a cloud: so many calls a second, and none for a while once it fails or asks for that.

The circuit opens when calls have failed in a row, for longer each time, or for as long as a cloud that throttles asks.
While it is open calls fail at once, with the reason of the failure that opened it; then one call is let through, whose
outcome closes it or opens it anew. What a cloud says of one thing (there is no such machine, no such parameter) is an
answer, no failure.
Source: rate limits and back-offs of kubernetes' legacy cloud providers (``azure/clients``, ``aws/retry_handler.go``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar, cast

from hyperkube_lib.component_base.token_bucket import TokenBucket

from hyperkube.hookspecs.cloud import CloudThrottled, CloudUnavailable
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import HyperkubeError

CALLS_PER_SECOND: Final = 10.0
BURST: Final = 100
LONGEST_WAIT: Final = 30.0
"""Seconds that a call may wait for its turn before it fails: its caller has a back-off of its own."""
FAILURES: Final = 3
"""Failures in a row that open the circuit."""
PAUSE: Final = Backoff(initial=1.0, cap=120.0)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Capability = TypeVar("Capability")


class CircuitOpen(CloudUnavailable):
    """The cloud failed before and is not asked now."""


class Circuit:
    """The one way to a cloud; thread-safe."""

    def __init__(self, clock: Clock, *, rate: float = CALLS_PER_SECOND, burst: int = BURST) -> None:
        """Begin closed: calls go through, `rate` a second and `burst` at once."""
        self._clock = clock
        self._bucket = TokenBucket(clock, rate, burst)
        self._lock = threading.Lock()
        self._failures = 0
        self._opened = 0  # times in a row
        self._open_until = 0.0
        self._asking = False  # whether the one call is under way that finds out whether the cloud is back
        self._reason = ""

    def call(self, method: Callable[Arguments, Result], *args: Arguments.args, **words: Arguments.kwargs) -> Result:
        """Make a call to the cloud.

        Raises:
            CircuitOpen: the circuit is open, or too many calls wait.
            HyperkubeError: what the call raises.
        """
        finds_out = self._enter()
        try:
            self._take_turn()
            result = method(*args, **words)
        except CircuitOpen:
            raise
        except CloudThrottled as error:
            self._failed(str(error), error.retry_after or PAUSE.delay(self._opened + 1), finds_out=finds_out)
            raise
        except (CloudUnavailable, OSError) as error:
            self._failed(str(error) or type(error).__name__, finds_out=finds_out)
            raise
        except HyperkubeError:
            self._answered()
            raise
        finally:
            if finds_out:  # a call that began before the circuit opened may end meanwhile
                with self._lock:
                    self._asking = False
        self._answered()
        return result

    def guard(self, capability: Capability) -> Capability:
        """Return a provider's capability whose methods go through `call`."""
        return cast("Capability", _Guarded(self, capability))

    def _enter(self) -> bool:
        """Let a call through; return whether it is the one that finds out whether the cloud is back."""
        with self._lock:
            if not self._opened:
                return False
            left = self._open_until - self._clock.monotonic()
            if left > 0 or self._asking:
                again = f"is asked again in {max(left, 1):.0f} s"
                raise CircuitOpen(f"the cloud does not answer and {again}: {self._reason}")
            self._asking = True
            return True

    def _take_turn(self) -> None:
        wait = self._bucket.reserve()
        if wait > LONGEST_WAIT:
            raise CircuitOpen("too many calls to the cloud wait for their turn")
        if wait > 0:
            self._clock.sleep(wait)

    def _answered(self) -> None:
        with self._lock:
            self._failures = self._opened = 0
            self._reason = ""

    def _failed(self, reason: str, pause: float | None = None, *, finds_out: bool) -> None:
        with self._lock:
            if self._opened and not finds_out:
                return  # one of many that were under way when it opened: the same failure, told once
            self._failures += 1
            if pause is None and self._failures < FAILURES and not self._opened:
                return
            self._opened += 1
            self._reason = reason
            self._open_until = self._clock.monotonic() + (pause or PAUSE.delay(self._opened))


class _Guarded:
    """A capability with each public method led through a circuit; the optional protocols it has, it keeps."""

    def __init__(self, circuit: Circuit, capability: object) -> None:
        for name in dir(capability):
            method = getattr(capability, name)
            if not name.startswith("_") and callable(method):
                setattr(self, name, _led(circuit, method))


def _led(circuit: Circuit, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(*args: Any, **words: Any) -> Any:
        return circuit.call(method, *args, **words)

    return call
