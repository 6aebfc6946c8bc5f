"""The runtime behind a CRI socket: each method of the kubelet's `Runtime` is a call or two.

Source: kubernetes ``pkg/kubelet/kuberuntime``, ``staging/src/k8s.io/cri-client/pkg/remote_runtime.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperkube_lib.cri import CriClient
from hyperkube_lib.grpc_messages import RpcFailed
from hyperkube_runtime.remote.images import RemoteImages
from hyperkube_runtime.remote.records import (
    POD_UID,
    ListedRecords,
    container_status,
    listed_container,
    listed_sandbox,
    runtime_status,
    sandbox_status,
)
from hyperkube_runtime.remote.streams import NoStreams, port_connection

from hyperkube.hookspecs.runtime import (
    Config,
    ContainerNotFound,
    ContainerStatus,
    ContainerUsage,
    ExecResult,
    Process,
    RuntimeFailed,
    RuntimeStatus,
    SandboxStatus,
)
from hyperkube.machinery.errors import UsageError

KUBE_API_VERSION = "0.1.0"
"""The version that a client of CRI names. Kubernetes: ``kubeRuntimeAPIVersion``."""


_PLAIN_TEXTS = frozenset({"CreateContainer", "StartContainer"})
"""Calls of whose failures Kubernetes shows the runtime's own text, without that of gRPC around it."""


def failure_of(error: RpcFailed, method: str) -> RuntimeFailed:
    """Return the runtime's failure as the kubelet's, with the text that Kubernetes shows."""
    text = error.details if method in _PLAIN_TEXTS else str(error)
    return ContainerNotFound(text) if error.code == "NOT_FOUND" else RuntimeFailed(text)


def connect(client: CriClient, endpoint: str) -> RemoteRuntime:
    """Return the runtime of a client, when it serves CRI v1.

    Raises:
        UsageError: it does not, or does not answer.
    """
    try:
        version = client.call("Version", {"version": KUBE_API_VERSION})
    except RpcFailed as error:
        client.close()
        hint = "validate CRI v1 runtime API for endpoint"
        raise UsageError(f'container runtime: {hint} "{endpoint}": {error}') from error
    if version.get("runtime_api_version") != "v1":
        client.close()
        found = version.get("runtime_api_version", "")
        raise UsageError(f'container runtime at "{endpoint}" serves CRI {found!r}, not "v1"')
    return RemoteRuntime(client, version)


class RemoteRuntime(RemoteImages):
    """A runtime behind a socket; see `hyperkube.hookspecs.runtime`."""

    def __init__(self, client: CriClient, version: Mapping[str, str]) -> None:
        """Use `client`; `version` is the runtime's ``VersionResponse``."""
        super().__init__(client)
        self.name = version.get("runtime_name", "")
        self._version = version.get("runtime_version", "")
        self._sandboxes = ListedRecords(listed_sandbox)
        self._containers = ListedRecords(listed_container)

    def _call(self, method: str, request: Mapping[str, Any], extra_seconds: float = 0.0) -> dict[str, Any]:
        try:
            return self._client.call(method, request, extra_seconds)
        except RpcFailed as error:
            raise failure_of(error, method) from error

    def _list(self, method: str, request: Mapping[str, Any]) -> Any:
        try:
            return self._client.call_message(method, request)
        except RpcFailed as error:
            raise failure_of(error, method) from error

    def _told(self, method: str, request: Mapping[str, Any], field: str, name: str, of: object) -> Any:
        """Return one field of an answer.

        Source: kubernetes cri-client ``pkg/remote_runtime.go``, ``utils.go``.

        Raises:
            RuntimeFailed: the call fails, or the answer does not have the field: the runtime is not to be trusted.
        """
        found = self._call(method, request).get(field)
        if not found:
            raise RuntimeFailed(f"{name} is not set for {of}")
        return found

    def version(self) -> str:
        """Return the version that the runtime had when the kubelet started."""
        return self._version

    def status(self) -> RuntimeStatus:
        """Return the runtime's conditions; a call that fails is a problem of the runtime."""
        try:
            return runtime_status(self._client.call("Status", {}))
        except RpcFailed as error:
            return RuntimeStatus(runtime_problem=str(error))

    def runtime_config(self) -> Config:
        """Return the runtime's settings; nothing when it does not tell them."""
        try:
            return self._client.call("RuntimeConfig", {})
        except RpcFailed as error:
            if error.code == "UNIMPLEMENTED":
                return {}
            raise failure_of(error, "RuntimeConfig") from error

    def update_runtime_config(self, pod_cidr: str) -> None:
        """Tell the runtime the pods' addresses."""
        self._call("UpdateRuntimeConfig", {"runtime_config": {"network_config": {"pod_cidr": pod_cidr}}})

    # sandboxes

    def run_sandbox(self, config: Config, runtime_handler: str) -> str:
        """Create and start a sandbox."""
        request = {"config": config, "runtime_handler": runtime_handler}
        of = f"sandbox {config.get('metadata', {}).get('name', '')!r}"
        return str(self._told("RunPodSandbox", request, "pod_sandbox_id", "PodSandboxId", of))

    def stop_sandbox(self, sandbox_id: str) -> None:
        """Stop it with its containers."""
        self._unless_gone("StopPodSandbox", {"pod_sandbox_id": sandbox_id})

    def remove_sandbox(self, sandbox_id: str) -> None:
        """Remove it with its containers."""
        self._unless_gone("RemovePodSandbox", {"pod_sandbox_id": sandbox_id})

    def _unless_gone(self, method: str, request: Mapping[str, Any], extra_seconds: float = 0.0) -> None:
        try:
            self._call(method, request, extra_seconds)
        except ContainerNotFound:
            return  # what the call was for is so already

    def sandboxes(self) -> Sequence[SandboxStatus]:
        """Return all sandboxes of pods, without their addresses."""
        return self._sandboxes.of(self._list("ListPodSandbox", {}).items)

    # containers

    def create_container(self, sandbox_id: str, config: Config, sandbox_config: Config) -> str:
        """Create a container; the values of its variables are bytes for CRI."""
        envs = [{"key": entry["key"], "value": entry["value"].encode()} for entry in config.get("envs", ())]
        request = {"pod_sandbox_id": sandbox_id, "config": {**config, "envs": envs}, "sandbox_config": sandbox_config}
        of = f"container {config.get('metadata', {}).get('name', '')!r}"
        return str(self._told("CreateContainer", request, "container_id", "ContainerId", of))

    def start_container(self, container_id: str) -> None:
        """Start it."""
        self._call("StartContainer", {"container_id": container_id})

    def stop_container(self, container_id: str, grace_seconds: float) -> None:
        """Stop it; the call takes as long as the container does."""
        request = {"container_id": container_id, "timeout": int(grace_seconds)}
        self._unless_gone("StopContainer", request, grace_seconds)

    def remove_container(self, container_id: str) -> None:
        """Remove it."""
        self._unless_gone("RemoveContainer", {"container_id": container_id})

    def containers(self) -> Sequence[ContainerStatus]:
        """Return all containers of pods, without what only their status tells."""
        return self._containers.of(self._list("ListContainers", {}).containers)

    def pod(self, uid: str) -> tuple[Sequence[SandboxStatus], Sequence[ContainerStatus]]:
        """Return the statuses of one pod's sandboxes and containers; what goes away meanwhile is left out."""
        selector = {"filter": {"label_selector": {POD_UID: uid}}}
        sandboxes = [self._sandbox_status(message.id) for message in self._list("ListPodSandbox", selector).items]
        containers = [
            self._container_status(message.id, message.pod_sandbox_id)
            for message in self._list("ListContainers", selector).containers
        ]
        return [found for found in sandboxes if found], [found for found in containers if found]

    def _sandbox_status(self, sandbox_id: str) -> SandboxStatus | None:
        try:
            request = {"pod_sandbox_id": sandbox_id}
            status = self._told("PodSandboxStatus", request, "status", "Status", f"sandbox {sandbox_id!r}")
            return sandbox_status({**status, "id": sandbox_id})
        except ContainerNotFound:
            return None

    def _container_status(self, container_id: str, sandbox_id: str) -> ContainerStatus | None:
        try:
            request = {"container_id": container_id}
            status = self._told("ContainerStatus", request, "status", "Status", f"container {container_id!r}")
            return container_status({**status, "id": container_id}, sandbox_id)
        except ContainerNotFound:
            return None

    def container(self, container_id: str) -> ContainerStatus:
        """Return one container.

        Raises:
            ContainerNotFound: there is none.
        """
        listed = self._list("ListContainers", {"filter": {"id": container_id}}).containers
        found = next((message.pod_sandbox_id for message in listed if message.id == container_id), None)
        status = None if found is None else self._container_status(container_id, found)
        if status is None:
            raise ContainerNotFound(f"container {container_id!r} not found")
        return status

    def reopen_log(self, container_id: str) -> None:
        """Let the runtime continue in a new log file."""
        self._call("ReopenContainerLog", {"container_id": container_id})

    def update_container_resources(self, container_id: str, linux: Config) -> None:
        """Change limits in place."""
        self._call("UpdateContainerResources", {"container_id": container_id, "linux": linux})

    def update_sandbox_resources(self, sandbox_id: str, overhead: Config, resources: Config) -> None:
        """Tell of changed limits; a runtime that does not care is not troubled."""
        request = {"pod_sandbox_id": sandbox_id, "overhead": overhead, "resources": resources}
        try:
            self._client.call("UpdatePodSandboxResources", request)
        except RpcFailed as error:
            if error.code != "UNIMPLEMENTED":
                raise failure_of(error, "UpdatePodSandboxResources") from error

    def checkpoint_container(self, container_id: str, location: str, timeout: float) -> None:
        """Write a running container to a file."""
        request = {"container_id": container_id, "location": location, "timeout": int(timeout)}
        self._call("CheckpointContainer", request, timeout)

    # commands and streams

    def exec_sync(self, container_id: str, command: Sequence[str], timeout: float) -> ExecResult:
        """Run a command to its end.

        Raises:
            TimeoutError: it took longer than `timeout` seconds.
        """
        request = {"container_id": container_id, "cmd": list(command), "timeout": int(timeout)}
        try:
            done = self._client.call("ExecSync", request, timeout)
        except RpcFailed as error:
            if error.code == "DEADLINE_EXCEEDED":
                raise TimeoutError(str(error)) from error
            raise failure_of(error, "ExecSync") from error
        return ExecResult(done.get("stdout", b""), done.get("stderr", b""), done.get("exit_code", 0))

    def exec_url(
        self, container_id: str, command: Sequence[str], *, stdin: bool, stdout: bool, stderr: bool, tty: bool
    ) -> str:
        """Return the URL that runs a command."""
        request: dict[str, Any] = {"container_id": container_id, "cmd": list(command), "tty": tty}
        request |= {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        return str(self._told("Exec", request, "url", "URL", f"exec in {container_id!r}"))

    def attach_url(self, container_id: str, *, stdin: bool, stdout: bool, stderr: bool, tty: bool) -> str:
        """Return the URL of a container's streams."""
        request = {"container_id": container_id, "stdin": stdin, "stdout": stdout, "stderr": stderr, "tty": tty}
        return str(self._told("Attach", request, "url", "URL", f"attach to {container_id!r}"))

    def port_forward_url(self, sandbox_id: str, ports: Sequence[int]) -> str:
        """Return the URL of a sandbox's ports."""
        request = {"pod_sandbox_id": sandbox_id, "port": list(ports)}
        return str(self._told("PortForward", request, "url", "URL", f"ports of {sandbox_id!r}"))

    def exec(self, container_id: str, command: Sequence[str], *, stdin: bool, tty: bool) -> Process:
        """Refuse: streams go through the runtime's URL."""
        raise NoStreams("exec")

    def attach(self, container_id: str, *, stdin: bool) -> Process:
        """Refuse: streams go through the runtime's URL."""
        raise NoStreams("attach")

    def port_forward(self, sandbox_id: str, port: int) -> int:
        """Connect to the pod's address; the kubelet itself asks for a URL.

        Raises:
            RuntimeFailed: the sandbox has none, or nothing listens there.
        """
        status = self._sandbox_status(sandbox_id)
        return port_connection(status.ips if status else (), port)

    # figures

    def container_stats(self) -> Sequence[Config]:
        """Return CRI's figures of the containers."""
        return tuple(self._call("ListContainerStats", {}).get("stats", ()))

    def sandbox_stats(self) -> Sequence[Config]:
        """Return CRI's figures of the sandboxes."""
        return tuple(self._call("ListPodSandboxStats", {}).get("stats", ()))

    def usage(self) -> Sequence[ContainerUsage]:
        """Return CPU and memory of the running containers."""
        return [
            ContainerUsage(
                id=stats["attributes"]["id"],
                cpu_nanoseconds=_wrapped(stats, "cpu", "usage_core_nano_seconds"),
                memory_bytes=_wrapped(stats, "memory", "working_set_bytes"),
            )
            for stats in self.container_stats()
            if stats.get("attributes", {}).get("id")
        ]

    def container_events(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with the uid of each pod of which the runtime reports an event; returns when the stream ends.

        Raises:
            RuntimeFailed: the runtime streams no events (reason ``Unimplemented``), or went away.
        """
        try:
            with self._client.events() as events:
                for event in events:
                    uid = event.get("pod_sandbox_status", {}).get("metadata", {}).get("uid", "")
                    if uid:
                        notify(uid)
        except RpcFailed as error:
            if error.code == "UNIMPLEMENTED":
                raise RuntimeFailed(str(error), "Unimplemented") from error
            raise failure_of(error, "GetContainerEvents") from error

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _wrapped(stats: Config, part: str, field: str) -> int:
    return int(stats.get(part, {}).get(field, {}).get("value", 0))
