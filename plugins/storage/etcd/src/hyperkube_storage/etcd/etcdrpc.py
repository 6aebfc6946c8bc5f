"""What stands in for ``etcd3.etcdrpc``: messages that today's protobuf can load, and the stubs that etcd3 asks for.

The stubs inside etcd3 0.12 were generated for protobuf 3 and are refused by every later runtime. `etcd3_client` puts
this module in their place before etcd3 is imported.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from hyperkube_storage.etcd import rpc_pb2
from hyperkube_storage.etcd.rpc_pb2 import (
    AuthenticateRequest,
    AuthenticateResponse,
    CompactionRequest,
    CompactionResponse,
    Compare,
    DeleteRangeRequest,
    DeleteRangeResponse,
    LeaseGrantRequest,
    LeaseGrantResponse,
    PutRequest,
    PutResponse,
    RangeRequest,
    RangeResponse,
    RequestOp,
    StatusRequest,
    StatusResponse,
    TxnRequest,
    TxnResponse,
    WatchCreateRequest,
    WatchProgressRequest,
    WatchRequest,
    WatchResponse,
)

__all__ = [
    "AuthStub",
    "AuthenticateRequest",
    "ClusterStub",
    "CompactionRequest",
    "Compare",
    "DeleteRangeRequest",
    "KVStub",
    "LeaseGrantRequest",
    "LeaseStub",
    "MaintenanceStub",
    "PutRequest",
    "RangeRequest",
    "RequestOp",
    "StatusRequest",
    "TxnRequest",
    "WatchCreateRequest",
    "WatchProgressRequest",
    "WatchRequest",
    "WatchResponse",
    "WatchStub",
    "etcd3_client",
    "rpc_pb2",
]


def _unary(channel: Any, path: str, request: Any, response: Any) -> Any:
    return channel.unary_unary(
        f"/etcdserverpb.{path}", request_serializer=request.SerializeToString, response_deserializer=response.FromString
    )


class KVStub:
    """Keys."""

    def __init__(self, channel: Any) -> None:
        self.Range = _unary(channel, "KV/Range", RangeRequest, RangeResponse)
        self.Put = _unary(channel, "KV/Put", PutRequest, PutResponse)
        self.DeleteRange = _unary(channel, "KV/DeleteRange", DeleteRangeRequest, DeleteRangeResponse)
        self.Txn = _unary(channel, "KV/Txn", TxnRequest, TxnResponse)
        self.Compact = _unary(channel, "KV/Compact", CompactionRequest, CompactionResponse)


class WatchStub:
    """Streams of changes."""

    def __init__(self, channel: Any) -> None:
        self.Watch = channel.stream_stream(
            "/etcdserverpb.Watch/Watch",
            request_serializer=WatchRequest.SerializeToString,
            response_deserializer=WatchResponse.FromString,
        )


class LeaseStub:
    """Leases."""

    def __init__(self, channel: Any) -> None:
        self.LeaseGrant = _unary(channel, "Lease/LeaseGrant", LeaseGrantRequest, LeaseGrantResponse)


class AuthStub:
    """Logging in."""

    def __init__(self, channel: Any) -> None:
        self.Authenticate = _unary(channel, "Auth/Authenticate", AuthenticateRequest, AuthenticateResponse)


class MaintenanceStub:
    """The state of a member."""

    def __init__(self, channel: Any) -> None:
        self.Status = _unary(channel, "Maintenance/Status", StatusRequest, StatusResponse)


class ClusterStub:
    """Members of the cluster; etcd3 wants it to exist, a Store has no use for it."""

    def __init__(self, channel: Any) -> None:
        self.channel = channel


def etcd3_client(**options: Any) -> Any:
    """Return an ``etcd3.client`` on these stubs; see there for the options."""
    this: ModuleType = sys.modules[__name__]
    sys.modules.setdefault("etcd3.etcdrpc", this)
    import etcd3

    return etcd3.client(**options)
