"""Pods from the API server. Source: kubernetes ``pkg/kubelet/config/apiserver.go``."""

from __future__ import annotations

from hyperkube_host.kubelet.config.pod_sink import PodSink
from hyperkube_host.kubelet.types.pod_update import SEEN_ANNOTATION, SOURCE_ANNOTATION

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, annotations_of, metadata, uid_of
from hyperkube.machinery.times import format_micro_time


class ApiSource:
    """The pods that are bound to the node; a `PodSource`."""

    def __init__(self, client: Client, clock: Clock, node_name: str, sink: PodSink) -> None:
        self._clock = clock
        self._sink = sink
        self._seen: dict[str, str] = {}
        self._informer = Informer(client, clock, PODS, field_selector=f"spec.nodeName={node_name}")
        self._informer.add_handler(self._put, lambda _old, new: self._put(new), self._remove)

    def _put(self, pod: Object) -> None:
        """Pass a pod on with the annotations that tell its source, and when it was seen first."""
        seen = self._seen.setdefault(str(uid_of(pod)), format_micro_time(self._clock.now()))
        annotations = {SEEN_ANNOTATION: seen, SOURCE_ANNOTATION: "api", **annotations_of(pod)}
        self._sink.put({**pod, "metadata": {**metadata(pod), "annotations": annotations}})

    def _remove(self, pod: Object) -> None:
        self._seen.pop(str(uid_of(pod)), None)
        self._sink.remove(pod)

    def start(self) -> None:
        """Begin to watch."""
        self._informer.start()

    def ready(self) -> bool:
        """Tell whether all pods are known."""
        return self._informer.has_synced()

    def close(self) -> None:
        """Stop watching."""
        self._informer.stop()
