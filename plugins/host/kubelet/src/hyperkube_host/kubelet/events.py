"""The kubelet's event recorder: events about pods, containers and the node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperkube_host.kubelet.intercepted_clients import with_pace
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.types.pod_spec import ephemeral_containers_of, init_containers_of

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.objects import Object, metadata

_monotonic = SystemClock().monotonic  # recorders wait in real time, whatever the cluster's is
COMPONENT = "kubelet"
FLUSH_SECONDS = 2.0
WRITERS = 4
"""Events that are on their way at once: a node that starts many pods has more to tell than one after another takes."""


class KubeletEventRecorder:
    """Records events with the reference of the object they are about.

    Those about one object are written in their order, by one of the recorders; without any, nothing happens.
    """

    def __init__(self, recorders: Sequence[EventRecorder], node_name: str) -> None:
        self._recorders = recorders
        self._node = {"kind": "Node", "apiVersion": "v1", "name": node_name, "uid": node_name}

    def pod_event(
        self,
        pod: Object,
        kind: str,
        reason: str,
        message: str,
        *,
        field_path: str = "",
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Record an event about a pod; `kind` is Normal or Warning."""
        about = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata(pod)}
        for recorder in self._of(metadata(pod).get("uid", "")):
            recorder.event(about, kind, reason, message, field_path=field_path, annotations=annotations)

    def container_event(self, pod: Object, container: Object, kind: str, reason: str, message: str) -> None:
        """Record an event about one container of a pod."""
        name, field = container["name"], "containers"
        if any(entry["name"] == name for entry in init_containers_of(pod)):
            field = "initContainers"
        elif any(entry["name"] == name for entry in ephemeral_containers_of(pod)):
            field = "ephemeralContainers"
        self.pod_event(pod, kind, reason, message, field_path=f"spec.{field}{{{name}}}")

    def node_event(self, kind: str, reason: str, message: str) -> None:
        """Record an event about the node."""
        for recorder in self._of(self._node["uid"]):
            recorder.event(self._node, kind, reason, message)

    def flush(self) -> None:
        """Wait a moment until the events recorded so far are written."""
        until = _monotonic() + FLUSH_SECONDS
        for recorder in self._recorders:
            recorder.flush(max(0.0, until - _monotonic()))

    def _of(self, uid: str) -> Sequence[EventRecorder]:
        """Return the recorder of an object, if there are any."""
        place = hash(uid) % len(self._recorders) if self._recorders else 0
        return self._recorders[place : place + 1]


def build_recorder(options: KubeletOptions, client: Client | None, clock: Clock) -> KubeletEventRecorder:
    """Return the recorder of a node, which writes no more often than flags let it.

    Raises:
        UsageError: a flag has a value that cannot be.
    """
    values, name = options.values, options.node.name
    if client is None:
        return KubeletEventRecorder((), name)
    paced = with_pace(client, values["event-qps"], values["event-burst"], clock)
    return KubeletEventRecorder([EventRecorder(paced, clock, COMPONENT, name) for _ in range(WRITERS)], name)
