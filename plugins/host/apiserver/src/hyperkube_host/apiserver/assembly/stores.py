"""The second stage: the stores that objects are kept in, and the forms of the values in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hyperkube_host.apiserver.assembly.foundation import Foundation
from hyperkube_host.apiserver.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.apiserver.promise import Promise
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.storage.backend import load_storage, provider_factory
from hyperkube_host.apiserver.storage.storage_options import check_media_type, storage_versions
from hyperkube_host.apiserver.storage.stored_values import StoredValues
from hyperkube_lib.transformed_store import Transformer, Transformers, transformed

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.plugin import PluginContext
from hyperkube.plugin.settings import PluginSettings
from hyperkube.storage.store import Store
from hyperkube.storage.subscriptions import Subscribable

if TYPE_CHECKING:
    from hyperkube_host.apiserver.encryption.live import LiveRules
    from hyperkube_host.apiserver.options import StorageOptions


class OpenedStore(NamedTuple):
    """A store as its plugin opened it, and as the server reads and writes it."""

    raw: Store
    store: Store


class Stores(Record):
    """What is known of stores before any resource is.

    Attributes:
        main: what ``--storage-backend`` names, or the store that the server was given.
        opened: the same; None for a store that was given, which has another owner.
        encryption: the rules of ``--encryption-provider-config``, None without it.
        registry: which resource a key belongs to; needed with the first value, when the model is built.
    """

    foundation: Foundation
    main: Store
    opened: OpenedStore | None
    encryption: LiveRules | None
    registry: Promise[Registry]

    def open_at(self, servers: Sequence[str]) -> OpenedStore:
        """Open a further store, at other servers."""
        values = {**self.foundation.options.values, "etcd-servers": servers}
        return _open(self.foundation, values, self.encryption, self.registry)


def open_stores(foundation: Foundation, given: Store | None) -> Stores:
    """Open the main store, unless the server was given one."""
    options = foundation.options.storage
    check_media_type(options)
    encryption = _encryption(foundation, options)
    registry = Promise[Registry]("the registry")
    if given is not None:
        return Stores(foundation=foundation, main=given, opened=None, encryption=encryption, registry=registry)
    opened = _open(foundation, foundation.options.values, encryption, registry)
    return Stores(foundation=foundation, main=opened.store, opened=opened, encryption=encryption, registry=registry)


def _encryption(foundation: Foundation, options: StorageOptions) -> LiveRules | None:
    """Return the rules of ``--encryption-provider-config``, None without it."""
    if not (options.encryption_provider_config or options.encryption_provider_config_automatic_reload):
        return None
    from hyperkube_host.apiserver.encryption import live_rules

    return live_rules(options, foundation.clock, provider_factory(foundation.context, foundation.hosts))


def _open(
    foundation: Foundation, values: Mapping[str, Any], encryption: LiveRules | None, registry: Promise[Registry]
) -> OpenedStore:
    settings = PluginSettings(NAME, FAMILIES, values, FLAGS)

    def context(family: str, name: str, table: Mapping[str, Any] | None = None) -> PluginContext:
        given = foundation.context(family, name, table)
        return replace(given, settings=settings.of(family, name, table))

    host = load_storage(foundation.options.storage.storage_backend, context)
    foundation.hosts.add(host)
    raw: Store = host.hook.storage_open()
    forms: list[Transformer] = []
    if encryption is not None:
        from hyperkube_host.apiserver.encryption import EncryptedValues

        forms.append(EncryptedValues(encryption, lambda key: registry.get().stored_at(key)))
    versions = storage_versions(foundation.options.storage)
    if not isinstance(raw, Subscribable):  # other programs may have written to it, and may read it
        forms.append(StoredValues(registry.get, versions))
    elif versions:
        raise UsageError("--storage-versions needs --storage-backend=etcd3: the others store one version")
    if not forms:
        return OpenedStore(raw, raw)
    return OpenedStore(raw, transformed(raw, Transformers(forms), may_wait=encryption is not None))
