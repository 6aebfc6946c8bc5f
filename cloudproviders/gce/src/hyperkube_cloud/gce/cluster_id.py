"""The cluster's id in the names of what its balancers share: that of the ConfigMap ``kube-system/ingress-uid``.

The ingress controller shares it, so it is read, and made once where there is none.
Source: cloud-provider-gcp ``providers/gce/gce_clusterid.go``.
"""

from __future__ import annotations

import secrets
import threading
from typing import Final

from hyperkube.client.client import Client
from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.errors import AlreadyExists, ApiError, NotFound
from hyperkube.machinery.objects import Object

NAMESPACE: Final = "kube-system"
NAME: Final = "ingress-uid"
KEYS: Final = ("provider-uid", "uid")
"""The provider's own id where it differs from the ingress controller's, else that."""


class ClusterId:
    """Reads the id at first use; thread-safe."""

    def __init__(self, client: Client | None) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._known: str | None = None

    def get(self) -> str:
        """Return the id; empty in clusters whose ConfigMap says so.

        Raises:
            CloudFailed: the API server does not tell: nothing is made under a guessed name.
        """
        with self._lock:
            if self._known is None:
                self._known = self._read()
            return self._known

    def _read(self) -> str:
        if self._client is None:
            raise CloudFailed(f"the cluster's id stands in ConfigMap {NAMESPACE}/{NAME}, and there is no API to ask")
        try:
            return _id_of(self._client.get(CONFIG_MAPS, NAME, NAMESPACE))
        except NotFound:
            return self._made(self._client)
        except ApiError as error:
            raise CloudFailed(f"the cluster's id stands in ConfigMap {NAMESPACE}/{NAME}: {error}") from error

    def _made(self, client: Client) -> str:
        new = secrets.token_hex(8)
        obj: Object = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "data": dict.fromkeys(KEYS, new),
        }
        try:
            return _id_of(client.create(CONFIG_MAPS, obj, NAMESPACE))
        except AlreadyExists:
            return _id_of(client.get(CONFIG_MAPS, NAME, NAMESPACE))
        except ApiError as error:
            raise CloudFailed(f"the cluster's id is to stand in ConfigMap {NAMESPACE}/{NAME}: {error}") from error


def _id_of(config_map: Object) -> str:
    data = config_map.get("data") or {}
    for key in KEYS:
        if key in data:
            return str(data[key])
    raise CloudFailed(f"ConfigMap {NAMESPACE}/{NAME} has no cluster id under {' or '.join(KEYS)}")
