"""The kubelet's event recorder: events about pods, containers and the node."""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_host.kubelet.intercepted_clients import with_pace
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.types.pod_spec import ephemeral_containers_of, init_containers_of

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, metadata

COMPONENT = "kubelet"
FLUSH_SECONDS = 2.0


class KubeletEventRecorder:
    """Records events with the reference of the object they are about; without a recorder, nothing happens."""

    def __init__(self, recorder: EventRecorder | None, node_name: str) -> None:
        self._recorder = recorder
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
        if self._recorder is not None:
            self._recorder.event(about, kind, reason, message, field_path=field_path, annotations=annotations)

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
        if self._recorder is not None:
            self._recorder.event(self._node, kind, reason, message)

    def flush(self) -> None:
        """Wait a moment until the events recorded so far are written."""
        if self._recorder is not None:
            self._recorder.flush(FLUSH_SECONDS)


def build_recorder(options: KubeletOptions, client: Client | None, clock: Clock) -> KubeletEventRecorder:
    """Return the recorder of a node, which writes no more often than flags let it.

    Raises:
        UsageError: a flag has a value that cannot be.
    """
    values, name = options.values, options.node.name
    if client is None:
        return KubeletEventRecorder(None, name)
    paced = with_pace(client, values["event-qps"], values["event-burst"], clock)
    return KubeletEventRecorder(EventRecorder(paced, clock, COMPONENT, name), name)
