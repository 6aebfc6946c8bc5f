"""Sandboxes with their network: created together, torn down together.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_sandbox.go``.
"""

from __future__ import annotations

from hyperkube_host.kubelet.container.pod_status import get_pod_status
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.types.labels import pod_labels
from hyperkube_host.kubelet.types.pod_spec import containers_of
from hyperkube_host.kubelet.types.pod_update import describe

from hyperkube.hookspecs.network import Network, NetworkFailed, PodNetworkRequest
from hyperkube.hookspecs.runtime import DnsConfig, Runtime, SandboxSpec, SandboxStatus, TakesAddresses
from hyperkube.machinery.objects import Object, annotations_of, name_of, namespace_of, uid_of


class SandboxManager:
    """Creates, stops and removes sandboxes."""

    def __init__(
        self,
        runtime: Runtime,
        network: Network | None,
        directories: KubeletDirectories,
        dns: DnsConfig,
        host_ips: tuple[str, ...],
        recorder: KubeletEventRecorder,
    ) -> None:
        """Use `network` for runtimes that leave pod networks to the kubelet; `dns` are the settings for all pods."""
        self._recorder = recorder
        self._runtime = runtime
        self._network = network
        self._directories = directories
        self._dns = dns
        self._host_ips = host_ips

    def create(self, pod: Object, attempt: int) -> SandboxStatus:
        """Create the pod's sandbox.

        Raises:
            RuntimeFailed: the runtime could not.
            NetworkFailed: there is no address for it.
        """
        host_network = bool(pod["spec"].get("hostNetwork"))
        spec = SandboxSpec(
            namespace=namespace_of(pod),
            name=name_of(pod),
            uid=uid_of(pod),
            attempt=attempt,
            hostname=str(pod["spec"].get("hostname") or name_of(pod))[:63],
            log_directory=str(self._directories.pod_logs(namespace_of(pod), name_of(pod), uid_of(pod))),
            labels=pod_labels(pod),
            annotations=dict(annotations_of(pod)),
            host_network=host_network,
            dns=self._dns,
            port_mappings=tuple(p for c in containers_of(pod) for p in c.get("ports") or [] if p.get("hostPort")),
            runtime_handler=pod["spec"].get("runtimeClassName", ""),
            pod=pod,
        )
        if spec.port_mappings and not host_network and self._network is not None:
            text = "this node's network forwards no host ports: use hostNetwork, or a Service of type NodePort"
            self._recorder.pod_event(pod, "Warning", "HostPortNotSupported", text)
        sandbox_id = self._runtime.run_sandbox(spec)
        if isinstance(self._runtime, TakesAddresses):
            try:
                self._runtime.assign_addresses(sandbox_id, self._addresses(pod, sandbox_id, host_network=host_network))
            except NetworkFailed:
                self._runtime.remove_sandbox(sandbox_id)
                raise
        for sandbox in get_pod_status(self._runtime, uid_of(pod)).sandboxes:
            if sandbox.id == sandbox_id:
                return sandbox
        raise NetworkFailed(f"sandbox of {describe(pod)} vanished right after its creation")

    def _addresses(self, pod: Object, sandbox_id: str, *, host_network: bool) -> tuple[str, ...]:
        if host_network or self._network is None:
            return self._host_ips
        return self._network.setup(self._request(pod, sandbox_id)).ips

    def _request(self, pod: Object, sandbox_id: str) -> PodNetworkRequest:
        return PodNetworkRequest(namespace=namespace_of(pod), name=name_of(pod), uid=uid_of(pod), sandbox_id=sandbox_id)

    def stop(self, pod: Object, sandbox: SandboxStatus) -> None:
        """Stop its containers and release its address."""
        self._runtime.stop_sandbox(sandbox.id)
        if self._network is not None and not pod["spec"].get("hostNetwork"):
            self._network.teardown(self._request(pod, sandbox.id))

    def remove(self, sandbox: SandboxStatus) -> None:
        """Stop and remove a sandbox, also one whose pod is unknown."""
        self._runtime.stop_sandbox(sandbox.id)
        if self._network is not None:
            request = PodNetworkRequest(
                namespace=sandbox.namespace, name=sandbox.name, uid=sandbox.uid, sandbox_id=sandbox.id
            )
            self._network.teardown(request)
        self._runtime.remove_sandbox(sandbox.id)
