"""gRPC services without generated code: proto3 files become messages, stubs and servers at run time.

A distribution keeps the ``.proto`` file of its service beside its modules and loads it once::

    SCHEMA = load_schema("hyperkube_lib.cri", "cri.runtime.v1.proto")
    runtime = Stub(channel, SCHEMA.service("RuntimeService"))
    version = runtime.call("Version", {"version": "v1"}, timeout=10)

Messages travel as mappings: original field names, enumeration values by name, fields that are not set left out.
"""

from hyperkube_lib.grpc_messages.errors import RpcFailed
from hyperkube_lib.grpc_messages.schema import Method, Schema, Service, from_mapping, load_schema, to_mapping
from hyperkube_lib.grpc_messages.server import EndlessStream, GrpcServer, Handler
from hyperkube_lib.grpc_messages.stub import Stub, unix_channel, unix_socket_of

__all__ = [
    "EndlessStream",
    "GrpcServer",
    "Handler",
    "Method",
    "RpcFailed",
    "Schema",
    "Service",
    "Stub",
    "from_mapping",
    "load_schema",
    "to_mapping",
    "unix_channel",
    "unix_socket_of",
]
