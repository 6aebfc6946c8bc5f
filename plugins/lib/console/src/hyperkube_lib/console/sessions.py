"""Who is signed in: one-time tokens become sessions, a session is a cookie.

A one-time token opens one session of the console's owner, once; using it makes the next one. A session ends after
twelve hours without a request, or when the user signs out. It is good for connections of the machine's user who has
opened it: another one who catches the cookie (see `hyperkube_lib.console.machine_user`) is not signed in by it.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass

if TYPE_CHECKING:
    from hyperkube_lib.console.upstream import Acting

IDLE_SECONDS = 12 * 3600.0
MOST_SESSIONS = 64
_BYTES = 32


def random_secret() -> str:
    """Return 256 bits as text that a URL, a header and a cookie can carry."""
    return secrets.token_urlsafe(_BYTES)


@dataclass(slots=True)
class Session:
    """One signed-in browser.

    Attributes:
        key: the cookie's value.
        csrf: what each request that changes something must repeat.
        acting: the API as its user.
        uid: the machine's user who has opened it; None where that cannot be told.
        used: when it was last used, on the monotonic clock.
        rows: what pages have read and may show again for a moment, see `hyperkube_lib.console.reader`.
    """

    key: str
    csrf: str
    acting: Acting
    uid: int | None
    used: float
    rows: dict[object, tuple[float, object]] = field(default_factory=dict)


class Sessions:
    """All sessions of one console; thread-safe."""

    def __init__(self, clock: Clock, secret: Callable[[], str] = random_secret) -> None:
        self._clock = clock
        self._secret = secret
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}
        self._one_time = secret()

    @property
    def one_time_token(self) -> str:
        """What opens the next session of the owner."""
        return self._one_time

    def redeem(self, token: str) -> bool:
        """Tell whether this is the one-time token; it is none any more then."""
        with self._lock:
            if not hmac.compare_digest(token.encode(), self._one_time.encode()):
                return False
            self._one_time = self._secret()
            return True

    def open(self, acting: Acting, uid: int | None) -> Session:
        """Return a new session of a user of the machine; beyond `MOST_SESSIONS` the one that rested longest ends."""
        session = Session(self._secret(), self._secret(), acting, uid, self._clock.monotonic())
        with self._lock:
            while len(self._sessions) >= MOST_SESSIONS:
                del self._sessions[min(self._sessions.values(), key=lambda each: each.used).key]
            self._sessions[session.key] = session
        return session

    def find(self, key: str, uid: int | None) -> Session | None:
        """Return the session of a cookie that a user of the machine sends, None for none that lasts or another's."""
        now = self._clock.monotonic()
        with self._lock:
            session = self._sessions.get(key)
            if session is None or session.uid != uid:
                return None
            if now - session.used > IDLE_SECONDS:
                del self._sessions[key]
                return None
            session.used = now
            return session

    def close(self, key: str) -> None:
        """End a session; harmless when there is none."""
        with self._lock:
            self._sessions.pop(key, None)
