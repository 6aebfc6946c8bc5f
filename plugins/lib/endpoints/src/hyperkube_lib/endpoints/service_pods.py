"""Which pods stand behind a service, under which addresses and ports, and which services a changed pod may belong to.

Sources: kubernetes ``pkg/controller/endpoint``, ``staging/src/k8s.io/endpointslice/util/controller_utils.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from ipaddress import IPv6Address, ip_address
from typing import Any

from hyperkube_lib.endpoints.endpoint_pods import (
    BY_LABEL,
    EndpointPod,
    EndpointPods,
    labels_in_index,
    selected_label,
    selector_of,
)
from hyperkube_lib.endpoints.sync_spacing import SyncSpacing

from hyperkube.client.informer import Informer
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.kinds.conditions import is_true
from hyperkube.kinds.pods import is_terminal, spec_of, status_of
from hyperkube.machinery.objects import Object, is_being_deleted, key_of, labels_of, name_of, namespace_of

HEADLESS = "service.kubernetes.io/headless"


def is_headless(service: Object) -> bool:
    """Tell whether the service has no cluster address."""
    return (service.get("spec") or {}).get("clusterIP") in {None, "", "None"}


def is_managed(service: Object) -> bool:
    """Tell whether endpoints are made for the service."""
    return bool(selector_of(service)) and (service.get("spec") or {}).get("type") != "ExternalName"


def publishes_not_ready(service: Object) -> bool:
    """Tell whether the service wants addresses of pods that are not ready."""
    return bool((service.get("spec") or {}).get("publishNotReadyAddresses"))


def has_address(pod: EndpointPod, service: Object, *, terminating: bool) -> bool:
    """Tell whether the pod is to be listed: it has an address, has not ended, and is not going (unless wanted)."""
    if pod.is_terminal or not pod.has_address:
        return False
    return terminating or not pod.is_going or publishes_not_ready(service)


def address_of(pod: EndpointPod, *, ipv6: bool) -> str:
    """Return the pod's address of a family, or the empty string."""
    return next((address for address in pod.pod_ips or (pod.pod_ip,) if address and (":" in address) == ipv6), "")


def addresses_of(pod: EndpointPod, *, ipv6: bool) -> list[str]:
    """Return all addresses of a family that the pod has, in order and as Go writes them.

    So ``fd00:0::1`` is ``fd00::1``, ``010.0.0.1`` is ``10.0.0.1``, and a mapped IPv4 address is an IPv4 one.
    """
    return [address for address in map(_canonical, pod.pod_ips) if address and (":" in address) == ipv6]


_PLAIN = re.compile(r"(?:(?:[1-9]?\d|1\d\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}", re.ASCII)
"""An IPv4 address that is written as it should be: nearly all are, and each sync of a service reads each of them."""


def _canonical(text: str) -> str:
    """Return an IP address in its one form, the empty string for what is none."""
    if _PLAIN.fullmatch(text):
        return text
    if ":" not in text:  # leading zeros mean nothing: Go's ParseIPSloppy
        text = ".".join(part.lstrip("0") or "0" for part in text.split("."))
    try:
        address = ip_address(text)
    except ValueError:
        return ""
    return str((address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address)


def hostname_of(pod: EndpointPod, service: Object) -> str:
    """Return the name that the pod has below a headless service of its subdomain, or the empty string."""
    if pod.hostname and pod.subdomain == name_of(service) and pod.namespace == namespace_of(service):
        return pod.hostname
    return ""


def target_of(pod: EndpointPod) -> Object:
    """Return the reference to the pod."""
    return {"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}


def port_number(pod: EndpointPod | None, port: Object) -> int | None:
    """Return the container port that a service port stands for in this pod; None for a name that it has not."""
    target = port.get("targetPort") or port.get("port")
    if isinstance(target, int):
        return target
    for name, protocol, number in pod.ports if pod is not None else ():
        if name == target and protocol == port.get("protocol", "TCP"):
            return int(number)
    return None


PortRows = tuple[tuple[tuple[str, Any], ...], ...]
"""Ports as rows of (key, value)."""


def ports_of(pod: EndpointPod | None, service: Object) -> PortRows:
    """Return the service's ports as they are in this pod, None for any; unknown names are left out."""
    rows = []
    for port in (service.get("spec") or {}).get("ports") or []:
        number = port_number(pod, port)
        if number is not None:
            rows.append(_row(port, number))
    return tuple(rows)


def common_ports_of(service: Object) -> PortRows | None:
    """Return the service's ports if they are the same in each pod; None if one is asked for by its name."""
    ports = (service.get("spec") or {}).get("ports") or []
    if not all(isinstance(port.get("targetPort") or port.get("port"), int) for port in ports):
        return None
    return ports_of(None, service)


def _row(port: Object, number: int) -> tuple[tuple[str, Any], ...]:
    row: list[tuple[str, Any]] = [("name", port.get("name", "")), ("port", number)]
    row.append(("protocol", port.get("protocol", "TCP")))
    if port.get("appProtocol"):
        row.append(("appProtocol", port["appProtocol"]))
    return tuple(row)


def what_counts(pod: Object) -> tuple[object, ...]:
    """Return what of a pod, beside its labels, endpoints depend on; empty if no service would list it.

    That is so before it has an address, and when it has ended.
    """
    spec, status = spec_of(pod), status_of(pod)
    ip, ips = status.get("podIP"), status.get("podIPs")
    if not (ip or ips) or is_terminal(pod):
        return ()
    place = spec.get("nodeName"), spec.get("hostname"), spec.get("subdomain")
    return ip, ips, status.get("phase"), is_true(status, "Ready"), is_being_deleted(pod), place


def _keys_of_services(pod: Object, services: Informer) -> set[str]:
    """Return the keys of the services that select the pod."""
    labels = labels_of(pod).items()
    found = (service for label in labels_in_index(pod) for service in services.by_index(BY_LABEL, label))
    return {key_of(service) for service in found if selector_of(service).items() <= labels}


def watch_services(
    loop: ReconcileLoop, services: Informer, pods: EndpointPods, spacing: SyncSpacing, *, batch_period: float = 0.0
) -> None:
    """Enqueue a service when it changes, and `batch_period` seconds after a pod did that it selects or has selected.

    Without such a period, when `spacing` allows.
    Services and pods are found by index: each start of a pod is a handful of events, and each of them asks. What
    happens to a pod before it has an address and after it has ended changes no endpoints, and wakes no service.
    """
    services.add_index(BY_LABEL, selected_label)
    keys = partial(_keys_of_services, services=services)

    def enqueue(found: Iterable[str]) -> None:
        for key in found:
            loop.queue.add_after(key, batch_period or spacing.wait(key))

    def seen(pod: Object) -> None:
        if what_counts(pod):
            enqueue(keys(pod))

    def changed(old: Object, new: Object) -> None:
        before, after = what_counts(old), what_counts(new)
        if not before and not after:
            return
        relabeled = labels_of(old) != labels_of(new)
        if before != after:
            enqueue(keys(new) | keys(old) if relabeled else keys(new))
        elif relabeled:
            # A service that selects the pod before and after lists it as it did.
            enqueue(keys(new) ^ keys(old))

    loop.watch(services)
    pods.informer.add_handler(seen, changed, seen)
