"""The calls of CRI's RuntimeService on a runtime.

Source: kubernetes ``staging/src/k8s.io/cri-api/pkg/apis/runtime/v1/api.proto`` (RuntimeService).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperkube_lib.cri_server import messages
from hyperkube_lib.cri_server.container_events import EventCalls
from hyperkube_lib.cri_server.optional_calls import CheckpointCalls, ConfigCalls, StatsCalls, UpdateCalls
from hyperkube_lib.cri_server.streaming import StreamingServer, StreamRequest, TooManyStreams
from hyperkube_lib.grpc_messages import Handler, RpcFailed
from hyperkube_lib.serving.process_output import output_of

from hyperkube.hookspecs.runtime import (
    Checkpoints,
    Config,
    ContainerNotFound,
    ExecResult,
    ExecsSync,
    NotifiesChanges,
    ReportsStats,
    Runtime,
    SandboxStatus,
    TellsRuntimeConfig,
    UpdatesResources,
)
from hyperkube.machinery.clock import Clock

API_VERSION, CLIENT_VERSION = "v1", "0.1.0"
EXEC_OUTPUT_LIMIT = 16 << 20
Request = Mapping[str, Any]
Answer = dict[str, Any]


class RuntimeService:
    """CRI's RuntimeService; what the runtime cannot do is not implemented here either."""

    def __init__(self, runtime: Runtime, streams: StreamingServer, clock: Clock) -> None:
        self._runtime = runtime
        self._streams = streams
        self._clock = clock

    def handlers(self) -> dict[str, Handler]:
        """Return the calls by name."""
        found: dict[str, Handler] = {
            "Version": self.version,
            "Status": self.status,
            "RunPodSandbox": self.run_pod_sandbox,
            "StopPodSandbox": self.stop_pod_sandbox,
            "RemovePodSandbox": self.remove_pod_sandbox,
            "PodSandboxStatus": self.pod_sandbox_status,
            "ListPodSandbox": self.list_pod_sandbox,
            "CreateContainer": self.create_container,
            "StartContainer": self.start_container,
            "StopContainer": self.stop_container,
            "RemoveContainer": self.remove_container,
            "ListContainers": self.list_containers,
            "ContainerStatus": self.container_status,
            "ReopenContainerLog": self.reopen_container_log,
            "ExecSync": self.exec_sync,
            "Exec": self.exec,
            "Attach": self.attach,
            "PortForward": self.port_forward,
        }
        if isinstance(self._runtime, UpdatesResources):
            found |= UpdateCalls(self._runtime).handlers()
        if isinstance(self._runtime, ReportsStats):
            found |= StatsCalls(self._runtime).handlers()
        if isinstance(self._runtime, TellsRuntimeConfig):
            found |= ConfigCalls(self._runtime).handlers()
        if isinstance(self._runtime, NotifiesChanges):
            found |= EventCalls(self._runtime, self._runtime, self._clock).handlers()
        if isinstance(self._runtime, Checkpoints):
            found |= CheckpointCalls(self._runtime).handlers()
        return found

    def version(self, _request: Request) -> Answer:
        """Return names and versions."""
        return {
            "version": CLIENT_VERSION,
            "runtime_name": self._runtime.name,
            "runtime_version": self._runtime.version(),
            "runtime_api_version": API_VERSION,
        }

    def status(self, _request: Request) -> Answer:
        """Return the conditions."""
        return messages.runtime_status(self._runtime.status())

    # sandboxes

    def run_pod_sandbox(self, request: Request) -> Answer:
        """Create and start a sandbox."""
        config = _required(request, "config")
        return {"pod_sandbox_id": self._runtime.run_sandbox(config, request.get("runtime_handler", ""))}

    def stop_pod_sandbox(self, request: Request) -> None:
        """Stop a sandbox with its containers; fine for one that is gone."""
        self._runtime.stop_sandbox(request.get("pod_sandbox_id", ""))

    def remove_pod_sandbox(self, request: Request) -> None:
        """Remove a sandbox with its containers; fine for one that is gone."""
        self._runtime.remove_sandbox(request.get("pod_sandbox_id", ""))

    def pod_sandbox_status(self, request: Request) -> Answer:
        """Return a sandbox with its addresses."""
        return {"status": messages.sandbox_status(self._sandbox(request.get("pod_sandbox_id", "")))}

    def _sandbox(self, sandbox_id: str) -> SandboxStatus:
        for listed in self._runtime.sandboxes():
            if listed.id == sandbox_id:
                found, _ = self._runtime.pod(listed.uid)
                return next((one for one in found if one.id == sandbox_id), listed)
        raise ContainerNotFound(f"sandbox {sandbox_id!r} not found")

    def list_pod_sandbox(self, request: Request) -> Answer:
        """Return the sandboxes that a filter selects."""
        selection = messages.Selection(request.get("filter", {}), "SANDBOX_READY")
        rows = map(messages.listed_sandbox, self._runtime.sandboxes())
        return {"items": [row for row in rows if selection.has(row)]}

    # containers

    def create_container(self, request: Request) -> Answer:
        """Create a container in a sandbox."""
        config = messages.container_config(_required(request, "config"))
        sandbox_config = _required(request, "sandbox_config")
        made = self._runtime.create_container(request.get("pod_sandbox_id", ""), config, sandbox_config)
        return {"container_id": made}

    def start_container(self, request: Request) -> None:
        """Start a container."""
        self._runtime.start_container(request.get("container_id", ""))

    def stop_container(self, request: Request) -> None:
        """Stop a container; fine for one that is gone."""
        self._runtime.stop_container(request.get("container_id", ""), float(request.get("timeout", 0)))

    def remove_container(self, request: Request) -> None:
        """Remove a container, killing it before where needed; fine for one that is gone."""
        self._runtime.stop_container(request.get("container_id", ""), 0)
        self._runtime.remove_container(request.get("container_id", ""))

    def list_containers(self, request: Request) -> Answer:
        """Return the containers that a filter selects."""
        selection = messages.Selection(request.get("filter", {}), "CONTAINER_CREATED")
        rows = map(messages.listed_container, self._runtime.containers())
        return {"containers": [row for row in rows if selection.has(row)]}

    def container_status(self, request: Request) -> Answer:
        """Return a container."""
        return {"status": messages.container_status(self._runtime.container(request.get("container_id", "")))}

    def reopen_container_log(self, request: Request) -> None:
        """Write to a fresh file at the log path."""
        self._runtime.reopen_log(request.get("container_id", ""))

    # commands and streams

    def exec_sync(self, request: Request) -> Answer:
        """Run a command to its end.

        Raises:
            RpcFailed: ``DEADLINE_EXCEEDED`` after its time limit.
        """
        command, timeout = request.get("cmd", []), float(request.get("timeout", 0))
        done = self._run(request.get("container_id", ""), command, timeout)
        if done is None:
            text = f"command {' '.join(command)!r} timed out after {timeout:g}s"
            raise RpcFailed("DEADLINE_EXCEEDED", text)
        return {"stdout": done.stdout, "stderr": done.stderr, "exit_code": done.exit_code}

    def _run(self, container_id: str, command: Sequence[str], timeout: float) -> ExecResult | None:
        if isinstance(self._runtime, ExecsSync):
            try:
                return self._runtime.exec_sync(container_id, command, timeout)
            except TimeoutError:
                return None
        process = self._runtime.exec(container_id, command, stdin=False, tty=False)
        return output_of(process, self._clock, timeout or None, EXEC_OUTPUT_LIMIT)

    def exec(self, request: Request) -> Answer:
        """Return the URL that runs a command."""
        container_id = self._runtime.container(request.get("container_id", "")).id
        return _promised(lambda: self._streams.exec_url(container_id, request.get("cmd", []), _streams(request)))

    def attach(self, request: Request) -> Answer:
        """Return the URL of a container's streams."""
        container_id = self._runtime.container(request.get("container_id", "")).id
        return _promised(lambda: self._streams.attach_url(container_id, _streams(request)))

    def port_forward(self, request: Request) -> Answer:
        """Return the URL of a sandbox's ports."""
        sandbox_id = self._sandbox(request.get("pod_sandbox_id", "")).id
        return _promised(lambda: self._streams.port_forward_url(sandbox_id))


def _required(request: Request, field: str) -> Config:
    """Return a message of a request.

    Raises:
        RpcFailed: ``INVALID_ARGUMENT``: it is missing.
    """
    if field not in request:
        raise RpcFailed("INVALID_ARGUMENT", f"{field} is required")
    found: Config = request[field]
    return found


def _streams(request: Request) -> StreamRequest:
    return StreamRequest(**{name: bool(request.get(name)) for name in ("stdin", "stdout", "stderr", "tty")})


def _promised(promise: Callable[[], str]) -> Answer:
    try:
        return {"url": promise()}
    except TooManyStreams as error:
        raise RpcFailed("RESOURCE_EXHAUSTED", str(error)) from error
