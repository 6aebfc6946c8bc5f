"""Whose client certificates prove something: what the API server publishes for servers that stand beside it.

Source: kubernetes apiserver ``pkg/server/options/authentication.go`` and
``pkg/authentication/request/x509`` (the ConfigMap ``extension-apiserver-authentication``).
"""

from __future__ import annotations

import logging
from pathlib import Path

from hyperkube.client.client import Client
from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.errors import ApiError, UsageError

PUBLISHED = ("kube-system", "extension-apiserver-authentication")
"""Namespace and name of the ConfigMap in which the API server tells whom it trusts."""
CLIENT_CA = "client-ca-file"
REFRESH_SECONDS = 60.0
_log = logging.getLogger("hyperkube.serving")


class PublishedAuthority:
    """Keeps the published authority in a file, which its readers read again when it has changed.

    As long as nothing is published, or the API server does not answer, the file holds an authority that has signed
    nothing: no client is believed, and TLS asks for certificates all the same.
    """

    def __init__(self, client: Client, clock: Clock, folder: Path, *, tolerant: bool) -> None:
        """Take whom to ask, and where to keep it; `tolerant`: go on when the first look-up fails."""
        self._client = client
        self._clock = clock
        self._tolerant = tolerant
        self._timer: Timer | None = None
        self._closed = False
        self.path = folder / "client-ca.crt"

    def start(self) -> None:
        """Write the file, and look again once a minute.

        Raises:
            UsageError: the API server could not be asked, and that is not tolerated.
        """
        from hyperkube_lib.serving.certificates import make_ca, write_public

        try:
            found = self._found()
        except (ApiError, OSError) as error:
            where = "/".join(PUBLISHED)
            if not self._tolerant:
                raise UsageError(f"cannot look up configmap {where}: {error}") from error
            _log.warning("cannot look up configmap %s yet; certificates prove nothing until then: %s", where, error)
            found = ""
        write_public(self.path, found.encode() or make_ca("nobody").certificate)
        self._timer = self._clock.call_later(REFRESH_SECONDS, self._refresh)

    def close(self) -> None:
        """Look no more."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _found(self) -> str:
        namespace, name = PUBLISHED
        return str((self._client.get(CONFIG_MAPS, name, namespace).get("data") or {}).get(CLIENT_CA, ""))

    def _refresh(self) -> None:
        from hyperkube_lib.serving.certificates import write_public

        if self._closed:
            return
        try:
            found = self._found()
        except (ApiError, OSError) as error:
            _log.info("cannot look up whose certificates to believe: %s", error)
            found = ""
        if found and found != self.path.read_text():
            write_public(self.path, found.encode())
        self._timer = self._clock.call_later(REFRESH_SECONDS, self._refresh)
