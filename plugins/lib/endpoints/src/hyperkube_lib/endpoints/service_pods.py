"""Which pods stand behind a service, under which addresses and ports, and which services a changed pod may belong to.

Sources: kubernetes ``pkg/controller/endpoint``, ``staging/src/k8s.io/endpointslice/util/controller_utils.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from ipaddress import IPv6Address, ip_address
from typing import Any

from hyperkube_lib.endpoints.sync_spacing import SyncSpacing

from hyperkube.client.informer import Informer
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.kinds.pods import is_ready, is_sidecar, is_terminal, phase, spec_of, status_of
from hyperkube.machinery.objects import Object, is_being_deleted, key_of, labels_of, metadata, name_of, namespace_of

HEADLESS = "service.kubernetes.io/headless"


def selector_of(service: Object) -> dict[str, str]:
    """Return the service's selector; empty for one whose endpoints others maintain."""
    return (service.get("spec") or {}).get("selector") or {}


def is_headless(service: Object) -> bool:
    """Tell whether the service has no cluster address."""
    return (service.get("spec") or {}).get("clusterIP") in {None, "", "None"}


def is_managed(service: Object) -> bool:
    """Tell whether endpoints are made for the service."""
    return bool(selector_of(service)) and (service.get("spec") or {}).get("type") != "ExternalName"


def publishes_not_ready(service: Object) -> bool:
    """Tell whether the service wants addresses of pods that are not ready."""
    return bool((service.get("spec") or {}).get("publishNotReadyAddresses"))


_BY_LABEL = "label"


def _labels(pod: Object) -> list[str]:
    """Index a pod by its namespace and each of its labels."""
    namespace = namespace_of(pod)
    return [_in_index(namespace, label) for label in labels_of(pod).items()]


def _selected_label(service: Object) -> list[str]:
    """Index a service by its namespace and one label of its selector, which each of its pods has."""
    selector = selector_of(service)
    return [_in_index(namespace_of(service), min(selector.items()))] if selector else []


def _in_index(namespace: str, label: tuple[str, str]) -> str:
    return f"{namespace}/{label[0]}={label[1]}"


def pods_of(service: Object, pods: Informer) -> list[Object]:
    """Return the pods of the service's namespace that it selects; `watch_services` has indexed them."""
    wanted = selector_of(service).items()
    return [
        pod
        for label in _selected_label(service)
        for pod in pods.by_index(_BY_LABEL, label)
        if wanted <= labels_of(pod).items()
    ]


def has_address(pod: Object, service: Object, *, terminating: bool) -> bool:
    """Tell whether the pod is to be listed: it has an address, has not ended, and is not going (unless wanted)."""
    status = status_of(pod)
    if is_terminal(pod) or not (status.get("podIP") or status.get("podIPs")):
        return False
    return terminating or not is_being_deleted(pod) or publishes_not_ready(service)


def address_of(pod: Object, *, ipv6: bool) -> str:
    """Return the pod's address of a family, or the empty string."""
    listed = [entry.get("ip", "") for entry in status_of(pod).get("podIPs") or []] or [status_of(pod).get("podIP", "")]
    return next((address for address in listed if address and (":" in address) == ipv6), "")


def addresses_of(pod: Object, *, ipv6: bool) -> list[str]:
    """Return all addresses of a family that the pod has, in order and as Go writes them.

    So ``fd00:0::1`` is ``fd00::1``, ``010.0.0.1`` is ``10.0.0.1``, and a mapped IPv4 address is an IPv4 one.
    """
    written = [_canonical(str(entry.get("ip") or "")) for entry in status_of(pod).get("podIPs") or []]
    return [address for address in written if address and (":" in address) == ipv6]


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


def hostname_of(pod: Object, service: Object) -> str:
    """Return the name that the pod has below a headless service of its subdomain, or the empty string."""
    spec = spec_of(pod)
    if (
        spec.get("hostname")
        and spec.get("subdomain") == name_of(service)
        and namespace_of(pod) == namespace_of(service)
    ):
        return str(spec["hostname"])
    return ""


def target_of(pod: Object) -> Object:
    """Return the reference to the pod."""
    meta = metadata(pod)
    return {
        "kind": "Pod",
        "namespace": meta.get("namespace", ""),
        "name": meta.get("name", ""),
        "uid": meta.get("uid", ""),
    }


def port_number(pod: Object, port: Object) -> int | None:
    """Return the container port that a service port stands for in this pod; None for a name that it has not."""
    target = port.get("targetPort") or port.get("port")
    if isinstance(target, int):
        return target
    spec = spec_of(pod)
    sidecars = [container for container in spec.get("initContainers") or [] if is_sidecar(container)]
    for container in [*(spec.get("containers") or []), *sidecars]:
        for entry in container.get("ports") or []:
            same_protocol = entry.get("protocol", "TCP") == port.get("protocol", "TCP")
            if entry.get("name") == target and same_protocol:
                return int(entry["containerPort"])
    return None


PortRows = tuple[tuple[tuple[str, Any], ...], ...]
"""Ports as rows of (key, value)."""


def ports_of(pod: Object, service: Object) -> PortRows:
    """Return the service's ports as they are in this pod; unknown names are left out."""
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
    return ports_of({}, service)


def _row(port: Object, number: int) -> tuple[tuple[str, Any], ...]:
    row: list[tuple[str, Any]] = [("name", port.get("name", "")), ("port", number)]
    row.append(("protocol", port.get("protocol", "TCP")))
    if port.get("appProtocol"):
        row.append(("appProtocol", port["appProtocol"]))
    return tuple(row)


def _may_be_listed(pod: Object) -> bool:
    """Tell whether some service might list the pod: it has an address and has not ended."""
    status = status_of(pod)
    return bool(status.get("podIP") or status.get("podIPs")) and not is_terminal(pod)


def pod_changed(old: Object, new: Object) -> bool:
    """Tell whether a change of a pod, other than of its labels, can change its services' endpoints."""
    return (
        status_of(old).get("podIPs") != status_of(new).get("podIPs")
        or status_of(old).get("podIP") != status_of(new).get("podIP")
        or is_ready(old) != is_ready(new)
        or phase(old) != phase(new)
        or is_being_deleted(old) != is_being_deleted(new)
        or spec_of(old).get("nodeName") != spec_of(new).get("nodeName")
        or any(spec_of(old).get(part) != spec_of(new).get(part) for part in ("hostname", "subdomain"))
    )


def _keys_of_services(pod: Object, services: Informer) -> set[str]:
    """Return the keys of the services that select the pod."""
    labels = labels_of(pod).items()
    found = (service for label in _labels(pod) for service in services.by_index(_BY_LABEL, label))
    return {key_of(service) for service in found if selector_of(service).items() <= labels}


def watch_services(
    loop: ReconcileLoop, services: Informer, pods: Informer, spacing: SyncSpacing, *, batch_period: float = 0.0
) -> None:
    """Enqueue a service when it changes, and `batch_period` seconds after a pod did that it selects or has selected.

    Without such a period, when `spacing` allows.
    Services and pods are found by index: each start of a pod is a handful of events, and each of them asks. What
    happens to a pod before it has an address and after it has ended changes no endpoints, and wakes no service.
    """
    pods.add_index(_BY_LABEL, _labels)
    services.add_index(_BY_LABEL, _selected_label)
    keys = partial(_keys_of_services, services=services)

    def enqueue(found: Iterable[str]) -> None:
        for key in found:
            loop.queue.add_after(key, batch_period or spacing.wait(key))

    def seen(pod: Object) -> None:
        if _may_be_listed(pod):
            enqueue(keys(pod))

    def changed(old: Object, new: Object) -> None:
        if not (_may_be_listed(old) or _may_be_listed(new)):
            return
        relabeled = labels_of(old) != labels_of(new)
        if pod_changed(old, new):
            enqueue(keys(new) | keys(old) if relabeled else keys(new))
        elif relabeled:
            # A service that selects the pod before and after lists it as it did.
            enqueue(keys(new) ^ keys(old))

    loop.watch(services)
    pods.add_handler(seen, changed, seen)
