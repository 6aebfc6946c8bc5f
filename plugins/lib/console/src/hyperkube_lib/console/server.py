"""The console's listener, and what answers: static files, sign-in, streams, and everything else by Flask.

Flask, templates and pages are imported when the first page is asked for; until then there is the listener alone.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_lib.console.gate import SECURITY_HEADERS, STREAMS, Refused, refused, streamed
from hyperkube_lib.console.machine_user import user_of
from hyperkube_lib.console.sessions import Session, Sessions
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import Answer, HttpRequest, Response
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.loop import shared_loop

from hyperkube.client import kubeconfig
from hyperkube.machinery.clock import Clock

if TYPE_CHECKING:
    from hyperkube_lib.console.upstream import Upstream
    from hyperkube_lib.serving.bridge import WsgiBridge

ADDRESS = "127.0.0.1"
WORKERS = 8
SIGN_IN = "/sign-in"
_STATIC = Path(__file__).parent / "static"
_FILE = re.compile(r"[a-z_]{1,32}\.[a-z]{2,5}")


class Console:
    """Serves one cluster's pages on a port of this machine, from `start` to `close`."""

    def __init__(
        self,
        access: Callable[[], kubeconfig.Access],
        clock: Clock,
        *,
        port: int = 0,
        changed: Callable[[str], None] = lambda _url: None,
        user_of: Callable[[tuple[str, int], tuple[str, int]], int | None] = user_of,
    ) -> None:
        """Prepare; nothing is opened yet.

        Args:
            access: gives the cluster, and the user whom the one-time token signs in; asked with the first page.
            clock: for the sessions.
            port: 0 lets the system choose.
            changed: is told the next URL with a one-time token, at the start and whenever one was used.
            user_of: tells whose process is at the other end of a connection.
        """
        self._clock = clock
        self._access = access
        self._changed = changed
        self._user_of = user_of
        self.sessions = Sessions(clock)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._upstream: Upstream | None = None
        self._bridge: WsgiBridge | None = None
        self._lock = threading.Lock()
        self._edge = Edge(
            self,
            host=ADDRESS,
            port=port,
            loop=shared_loop(clock),
            limits=EdgeLimits(workers=WORKERS, idle_timeout=30.0),
            name="console",
        )

    @property
    def url(self) -> str:
        """Where to go, once: the token in it signs one browser in."""
        return f"http://{ADDRESS}:{self._edge.port}{SIGN_IN}?token={self.sessions.one_time_token}"

    @property
    def port(self) -> int:
        """The port in use, once started."""
        return self._edge.port

    @property
    def upstream(self) -> Upstream:
        """The API server; its folder for keys is made when it is first used."""
        from hyperkube_lib.console.upstream import Upstream

        with self._lock:
            if self._upstream is None:
                self._folder = tempfile.TemporaryDirectory(prefix="hyperkube-console-")
                self._upstream = Upstream(self._access(), Path(self._folder.name), self._clock)
            return self._upstream

    def start(self) -> None:
        """Listen.

        Raises:
            UsageError: the port cannot be bound.
        """
        self._edge.start()
        self._changed(self.url)

    def close(self) -> None:
        """Serve no more."""
        self._edge.close()
        with self._lock:
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = self._upstream = None

    # `hyperkube_lib.serving.exchange.Handler`

    def hot(self, _request: HttpRequest) -> Response | None:
        """Nothing is answered from memory."""
        return None

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell whether it is a stream of the API server's."""
        return request.path.startswith(f"{STREAMS}/")

    def handle(self, request: HttpRequest) -> Answer:
        """Answer one request."""
        why = refused(request.method, request.headers, self.port)
        if why is not None:
            return _refusal(why)
        if request.path.startswith(f"{STREAMS}/"):
            return self._stream(request)
        if request.path.startswith("/static/"):
            return static_file(request.path.removeprefix("/static/"), request.headers.get("if-none-match", ""))
        if request.path == SIGN_IN and request.method == "GET" and "token=" in request.query_string:
            return self._sign_in(request)
        answer = self._pages().answer(request)
        answer.headers += SECURITY_HEADERS
        return answer

    def cookie_name(self) -> str:
        """Return the cookie's name: browsers keep one jar for all ports of a host, and two clusters have a console."""
        return f"hyperkube-console-{self.port}"

    def session_of(self, request: HttpRequest) -> Session | None:
        """Return who asks; None without a sign-in."""
        key = cookie_of(request.headers.get("cookie", ""), self.cookie_name())
        return self.sessions.find(key, self.machine_user(request.peer)) if key else None

    def machine_user(self, peer: tuple[str, int]) -> int | None:
        """Return the uid of who has connected from there, None where that cannot be told."""
        return self._user_of(peer, (ADDRESS, self.port))

    def set_cookie(self, session: Session) -> tuple[str, str]:
        """Return the header that signs a browser in."""
        return "Set-Cookie", f"{self.cookie_name()}={session.key}; Path=/; HttpOnly; SameSite=Strict"

    def _sign_in(self, request: HttpRequest) -> Response:
        """Take a one-time token; the page that follows is of our own origin, so that the cookie goes along."""
        token = (request.query().get("token") or [""])[0]
        if not self.sessions.redeem(token):
            return _elsewhere(f"{SIGN_IN}?used=1")
        self._changed(self.url)
        session = self.sessions.open(self.upstream.owner(), self.machine_user(request.peer))
        return _elsewhere("/welcome", [self.set_cookie(session)])

    def _stream(self, request: HttpRequest) -> Answer:
        session = self.session_of(request)
        if session is None:
            return Response(status=401, headers=[("Content-Type", "text/plain"), *SECURITY_HEADERS], body=b"sign in")
        path = request.path.removeprefix(STREAMS)
        why = streamed(request.method, path, request.query(), request.headers)
        if why is not None:
            return _refusal(why)
        query = f"?{request.query_string}" if request.query_string else ""
        return session.acting.relay(f"{path}{query}", [*SECURITY_HEADERS, ("Cache-Control", "no-store")])

    def _pages(self) -> WsgiBridge:
        with self._lock:
            found = self._bridge
        if found is not None:
            return found
        from hyperkube_lib.console.application import build_app
        from hyperkube_lib.serving.bridge import WsgiBridge

        made = WsgiBridge(build_app(self, self._clock).wsgi_app)
        with self._lock:
            self._bridge = self._bridge or made
            return self._bridge


def cookie_of(header: str, name: str) -> str:
    """Return a cookie's value, empty for none."""
    from http.cookies import CookieError, SimpleCookie  # eight patterns, for the first browser

    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def static_file(name: str, known: str) -> Response:
    """Return a file of the console, or that the browser has it already."""
    path = _STATIC / name
    if not _FILE.fullmatch(name) or not path.is_file():
        return Response(status=404, headers=[("Content-Type", "text/plain"), *SECURITY_HEADERS], body=b"not found")
    stat = path.stat()
    tag = f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"'
    headers = [("ETag", tag), ("Cache-Control", "no-cache"), *SECURITY_HEADERS]
    if known == tag:
        return Response(status=304, headers=headers)
    import mimetypes

    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(headers=[("Content-Type", f"{kind}; charset=utf-8"), *headers], body=path.read_bytes())


def _refusal(why: Refused) -> Response:
    headers = [("Content-Type", "text/plain; charset=utf-8"), *SECURITY_HEADERS]
    return Response(status=why.status, headers=headers, body=f"{why.text}\n".encode())


def _elsewhere(place: str, headers: list[tuple[str, str]] | None = None) -> Response:
    return Response(
        status=303, headers=[("Location", place), ("Cache-Control", "no-store"), *(headers or []), *SECURITY_HEADERS]
    )
