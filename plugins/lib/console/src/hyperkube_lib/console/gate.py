"""What a browser may ask of the console: whom a page of another origin cannot act as, and which streams are relayed.

The console listens on a loopback address without TLS, where every program of the machine and every page in the
browser can reach it. So the name it is called by must be its own (DNS rebinding), other origins are refused beside
the cookie's ``SameSite`` (which takes all ports of a host for one site), and what changes something repeats a secret
of the session. Source: W3C Fetch Metadata Request Headers; OWASP on cross-site request forgery.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = [
    ("Content-Security-Policy", CONTENT_SECURITY_POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
]
STREAMS = "/k8s"
"""Paths below are the API server's, for what pages follow: watches, logs and terminals."""
_NAME = r"[a-z0-9][a-z0-9.-]*"
_POD = rf"/api/v1/namespaces/{_NAME}/pods/{_NAME}"
_LOG = re.compile(_POD + r"/log")
_TERMINAL = re.compile(_POD + r"/(?:exec|attach)")
_LIST = re.compile(rf"/(?:api|apis/{_NAME})/[a-z0-9]+(?:/namespaces/{_NAME})?/[a-z0-9-]+")
_OWN_SITES = {"same-origin", "none"}


class Refused(Enum):
    """Why a request is not answered."""

    MISDIRECTED = 421, "this console is not called by that name"
    OTHER_ORIGIN = 403, "requests from other sites are refused"
    NO_STREAM = 404, "only watches, logs and terminals are relayed; ask the API server itself for the rest"

    @property
    def status(self) -> int:
        """The HTTP status."""
        return int(self.value[0])

    @property
    def text(self) -> str:
        """What is answered."""
        return str(self.value[1])


def refused(method: str, headers: Mapping[str, str], port: int) -> Refused | None:
    """Return why a request is refused to any user, by its headers (names in lower case) and the console's port."""
    names = {f"{host}:{port}" for host in ("127.0.0.1", "localhost", "[::1]")}
    host = headers.get("host", "")
    if host not in names:
        return Refused.MISDIRECTED
    origin, upgrades = headers.get("origin", ""), headers.get("upgrade", "")
    if (origin or upgrades) and origin != f"http://{host}":
        return Refused.OTHER_ORIGIN
    navigates = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    if headers.get("sec-fetch-site", "none") not in _OWN_SITES and not navigates:
        return Refused.OTHER_ORIGIN
    return None


def streamed(method: str, path: str, query: Mapping[str, list[str]], headers: Mapping[str, str]) -> Refused | None:
    """Return why a path of the API server is not relayed, None when it is: nothing may become a page of this origin."""
    upgrades = headers.get("upgrade", "").lower() == "websocket"
    if method != "GET":
        return Refused.NO_STREAM
    if upgrades:
        return None if _TERMINAL.fullmatch(path) else Refused.NO_STREAM
    if _LOG.fullmatch(path):
        return None
    watches = query.get("watch") in (["1"], ["true"])
    return None if watches and _LIST.fullmatch(path) else Refused.NO_STREAM
