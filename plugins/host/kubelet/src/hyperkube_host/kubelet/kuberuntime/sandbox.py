"""Sandboxes with their network: created together, torn down together.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_sandbox.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hyperkube_host.kubelet.container.pod_status import get_pod_status
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed
from hyperkube_host.kubelet.kuberuntime.sandbox_config import SandboxSettings, sandbox_config
from hyperkube_host.kubelet.network.dns import PodDns, lacks_cluster_dns
from hyperkube_host.kubelet.types.pod_update import describe

from hyperkube.hookspecs.network import Network, NetworkFailed, PodNetworkRequest
from hyperkube.hookspecs.runtime import Config, Runtime, RuntimeFailed, SandboxStatus, Simulated, TakesAddresses
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of


class SandboxManager:
    """Creates, stops and removes sandboxes."""

    def __init__(
        self,
        runtime: Runtime,
        network: Network | None,
        host_ips: tuple[str, ...],
        recorder: KubeletEventRecorder,
        settings: SandboxSettings,
        runtime_handler: Callable[[Object], str],
    ) -> None:
        """Use `network` for runtimes that leave pod networks to the kubelet; `runtime_handler` is that of a pod."""
        self._recorder = recorder
        self._settings = settings
        self._runtime_handler = runtime_handler
        self._runtime = runtime
        self._network = network
        self._host_ips = host_ips

    def create(self, pod: Object, attempt: int) -> SandboxStatus:
        """Create the pod's sandbox.

        Raises:
            RuntimeFailed: the runtime could not.
            NetworkFailed: there is no address for it.
        """
        host_network = bool(pod["spec"].get("hostNetwork"))
        try:
            config, dns = sandbox_config(pod, attempt, self._settings)
        except ConfigFailed as error:
            raise RuntimeFailed(str(error)) from error
        self._record_dns_problems(pod, dns)
        if self._network is not None and not host_network and any("host_port" in p for p in _mappings(config)):
            text = "this node's network forwards no host ports: use hostNetwork, or a Service of type NodePort"
            self._recorder.pod_event(pod, "Warning", "HostPortNotSupported", text)
        Path(config["log_directory"]).mkdir(parents=True, exist_ok=True)
        sandbox_id = self._runtime.run_sandbox(config, self._runtime_handler(pod))
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

    def config(self, pod: Object, attempt: int) -> Config:
        """Return the configuration that the pod's sandbox was, or would be, created with."""
        return sandbox_config(pod, attempt, self._settings)[0]

    def _record_dns_problems(self, pod: Object, dns: PodDns) -> None:
        for warning in dns.warnings:
            self._recorder.pod_event(pod, "Warning", "DNSConfigForming", warning)
        if isinstance(self._runtime, Simulated) or not lacks_cluster_dns(pod, self._settings.dns):
            return
        text = (
            'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. '
            'Falling back to "Default" policy.'
        )
        self._recorder.pod_event(pod, "Warning", "MissingClusterDNS", f'pod: "{describe(pod)}". {text}')

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


def _mappings(config: Config) -> Sequence[Config]:
    found: Sequence[Config] = config.get("port_mappings", ())
    return found
