"""The networks of sandboxes: Docker's own bridge, or what ``--network-plugin`` names.

Source: kubernetes ``pkg/kubelet/dockershim/network/plugins.go``, ``docker_sandbox.go``.
"""

from __future__ import annotations

from hyperkube_runtime.docker.checkpoints import SandboxCheckpoint

from hyperkube.hookspecs.network import Network, PodDnsConfig, PodNetworkRequest, PortMapping
from hyperkube.hookspecs.runtime import Config


def network_request(sandbox_id: str, checkpoint: SandboxCheckpoint, namespace_path: str) -> PodNetworkRequest:
    """Return what a network is asked for by a sandbox, also by one of which there is only a checkpoint."""
    dns = checkpoint.dns
    return PodNetworkRequest(
        namespace=checkpoint.namespace,
        name=checkpoint.name,
        uid=checkpoint.uid,
        sandbox_id=sandbox_id,
        namespace_path=namespace_path,
        port_mappings=tuple(map(_port_mapping, checkpoint.port_mappings)),
        dns=PodDnsConfig(
            servers=tuple(dns.get("servers", ())),
            searches=tuple(dns.get("searches", ())),
            options=tuple(dns.get("options", ())),
        ),
        annotations=checkpoint.annotations,
    )


def _port_mapping(mapping: Config) -> PortMapping:
    return PortMapping(
        host_port=mapping["host_port"],
        container_port=mapping.get("container_port", 0),
        protocol=mapping.get("protocol", "TCP"),
        host_ip=mapping.get("host_ip", ""),
    )


def network_problem(network: Network | None) -> str:
    """Return why sandboxes get no network, in the words of CRI's conditions, or the empty string."""
    problem = "" if network is None else network.status()
    if not problem:
        return ""
    message = problem.rpartition("message:")[2].removeprefix("network plugin is not ready: ")
    text = f"docker: network plugin is not ready: {message}"
    return f"NetworkReady=false reason:NetworkPluginNotReady message:{text}"
