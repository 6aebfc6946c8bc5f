"""Asking an issuer, or a source that a token names, for one document.

What answers belongs to others and may be in trouble: how much of an answer is read, and for how long, is bounded.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from hyperkube.client.client import RawResponse
from hyperkube.client.exchange import Bounds
from hyperkube.client.http import HttpClient
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import HyperkubeError, UsageError

_TIMEOUT_SECONDS = 10.0
_BOUNDS = Bounds(size=4 << 20, seconds=_TIMEOUT_SECONDS)


class NoHttpsUrl(HyperkubeError):
    """A document is said to be where none can be; ``str()`` says what the place is."""


def fetch(url: str, ca: str, clock: Clock, *, token: str = "", dial: Dial | None = None) -> RawResponse:
    """Return what is at a URL, whatever its status.

    Args:
        url: whose scheme must be https.
        ca: PEM text of the authority of the server.
        clock: for the waits that the server asks for.
        token: the bearer token to show.
        dial: connects to the server, where that is not reached directly.

    Raises:
        NoHttpsUrl: the URL is none of https, or its port is no port.
        ConnectionError: no answer, or none within the bounds.
    """
    try:
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.netloc:
            raise NoHttpsUrl("no https URL")
        client = HttpClient(
            f"https://{parts.netloc}",
            token=token,
            ca_data=ca,
            timeout=_TIMEOUT_SECONDS,
            clock=clock,
            dial=dial,
            bounds=_BOUNDS,
        )
    except (ValueError, UsageError) as error:
        raise NoHttpsUrl(f"no https URL: {error}") from error
    try:
        return client.request("GET", parts.path + (f"?{parts.query}" if parts.query else ""))
    finally:
        client.close()
