"""What another API server left in an etcd: values in protobuf, and objects in versions that are not stored any more.

Kubernetes stores built-in kinds as protobuf unless told otherwise. Here everything is written as JSON in the storage
version, or in that of ``--storage-versions``; what is found otherwise is turned into the storage version when it is
read, and written anew when it is next changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import orjson
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.storage.stored_definitions import OLD, from_v1beta1
from hyperkube_lib.protobuf import MAGIC, Protobuf, ProtobufError, open_envelope

from hyperkube.hookspecs.storage import Unreadable
from hyperkube.machinery.groups import GroupVersion, GroupVersionKind
from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema import CompiledSchema, DecodeError

_DEFINITIONS = "/apiextensions.k8s.io/customresourcedefinitions/"
_HEAD = re.compile(rb'\{"kind":"(\w+)","apiVersion":"([\w./-]+)"')
_OLD_DEFINITION = b'"' + OLD.encode() + b'"'


class StoredValues:
    """The form of values that an etcd may hold.

    Args:
        registry: returns the served resources; called with the first value.
        versions: what is written in another version than the storage version: all of whose resources these versions
            have, too.
    """

    def __init__(self, registry: Callable[[], Registry], versions: Sequence[GroupVersion] = ()) -> None:
        self._registry = registry
        self._versions = tuple(versions)
        self._protobuf = Protobuf()
        self._others: dict[bytes, ServedResource | None] = {}
        self._written: dict[GroupVersionKind, ServedResource] | None = None

    def transform_from_storage(self, key: str, stored: bytes) -> tuple[bytes, bool]:
        """Return JSON in the storage version.

        Raises:
            Unreadable: broken protobuf, or of a kind that is not served.
        """
        if stored.startswith(MAGIC):
            return orjson.dumps(self._read_protobuf(stored)), True
        if _DEFINITIONS in key and _OLD_DEFINITION in stored:
            obj = orjson.loads(stored)
            if obj.get("apiVersion") == OLD:
                return orjson.dumps(self._canonical(from_v1beta1(obj))), True
        head = _HEAD.match(stored)
        if head is None:
            return stored, False
        other = self._others[head[0]] if head[0] in self._others else self._other(head)
        if other is not None:
            return orjson.dumps(_headed(other.to_storage(orjson.loads(stored)))), not self._is_written(other)
        return stored, bool(self._versions) and _kind_of(head) in self._wanted()

    def transform_to_storage(self, key: str, value: bytes) -> bytes:
        """Return JSON in the version that is written."""
        if not self._versions or (head := _HEAD.match(value)) is None:
            return value
        wanted = self._wanted().get(_kind_of(head))
        return orjson.dumps(_headed(wanted.from_storage(orjson.loads(value)))) if wanted is not None else value

    def _wanted(self) -> dict[GroupVersionKind, ServedResource]:
        """Return the resources in whose versions something is written, by the kind in the storage version."""
        if self._written is None:
            self._written = {
                served.spec.storage_kind: served
                for served in self._registry().resources()
                if served.spec.storage_kind is not None
                and not served.is_stored
                and not served.custom
                and GroupVersion(served.kind.group, served.kind.version) in self._versions
            }
        return self._written

    def _is_written(self, served: ServedResource) -> bool:
        kind = served.spec.storage_kind
        return bool(self._versions) and kind is not None and self._wanted().get(kind) is served

    def _other(self, head: re.Match[bytes]) -> ServedResource | None:
        """Return the resource that reads a version that is not the storage version, None for one that is."""
        served = self._registry().by_kind(_kind_of(head))
        if served is not None and (served.custom or served.is_stored):
            served = None
        self._others[head[0]] = served
        return served

    def _read_protobuf(self, stored: bytes) -> Object:
        try:
            envelope = open_envelope(stored)
            version = GroupVersion.parse(envelope.api_version)
            served = self._registry().by_kind(GroupVersionKind(version.group, version.version, envelope.kind))
            if served is None or not isinstance(served.codec, CompiledSchema):
                raise Unreadable(f"no kind {envelope.kind!r} is registered for version {envelope.api_version!r}")
            obj = self._protobuf.read_message(envelope.raw, served.codec)
        except (ProtobufError, DecodeError, ValueError) as error:
            raise error if isinstance(error, Unreadable) else Unreadable(str(error)) from error
        return served.to_storage({"kind": envelope.kind, "apiVersion": envelope.api_version, **obj})

    def _canonical(self, obj: Object) -> Object:
        version = GroupVersion.parse(obj["apiVersion"])
        served = self._registry().by_kind(GroupVersionKind(version.group, version.version, obj["kind"]))
        return served.canonical(obj) if served is not None else obj


def _kind_of(head: re.Match[bytes]) -> GroupVersionKind:
    group, _, version = head[2].decode().rpartition("/")
    return GroupVersionKind(group, version, head[1].decode())


def _headed(obj: Object) -> Object:
    """Return an object with its kind in front, as it is stored."""
    return {"kind": obj["kind"], "apiVersion": obj["apiVersion"], **obj}
