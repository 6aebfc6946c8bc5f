"""Kubernetes' protobuf: objects as messages of their schema, in an envelope that says what they are.

The messages are read and written by walking the schemas; the protobuf library is not needed, nor loaded. Source:
kubernetes apimachinery ``pkg/runtime/serializer/protobuf`` and the ``generated.proto`` files.
"""

from hyperkube_lib.protobuf.codec import Protobuf
from hyperkube_lib.protobuf.envelope import (
    ENVELOPE_TAIL,
    MAGIC,
    MEDIA_TYPE,
    NOT_PROTOBUF,
    Envelope,
    ProtobufError,
    close_envelope,
    envelope_head,
    enveloped,
    open_envelope,
    watch_frame,
)

__all__ = [
    "ENVELOPE_TAIL",
    "MAGIC",
    "MEDIA_TYPE",
    "NOT_PROTOBUF",
    "Envelope",
    "Protobuf",
    "ProtobufError",
    "close_envelope",
    "envelope_head",
    "enveloped",
    "open_envelope",
    "watch_frame",
]
