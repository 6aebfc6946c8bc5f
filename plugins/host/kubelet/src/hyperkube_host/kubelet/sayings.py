"""Events about pods, containers and the node, in the kubelet's name."""

from __future__ import annotations

from hyperkube_host.kubelet.plan import ephemeral_containers_of, init_containers_of

from hyperkube.client.events import EventRecorder
from hyperkube.machinery.objects import Object, metadata


class Sayings:
    """Writes the kubelet's events; silent without an API server."""

    def __init__(self, recorder: EventRecorder | None, node_name: str) -> None:
        self._recorder = recorder
        self._node = {"kind": "Node", "apiVersion": "v1", "name": node_name, "uid": node_name}

    def pod(self, pod: Object, kind: str, reason: str, message: str, *, field_path: str = "") -> None:
        """Tell of a pod."""
        if self._recorder is None:
            return
        about = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata(pod)}
        self._recorder.event(about, kind, reason, message, field_path=field_path)

    def container(self, pod: Object, container: Object, kind: str, reason: str, message: str) -> None:
        """Tell of one container of a pod."""
        name, kind_of = container["name"], "containers"
        if any(entry["name"] == name for entry in init_containers_of(pod)):
            kind_of = "initContainers"
        elif any(entry["name"] == name for entry in ephemeral_containers_of(pod)):
            kind_of = "ephemeralContainers"
        self.pod(pod, kind, reason, message, field_path=f"spec.{kind_of}{{{name}}}")

    def node(self, kind: str, reason: str, message: str) -> None:
        """Tell of the node."""
        if self._recorder is not None:
            self._recorder.event(self._node, kind, reason, message)

    def flush(self) -> None:
        """Wait a moment for what was said to be written."""
        if self._recorder is not None:
            self._recorder.flush(2.0)
