"""What another API server left in an etcd: values in protobuf, and objects in versions that are not stored any more.

Kubernetes stores built-in kinds as protobuf unless told otherwise. Here everything is written as JSON in the storage
version; what is found otherwise is turned into that when it is read, and written anew when it is next changed.
"""

from __future__ import annotations

from collections.abc import Callable

import orjson

from hyperkube.apiserver.custom.stored_definitions import OLD, from_v1beta1
from hyperkube.apiserver.registry import Registry
from hyperkube.machinery.codecs.protobuf import MAGIC, Protobuf, ProtobufError, open_envelope
from hyperkube.machinery.groups import GroupVersion, GroupVersionKind
from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema import CompiledSchema, DecodeError
from hyperkube.storage.transformed import Unreadable

_DEFINITIONS = "/apiextensions.k8s.io/customresourcedefinitions/"
_OLD_DEFINITION = b'"' + OLD.encode() + b'"'


class StoredValues:
    """The form of values that an etcd may hold.

    Args:
        registry: returns the served resources; called with the first value.
    """

    def __init__(self, registry: Callable[[], Registry]) -> None:
        self._registry = registry
        self._protobuf = Protobuf()

    def reveal(self, key: str, stored: bytes) -> tuple[bytes, bool]:
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
        return stored, False

    def conceal(self, key: str, value: bytes) -> bytes:
        """Return the value: JSON is what is written."""
        return value

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
