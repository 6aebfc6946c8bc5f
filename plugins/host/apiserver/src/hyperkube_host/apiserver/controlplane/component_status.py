"""How the scheduler, the controller manager and the store are: what the deprecated ComponentStatus shows.

A component of the same process says itself whether it works; another one is asked at its health endpoint, where
``--component-statuses`` says.

Sources: kubernetes ``pkg/registry/core/rest/storage_core.go`` (serversToValidate),
``pkg/registry/core/componentstatus``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from hyperkube_host.apiserver.storage.store_health import StoreAnswers

from hyperkube.storage.store import StoreError

STORE = "etcd-0"
SECONDS = 2.0
"""How long an answer may take."""
_BODY = 1024


class ComponentHealth:
    """Knows where to ask; thread-safe once all parts of the process have offered themselves."""

    def __init__(self, endpoints: Mapping[str, str], store: StoreAnswers) -> None:
        """Ask the components at these addresses, and the store."""
        self._endpoints = endpoints
        self._store = store
        self._own: dict[str, Callable[[], bool]] = {}

    def offer(self, name: str, works: Callable[[], bool]) -> None:
        """Let a component of this process say itself whether it works."""
        self._own[name] = works

    def status(self, name: str) -> tuple[bool, str]:
        """Return whether a component is healthy, and what it or its silence says."""
        if name == STORE:
            return self._of_store()
        own = self._own.get(name)
        if own is not None:
            return (True, "ok") if own() else (False, "not ready")
        url = self._endpoints.get(name)
        return _probe(url) if url else (False, f"--component-statuses does not say where {name} is")

    def _of_store(self) -> tuple[bool, str]:
        try:
            self._store.passes()
        except StoreError as error:
            return False, str(error)
        return True, "ok"


def _probe(url: str) -> tuple[bool, str]:
    import http.client  # only those who ask for a ComponentStatus need these
    import ssl

    parts = urlsplit(url)
    host, port = parts.hostname or "127.0.0.1", parts.port
    if parts.scheme == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # its certificate is its own, as upstream
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, port, timeout=SECONDS, context=context
        )
    else:
        connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    try:
        connection.request("GET", parts.path or "/")
        answer = connection.getresponse()
        text = answer.read(_BODY).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        why = "connect: connection refused" if isinstance(error, ConnectionRefusedError) else str(error)
        return False, f'Get "{url}": dial tcp {host}:{port}: {why}'
    finally:
        connection.close()
    return answer.status == 200, text
