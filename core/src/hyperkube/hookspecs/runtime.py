"""Container runtimes, shaped like CRI v1: sandboxes, containers, images, streams.

What is asked for are CRI's own messages (`Config`), what is told are typed records. What only some runtimes can do
stands in small protocols of its own. All calls are synchronous, may block,
and come from several threads; each is idempotent for what already is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError


class RuntimeFailed(HyperkubeError):
    """The runtime could not do it; `reason` is a word for events and container states (``CreateContainerError``)."""

    def __init__(self, message: str, reason: str = "RuntimeError", details: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.details = details or message  # the runtime's own words, without what the way from it has added


class ImageNotPresent(RuntimeFailed):
    """The image is not on the node."""


class ContainerNotFound(RuntimeFailed):
    """There is no such container or sandbox (any more)."""


Config = Mapping[str, Any]
"""A message of CRI v1 as a mapping: original field names, enumeration values by name, defaults left out."""


class ContainerState(StrEnum):
    """The life of a container; the values are those of the kubelet's metrics."""

    CREATED = "created"
    RUNNING = "running"
    EXITED = "exited"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerStatus:
    """A container as the runtime sees it; times in seconds since the epoch, 0 for not yet.

    `image` is the name it was asked for by, `image_id` and `image_ref` what that was resolved to; `resources`, `user`
    and `mounts` are CRI's ``ContainerResources``, ``ContainerUser`` and ``Mount``.
    """

    id: str
    sandbox_id: str
    name: str
    attempt: int
    state: ContainerState
    image: str
    image_id: str = ""
    image_ref: str = ""
    created_at: float = 0.0
    started_at: float = 0.0
    finished_at: float = 0.0
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    log_path: str = ""
    stop_signal: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    resources: Config = field(default_factory=dict)
    user: Config = field(default_factory=dict)
    mounts: Sequence[Config] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxStatus:
    """A sandbox as the runtime sees it."""

    id: str
    namespace: str
    name: str
    uid: str
    attempt: int
    ready: bool
    created_at: float
    ips: tuple[str, ...] = ()
    runtime_handler: str = ""
    host_network: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeStatus:
    """Why runtime and network are not ready, or empty; CRI's ``RuntimeHandler`` and ``RuntimeFeatures``."""

    runtime_problem: str = ""
    network_problem: str = ""
    handlers: tuple[Config, ...] = ()
    features: Config = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image on the node; its program's user as a number, or as a name, or neither."""

    id: str
    tags: tuple[str, ...]
    digests: tuple[str, ...] = ()
    size: int = 0
    uid: int | None = None
    username: str = ""
    pinned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerUsage:
    """What a container uses: CPU in nanoseconds since its start, memory in bytes."""

    id: str
    cpu_nanoseconds: int
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryCredentials:
    """The login for a private registry. CRI: ``AuthConfig``."""

    username: str = ""
    password: str = field(default="", repr=False)
    auth: str = field(default="", repr=False)
    server_address: str = ""
    identity_token: str = field(default="", repr=False)
    registry_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCapacity:
    """The size of a machine; memory and disk in bytes."""

    cores: int
    memory: int
    disk: int


class Process(Protocol):
    """A command, container or port with streams to copy; all file descriptors belong to the caller, who closes them."""

    stdin: int | None
    """Write end, or None; a tty's input and output are two descriptors of one terminal, stderr is None."""
    stdout: int | None
    stderr: int | None

    def resize(self, width: int, height: int) -> None:
        """Tell a tty its size; ignored without one."""

    def wait(self, timeout: float | None = None) -> int | None:
        """Return the exit code, or None when `timeout` seconds passed first."""

    def kill(self) -> None:
        """End it now; for an attached container only the streams are closed."""


class Runtime(Protocol):
    """Runs sandboxes and containers."""

    name: str
    """What ``status.nodeInfo.containerRuntimeVersion`` shows before ``://``."""

    def version(self) -> str:
        """Return the runtime's version."""

    def status(self) -> RuntimeStatus:
        """Return whether it is ready, and what it can do."""

    def run_sandbox(self, config: Config, runtime_handler: str) -> str:
        """Create and start a sandbox of a ``PodSandboxConfig``; return its id."""

    def stop_sandbox(self, sandbox_id: str) -> None:
        """Stop all its containers by force and take its network down."""

    def remove_sandbox(self, sandbox_id: str) -> None:
        """Remove it with its containers."""

    def sandboxes(self) -> Sequence[SandboxStatus]:
        """Return all sandboxes, also stopped ones; addresses may be left out."""

    def create_container(self, sandbox_id: str, config: Config, sandbox_config: Config) -> str:
        """Create a container of a ``ContainerConfig`` and return its id.

        Raises:
            ImageNotPresent: pull it first.
            RuntimeFailed: with the reason for the container's waiting state.
        """

    def start_container(self, container_id: str) -> None:
        """Start a created container."""

    def stop_container(self, container_id: str, grace_seconds: float) -> None:
        """Send TERM, wait, then KILL; returns when it has ended."""

    def remove_container(self, container_id: str) -> None:
        """Remove an ended container."""

    def containers(self) -> Sequence[ContainerStatus]:
        """Return all, also ended ones of earlier runs; what only `pod` and `container` have: ends and exit codes."""

    def pod(self, uid: str) -> tuple[Sequence[SandboxStatus], Sequence[ContainerStatus]]:
        """Return all that is known of one pod's sandboxes and containers."""

    def container(self, container_id: str) -> ContainerStatus:
        """Return one container.

        Raises:
            ContainerNotFound: there is none.
        """

    def reopen_log(self, container_id: str) -> None:
        """Write to a fresh file at the log path: the old one was rotated away."""

    def usage(self) -> Sequence[ContainerUsage]:
        """Return what the running containers use."""

    def exec(self, container_id: str, command: Sequence[str], *, stdin: bool, tty: bool) -> Process:
        """Start a command in a running container."""

    def attach(self, container_id: str, *, stdin: bool) -> Process:
        """Connect to the streams of a running container's own process."""

    def port_forward(self, sandbox_id: str, port: int) -> int:
        """Return a connected socket's descriptor to a port of the sandbox; the caller closes it."""

    def images(self) -> Sequence[Image]:
        """Return the images on the node."""

    def image(self, reference: str) -> Image | None:
        """Return one image, or None if it is not on the node."""

    def pull_image(self, image: Config, credentials: RegistryCredentials | None, sandbox_config: Config) -> Image:
        """Pull the image of an ``ImageSpec`` for a sandbox; an error text says what the user can do.

        Raises:
            RuntimeFailed: with reason ``ErrImagePull``, or another that Kubernetes uses.
        """

    def remove_image(self, image_id: str) -> None:
        """Remove an image from the node."""

    def close(self) -> None:
        """Release what the runtime holds; containers go on running."""


@runtime_checkable
class NotifiesChanges(Protocol):
    """A runtime that tells of changes by itself, so that the kubelet need not look at everything every second."""

    def subscribe(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with a pod's uid, from any thread, soon after one of its containers changed its state."""


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What a command wrote, and its exit code."""

    stdout: bytes
    stderr: bytes
    exit_code: int


@runtime_checkable
class StreamsEvents(Protocol):
    """A runtime that tells of changes as long as a caller listens."""

    def container_events(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with a pod's uid for each event of its containers; returns when the stream ends.

        Raises:
            RuntimeFailed: with reason ``Unimplemented`` if it streams none, with another if it went away.
        """


@runtime_checkable
class ExecsSync(Protocol):
    """A runtime that runs short commands without streams; the others do it by `Runtime.exec`."""

    def exec_sync(self, container_id: str, command: Sequence[str], timeout: float) -> ExecResult:
        """Run a command to its end; raise TimeoutError after `timeout` seconds (0: no limit)."""


@runtime_checkable
class StreamsByUrl(Protocol):
    """A runtime with a streaming server of its own, to which the kubelet passes connections on."""

    def exec_url(
        self, container_id: str, command: Sequence[str], *, stdin: bool, stdout: bool, stderr: bool, tty: bool
    ) -> str:
        """Return the URL that runs a command."""

    def attach_url(self, container_id: str, *, stdin: bool, stdout: bool, stderr: bool, tty: bool) -> str:
        """Return the URL of a container's streams."""

    def port_forward_url(self, sandbox_id: str, ports: Sequence[int]) -> str:
        """Return the URL of a sandbox's ports."""


@runtime_checkable
class UpdatesResources(Protocol):
    """A runtime that changes limits in place."""

    def update_container_resources(self, container_id: str, linux: Config) -> None:
        """Set the ``LinuxContainerResources`` of a container."""

    def update_sandbox_resources(self, sandbox_id: str, overhead: Config, resources: Config) -> None:
        """Tell of a sandbox's new ``LinuxContainerResources``."""


@runtime_checkable
class ReportsStats(Protocol):
    """A runtime with CRI's figures; `usage` is what the others have."""

    def container_stats(self) -> Sequence[Config]:
        """Return the ``ContainerStats`` of the running containers."""

    def sandbox_stats(self) -> Sequence[Config]:
        """Return the ``PodSandboxStats`` of the ready sandboxes."""

    def image_fs_info(self) -> Config:
        """Return the ``ImageFsInfoResponse``."""


@runtime_checkable
class Checkpoints(Protocol):
    """A runtime that writes running containers to archives."""

    def checkpoint_container(self, container_id: str, location: str, timeout: float) -> None:
        """Write a running container's state to the file `location`, within `timeout` seconds (0: no limit)."""


@runtime_checkable
class TellsRuntimeConfig(Protocol):
    """A runtime that has settings in common with the kubelet."""

    def runtime_config(self) -> Config:
        """Return the ``RuntimeConfigResponse`` (``linux.cgroup_driver``), empty when it does not know."""

    def update_runtime_config(self, pod_cidr: str) -> None:
        """Tell it the pods' addresses of this node."""


@runtime_checkable
class TakesAddresses(Protocol):
    """A runtime that leaves pod networks to the kubelet's network plugin."""

    default_network: str
    """The network plugin to use when ``--network-plugin`` is not given."""

    def assign_addresses(self, sandbox_id: str, ips: Sequence[str]) -> None:
        """Remember the addresses of a sandbox, also over a restart; `Runtime.sandboxes` shows them."""


@runtime_checkable
class HasNetworkNamespaces(Protocol):
    """A runtime that gives each sandbox a network namespace of its own, for the kubelet's network plugin to connect."""

    def network_namespace(self, sandbox_id: str) -> str:
        """Return the path of the sandbox's network namespace; empty where it shares the node's, or is gone."""


@runtime_checkable
class Simulated(Protocol):
    """A runtime whose containers run no program: the kubelet mounts no volumes and looks up no services for them."""

    def capacity(self) -> MachineCapacity:
        """Return the size of the machine that the node pretends to be."""


@hookspec(firstresult=True)
def runtime_build() -> Runtime:
    """Build the runtime that ``--container-runtime`` names.

    Called: once by the kubelet.
    Raises: `UsageError` if it cannot be used here, in one line.
    Must: find the containers of an earlier run again; keep exit codes and logs of containers that ended while no
        kubelet ran.
    """


class RuntimeHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def runtime_build(self) -> Runtime:
        """Call `runtime_build` of all plugins until one answers."""
