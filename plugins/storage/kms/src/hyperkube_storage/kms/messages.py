"""The messages of KMS v2, and of the values that it encrypts, described here instead of by generated code.

Source: kubernetes kms ``apis/v2/api.proto``, apiserver ``pkg/storage/value/encrypt/envelope/kmsv2/v2/api.proto``.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SERVICE = "/v2.KeyManagementService/"

_TYPES = {
    "bytes": descriptor_pb2.FieldDescriptorProto.TYPE_BYTES,
    "string": descriptor_pb2.FieldDescriptorProto.TYPE_STRING,
    "int32": descriptor_pb2.FieldDescriptorProto.TYPE_INT32,  # an enum on the wire
}
_MESSAGES = {
    "StatusRequest": [],
    "StatusResponse": [("version", 1, "string"), ("healthz", 2, "string"), ("key_id", 3, "string")],
    "DecryptRequest": [
        ("ciphertext", 1, "bytes"),
        ("uid", 2, "string"),
        ("key_id", 3, "string"),
        ("annotations", 4, "map"),
    ],
    "DecryptResponse": [("plaintext", 1, "bytes")],
    "EncryptRequest": [("plaintext", 1, "bytes"), ("uid", 2, "string")],
    "EncryptResponse": [("ciphertext", 1, "bytes"), ("key_id", 2, "string"), ("annotations", 3, "map")],
    "EncryptedObject": [
        ("encrypted_data", 1, "bytes"),
        ("key_id", 2, "string"),
        ("encrypted_dek_source", 3, "bytes"),
        ("annotations", 4, "map"),
        ("encrypted_dek_source_type", 5, "int32"),
    ],
}


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="hyperkube/kms.proto", package="hyperkube.kms", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for label, number, kind in fields:
            field = message.field.add(
                name=label, number=number, label=descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
            )
            if kind != "map":
                field.type = _TYPES[kind]
                continue
            entry = message.nested_type.add(name="AnnotationsEntry")
            entry.options.map_entry = True
            for place, (part, sort) in enumerate((("key", "string"), ("value", "bytes")), start=1):
                entry.field.add(name=part, number=place, type=_TYPES[sort], label=field.label)
            field.label = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED
            field.type = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE
            field.type_name = f".hyperkube.kms.{name}.AnnotationsEntry"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"hyperkube.kms.{name}")) for name in _MESSAGES
    }


_made = _classes()
StatusRequest, StatusResponse = _made["StatusRequest"], _made["StatusResponse"]
DecryptRequest, DecryptResponse = _made["DecryptRequest"], _made["DecryptResponse"]
EncryptRequest, EncryptResponse = _made["EncryptRequest"], _made["EncryptResponse"]
EncryptedObject = _made["EncryptedObject"]
