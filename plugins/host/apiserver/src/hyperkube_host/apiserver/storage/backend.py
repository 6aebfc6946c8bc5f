"""Loads the storage plugin that ``--storage-backend`` names, and those that bring encryption providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hyperkube_host.apiserver.plugins import ContextOf, PluginHosts

from hyperkube.hookspecs import storage
from hyperkube.hookspecs.storage import StorageHooks
from hyperkube.plugin import PluginHost, load
from hyperkube.plugin.loader import installed

if TYPE_CHECKING:
    from hyperkube_host.apiserver.encryption.configuration import ProviderFactory


def load_storage(backend: str, context: ContextOf) -> PluginHost[StorageHooks]:
    """Load the storage backend that ``--storage-backend`` names."""
    return load("storage", [_own_name(backend)], storage, lambda plugin: context("storage", plugin))


def _own_name(backend: str) -> str:
    """Return a plugin's own name: of those that it is registered under, the shortest."""
    available = installed("storage")
    entry = available.get(backend)
    if entry is None:
        return backend
    return min((name for name, other in available.items() if other.value == entry.value), key=len)


def provider_factory(context: ContextOf, hosts: PluginHosts) -> ProviderFactory:
    """Return what makes the encryption providers that plugins have: the storage plugin of the provider's name does.

    Each is loaded when it is first needed, and its host added to `hosts`.
    """
    loaded: dict[str, PluginHost[StorageHooks]] = {}

    def make(provider: str, settings: Mapping[str, Any]) -> storage.ValueProvider | None:
        if provider not in loaded:
            if provider not in installed("storage"):
                return None
            loaded[provider] = load("storage", [provider], storage, lambda plugin: context("storage", plugin))
            hosts.add(loaded[provider])
        made: storage.ValueProvider | None = loaded[provider].hook.storage_encrypt(provider=provider, settings=settings)
        return made

    return make
