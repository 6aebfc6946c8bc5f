"""Tokens for Google's API: of the machine's account, of Google's default credentials, or of another's service.

Source: cloud-provider-gcp ``providers/gce/gce.go`` (GenerateCloudConfig), ``token_source.go``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from hyperkube_cloud.gce.config import GceConfig

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.machinery.clock import Clock

SCOPES = ("https://www.googleapis.com/auth/cloud-platform", "https://www.googleapis.com/auth/compute")
"""Of Google's default credentials; the machine's account has those that the machine was made with."""
DEFAULT_CREDENTIALS = "nil"
EARLY = 60.0
"""Seconds before its end at which a token is no longer used."""


class Tokens:
    """Gives the headers that authorize, made anew when they end; thread-safe, and connected to nothing before."""

    def __init__(self, config: GceConfig, clock: Clock) -> None:
        self._config, self._clock = config, clock
        self._lock = threading.Lock()
        self._source: Callable[[], tuple[str, float]] | None = None
        self._token, self._ends = "", 0.0

    def __call__(self, renew: bool) -> Mapping[str, str]:
        """Return the headers.

        Raises:
            CloudUnavailable: no token is to be had.
        """
        from google.auth.exceptions import GoogleAuthError

        with self._lock:
            if renew or not self._token or self._clock.now().timestamp() > self._ends - EARLY:
                try:
                    self._source = self._source or self._found()
                    self._token, self._ends = self._source()
                except GoogleAuthError as error:
                    raise CloudUnavailable(f"no token for Google's API: {type(error).__name__}") from None
            return {"Authorization": f"Bearer {self._token}"}

    def _found(self) -> Callable[[], tuple[str, float]]:
        import google.auth
        import urllib3
        from google.auth import compute_engine
        from google.auth.transport import urllib3 as transport

        library: Any = compute_engine
        pool = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(connect=5, read=30))
        request = cast("Any", transport).Request(pool)
        credentials: Any  # the library says no types
        if self._config.token_url == DEFAULT_CREDENTIALS:
            credentials, _ = google.auth.default(scopes=list(SCOPES), request=request)
        else:
            credentials = library.Credentials()

        def own() -> tuple[str, float]:
            credentials.refresh(request)
            expiry = credentials.expiry
            return str(credentials.token), expiry.replace(tzinfo=UTC).timestamp() if expiry else 0.0

        def from_service() -> tuple[str, float]:
            return _from_service(request, self._config, own()[0])

        return own if self._config.token_url in {"", DEFAULT_CREDENTIALS} else from_service


def _from_service(request: Any, config: GceConfig, token: str) -> tuple[str, float]:
    """Return the token that the service of ``token-url`` gives this machine's account, and its end.

    Raises:
        CloudUnavailable: it gives none.
    """
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    answer = request(config.token_url, method="POST", body=config.token_body.encode(), headers=headers)
    try:
        told = json.loads(answer.data)
        return str(told["accessToken"]), datetime.fromisoformat(told["expireTime"]).timestamp()
    except (ValueError, KeyError, TypeError):
        raise CloudUnavailable(f"no token for Google's API: the token-url answers {answer.status}") from None
