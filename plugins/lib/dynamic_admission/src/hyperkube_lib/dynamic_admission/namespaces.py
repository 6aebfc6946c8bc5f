"""Finding namespaces, from the shared cache or, when it is behind, from the server."""

from __future__ import annotations

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer, InformerFactory, cached_or_live
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.machinery.objects import Object


class Namespaces:
    """Callable: name → namespace."""

    def __init__(self, client: Client, informers: InformerFactory) -> None:
        self._client = client
        self.informer: Informer = informers.informer(NAMESPACES)

    def __call__(self, name: str) -> Object:
        """Return a namespace.

        Raises:
            NotFound: there is none.
        """
        return cached_or_live(self.informer, self._client, name)
