"""The pods behind services, as much of each as endpoints are made of.

A large service is looked at twice a second while its pods come and go, and each look needs all of them. So of the pods
that were needed lately the few facts that count are kept, until the pod changes: a cold pod of an informer's cache is
not unpacked again (`hyperkube_lib.compressed_cache`), and nothing is looked for in its conditions and containers.
"""

from __future__ import annotations

import threading
from typing import Any

from hyperkube.client.informer import Informer
from hyperkube.kinds.conditions import condition
from hyperkube.kinds.pods import is_sidecar, is_terminal, spec_of, status_of
from hyperkube.machinery.objects import (
    Object,
    is_being_deleted,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.machinery.recent import forgets

KEPT = 1024
"""Pods whose facts are kept, about a kilobyte each; the first of them go."""
BY_LABEL = "label"
"""The informer's index of pods, and of services by one label that each of their pods has."""


class EndpointPod:
    """What endpoints are made of; read-only but for `made`.

    Attributes:
        namespace: the pod's.
        name: the pod's.
        uid: the pod's.
        labels: all of them.
        node_name: where it runs; may be empty.
        hostname: ``spec.hostname``; may be empty.
        subdomain: ``spec.subdomain``; may be empty.
        pod_ip: ``status.podIP``; may be empty.
        pod_ips: ``status.podIPs``, as they are written.
        ports: (name, protocol, number) of each port of its containers and sidecars.
        is_ready: whether its condition Ready is true.
        is_terminal: whether it has ended.
        is_going: whether it is being deleted.
        ready_transition: when its condition Ready changed last; empty without one.
        made: what its reader has made of it last, with what that depends on beside the pod.
    """

    __slots__ = (
        "hostname",
        "is_going",
        "is_ready",
        "is_terminal",
        "labels",
        "made",
        "name",
        "namespace",
        "node_name",
        "pod_ip",
        "pod_ips",
        "ports",
        "ready_transition",
        "subdomain",
        "uid",
    )

    def __init__(self, pod: Object) -> None:
        spec, status = spec_of(pod), status_of(pod)
        ready = condition(status, "Ready") or {}
        self.namespace, self.name, self.uid = namespace_of(pod), name_of(pod), uid_of(pod)
        self.labels = labels_of(pod)
        self.node_name = str(spec.get("nodeName") or "")
        self.hostname, self.subdomain = str(spec.get("hostname") or ""), str(spec.get("subdomain") or "")
        self.pod_ip = str(status.get("podIP") or "")
        self.pod_ips = tuple(str(entry.get("ip") or "") for entry in status.get("podIPs") or ())
        sidecars = [container for container in spec.get("initContainers") or () if is_sidecar(container)]
        self.ports = tuple(
            (port.get("name"), port.get("protocol", "TCP"), port.get("containerPort"))
            for container in (*(spec.get("containers") or ()), *sidecars)
            for port in container.get("ports") or ()
        )
        self.is_ready = ready.get("status") == "True"
        self.is_terminal, self.is_going = is_terminal(pod), is_being_deleted(pod)
        self.ready_transition = str(ready.get("lastTransitionTime") or "")
        self.made: Any = None

    @property
    def has_address(self) -> bool:
        """Whether it has an address, of whatever family."""
        return bool(self.pod_ip or self.pod_ips)


class EndpointPods:
    """The pods of an informer by the services that select them; thread-safe.

    Make it before the handlers that bring services back: these must find what has changed since.
    """

    def __init__(self, pods: Informer) -> None:
        self.informer = pods
        """All pods, whole."""
        self._lock = threading.Lock()
        self._known: dict[str, EndpointPod] = {}
        pods.add_index(BY_LABEL, labels_in_index)
        pods.add_handler(self._forget_one, lambda _old, new: self._forget_one(new), self._forget_one)
        forgets(self)

    def forget(self) -> None:
        """Forget all facts: they are read again."""
        with self._lock:
            self._known.clear()

    def of(self, service: Object) -> list[EndpointPod]:
        """Return the pods of the service's namespace that it selects."""
        selector = selector_of(service)
        keys = (key for label in selected_label(service) for key in self.informer.index_keys(BY_LABEL, label))
        found = map(self._get, keys)
        if len(selector) == 1:  # the index has looked for that one label
            return [pod for pod in found if pod is not None]
        wanted = selector.items()
        return [pod for pod in found if pod is not None and wanted <= pod.labels.items()]

    def _get(self, key: str) -> EndpointPod | None:
        known = self._known.get(key)
        if known is not None:
            return known
        before = self.informer.changes
        pod = self.informer.get(*split_key(key))
        if pod is None:
            return None
        made = EndpointPod(pod)
        with self._lock:
            # Changes are counted before handlers hear of them: a pod that has changed since it was read is either not
            # kept here, or forgotten by its handler, which waits for the lock.
            if self.informer.changes == before:
                while len(self._known) >= KEPT:
                    del self._known[next(iter(self._known))]
                self._known[key] = made
        return made

    def _forget_one(self, pod: Object) -> None:
        with self._lock:
            self._known.pop(key_of(pod), None)


def selector_of(service: Object) -> dict[str, str]:
    """Return the service's selector; empty for one whose endpoints others maintain."""
    return (service.get("spec") or {}).get("selector") or {}


def selected_label(service: Object) -> list[str]:
    """Index a service by its namespace and one label of its selector, which each of its pods has."""
    selector = selector_of(service)
    return [_in_index(namespace_of(service), min(selector.items()))] if selector else []


def labels_in_index(pod: Object) -> list[str]:
    """Index a pod by its namespace and each of its labels."""
    namespace = namespace_of(pod)
    return [_in_index(namespace, label) for label in labels_of(pod).items()]


def _in_index(namespace: str, label: tuple[str, str]) -> str:
    return f"{namespace}/{label[0]}={label[1]}"
