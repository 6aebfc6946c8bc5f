"""Sandboxes with their network: created together, taken down together."""

from __future__ import annotations

from pathlib import Path

from hyperkube_host.kubelet.observation import observe, pod_labels
from hyperkube_host.kubelet.plan import containers_of
from hyperkube_host.kubelet.pod_entry import describe
from hyperkube_host.kubelet.sayings import Sayings

from hyperkube.hookspecs.network import Network, NetworkFailed, PodNetworkRequest
from hyperkube.hookspecs.runtime import Runtime, SandboxSpec, SandboxStatus, TakesAddresses
from hyperkube.machinery.objects import Object, annotations_of, name_of, namespace_of, uid_of


def log_folder(root: Path, pod: Object) -> Path:
    """Return the folder of a pod's logs, named as under ``/var/log/pods``."""
    return root / "logs" / f"{namespace_of(pod)}_{name_of(pod)}_{uid_of(pod)}"


class Sandboxes:
    """Creates, stops and removes sandboxes."""

    def __init__(
        self,
        runtime: Runtime,
        network: Network | None,
        root: Path,
        dns: Object,
        host_ips: tuple[str, ...],
        say: Sayings,
    ) -> None:
        """Use `network` for runtimes that leave it to us; `dns` is the node's setting for its pods."""
        self._say = say
        self._runtime = runtime
        self._network = network
        self._root = root
        self._dns = dns
        self._host_ips = host_ips

    def create(self, pod: Object, attempt: int) -> SandboxStatus:
        """Make the pod's sandbox.

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
            log_directory=str(log_folder(self._root, pod)),
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
            self._say.pod(pod, "Warning", "HostPortNotSupported", text)
        sandbox_id = self._runtime.run_sandbox(spec)
        if isinstance(self._runtime, TakesAddresses):
            try:
                self._runtime.assign_addresses(sandbox_id, self._addresses(pod, sandbox_id, host_network=host_network))
            except NetworkFailed:
                self._runtime.remove_sandbox(sandbox_id)
                raise
        for sandbox in observe(self._runtime, uid_of(pod)).sandboxes:
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
        """Stop what runs in it and give its address back."""
        self._runtime.stop_sandbox(sandbox.id)
        if self._network is not None and not pod["spec"].get("hostNetwork"):
            self._network.teardown(self._request(pod, sandbox.id))

    def remove(self, sandbox: SandboxStatus) -> None:
        """Stop and remove a sandbox, also one whose pod is not known any more."""
        self._runtime.stop_sandbox(sandbox.id)
        if self._network is not None:
            request = PodNetworkRequest(
                namespace=sandbox.namespace, name=sandbox.name, uid=sandbox.uid, sandbox_id=sandbox.id
            )
            self._network.teardown(request)
        self._runtime.remove_sandbox(sandbox.id)
