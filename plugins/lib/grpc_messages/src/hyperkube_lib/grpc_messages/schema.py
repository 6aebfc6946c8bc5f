"""The messages and services of one proto3 file, and messages as mappings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from google.protobuf import descriptor_pool, message_factory, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hyperkube_lib.grpc_messages.proto_file import read_proto

LARGEST_MESSAGE = 16 << 20
"""Bytes of the largest message that is taken. Kubernetes: ``maxMsgSize`` of ``pkg/kubelet/cri``."""
WRAPPERS = frozenset(
    {"Int64Value", "UInt64Value", "Int32Value", "UInt32Value", "BoolValue", "StringValue", "DoubleValue"}
)
"""Messages whose only use is to tell 0 from not set: `to_mapping` always shows their value."""


class Method(NamedTuple):
    """One call of a service."""

    name: str
    path: str
    request: type[Message]
    response: type[Message]
    client_streaming: bool
    server_streaming: bool


class Service(NamedTuple):
    """A service: its full name, and its methods by name."""

    name: str
    methods: Mapping[str, Method]


class Schema:
    """All messages and services of one file, in a descriptor pool of its own: two files may use the same names."""

    def __init__(self, name: str, text: str) -> None:
        """Read the text of a proto3 file.

        Raises:
            ProtoFileError: it cannot be read.
        """
        self._pool = descriptor_pool.DescriptorPool()
        for module in (timestamp_pb2, wrappers_pb2):
            self._pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
        file = read_proto(name, text)
        self.package = file.package
        self._pool.AddSerializedFile(file.SerializeToString())
        self._classes: dict[str, type[Message]] = {}

    def message(self, name: str) -> type[Message]:
        """Return the class of a message.

        Raises:
            KeyError: there is none of that name.
        """
        found = self._classes.get(name)
        if found is None:
            descriptor = self._pool.FindMessageTypeByName(f"{self.package}.{name}")
            found = self._classes[name] = message_factory.GetMessageClass(descriptor)
        return found

    def service(self, name: str) -> Service:
        """Return a service.

        Raises:
            KeyError: there is none of that name.
        """
        descriptor = self._pool.FindServiceByName(f"{self.package}.{name}")
        return Service(
            descriptor.full_name,
            {
                method.name: Method(
                    method.name,
                    f"/{descriptor.full_name}/{method.name}",
                    message_factory.GetMessageClass(method.input_type),
                    message_factory.GetMessageClass(method.output_type),
                    method.client_streaming,
                    method.server_streaming,
                )
                for method in descriptor.methods
            },
        )


@cache
def load_schema(package: str, file: str) -> Schema:
    """Return the schema of a ``.proto`` file that lies beside the modules of `package`."""
    return Schema(file, (resources.files(package) / file).read_text(encoding="utf-8"))


def from_mapping(cls: type[Message], content: Mapping[str, Any]) -> Message:
    """Return a message of a mapping: original field names, enumeration values by name, sub-messages as mappings.

    Raises:
        ValueError, TypeError: a field that the message does not have, or a value that is none of it.
    """
    return cls(**content)


def to_mapping(message: Message) -> dict[str, Any]:
    """Return the fields of a message that are set; the inverse of `from_mapping`."""
    found: dict[str, Any] = {}
    if message.DESCRIPTOR.name in WRAPPERS:
        found["value"] = message.value  # type: ignore[attr-defined]  # the one field of every wrapper
        return found
    for field, value in message.ListFields():
        kind = field.message_type
        if kind is not None and kind.GetOptions().map_entry:
            items = kind.fields_by_name["value"]
            found[field.name] = {key: _plain(items, value[key]) for key in sorted(value)}
        elif field.is_repeated:
            found[field.name] = [_plain(field, item) for item in value]
        else:
            found[field.name] = _plain(field, value)
    return found


def _plain(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None:
        return to_mapping(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return value if known is None else known.name  # a later version of the service may have more values
    return value
