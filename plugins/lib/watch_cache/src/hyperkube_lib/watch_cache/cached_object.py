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

from hyperkube.machinery.errors import StorageReadError

_METADATA = b'"metadata":{'
_VERSION = re.compile(rb'"resourceVersion":"[^"]*"(,?)')


class CachedObject:
    """An encoded object of one revision; shared by all readers, so never changed.

    Attributes:
        key: the whole key in the store.
        revision: the revision of the write, or of the deletion for an object that is gone.
        body: the JSON that clients get, with ``metadata.resourceVersion``.
        namespace: empty for cluster-scoped objects.
        labels: for label selectors.
        fields: for field selectors and indexes, by path (``spec.nodeName``).
        owners: the uids of the owner references.
        encodings: the same object in other formats, kept here by those who made them; None while there are none.
    """

    __slots__ = (
        "__weakref__", "body", "encodings", "fields", "key", "labels", "name", "namespace", "owners", "revision", "uid"
    )  # fmt: skip

    def __init__(
        self,
        key: str,
        revision: int,
        body: bytes,
        *,
        namespace: str = "",
        name: str = "",
        uid: str = "",
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
        owners: tuple[str, ...] = (),
    ) -> None:
        self.key = key
        self.revision = revision
        self.body = body
        self.namespace = namespace
        self.name = name
        self.uid = uid
        self.labels = labels or _NONE
        self.fields = fields or _NONE
        self.owners = owners
        self.encodings: dict[Hashable, Any] | None = None

    def __repr__(self) -> str:
        return f"<CachedObject {self.key!r} at {self.revision}, {len(self.body)} bytes>"

    def at(self, revision: int) -> CachedObject:
        """Return the same object with another resourceVersion, as a deletion event shows it."""
        return CachedObject(
            self.key,
            revision,
            with_resource_version(self.body, revision),
            namespace=self.namespace,
            name=self.name,
            uid=self.uid,
            labels=self.labels,
            fields=self.fields,
            owners=self.owners,
        )


_NONE: Mapping[str, str] = {}

Transform: TypeAlias = Callable[[str, bytes, int], CachedObject]
"""Turns (key, stored value, revision) into what the cache keeps; raises `StorageReadError` for what it cannot read."""


def with_resource_version(value: bytes, revision: int) -> bytes:
    """Return an object's JSON with ``metadata.resourceVersion`` set to `revision`, without parsing it when possible.

    Raises:
        orjson.JSONDecodeError: `value` has to be parsed and is not JSON.
    """
    start = value.find(_METADATA)
    if start > 0 and value[start - 1] in b"{," and value.count(b"{", 0, start) == 1:
        inside = start + len(_METADATA)
        head, version = value[:inside], b'"resourceVersion":"%d"' % revision
        if old := _VERSION.match(value, inside):
            return head + version + old[1] + value[old.end() :]
        if b'"resourceVersion"' not in value or b'"resourceVersion"' not in orjson.dumps(
            orjson.loads(value).get("metadata")
        ):
            return head + version + (b"" if value[inside : inside + 1] == b"}" else b",") + value[inside:]
    obj: dict[str, Any] = orjson.loads(value)
    meta = {"resourceVersion": str(revision), **(obj.get("metadata") or {})}
    meta["resourceVersion"] = str(revision)
    return orjson.dumps({**_type_first(obj), "metadata": meta, **{k: v for k, v in obj.items() if k != "metadata"}})


def _type_first(obj: dict[str, Any]) -> dict[str, Any]:
    return {field: obj[field] for field in ("kind", "apiVersion") if field in obj}


def read_object(
    fields: Callable[[dict[str, Any]], Mapping[str, str]] | None = None,
    parsed: Callable[[bytes], dict[str, Any] | None] = lambda _value: None,
) -> Transform:
    """Return the `Transform` for plain JSON objects.

    ``metadata.name`` and ``metadata.namespace`` are always there for selectors through the object's own attributes.

    Args:
        fields: returns what field selectors and indexes may use.
        parsed: returns the object of a value where it is known already, or None.
    """

    def transform(key: str, value: bytes, revision: int) -> CachedObject:
        try:
            obj = parsed(value) or orjson.loads(value)
            meta = obj["metadata"]
            return CachedObject(
                key,
                revision,
                with_resource_version(value, revision),
                namespace=intern(meta.get("namespace") or ""),
                name=meta["name"],
                uid=meta.get("uid", ""),
                labels={name: intern(text) for name, text in (meta.get("labels") or {}).items()},
                fields=fields(obj) if fields else None,
                owners=tuple(owner["uid"] for owner in meta.get("ownerReferences") or ()),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StorageReadError(f"unable to decode the value of key {key!r}: {error!r}") from error

    return transform
