"""Container runtimes, shaped like CRI: sandboxes, containers, images, streams.

All calls are synchronous, may block, and come from several threads; each is idempotent for what already is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object


class RuntimeFailed(HyperkubeError):
    """The runtime could not do it; `reason` is a word for events and container states (``CreateContainerError``)."""

    def __init__(self, message: str, reason: str = "RuntimeError") -> None:
        super().__init__(message)
        self.reason = reason


class ImageNotPresent(RuntimeFailed):
    """The image is not on the node."""


class ContainerNotFound(RuntimeFailed):
    """There is no such container or sandbox (any more)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsConfig:
    """The resolver settings of a sandbox."""

    servers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """What a pod's sandbox needs."""

    namespace: str
    name: str
    uid: str
    attempt: int
    hostname: str
    log_directory: str
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    host_network: bool = False
    dns: DnsConfig = DnsConfig()
    port_mappings: tuple[Object, ...] = ()
    runtime_handler: str = ""
    pod: Object = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A host folder or file, seen in the container."""

    host_path: str
    container_path: str
    read_only: bool = False
    propagation: str = "None"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSpec:
    """What a container needs; command and args are already expanded."""

    name: str
    attempt: int
    image: str
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    working_dir: str = ""
    env: tuple[tuple[str, str], ...] = ()
    mounts: tuple[Mount, ...] = ()
    log_path: str = ""
    """Relative to the sandbox's log directory; lines in CRI format (``TIME STREAM TAG TEXT``)."""
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False
    resources: Object = field(default_factory=dict)
    security: Object = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


class ContainerState(StrEnum):
    """The life of a container; the values are those of the kubelet's metrics."""

    CREATED = "created"
    RUNNING = "running"
    EXITED = "exited"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerStatus:
    """A container as the runtime sees it; times in seconds since the epoch, 0 for not yet.

    `image` is the name it was asked for by, `image_id` and `image_ref` what that was resolved to; `resources` and
    `user` are CRI's ``ContainerResources`` and ``ContainerUser``.
    """

    id: str
    sandbox_id: str
    name: str
    attempt: int
    state: ContainerState
    image: str
    image_id: str = ""
    image_ref: str = ""
    stop_signal: str = ""
    user: Object = field(default_factory=dict)
    resources: Object = field(default_factory=dict)
    created_at: float = 0.0
    started_at: float = 0.0
    finished_at: float = 0.0
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    log_path: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


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
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image on the node."""

    id: str
    tags: tuple[str, ...]
    digests: tuple[str, ...] = ()
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerUsage:
    """What a container uses: CPU in nanoseconds since its start, memory in bytes."""

    id: str
    cpu_nanoseconds: int
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryCredentials:
    """The login for a private registry."""

    username: str
    password: str = field(repr=False)


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

    def status(self) -> str:
        """Return why the runtime is not ready, or the empty string."""

    def run_sandbox(self, spec: SandboxSpec) -> str:
        """Create and start a sandbox; return its id."""

    def stop_sandbox(self, sandbox_id: str) -> None:
        """Stop all its containers by force and take its network down."""

    def remove_sandbox(self, sandbox_id: str) -> None:
        """Remove it with its containers."""

    def sandboxes(self) -> Sequence[SandboxStatus]:
        """Return all sandboxes, also stopped ones."""

    def create_container(self, sandbox_id: str, spec: ContainerSpec) -> str:
        """Create a container and return its id.

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
        """Return all containers, also ended ones, after a restart of the kubelet too."""

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

    def pull_image(self, reference: str, credentials: RegistryCredentials | None) -> Image:
        """Pull an image; an error text says what the user can do.

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

    def pod(self, uid: str) -> tuple[Sequence[SandboxStatus], Sequence[ContainerStatus]]:
        """Return what there is of one pod, faster than looking through all."""


@runtime_checkable
class TakesAddresses(Protocol):
    """A runtime that leaves pod networks to the kubelet's network plugin."""

    default_network: str
    """The network plugin to use when ``--network-plugin`` is not given."""

    def assign_addresses(self, sandbox_id: str, ips: Sequence[str]) -> None:
        """Remember the addresses of a sandbox, also over a restart; `Runtime.sandboxes` shows them."""


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
