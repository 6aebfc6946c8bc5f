"""A resource as the server serves it: its spec together with the compiled schema and the place it is stored at."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, reduce
from operator import or_
from typing import Any, Protocol, TypeAlias

import orjson
from hyperkube_host.apiserver.resources.custom_codec import CustomCodec
from hyperkube_host.apiserver.resources.known_metadata import KnownMetadata, KnownStatus
from hyperkube_host.apiserver.resources.loads import Loads
from hyperkube_host.apiserver.resources.nil_lists import Places, nil_lists, with_nil_lists
from hyperkube_host.apiserver.resources.plain_kinds import is_plain
from hyperkube_host.apiserver.resources.recurring import BUSY_TEMPLATES, Recurring
from hyperkube_host.apiserver.resources.writing import Writing
from hyperkube_lib.structured_merge.managed_fields import FieldScope
from hyperkube_lib.transformed_store import TransformedStore
from hyperkube_lib.watch_cache.cached_object import CachedObject, Transform, read_object
from hyperkube_lib.watch_cache.object_table import IndexFunction, by_field, by_owner
from hyperkube_lib.watch_cache.resource_cache import ResourceCache
from hyperkube_lib.watch_cache.watch_cache import StoreCache

from hyperkube.hookspecs.api import ResourceSpec, Strategy, Subresource
from hyperkube.machinery.fields import texts_of
from hyperkube.machinery.groups import GroupResource, GroupVersionKind
from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema import CompiledSchema, TypeInfo, compile_schema
from hyperkube.machinery.schema.blanks import Blanks
from hyperkube.storage.subscriptions import Subscribable

OWNERS_INDEX = "metadata.ownerReferences.uid"
Parsed: TypeAlias = list[Object]
"""Objects of the caller's own."""

NAME_FIELDS = frozenset({"metadata.name", "metadata.namespace"})


class Codec(Protocol):
    """What the pipeline needs of a schema; `CompiledSchema` and the schemas of custom resources have it."""

    @property
    def type(self) -> TypeInfo:
        """The type, for patches and server-side apply."""

    @property
    def blanks(self) -> Blanks:
        """The members that are stored when they are empty, but not shown."""

    def decode(self, value: Any, *, report: bool = True) -> tuple[Object, list[str]]:
        """Check and canonicalise; return the object and texts for unknown fields; raise `DecodeError`."""

    def strict_errors(self, document: Any) -> list[str]:
        """Return the texts for unknown and duplicate members of a document that keeps its duplicates."""

    def canonical(self, obj: Object) -> Object:
        """Return an object in its canonical form."""

    def canonical_but_for_metadata(self, obj: Object) -> Object:
        """Return an object in its canonical form; members of its metadata have that and need only be put in order."""

    def default(self, obj: Object) -> None:
        """Fill in declared defaults in place."""


def codec_for(schema: Any) -> Codec:
    """Return the codec of a spec's schema: compiled from its name, or the object itself for custom resources."""
    found: Codec = compile_schema(schema) if isinstance(schema, str) else schema
    return found


def is_stored(spec: ResourceSpec) -> bool:
    """Tell whether objects are stored in a resource's own version, or were not if that has changed since."""
    return spec.from_storage is None or spec.storage_kind == spec.kind


class ResourceStorage:
    """Where the objects of a resource are kept, whichever versions of it are served."""

    def __init__(self, cache: StoreCache, root: str, prefix: str) -> None:
        self._store_cache = cache
        self.store = cache.store
        self.is_local = isinstance(cache.store, Subscribable) and not isinstance(cache.store, TransformedStore)
        """Whether the cache has every write before it is answered, and all there is to know about it."""
        self.prefix = f"{root}{prefix}/"
        self._lock = threading.Lock()
        self._cache: ResourceCache | None = None
        self._fields: dict[str, Any] = {}
        self._indexes: set[str] = set()
        self._expires = False
        self._schemas: list[Any] = []
        self._custom: CustomCodec | None = None
        self._written: dict[int, Writing] = {}
        self.loads = Loads()

    def learn(self, spec: ResourceSpec) -> None:
        """Note the field selectors and indexes of a version that is stored here."""
        self._fields.update(spec.fields)
        self._indexes.update(spec.indexes)
        self._expires |= spec.ttl_seconds is not None
        if isinstance(spec.schema, CustomCodec):
            self._custom = spec.schema
        else:
            self._schemas.append(spec.schema)

    @cached_property
    def blanks(self) -> Blanks:
        """The members that are stored when they are empty, but not shown; those of all versions."""
        return reduce(or_, (codec_for(schema).blanks for schema in self._schemas), Blanks())

    def key(self, namespace: str, name: str) -> str:
        """Return the store key of an object."""
        return f"{self.prefix}{namespace}/{name}" if namespace else self.prefix + name

    @property
    def indexes(self) -> frozenset[str]:
        """The field selectors that are indexed."""
        return frozenset(self._indexes)

    @property
    def cache(self) -> ResourceCache:
        """The watch cache of the resource; made when it is first needed."""
        if self._cache is None:
            with self._lock:
                if self._cache is None:
                    indexes: dict[str, IndexFunction] = {path: by_field(path) for path in self._indexes}
                    indexes[OWNERS_INDEX] = by_owner
                    self._cache = self._store_cache.resource(
                        self.prefix, self._transform(), indexes=indexes, expires=self._expires
                    )
        return self._cache

    def _transform(self) -> Transform:
        late = self._expires or not self._store_cache.caches(self.prefix)
        read = read_object(texts_of(self._fields) if self._fields else None, self._object_of, late=late)
        if self._custom is not None and self._custom.reshapes:
            return self._of_custom(self._custom, read)
        written, loads = self._written, self.loads

        def transform(key: str, value: bytes, revision: int) -> CachedObject:
            blanks = self.blanks  # with the first object: a resource without any needs no schema
            cached = read(key, blanks.shown_body(value) if blanks else value, revision)
            loads.made(cached)
            if (known := written.get(id(value))) is not None and known.value is value:
                known.cached = cached
            return cached

        return transform

    def writing(self, value: bytes, obj: Object) -> Writing:
        """Let the cache know the object whose `value` is being stored, within the context that is returned."""
        return Writing(value, obj, self._written)

    def _object_of(self, value: bytes) -> Object | None:
        """Return the object of a value that is being stored, or of one that is read for a reader; else None."""
        known = self._written.get(id(value))
        return known.obj if known is not None and known.value is value else self.loads.parsed(value)

    @staticmethod
    def _of_custom(codec: CustomCodec, read: Transform) -> Transform:
        """Return what brings objects of the storage version into the shape they should have now."""
        head = f'"apiVersion":"{codec.kind.api_version}"'.encode()

        def transform(key: str, value: bytes, revision: int) -> CachedObject:
            return read(key, codec.shaped_body(value) if head in value else value, revision)

        return transform

    def forget(self) -> None:
        """Drop the cache and end its watches: the resource is not served any more."""
        with self._lock:
            cache, self._cache = self._cache, None
        if cache is not None:
            self._store_cache.forget(cache)


def converted(obj: Object, source: ServedResource, wanted: ServedResource) -> Object:
    """Return an object of one version in another; the argument stays as it is.

    Raises:
        ApiError: it cannot be converted.
    """
    # It may have changed since it was stored, although it still says which revision it comes from.
    given = obj.get("metadata") or {}
    meta = {name: value for name, value in given.items() if name != "resourceVersion"}
    result = wanted.from_storage(source.to_storage({**obj, "metadata": meta}))
    revision = given.get("resourceVersion")
    return result if revision is None else {**result, "metadata": {**result["metadata"], "resourceVersion": revision}}


Together: TypeAlias = "Callable[[ServedResource], Sequence[ServedResource]]"
"""Returns the resources whose objects are kept in one place with a resource's own."""


def _alone(served: ServedResource) -> Sequence[ServedResource]:
    return (served,)


class ServedResource:
    """One resource in one version, ready to serve.

    Attributes:
        storage: None for virtual and computed resources.
        custom: whether a CustomResourceDefinition made it.
        converts: whether what is stored has to be looked at, as it may be in another version.
        is_stored: whether its own version is the one that is written.
        waits: whether conversion asks another server.
        field_scopes: what field management knows of a subresource (empty: of the resource), and need not ask again.
        mark: tells what is remembered of its objects from what is of others'; who keeps it does not keep the resource.
    """

    def __init__(
        self,
        spec: ResourceSpec,
        storage: ResourceStorage | None,
        *,
        custom: bool = False,
        together: Together = _alone,
    ) -> None:
        self.spec = spec
        self.mark = object()
        self._together = together
        self.storage = storage
        self.custom = custom
        self.strategy, self.kind = spec.strategy, spec.kind
        self.group_resource: GroupResource = spec.resource.group_resource
        self.converts = spec.from_storage is not None
        self.is_stored = is_stored(spec)
        self.waits = spec.from_storage_all is not None
        self.field_scopes: dict[str, FieldScope] = {}
        self.repeats = type(self.strategy).repeats is not Strategy.repeats
        self.completes = type(self.strategy).default is not Strategy.default  # has defaults beside its schema's
        self.arrived: Recurring[bytes, bytes] = Recurring(BUSY_TEMPLATES)
        """What the objects of a template are when they are decoded and have their defaults, as JSON without name."""
        self.prepared: Recurring[bytes, tuple[bytes, bytes]] = Recurring(BUSY_TEMPLATES)
        """What became of a template's objects: valid and canonical, as JSON without metadata; and their text then."""

    def __repr__(self) -> str:
        return f"<ServedResource {self.group_resource} {self.spec.resource.version}>"

    @cached_property
    def is_plain(self) -> bool:
        """Whether nothing is added to new objects: neither by defaults nor by the strategy."""
        return not self.custom and is_plain(self.codec, type(self.strategy))

    @property
    def is_virtual(self) -> bool:
        """Whether objects are only created, as questions that the answer completes: reviews and bindings."""
        return self.storage is None and self.spec.read is None

    @cached_property
    def codec(self) -> Codec:
        """The codec of the resource's own kind."""
        return codec_for(self.spec.schema)

    @cached_property
    def blanks(self) -> Blanks:
        """The members that are stored when they are empty, but not shown."""
        return self.codec.blanks if self.storage is not None else Blanks()

    @cached_property
    def _nil_lists(self) -> Places:
        return nil_lists(self.codec.schema) if isinstance(self.codec, CompiledSchema) else {}

    def as_stored(self, obj: Object, old: Object | None = None) -> Object:
        """Return an object with null for its empty lists, where it has null after it was stored, as `old` was."""
        return with_nil_lists(obj, self._nil_lists, old) if self._nil_lists else obj

    @cached_property
    def empty(self) -> Object:
        """What an object has of which nothing is known; shared: not to be changed."""
        return {} if self.custom else self.codec.decode(None)[0]

    def codec_of(self, sub: Subresource) -> Codec:
        """Return the codec of a subresource's body."""
        return codec_for(sub.schema) if sub.schema else self.codec

    @cached_property
    def type_prefix(self) -> bytes:
        """How the JSON of a stored object begins: its kind and version."""
        return orjson.dumps({"kind": self.kind.kind, "apiVersion": self.kind.api_version})[:-1] + b","

    def default(self, obj: Object) -> None:
        """Fill in all defaults of a new or changed object, in place."""
        self.strategy.default(obj)
        self.codec.default(obj)

    def canonical(self, obj: Object, known: KnownMetadata | None = None) -> Object:
        """Return an object in its canonical form, which its metadata may be known to have but for the order."""
        is_known = known is not None and known.holds(obj["metadata"])
        canonical = self.codec.canonical_but_for_metadata(obj) if is_known else self.codec.canonical(obj)
        own = {"kind": self.kind.kind, "apiVersion": self.kind.api_version}
        if self.custom:  # it may still have the wrong kind or version, which its validation reports
            own = {name: value for name, value in own.items() if not canonical.get(name)}
        canonical |= own
        return canonical

    def in_order(self, member: str, value: Object) -> Object:
        """Return metadata or a status, of which each member is canonical, in its canonical form."""
        codec = self.codec
        return codec.member_in_order(member, value) if isinstance(codec, CompiledSchema) else value

    def canonical_change(
        self, new: Object, old: Object, known: KnownMetadata | None = None, status: KnownStatus | None = None
    ) -> Object:
        """Return a changed object in its canonical form, sharing with the canonical `old` what stayed as it was.

        Metadata and status may be known to be canonical but for their order.
        """
        same = {name for name, value in new.items() if name in old and value == old[name]} - {"metadata"}
        if self.custom or new.keys() != old.keys() or not same:  # of numbers in custom objects 1 == 1.0
            return self.canonical(new, known)
        if known is not None and known.holds(new["metadata"]):
            others = new.keys() - same - {"metadata"}
            if not others or (status is not None and others == {"status"} and status.holds(new["status"])):
                taken = {name: self.in_order(name, new[name]) for name in others}
                return {**old, **taken, "metadata": self.in_order("metadata", new["metadata"])}
        changed = self.canonical({name: value for name, value in new.items() if name not in same}, known)
        if not new.keys() <= changed.keys() | same:  # something became empty and is left out
            return self.canonical(new, known)
        return {name: old[name] if name in same else changed[name] for name in old}

    @property
    def field_names(self) -> frozenset[str]:
        """The field selectors of the resource."""
        own = NAME_FIELDS if self.spec.namespaced else frozenset({"metadata.name"})
        return own | frozenset(self.spec.fields)

    def stored(self) -> ResourceStorage:
        """Return the storage of a resource that has one.

        Raises:
            LookupError: it has none.
        """
        if self.storage is None:
            raise LookupError(f"{self!r} is not stored")
        return self.storage

    def to_storage(self, obj: Object) -> Object:
        """Convert an object of this version to the one that is stored."""
        return self.spec.to_storage(obj) if self.spec.to_storage is not None else obj

    def from_storage(self, obj: Object) -> Object:
        """Convert a stored object to this version."""
        if self.spec.from_storage is not None:
            return self.spec.from_storage(obj)
        codec = self.spec.schema
        return codec.shaped(obj) if isinstance(codec, CustomCodec) and codec.reshapes else obj

    def body(self, cached: CachedObject) -> bytes:
        """Return the JSON of an object in this version."""
        if not self.converts or (self.is_stored and cached.body.startswith(self.type_prefix)):
            return cached.body
        return orjson.dumps(self.from_storage(orjson.loads(cached.body)))

    def parsed(self, cached: CachedObject) -> Object:
        """Return an object of the caller's own in this version."""
        return self.from_storage(orjson.loads(cached.body_in_passing))

    def parsed_all(self, cached: Iterable[CachedObject]) -> Parsed:
        """Return objects of the caller's own in this version; where another server converts them, in one go."""
        convert = self.spec.from_storage_all
        if convert is None:
            return [self.parsed(one) for one in cached]
        return convert([orjson.loads(one.body_in_passing) for one in cached])

    def fragment(self, cached: CachedObject) -> bytes:
        """Return the JSON of an object as an item of a list: built-in kinds do not repeat their type there."""
        body = self.body(cached)
        if self.custom:
            return body
        prefix = self.type_prefix
        if body.startswith(prefix):
            return b"{" + body[len(prefix) :]
        obj = orjson.loads(body)
        obj.pop("kind", None)
        obj.pop("apiVersion", None)
        return orjson.dumps(obj)

    def versions(self) -> Sequence[ServedResource]:
        """Return the resources that are the same objects in all versions that are served, itself among them."""
        return self._together(self)

    def in_version(self, obj: Object, api_version: str) -> tuple[Object, TypeInfo | None] | None:
        """Return an object of any version in another, with its type there; None when one of them is not served.

        Raises:
            ApiError: it cannot be converted.
        """
        kinds = {one.kind.api_version: one for one in self.versions() if one.kind.kind == self.kind.kind}
        source, wanted = kinds.get(str(obj.get("apiVersion"))), kinds.get(api_version)
        if source is None or wanted is None:
            return None
        return (obj if source is wanted else converted(obj, source, wanted)), wanted.codec.type

    def list_kind(self) -> GroupVersionKind:
        """Return the kind of a list of these."""
        return self.kind._replace(kind=self.spec.list_kind or f"{self.kind.kind}List")
