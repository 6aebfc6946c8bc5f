"""The third stage: what is served, and the caches that it is served from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from hyperkube_host.apiserver.assembly.foundation import LOGGER, Foundation
from hyperkube_host.apiserver.assembly.stores import Stores
from hyperkube_host.apiserver.openapi import NoDescriptions
from hyperkube_host.apiserver.promise import Promise
from hyperkube_host.apiserver.resources.api_groups import load_api
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.resources.runtime_config import may_serve_legacy, selected, unserved
from hyperkube_host.apiserver.storage.damaged_objects import DamagedObjects
from hyperkube_host.apiserver.storage.storage_options import (
    HistorySizes,
    check_storage_versions,
    server_overrides,
    storage_versions,
)
from hyperkube_lib.watch_cache.cache_state import CacheState
from hyperkube_lib.watch_cache.watch_cache import StoreCache

from hyperkube.hookspecs.api import ApiGroupVersion, ApiHooks, ObjectRules
from hyperkube.hookspecs.descriptions import Descriptions
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.record import Record
from hyperkube.plugin import PluginHost
from hyperkube.storage.store import Store


class Model(Record):
    """The resources of one server.

    Attributes:
        api: the plugins of the API groups.
        store: where all objects are kept, wherever that is.
        raw_stores: those that the server opened, as their plugins did.
        cache: of the main store.
        other_caches: of the stores of single resources.
        damaged: what the stores have lost.
    """

    api: PluginHost[ApiHooks]
    registry: Registry
    store: Store
    raw_stores: Sequence[Store]
    cache: StoreCache
    other_caches: Sequence[StoreCache]
    damaged: DamagedObjects

    @property
    def caches(self) -> Sequence[StoreCache]:
        """All caches."""
        return (self.cache, *self.other_caches)

    def object_rules(self, schema: Mapping[str, Any]) -> ObjectRules | None:
        """Return what checks objects of a custom resource's schema; see `api_object_rules`."""
        found: ObjectRules | None = self.api.hook.api_object_rules(schema=schema)
        return found

    def descriptions(self) -> Descriptions:
        """Return what describes types: reading it takes time, so it is asked for when it is first needed."""
        found: Descriptions = self.api.hook.api_descriptions() or NoDescriptions()
        return found


@dataclass(frozen=True, slots=True)
class _Caches:
    """Makes caches; how much history each resource keeps is known once the registry is."""

    foundation: Foundation
    sizes: HistorySizes
    registry: Promise[Registry]
    damaged: DamagedObjects

    def make(self, store: Store, state: CacheState | None = None) -> StoreCache:
        return StoreCache(
            store,
            self.foundation.clock,
            prefix=self.foundation.root,
            report_damaged=self.damaged.report,
            limits_of=lambda prefix: self.sizes.of(self.registry.get().stored_at(prefix)),
            state=state,
            rest=self.foundation.slices.rest,
        )


def build_model(foundation: Foundation, stores: Stores, state: CacheState | None = None) -> Model:
    """Load the API groups and register what they declare; `state` is what the cache begins with."""
    options = foundation.options
    damaged = DamagedObjects(stores.registry.get, foundation.loopback, foundation.clock)
    caches = _Caches(foundation, HistorySizes(options.storage), stores.registry, damaged)
    cache = caches.make(stores.main, state)
    legacy = may_serve_legacy(options.features.runtime_config) or bool(options.storage.etcd_servers_overrides)
    api = load_api(foundation.context, legacy=legacy)
    foundation.hosts.add(api)
    declared = [version for versions in api.hook.api_group_versions() for version in versions]
    overrides = _store_elsewhere(stores, caches, declared) if stores.opened is not None else _Overrides()
    registry = Registry(cache, root=foundation.root, elsewhere=overrides.caches)
    stores.registry.keep(registry)
    for key in unserved(declared, options.features.runtime_config):
        LOGGER.warning("runtime-config %s has no effect: no plugin serves such a group version", key)
    registry.add(selected(declared, options.features.runtime_config))
    check_storage_versions(
        storage_versions(options.storage), {(version.group, version.version) for version in registry.versions()}
    )
    own = (stores.opened.raw,) if stores.opened is not None else ()
    return Model(
        api=api,
        registry=registry,
        store=_routed(stores.main, overrides.stores),
        raw_stores=(*own, *overrides.raw),
        cache=cache,
        other_caches=tuple(overrides.caches.values()),
        damaged=damaged,
    )


@dataclass(frozen=True, slots=True)
class _Overrides:
    """The stores of single resources, by the prefix of their keys, and their caches, by storage prefix."""

    stores: dict[str, Store] = field(default_factory=dict)
    caches: dict[str, StoreCache] = field(default_factory=dict)
    raw: list[Store] = field(default_factory=list)


def _routed(main: Store, elsewhere: Mapping[str, Store]) -> Store:
    if not elsewhere:
        return main
    from hyperkube_host.apiserver.storage.routed_store import RoutedStore

    return RoutedStore(main, elsewhere)


def _store_elsewhere(stores: Stores, caches: _Caches, declared: Sequence[ApiGroupVersion]) -> _Overrides:
    """Open the stores that ``--etcd-servers-overrides`` names for single resources."""
    foundation = stores.foundation
    specs = [spec for version in declared for spec in version.resources if spec.storage_prefix]
    prefixes = {spec.resource.group_resource: spec.storage_prefix for spec in reversed(specs)}
    found = _Overrides()
    for resource, servers in server_overrides(foundation.options.storage, LOGGER).items():
        opened = stores.open_at(servers)
        prefix = prefixes.get(resource, f"{resource.group}/{resource.resource}")
        found.raw.append(opened.raw)
        found.stores[f"{foundation.root}{prefix}/"] = opened.store
        found.caches[prefix] = caches.make(opened.store)
    return found
