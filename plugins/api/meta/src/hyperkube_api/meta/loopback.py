"""When an endpoint may be on the machine's own addresses.

Kubernetes refuses 127.0.0.0/8 and ::1 there: a user could make a Service lead to what listens on a node for that node
alone. Where pods are processes of one machine, their addresses are loopback ones all the same. So such an address is
taken from an endpoint whose ``targetRef`` is the Pod that has it: only a kubelet can write that into a Pod's status.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias

from hyperkube.hookspecs.api import Call
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object

GATE = "AllowLoopbackEndpoints"
"""The gate under which every endpoint may be on them."""

LoopbackRule: TypeAlias = Callable[[Object, str], bool]
"""Tells whether a loopback address may be that of an endpoint."""

KnownEndpoints: TypeAlias = Collection[tuple[str, str]]
"""Address and name of the target of endpoints that were accepted before."""


def never_loopback(_endpoint: Object, _address: str) -> bool:
    """Allow none."""
    return False


def target_of(endpoint: Object, address: str) -> tuple[str, str]:
    """Return what tells one endpoint from another: the address, and the name of the Pod behind it."""
    return address, (endpoint.get("targetRef") or {}).get("name") or ""


def loopback_rule(call: Call, known: Callable[[], KnownEndpoints] = tuple) -> LoopbackRule:
    """Return the rule for the endpoints that a request writes.

    Args:
        call: the request.
        known: the endpoints of the object before an update. A Pod may go before its endpoint does, and that must not
            keep others of the object from being changed.
    """

    def allowed(endpoint: Object, address: str) -> bool:
        if call.gates.get(GATE, False):
            return True
        target = endpoint.get("targetRef") or {}
        name, namespace = target.get("name"), target.get("namespace") or call.namespace
        if target.get("kind") != "Pod" or not name or namespace != call.namespace:
            return False
        return target_of(endpoint, address) in known() or address in _pod_addresses(call, name)

    return allowed


def _pod_addresses(call: Call, name: str) -> Collection[str]:
    try:
        status = call.objects.get(PODS, name, call.namespace).get("status") or {}
    except NotFound:
        return ()
    return {status.get("podIP"), *(row.get("ip") for row in status.get("podIPs") or ())}
