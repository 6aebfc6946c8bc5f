"""gRPC probes: the health protocol's answer SERVING is success, all else is a failure.

Source: kubernetes ``pkg/probe/grpc/grpc.go``; the protocol is ``grpc.health.v1`` of grpc.
"""

from __future__ import annotations

from functools import cache

import grpc
from hyperkube_host.kubelet.probe.result import ProbeOutcome, ProbeResult
from hyperkube_lib.grpc_messages import RpcFailed, Schema, Stub, load_schema

from hyperkube.machinery.objects import Object

SERVING = "SERVING"


def probe_grpc(action: Object, address: str, timeout: float, *, agent: str) -> ProbeOutcome:
    """Ask the port of a ``grpc`` action for the health of its service."""
    host = f"[{address}]" if ":" in address else address
    target = f"{host}:{action['port']}"
    options = (("grpc.primary_user_agent", agent), ("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1))
    with grpc.insecure_channel(target, options=options) as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout)
        except grpc.FutureTimeoutError:
            text = f'timeout: failed to connect service "{target}" within {timeout:g}s: context deadline exceeded'
            return ProbeOutcome(ProbeResult.FAILURE, text)
        try:
            request = {"service": action.get("service") or ""}
            answer = Stub(channel, _schema().service("Health")).call("Check", request, timeout)
        except RpcFailed as error:
            return ProbeOutcome(ProbeResult.FAILURE, _text(error, timeout))
    status = answer.get("status", "UNKNOWN")
    if status != SERVING:
        return ProbeOutcome(ProbeResult.FAILURE, f'service unhealthy (responded with "{status}")')
    return ProbeOutcome(ProbeResult.SUCCESS, "service healthy")


@cache
def _schema() -> Schema:
    return load_schema("hyperkube_host.kubelet.probe", "health.v1.proto")


def _text(error: RpcFailed, timeout: float) -> str:
    if error.code == "UNIMPLEMENTED":
        protocol = "the grpc health protocol (grpc.health.v1.Health)"
        return f"error: this server does not implement {protocol}: {error.details}"
    if error.code == "DEADLINE_EXCEEDED":
        return f"timeout: health rpc did not complete within {timeout:g}s"
    return f"error: health rpc probe failed: {error}"
