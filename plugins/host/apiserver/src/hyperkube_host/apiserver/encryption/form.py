"""Which value is encrypted how: by the resource that its key belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from hyperkube_host.apiserver.encryption.providers import Provider

from hyperkube.hookspecs.storage import Unreadable
from hyperkube.machinery.groups import GroupResource


class Rules(Protocol):
    """Says which resource has which providers: those of a file, or those that it has just now."""

    def providers(self, resource: GroupResource) -> Sequence[Provider]:
        """Return the providers of a resource, the one that writes first; none for one that is not encrypted."""


class EncryptedValues:
    """The form of the values of an encrypted store.

    Args:
        rules: what the configuration says.
        resource_of: the resource that a key of the store belongs to, None for keys that hold no object.
    """

    def __init__(self, rules: Rules, resource_of: Callable[[str], GroupResource | None]) -> None:
        self._rules = rules
        self._resource_of = resource_of

    def transform_from_storage(self, key: str, stored: bytes) -> tuple[bytes, bool]:
        """Decrypt; stale unless it is the first provider's first key that did it.

        Raises:
            Unreadable: no provider of the resource can.
        """
        providers = self._providers(key)
        if not providers:
            return stored, False
        context, failed = key.encode(), Unreadable("no matching prefix found")
        for place, provider in enumerate(providers):
            if not stored.startswith(provider.prefix):
                continue
            try:
                value, stale = provider.transform_from_storage(stored, context)
            except Unreadable as error:
                failed = error
                if provider.prefix:
                    break
            else:
                return value, stale or place > 0
        raise failed

    def transform_to_storage(self, key: str, value: bytes) -> bytes:
        """Encrypt with the first provider of the resource."""
        providers = self._providers(key)
        return providers[0].transform_to_storage(value, key.encode()) if providers else value

    def _providers(self, key: str) -> Sequence[Provider]:
        resource = self._resource_of(key)
        return self._rules.providers(resource) if resource is not None else ()
