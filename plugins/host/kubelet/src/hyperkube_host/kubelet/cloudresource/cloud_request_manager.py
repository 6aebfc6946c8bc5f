"""Asks the cloud what this node is, every ``--node-status-update-frequency``, on a thread of its own.

A cloud may answer late or not at all: the node's status waits for none of its answers. Once it has answered, its last
good answer holds until there is a newer one.
Source: kubernetes 1.30 ``pkg/kubelet/cloudresource/cloud_request_manager.go``.
"""

from __future__ import annotations

import logging
import threading

from hyperkube_host.kubelet.options import NodeOptions

from hyperkube.hookspecs.cloud import Cloud, CloudFailed, InstanceMetadata, Instances
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object

_GCE = "gce"


class CloudRequestManager:
    """Keeps what the cloud says of the node; thread-safe."""

    def __init__(self, cloud: Cloud, options: NodeOptions, clock: Clock) -> None:
        """Ask nothing yet; the cloud has instances."""
        assert cloud.instances is not None  # noqa: S101  who knows no machines is not asked about them
        self._instances: Instances = cloud.instances
        self._clock = clock
        self._period = options.status_update_seconds
        self._logger = logging.getLogger("hyperkube.kubelet")
        spec: Object = {"providerID": options.provider_id} if options.provider_id else {}
        self._node: Object = {"metadata": {"name": options.name}, "spec": spec, "status": {}}
        self._lock = threading.Lock()
        self._known: InstanceMetadata | None = None
        self._problem = "the cloud provider has not answered yet"
        self._ending = threading.Event()
        self.needs_routes = cloud.name == _GCE and cloud.routes is not None
        """Whether the node's network is unavailable until there is a route to its pods.

        Source: ``pkg/kubelet/kubelet_node_status.go`` (initialNode), ``kubelet_network.go``.
        """

    def start(self) -> None:
        """Begin to ask."""
        threading.Thread(target=self._run, name="cloud-requests", daemon=True).start()

    def close(self) -> None:
        """Ask no more."""
        self._ending.set()

    def last(self) -> InstanceMetadata | None:
        """Return what the cloud said last; None before its first answer."""
        with self._lock:
            return self._known

    def known(self) -> InstanceMetadata:
        """Return what the cloud said last.

        Raises:
            CloudFailed: it has not said anything yet.
        """
        with self._lock:
            if self._known is None:
                raise CloudFailed(self._problem)
            return self._known

    def ask(self) -> None:
        """Ask once; a failure changes nothing of what is known."""
        try:
            found = self._instances.metadata(self._node)
        except (HyperkubeError, OSError) as error:
            with self._lock:
                self._problem = f"failed to get node address from cloud provider: {error}"
            self._logger.debug("what the cloud says of this node was not collected: %s", error)
            return
        with self._lock:
            self._known = found

    def _run(self) -> None:
        self.ask()
        while not self._clock.wait(self._ending, self._period):
            self.ask()
