"""Sandboxes with their network: created together, torn down together.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_sandbox.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hyperkube_host.kubelet.container.pod_status import get_pod_status
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.kuberuntime.sandbox_config import SandboxSettings, sandbox_config
from hyperkube_host.kubelet.network.dns import PodDns, lacks_cluster_dns
from hyperkube_host.kubelet.types.pod_update import describe

from hyperkube.hookspecs.network import (
    CollectsGarbage,
    ForwardsHostPorts,
    Network,
    NetworkFailed,
    PodDnsConfig,
    PodNetworkRequest,
    PortMapping,
)
from hyperkube.hookspecs.runtime import (
    Config,
    HasNetworkNamespaces,
    Runtime,
    RuntimeFailed,
    SandboxStatus,
    Simulated,
    TakesAddresses,
)
from hyperkube.machinery.objects import Object, uid_of


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
        self._has_garbage = True  # there may be some of an earlier run

    def create(self, pod: Object, attempt: int) -> SandboxStatus:
        """Create the pod's sandbox.

        Raises:
            RuntimeFailed: the runtime could not.
            NetworkFailed: there is no address for it.
        """
        from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed

        host_network = bool(pod["spec"].get("hostNetwork"))
        try:
            config, dns = sandbox_config(pod, attempt, self._settings)
        except ConfigFailed as error:
            raise RuntimeFailed(str(error)) from error
        self._record_dns_problems(pod, dns)
        if not host_network and _port_mappings(config):
            self._record_missing_host_ports(pod)
        Path(config["log_directory"]).mkdir(parents=True, exist_ok=True)
        sandbox_id = self._runtime.run_sandbox(config, self._runtime_handler(pod))
        if isinstance(self._runtime, TakesAddresses):
            try:
                ips = self._host_ips if host_network else self._connect(config, sandbox_id)
            except NetworkFailed:
                self._runtime.remove_sandbox(sandbox_id)
                raise
            self._runtime.assign_addresses(sandbox_id, ips)
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

    def _record_missing_host_ports(self, pod: Object) -> None:
        network = self._network
        if network is None or (isinstance(network, ForwardsHostPorts) and network.forwards_host_ports):
            return
        text = "this node's network forwards no host ports: use hostNetwork, or a Service of type NodePort"
        self._recorder.pod_event(pod, "Warning", "HostPortNotSupported", text)

    def _connect(self, config: Config, sandbox_id: str) -> tuple[str, ...]:
        """Let the network connect a new sandbox; return its addresses."""
        if self._network is None:
            return self._host_ips
        return self._network.setup(self._request(config, sandbox_id)).ips

    def _request(self, config: Config, sandbox_id: str) -> PodNetworkRequest:
        """Return what the network is asked for by a pod whose sandbox has this configuration."""
        metadata, dns = config["metadata"], config.get("dns_config", {})
        return PodNetworkRequest(
            namespace=metadata["namespace"],
            name=metadata["name"],
            uid=metadata["uid"],
            sandbox_id=sandbox_id,
            namespace_path=self._namespace_path(sandbox_id),
            port_mappings=_port_mappings(config),
            dns=PodDnsConfig(
                servers=tuple(dns.get("servers", ())),
                searches=tuple(dns.get("searches", ())),
                options=tuple(dns.get("options", ())),
            ),
            annotations=config.get("annotations", {}),
        )

    def _namespace_path(self, sandbox_id: str) -> str:
        runtime = self._runtime
        return runtime.network_namespace(sandbox_id) if isinstance(runtime, HasNetworkNamespaces) else ""

    def stop(self, pod: Object, sandbox: SandboxStatus) -> None:
        """Stop its containers and release its address.

        Raises:
            NetworkFailed: its network could not be taken down as a whole.
        """
        try:
            self._disconnect(sandbox, host_network=bool(pod["spec"].get("hostNetwork")))
        except NetworkFailed as error:
            self._recorder.pod_event(pod, "Warning", "FailedKillPod", f"error killing pod: {error}")
            raise

    def remove(self, sandbox: SandboxStatus) -> None:
        """Stop and remove a sandbox, also one whose pod is unknown.

        Raises:
            NetworkFailed: its network could not be taken down as a whole; the sandbox stays until it is.
        """
        self._disconnect(sandbox, host_network=sandbox.host_network)
        self._runtime.remove_sandbox(sandbox.id)

    def _disconnect(self, sandbox: SandboxStatus, *, host_network: bool) -> None:
        """Stop the sandbox's containers and take its network down.

        An interface is taken out of its namespace as long as there is one: a runtime may give it up with the sandbox.
        An address without a namespace, however, is not free before all its processes have ended.
        """
        network = None if host_network else self._network
        path = "" if network is None else self._namespace_path(sandbox.id)
        request = PodNetworkRequest(
            sandbox.namespace, sandbox.name, sandbox.uid, sandbox.id, path, annotations=sandbox.annotations
        )
        try:
            if network is not None and path:
                network.teardown(request)
        finally:
            self._runtime.stop_sandbox(sandbox.id)
        if network is not None and not path:
            network.teardown(request)

    def collect_network_garbage(self) -> None:
        """Let the network release what sandboxes left that are gone; done once, and nothing for most networks."""
        network, collects = self._network, self._has_garbage
        self._has_garbage = False
        if collects and network is not None and isinstance(network, CollectsGarbage):
            network.collect_garbage(lambda: frozenset(sandbox.id for sandbox in self._runtime.sandboxes()))


def _port_mappings(config: Config) -> tuple[PortMapping, ...]:
    """Return the host ports of a sandbox."""
    mappings: Sequence[Config] = config.get("port_mappings", ())
    return tuple(
        PortMapping(
            host_port=mapping["host_port"],
            container_port=mapping["container_port"],
            protocol=mapping.get("protocol", "TCP"),
            host_ip=mapping.get("host_ip", ""),
        )
        for mapping in mappings
        if mapping.get("host_port")
    )
