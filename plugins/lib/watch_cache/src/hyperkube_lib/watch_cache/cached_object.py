"""One object as the watch cache keeps it: the bytes that clients get, and the few words that select it.

A parsed Pod costs eight times its bytes, so nothing parsed is kept. The stored JSON has no ``resourceVersion``: the
revision of the write is spliced into the bytes when they enter the cache.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from sys import intern
from typing import Any, TypeAlias

import orjson
from hyperkube_lib.watch_cache.packing import Packed, Packer

from hyperkube.machinery.errors import StorageReadError
from hyperkube.machinery.recent import exact

_METADATA = b'"metadata":{'
_LEAST_PACKED = 500
"""Bytes of a body from which on a packed one takes less than half."""
_VERSION = re.compile(rb'"resourceVersion":"[^"]*"(,?)')
_HEAD = re.compile(
    rb'\{"kind":"\w+","apiVersion":"[\w./-]+","metadata":\{()"name":"[^"\\]+",'
    rb'(?:"generateName":"[^"\\]*",)?(?:"namespace":"([^"\\]*)",)?'
)
"""Matches how an object in its canonical form begins: where its metadata does, and in which namespace it is."""

Fields: TypeAlias = Callable[[dict[str, Any]], Mapping[str, str]]
"""Returns what field selectors and indexes may use of an object."""

Exchange: TypeAlias = "tuple[bytes | Packed, Packed]"
"""A body, and the same packed."""

_INVOLVED = b'"involvedObject":'
"""What is before the brace of an event's reference; no member of metadata has that name, so it needs no counting."""


class CachedObject:
    """An encoded object of one revision; shared by all readers, so never changed.

    Attributes:
        key: the whole key in the store.
        revision: the revision of the write, or of the deletion for an object that is gone.
        namespace: empty for cluster-scoped objects.
        labels: for label selectors.
        owners: the uids of the owner references.
        encodings: the same object in other formats, kept here by those who made them; None while there are none.
    """

    __slots__ = ("__weakref__", "_body", "_fields", "encodings", "key", "labels", "namespace", "owners", "revision")

    def __init__(
        self,
        key: str,
        revision: int,
        body: bytes,
        *,
        namespace: str = "",
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | Fields | None = None,
        owners: tuple[str, ...] = (),
    ) -> None:
        self.key = key
        self.revision = revision
        self.namespace = namespace
        self.labels = labels or _NONE
        self.owners = owners
        self.encodings: dict[Hashable, Any] | None = None
        self._body: bytes | Packed = body
        self._fields: Mapping[str, str] | tuple[Any, ...] | Fields = fields or _NONE

    @property
    def body(self) -> bytes:
        """The JSON that clients get, with ``metadata.resourceVersion``."""
        body = self._body
        if isinstance(body, bytes):
            return body
        unpacked = body.unpacked()
        if not body.stays:  # what is read once is mostly read again, before it is packed again
            self._body = unpacked
        return unpacked

    @property
    def body_in_passing(self) -> bytes:
        """The same for one of many thousands that are read at once: what was packed is not unpacked for good."""
        body = self._body
        return body if isinstance(body, bytes) else body.unpacked()

    @property
    def held(self) -> int:
        """The bytes that the body takes."""
        return len(self._body)

    @property
    def name(self) -> str:
        """The object's name: the last part of its key."""
        return self.key[self.key.rfind("/") + 1 :]

    @property
    def fields(self) -> Mapping[str, str]:
        """For field selectors and indexes, by path (``spec.nodeName``)."""
        fields = self._fields
        if isinstance(fields, tuple):
            return dict(zip(fields[0], fields[1:], strict=True))
        if callable(fields):
            fields = self._fields = fields(orjson.loads(self.body))
        return fields

    @property
    def _taken_along(self) -> Mapping[str, str] | Fields:
        """The fields for the same object at another revision: what has not been read off it is not read for that."""
        return self._fields if callable(self._fields) else self.fields

    @property
    def is_loose(self) -> bool:
        """Tell whether packing it is worth it."""
        return isinstance(self._body, bytes) and len(self._body) >= _LEAST_PACKED

    def pack(self, packer: Packer, *, stays: bool = False) -> None:
        """Take less memory, for a longer way to body and fields; used under the lock of its cache.

        Until the body is read, unless it `stays` packed also then. Readers need no lock: either they find what was
        there, or what takes its place.
        """
        self.exchange(self.packed(packer, stays=stays), packer)

    def packed(self, packer: Packer, *, stays: bool = False) -> Exchange:
        """Return what takes the body's place by `exchange`; the lock is not needed.

        zlib gives the interpreter away, and it may take long to get it back: changes would wait for the lock meanwhile.
        """
        body = self._body
        if isinstance(body, bytes):
            return body, packer.pack(body, stays=stays)
        return body, body.staying() if stays else body

    def exchange(self, bodies: Exchange, packer: Packer) -> None:
        """Pack it with what `packed` returned, unless something else has come there meanwhile; used under the lock."""
        fields = self._fields
        if self._body is not bodies[0]:
            return
        self._body = bodies[1]
        if fields and isinstance(fields, Mapping):
            self._fields = (packer.names(fields), *fields.values())

    def settle(self) -> None:
        """Stay as it is, packed or not, when it is read."""
        body = self._body
        if isinstance(body, Packed):
            self._body = body.staying()

    def __repr__(self) -> str:
        return f"<CachedObject {self.key!r} at {self.revision}, {self.held} bytes>"

    def at(self, revision: int) -> CachedObject:
        """Return the same object with another resourceVersion, as a deletion event shows it."""
        return CachedObject(
            self.key,
            revision,
            with_resource_version(self.body, revision),
            namespace=self.namespace,
            labels=self.labels,
            fields=self._taken_along,
            owners=self.owners,
        )


_NONE: Mapping[str, str] = {}


class StoredObject(CachedObject):
    """An object of which nothing has been parsed: labels, owners and fields are read when they are first asked for."""

    __slots__ = ()

    def __init__(
        self, key: str, revision: int, body: bytes, namespace: str, fields: Mapping[str, str] | Fields | None
    ) -> None:
        self.key = key
        self.revision = revision
        self.namespace = namespace
        self.encodings = None
        self._body = body
        self._fields = fields or _NONE

    def at(self, revision: int) -> CachedObject:
        """Return the same object with another resourceVersion; nothing of it is parsed for that."""
        body = with_resource_version(self.body, revision)
        return StoredObject(self.key, revision, body, self.namespace, self._taken_along)

    def __getattr__(self, name: str) -> Any:
        if name not in {"labels", "owners"}:  # the slots that are still empty
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        try:
            meta = orjson.loads(self.body)["metadata"]
            self.labels = meta.get("labels") or _NONE
            self.owners = _owners(meta)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StorageReadError(f"unable to decode the value of key {self.key!r}: {error!r}") from error
        return getattr(self, name)


def _owners(meta: dict[str, Any]) -> tuple[str, ...]:
    return tuple(intern(owner["uid"]) for owner in meta.get("ownerReferences") or ())


def stored_object(key: str, value: bytes, revision: int, fields: Fields | None) -> StoredObject | None:
    """Return the object of a value in the form in which objects are stored, unparsed; None for one in any other form.

    It begins as canonical objects do, and ``resourceVersion`` comes in what follows its metadata, if at all: before the
    brace that opens that, more were closed since metadata began than opened.
    """
    head = _HEAD.match(value)
    if head is None or value[-1:] != b"}":
        return None
    start = head.start(1)
    other = value.find(b'"resourceVersion"', start)
    if other > 0:
        opened = value.rfind(b"{", start, other)
        is_behind = value.startswith(_INVOLVED, opened - len(_INVOLVED)) or (
            value.count(b"{", start, opened) < value.count(b"}", start, opened)
        )
        if opened < 0 or not is_behind:
            return None
    namespace = head[2]
    if namespace is None and b'"namespace":"' in value:  # not where canonical objects have it
        return None
    body = b"".join((value[:start], b'"resourceVersion":"%d",' % revision, value[start:]))
    return StoredObject(key, revision, body, intern(namespace.decode()) if namespace else "", fields)


Transform: TypeAlias = Callable[[str, bytes, int], CachedObject]
"""Turns (key, stored value, revision) into what the cache keeps; raises `StorageReadError` for what it cannot read."""


def with_resource_version(value: bytes, revision: int, *, has_none: bool = False) -> bytes:
    """Return an object's JSON with ``metadata.resourceVersion`` set to `revision`, without parsing it when possible.

    `has_none` says that its metadata is known to have none.

    Raises:
        orjson.JSONDecodeError: `value` has to be parsed and is not JSON.
    """
    start = value.find(_METADATA)
    if start > 0 and value[start - 1] in b"{," and value.count(b"{", 0, start) == 1:
        inside = start + len(_METADATA)
        head, version = value[:inside], b'"resourceVersion":"%d"' % revision
        if not has_none and (old := _VERSION.match(value, inside)):
            return head + version + old[1] + value[old.end() :]
        if (
            has_none
            or b'"resourceVersion"' not in value
            or b'"resourceVersion"' not in orjson.dumps(orjson.loads(value).get("metadata"))
        ):
            return head + version + (b"" if value[inside : inside + 1] == b"}" else b",") + value[inside:]
    obj: dict[str, Any] = orjson.loads(value)
    meta = {"resourceVersion": str(revision), **(obj.get("metadata") or {})}
    meta["resourceVersion"] = str(revision)
    rest = {name: value for name, value in obj.items() if name != "metadata"}
    return bytes(exact(orjson.dumps({**_type_first(obj), "metadata": meta, **rest})))


def _type_first(obj: dict[str, Any]) -> dict[str, Any]:
    return {field: obj[field] for field in ("kind", "apiVersion") if field in obj}


_MOST_LABELS = 1024


class _SharedLabels:
    """Labels that several objects have, kept once: those of the pods of a template."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}

    def of(self, labels: Mapping[str, str]) -> Mapping[str, str]:
        """Return equal labels."""
        key = tuple(labels.items())
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_LABELS:
                self._known.clear()
            found = self._known[key] = {name: intern(text) for name, text in key}
        return found


def read_object(
    fields: Fields | None = None,
    parsed: Callable[[bytes], dict[str, Any] | None] = lambda _value: None,
    *,
    late: bool = False,
) -> Transform:
    """Return the `Transform` for plain JSON objects.

    ``metadata.name`` and ``metadata.namespace`` are always there for selectors through the object's own attributes.

    Args:
        fields: returns what field selectors and indexes may use.
        parsed: returns the object of a value where it is known already, or None.
        late: whether labels, owners and fields are read when they are first asked for, as few objects are asked.
    """
    labels = _SharedLabels().of

    def transform(key: str, value: bytes, revision: int) -> CachedObject:
        try:
            obj = parsed(value)
            if obj is None and late and (unparsed := stored_object(key, value, revision, fields)) is not None:
                return unparsed
            obj = obj or orjson.loads(value)
            meta = obj["metadata"]
            if "name" not in meta:
                raise StorageReadError(f"the value of key {key!r} has no name")
            return CachedObject(
                key,
                revision,
                with_resource_version(value, revision, has_none="resourceVersion" not in meta),
                namespace=intern(meta.get("namespace") or ""),
                labels=labels(meta.get("labels")) if meta.get("labels") else None,
                fields=fields(obj) if fields and not late else fields,
                owners=_owners(meta),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StorageReadError(f"unable to decode the value of key {key!r}: {error!r}") from error

    return transform
