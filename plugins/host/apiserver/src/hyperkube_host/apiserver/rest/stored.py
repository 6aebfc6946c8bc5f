"""Objects on their way into and out of the store: how they are keyed, encoded, and compared."""

from __future__ import annotations

import orjson
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.resources.writing import Writing
from hyperkube_lib.watch_cache.cached_object import CachedObject, with_resource_version
from hyperkube_lib.watch_cache.resource_cache import ANY_REVISION

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import StorageReadError
from hyperkube.machinery.objects import Object
from hyperkube.storage.store import KeyValue, Store

_HEAD = ["kind", "apiVersion", "metadata"]
"""How objects begin in the store."""


@dataclass(frozen=True, slots=True)
class Current:
    """An object as it is stored now; `obj` is shared among a write's steps, so copy it before changing it.

    `stale` asks for a write even if nothing changes: the form in which it is stored is not written any more. What is
    `assumed` may have changed since: no refusal may be based on it, and nothing but a write that compares.
    """

    obj: Object
    revision: int
    lease: int = 0
    stale: bool = False
    assumed: bool = False


def read(store: Store, served: ServedResource, namespace: str, name: str, *, assume: bool = False) -> Current | None:
    """Return an object as the store has it, None when there is none.

    A store of this process has told the watch cache of every write that was answered, so that the cache's copy will do:
    who compares with it and is late, writes nothing. Only leases are not in it, and what is not shown. Of a store in
    another process the cache's copy may be old, which will do for those who `assume`. Source: kubernetes apiserver
    ``pkg/storage/etcd3/store.go`` (GuaranteedUpdate, cachedExistingObject).
    """
    storage = served.stored()
    if (storage.is_local or assume) and storage.cache.loaded and served.spec.ttl_seconds is None and not served.blanks:
        cached = storage.cache.get(namespace, name, resource_version=ANY_REVISION)
        if cached is not None:
            return _from_cache(served, cached, assumed=not storage.is_local)
        if storage.is_local:
            return None
    item = store.get(served.stored().key(namespace, name))
    return current(served, item) if item is not None else None


def current(served: ServedResource, item: KeyValue) -> Current:
    """Return a stored value as an object of the served version.

    Raises:
        StorageReadError: it cannot be decoded.
    """
    if item.unreadable:
        raise StorageReadError(f'unable to transform key "{item.key}": {item.unreadable}')
    try:
        obj: Object = orjson.loads(item.value)
        obj["metadata"] = _with_version(obj["metadata"], item.mod_revision)
    except (ValueError, TypeError, KeyError) as error:
        raise StorageReadError(f"unable to decode the value of key {item.key!r}: {error!r}") from error
    return Current(served.from_storage(obj), item.mod_revision, item.lease, item.stale or _is_outdated(served, obj))


def _from_cache(served: ServedResource, cached: CachedObject, *, assumed: bool) -> Current:
    obj: Object = orjson.loads(cached.body)
    obj["metadata"] = _with_version(obj["metadata"], cached.revision)
    return Current(served.from_storage(obj), cached.revision, 0, _is_outdated(served, obj), assumed)


def _is_outdated(served: ServedResource, obj: Object) -> bool:
    """Tell whether a custom object is stored in a version that is not the storage version any more."""
    kind = served.spec.storage_kind
    return served.custom and served.converts and kind is not None and obj.get("apiVersion") != kind.api_version


def _with_version(meta: Object, revision: int) -> Object:
    """Return metadata, which is given up, with a resourceVersion where canonical objects have it: behind the uid."""
    meta.pop("resourceVersion", None)
    members = [*meta.items()]
    members.insert([*meta].index("uid") + 1 if "uid" in meta else len(meta), ("resourceVersion", str(revision)))
    return dict(members)


def encode(served: ServedResource, obj: Object) -> bytes:
    """Return the value to store for an object: in the storage version, without its resourceVersion."""
    stored = served.to_storage(obj)
    meta = stored["metadata"]
    if "resourceVersion" in meta:
        meta = meta.copy()
        del meta["resourceVersion"]
        stored = {**stored, "metadata": meta}
    if [*stored][:3] == _HEAD:
        return orjson.dumps(stored)
    head = {"kind": stored["kind"], "apiVersion": stored["apiVersion"], "metadata": meta}
    return orjson.dumps(head | {name: value for name, value in stored.items() if name not in head})


def writing(served: ServedResource, value: bytes, obj: Object) -> Writing:
    """Let the watch cache know the object whose `value` is being stored, unless that is in another version."""
    return Writing(value, obj, {}) if served.converts else served.stored().writing(value, obj)


def answer_bytes(served: ServedResource, written: Writing, revision: int) -> tuple[bytes, CachedObject | None]:
    """Return what clients get for a value that was just stored, and what the cache has made of it.

    Mostly it is there already: one encoding is for the store, the cache, its watchers and the answer. The bytes are
    empty when the value has to be converted first, the second is None where the cache has not got it.
    """
    if served.converts:
        return b"", None
    cached = written.cached
    if cached is not None and cached.revision == revision:
        return cached.body, cached
    return with_resource_version(served.blanks.shown_body(written.value), revision), None


def answered(served: ServedResource, obj: Object, value: bytes, revision: int) -> Object:
    """Return what clients get for an object, changed in place, whose `value` was just stored.

    An object of another version comes back from the stored one: what that does not have is gone.
    """
    if not served.converts or (served.is_stored and value.startswith(served.type_prefix)):
        return with_version(obj, revision)
    return served.from_storage(orjson.loads(with_resource_version(value, revision)))


def dry_run(served: ServedResource, obj: Object) -> Object:
    """Return what a dry run answers: an object of another version as it would come back from the stored one."""
    return served.from_storage(served.to_storage(obj)) if served.converts and not served.custom else obj


def with_version(obj: Object, revision: int) -> Object:
    """Return the object, changed in place, with a resourceVersion."""
    obj["metadata"]["resourceVersion"] = str(revision)
    return obj
