"""Pods from the API server. Source: kubernetes ``pkg/kubelet/config/apiserver.go``."""

from __future__ import annotations

from hyperkube_host.kubelet.config.bootstrap_checkpoint import BootstrapCheckpoints
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

    def __init__(
        self,
        client: Client,
        clock: Clock,
        node_name: str,
        sink: PodSink,
        checkpoints: BootstrapCheckpoints | None = None,
    ) -> None:
        """Report to `sink`; pods that are kept in `checkpoints` are reported before the API server answers."""
        self._checkpoints = checkpoints
        self._restored: list[Object] = []
        self._clock = clock
        self._sink = sink
        self._seen: dict[str, str] = {}
        self._informer = Informer(client, clock, PODS, field_selector=f"spec.nodeName={node_name}")
        self._informer.add_handler(self._put, lambda _old, new: self._put(new), self._remove)

    def _put(self, pod: Object) -> None:
        """Pass a pod on with the annotations that tell its source, and when it was seen first."""
        if self._checkpoints is not None:
            self._checkpoints.keep(pod)
        seen = self._seen.setdefault(str(uid_of(pod)), format_micro_time(self._clock.now()))
        annotations = {SEEN_ANNOTATION: seen, SOURCE_ANNOTATION: "api", **annotations_of(pod)}
        self._sink.put({**pod, "metadata": {**metadata(pod), "annotations": annotations}})

    def _remove(self, pod: Object) -> None:
        self._seen.pop(str(uid_of(pod)), None)
        if self._checkpoints is not None:
            self._checkpoints.remove(pod)
        self._sink.remove(pod)

    def start(self) -> None:
        """Report what was kept, then begin to watch."""
        if self._checkpoints is not None:
            self._restored = self._checkpoints.load()
            for pod in self._restored:
                self._put(pod)
            self._informer.when_synced(self._remove_gone)
        self._informer.start()

    def _remove_gone(self) -> None:
        """Remove what was kept and is gone meanwhile."""
        there = {uid_of(pod) for pod in self._informer.list()}
        for pod in self._restored:
            if uid_of(pod) not in there:
                self._remove(pod)

    def ready(self) -> bool:
        """Tell whether all pods are known."""
        return self._informer.has_synced()

    def close(self) -> None:
        """Stop watching."""
        self._informer.stop()
