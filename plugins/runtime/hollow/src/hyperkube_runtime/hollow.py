"""The hollow runtime: containers that exist in memory only, for clusters of hundreds of nodes on one machine.

A container starts at once and runs until it is stopped, or as long as its pod's annotation
``hyperkube.dev/hollow-exit-after`` says (a duration; ``hyperkube.dev/hollow-exit-code`` gives the code). Any image is
there, logs are one line, a command in a container prints its own command line.
"""

from __future__ import annotations

import os
import secrets
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import field, replace

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.runtime import (
    Config,
    ContainerNotFound,
    ContainerState,
    ContainerStatus,
    ContainerUsage,
    Image,
    MachineCapacity,
    RegistryCredentials,
    Runtime,
    RuntimeFailed,
    RuntimeStatus,
    SandboxStatus,
)
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.durations import parse_duration
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

__all__ = ["Hollow", "HollowRuntime"]

EXIT_AFTER = "hyperkube.dev/hollow-exit-after"
EXIT_CODE = "hyperkube.dev/hollow-exit-code"
_MEMORY_BYTES = 16 << 20
_CAPACITY = MachineCapacity(cores=8, memory=32 << 30, disk=100 << 30)


@dataclass(slots=True)
class _Pod:
    """The sandboxes and containers of one pod."""

    sandboxes: dict[str, SandboxStatus] = field(default_factory=dict)
    containers: dict[str, ContainerStatus] = field(default_factory=dict)


class SimulatedProcess:
    """A command that was not run: its output waits in a pipe."""

    def __init__(self, text: str, *, stdin: bool, tty: bool) -> None:
        self.stdout: int | None
        self.stdout, end = os.pipe2(os.O_CLOEXEC)
        os.write(end, text.encode())
        os.close(end)
        nothing = os.O_CLOEXEC
        self.stdin = os.open(os.devnull, os.O_WRONLY | nothing) if stdin else None
        self.stderr = None if tty else os.open(os.devnull, os.O_RDONLY | nothing)

    def resize(self, width: int, height: int) -> None:
        """Do nothing: there is no terminal."""

    def wait(self, timeout: float | None = None) -> int | None:
        """Return 0."""
        return 0

    def kill(self) -> None:
        """Do nothing: it has ended."""


class HollowRuntime:
    """Sandboxes and containers in dictionaries; see `Runtime`."""

    name = "hollow"

    def __init__(self, clock: Clock, node_name: str = "") -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._pods: dict[str, _Pod] = {}
        self._owner: dict[str, str] = {}
        self._images: dict[str, Image] = {}
        self._listeners: list[Callable[[str], None]] = []
        self._place = zlib.crc32(node_name.encode()) & 0x3FFF
        self._addresses = 1

    def subscribe(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with a pod's uid when a container ends by itself."""
        self._listeners.append(notify)

    def pod(self, uid: str) -> tuple[Sequence[SandboxStatus], Sequence[ContainerStatus]]:
        """Return the sandboxes and containers of one pod."""
        with self._lock:
            pod = self._pods.get(uid)
            return ([], []) if pod is None else (list(pod.sandboxes.values()), list(pod.containers.values()))

    def version(self) -> str:
        """Return the version of the simulation."""
        return "1.0.0"

    def capacity(self) -> MachineCapacity:
        """Return the size of a common server, whatever machine the simulation runs on."""
        return _CAPACITY

    def status(self) -> RuntimeStatus:
        """Return that it is ready: nothing can break."""
        return RuntimeStatus()

    def run_sandbox(self, config: Config, runtime_handler: str) -> str:
        """Make up a sandbox with an address of its own."""
        metadata = config["metadata"]
        sandbox_id = secrets.token_hex(16)
        with self._lock:
            self._addresses += 1
            number = self._addresses
            high = self._place >> 8
            address = f"10.{64 + high}.{(self._place + (number >> 8)) & 255}.{number & 255}"
            self._pods.setdefault(metadata["uid"], _Pod()).sandboxes[sandbox_id] = SandboxStatus(
                id=sandbox_id,
                namespace=metadata["namespace"],
                name=metadata["name"],
                uid=metadata["uid"],
                attempt=metadata.get("attempt", 0),
                ready=True,
                created_at=self._now(),
                ips=() if _on_host_network(config) else (address,),
                runtime_handler=runtime_handler,
                labels=config.get("labels", {}),
                annotations=config.get("annotations", {}),
            )
            self._owner[sandbox_id] = metadata["uid"]
        return sandbox_id

    def _now(self) -> float:
        return self._clock.now().timestamp()

    def _of(self, some_id: str) -> _Pod:
        pod = self._pods.get(self._owner.get(some_id, ""))
        if pod is None:
            raise ContainerNotFound(f"{some_id!r} not found")
        return pod

    def stop_sandbox(self, sandbox_id: str) -> None:
        """End its containers and mark it as not ready."""
        with self._lock:
            uid = self._owner.get(sandbox_id)
            if uid is None:
                return
            pod = self._pods[uid]
            for status in list(pod.containers.values()):
                if status.sandbox_id == sandbox_id:
                    self._end(pod, status.id, 137)
            pod.sandboxes[sandbox_id] = replace(pod.sandboxes[sandbox_id], ready=False)

    def remove_sandbox(self, sandbox_id: str) -> None:
        """Forget it and its containers."""
        with self._lock:
            uid = self._owner.pop(sandbox_id, None)
            if uid is None:
                return
            pod = self._pods[uid]
            pod.sandboxes.pop(sandbox_id, None)
            for status in list(pod.containers.values()):
                if status.sandbox_id == sandbox_id:
                    del pod.containers[status.id]
                    self._owner.pop(status.id, None)
            if not pod.sandboxes and not pod.containers:
                del self._pods[uid]

    def sandboxes(self) -> Sequence[SandboxStatus]:
        """Return all sandboxes."""
        with self._lock:
            return [sandbox for pod in self._pods.values() for sandbox in pod.sandboxes.values()]

    def create_container(self, sandbox_id: str, config: Config, sandbox_config: Config) -> str:
        """Make up a container."""
        reference = config["image"].get("user_specified_image") or config["image"]["image"]
        container_id = secrets.token_hex(16)
        with self._lock:
            pod = self._of(sandbox_id)
            image = self._images.setdefault(reference, Image(id=reference, tags=(reference,), size=1 << 20))
            pod.containers[container_id] = ContainerStatus(
                id=container_id,
                sandbox_id=sandbox_id,
                name=config["metadata"]["name"],
                attempt=config["metadata"].get("attempt", 0),
                state=ContainerState.CREATED,
                image=reference,
                image_id=image.id,
                created_at=self._now(),
                labels=config.get("labels", {}),
                annotations=config.get("annotations", {}),
            )
            self._owner[container_id] = self._owner[sandbox_id]
        return container_id

    def start_container(self, container_id: str) -> None:
        """Let it run, and end later if its pod says so."""
        with self._lock:
            pod = self._of(container_id)
            status = pod.containers[container_id]
            if status.state != ContainerState.CREATED:
                return
            pod.containers[container_id] = replace(status, state=ContainerState.RUNNING, started_at=self._now())
            annotations = pod.sandboxes[status.sandbox_id].annotations
        if EXIT_AFTER in annotations:
            code = int(annotations.get(EXIT_CODE, "0"))
            self._clock.call_later(parse_duration(annotations[EXIT_AFTER]), lambda: self._exit(container_id, code))

    def _exit(self, container_id: str, code: int) -> None:
        with self._lock:
            uid = self._owner.get(container_id)
            if uid is None:
                return
            self._end(self._pods[uid], container_id, code)
        for notify in self._listeners:
            notify(uid)

    def _end(self, pod: _Pod, container_id: str, code: int) -> None:
        status = pod.containers[container_id]
        if status.state == ContainerState.EXITED:
            return
        now = self._now()
        pod.containers[container_id] = replace(
            status,
            state=ContainerState.EXITED,
            started_at=status.started_at or now,
            finished_at=now,
            exit_code=code,
            reason="Completed" if code == 0 else "Error",
        )

    def stop_container(self, container_id: str, grace_seconds: float) -> None:
        """End it with the code of a program that obeys TERM."""
        with self._lock:
            uid = self._owner.get(container_id)
            if uid is not None and self._pods[uid].containers[container_id].state == ContainerState.RUNNING:
                self._end(self._pods[uid], container_id, 0)

    def remove_container(self, container_id: str) -> None:
        """Forget it."""
        with self._lock:
            uid = self._owner.pop(container_id, None)
            if uid is not None:
                self._pods[uid].containers.pop(container_id, None)

    def containers(self) -> Sequence[ContainerStatus]:
        """Return all containers."""
        with self._lock:
            return [status for pod in self._pods.values() for status in pod.containers.values()]

    def container(self, container_id: str) -> ContainerStatus:
        """Return one container."""
        with self._lock:
            status = self._of(container_id).containers.get(container_id)
        if status is None:
            raise ContainerNotFound(f"container {container_id!r} not found")
        return status

    def reopen_log(self, container_id: str) -> None:
        """Do nothing: there is no log."""

    def usage(self) -> Sequence[ContainerUsage]:
        """Return the same small memory for every running container, and a hundredth of a core."""
        now = self._now()
        return [
            ContainerUsage(
                id=status.id, cpu_nanoseconds=int((now - status.started_at) * 10_000_000), memory_bytes=_MEMORY_BYTES
            )
            for status in self.containers()
            if status.state == ContainerState.RUNNING
        ]

    def exec(self, container_id: str, command: Sequence[str], *, stdin: bool, tty: bool) -> SimulatedProcess:
        """Return the command line as its output.

        Raises:
            ContainerNotFound: the container does not run.
        """
        self._running(container_id)
        return SimulatedProcess(f"simulated: {' '.join(command)}\n", stdin=stdin, tty=tty)

    def attach(self, container_id: str, *, stdin: bool) -> SimulatedProcess:
        """Return a line that says that there is no output.

        Raises:
            ContainerNotFound: the container does not run.
        """
        self._running(container_id)
        return SimulatedProcess("simulated: this container has no output\n", stdin=stdin, tty=False)

    def _running(self, container_id: str) -> None:
        if self.container(container_id).state != ContainerState.RUNNING:
            raise ContainerNotFound(f"container {container_id!r} is not running")

    def port_forward(self, sandbox_id: str, port: int) -> int:
        """Refuse: nothing listens in a simulated pod.

        Raises:
            RuntimeFailed: always.
        """
        self._of(sandbox_id)
        raise RuntimeFailed(f"nothing listens on port {port}: the pod is simulated")

    def images(self) -> Sequence[Image]:
        """Return the images that containers used."""
        with self._lock:
            return list(self._images.values())

    def image(self, reference: str) -> Image | None:
        """Return an image; every one is there."""
        return Image(id=reference, tags=(reference,), size=1 << 20)

    def pull_image(self, image: Config, credentials: RegistryCredentials | None, sandbox_config: Config) -> Image:
        """Return the image."""
        return Image(id=image["image"], tags=(image["image"],), size=1 << 20)

    def remove_image(self, image_id: str) -> None:
        """Forget an image."""
        with self._lock:
            self._images.pop(image_id, None)

    def close(self) -> None:
        """Do nothing: everything is gone with the process."""


def _on_host_network(config: Config) -> bool:
    security = config.get("linux", {}).get("security_context", {})
    return bool(security.get("namespace_options", {}).get("network") == "NODE")


class HollowSettings(Record):
    """Settings of the hollow runtime.

    Attributes:
        hostname_override: the node's name, which the addresses of its pods are derived from.
    """

    hostname_override: str = ""


class Hollow(Plugin):
    """Builds the hollow runtime."""

    @hookimpl
    def runtime_build(self) -> Runtime:
        """Build it, empty."""
        return HollowRuntime(self.context.clock, self.settings(HollowSettings).hostname_override)
