"""Which pods stand behind a service, under which addresses and ports; shared by three controllers.

Pure functions, the subscription that finds the services a changed pod may belong to, and the slices of one manager.
Sources: kubernetes ``pkg/controller/endpoint``, ``staging/src/k8s.io/endpointslice/util``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hyperkube.client.actions import Action, Create, perform
from hyperkube.client.client import Client
from hyperkube.client.expectations import Expectations
from hyperkube.client.informer import Informer
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.kinds.pods import is_ready, is_sidecar, is_terminal, phase, spec_of, status_of
from hyperkube.machinery.labels import selector_from_map
from hyperkube.machinery.objects import Object, is_being_deleted, labels_of, name_of, namespace_of, uid_of

SERVICE_NAME = "kubernetes.io/service-name"
HEADLESS = "service.kubernetes.io/headless"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_BY_SERVICE = "service"


def selector_of(service: Object) -> dict[str, str]:
    """Return the service's selector; empty for one whose endpoints others maintain."""
    return (service.get("spec") or {}).get("selector") or {}


def is_headless(service: Object) -> bool:
    """Tell whether the service has no cluster address."""
    return (service.get("spec") or {}).get("clusterIP") == "None"


def is_managed(service: Object) -> bool:
    """Tell whether endpoints are made for the service."""
    return bool(selector_of(service)) and (service.get("spec") or {}).get("type") != "ExternalName"


def publishes_not_ready(service: Object) -> bool:
    """Tell whether the service wants addresses of pods that are not ready."""
    return bool((service.get("spec") or {}).get("publishNotReadyAddresses"))


def pods_of(service: Object, pods: Iterable[Object]) -> list[Object]:
    """Return the pods of the service's namespace that it selects."""
    selector = selector_from_map(selector_of(service))
    return [pod for pod in pods if selector.matches(labels_of(pod))]


def has_address(pod: Object, service: Object, *, terminating: bool) -> bool:
    """Tell whether the pod is to be listed: it has an address, has not ended, and is not going (unless wanted)."""
    if not status_of(pod).get("podIP") or is_terminal(pod):
        return False
    return terminating or not is_being_deleted(pod) or publishes_not_ready(service)


def address_of(pod: Object, *, ipv6: bool) -> str:
    """Return the pod's address of a family, or the empty string."""
    listed = [entry.get("ip", "") for entry in status_of(pod).get("podIPs") or []] or [status_of(pod).get("podIP", "")]
    return next((address for address in listed if address and (":" in address) == ipv6), "")


def hostname_of(pod: Object, service: Object) -> str:
    """Return the name that the pod has below a headless service of its subdomain, or the empty string."""
    spec = spec_of(pod)
    if spec.get("hostname") and spec.get("subdomain") == name_of(service):
        return str(spec["hostname"])
    return ""


def target_of(pod: Object) -> Object:
    """Return the reference to the pod."""
    return {"kind": "Pod", "namespace": namespace_of(pod), "name": name_of(pod), "uid": uid_of(pod)}


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


def ports_of(pod: Object, service: Object) -> tuple[tuple[tuple[str, Any], ...], ...]:
    """Return the service's ports as they are in this pod, as rows of (key, value); unknown names are left out."""
    rows = []
    for port in (service.get("spec") or {}).get("ports") or []:
        number = port_number(pod, port)
        if number is None:
            continue
        row: list[tuple[str, Any]] = [("name", port.get("name", "")), ("port", number)]
        row.append(("protocol", port.get("protocol", "TCP")))
        if port.get("appProtocol"):
            row.append(("appProtocol", port["appProtocol"]))
        rows.append(tuple(row))
    return tuple(rows)


def matters(old: Object, new: Object) -> bool:
    """Tell whether a change of a pod can change its service's endpoints."""
    return (
        status_of(old).get("podIPs") != status_of(new).get("podIPs")
        or status_of(old).get("podIP") != status_of(new).get("podIP")
        or is_ready(old) != is_ready(new)
        or phase(old) != phase(new)
        or is_being_deleted(old) != is_being_deleted(new)
        or labels_of(old) != labels_of(new)
        or spec_of(old).get("nodeName") != spec_of(new).get("nodeName")
    )


def watch_services(loop: ReconcileLoop, services: Informer, pods: Informer) -> None:
    """Enqueue a service when it changes, and when a pod does that it selects or has selected."""

    def enqueue(pod: Object) -> None:
        for service in services.list(namespace_of(pod)):
            selector = selector_of(service)
            if selector and selector.items() <= labels_of(pod).items():
                loop.enqueue(service)

    def changed(old: Object, new: Object) -> None:
        if matters(old, new):
            enqueue(new)
            if labels_of(old) != labels_of(new):
                enqueue(old)

    loop.watch(services)
    pods.add_handler(enqueue, changed, enqueue)


class ManagedSlices:
    """The EndpointSlices that one controller manages, and what it has created but does not see yet.

    Keys are those of the services, ``namespace/name``.
    """

    def __init__(self, manager: str, slices: Informer, loop: ReconcileLoop, expectations: Expectations) -> None:
        """Index the slices that bear the label of `manager`, and enqueue a service when one of its own changes."""
        self._manager = manager
        self._slices = slices
        self._loop = loop
        self._expectations = expectations
        self._index = f"{_BY_SERVICE} of {manager}"  # the informer is shared with other managers
        slices.add_index(self._index, self._keys)
        slices.add_handler(self._seen, lambda _old, new: self._changed(new), self._changed)

    def of(self, key: str) -> list[Object]:
        """Return a service's slices that are there to stay."""
        return [each for each in self._slices.by_index(self._index, key) if not is_being_deleted(each)]

    def settled(self, key: str) -> bool:
        """Tell whether all that was created is seen."""
        return self._expectations.satisfied(key)

    def forget(self, key: str) -> None:
        """Expect nothing more of a service that is gone."""
        self._expectations.forget(key)

    def perform(self, client: Client, key: str, actions: Sequence[Action]) -> None:
        """Carry a service's actions out, and expect what they create unless they fail."""
        creations = sum(isinstance(action, Create) for action in actions)
        if creations:
            self._expectations.expect(key, creations=creations)
        try:
            perform(client, None, actions)
        except BaseException:
            self._expectations.forget(key)
            raise

    def _keys(self, present: Object) -> tuple[str, ...]:
        labels = labels_of(present)
        if labels.get(MANAGED_BY) != self._manager or not labels.get(SERVICE_NAME):
            return ()
        return (f"{namespace_of(present)}/{labels[SERVICE_NAME]}",)

    def _seen(self, present: Object) -> None:
        for key in self._keys(present):
            self._expectations.creation_observed(key)
            self._loop.queue.add(key)

    def _changed(self, present: Object) -> None:
        for key in self._keys(present):
            self._loop.queue.add(key)
