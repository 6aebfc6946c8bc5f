"""Pods from the API server. Source: kubernetes ``pkg/kubelet/config/apiserver.go``."""

from __future__ import annotations

from hyperkube_host.kubelet.config.pod_sink import PodSink

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import Clock


class ApiSource:
    """The pods that are bound to the node; a `PodSource`."""

    def __init__(self, client: Client, clock: Clock, node_name: str, sink: PodSink) -> None:
        self._informer = Informer(client, clock, PODS, field_selector=f"spec.nodeName={node_name}")
        self._informer.add_handler(sink.put, lambda _old, new: sink.put(new), sink.remove)

    def start(self) -> None:
        """Begin to watch."""
        self._informer.start()

    def ready(self) -> bool:
        """Tell whether all pods are known."""
        return self._informer.has_synced()

    def close(self) -> None:
        """Stop watching."""
        self._informer.stop()
