"""The runtime whose containers are process groups of this machine."""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import secrets
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from hyperkube_runtime.process import usage, user
from hyperkube_runtime.process.environment import environment
from hyperkube_runtime.process.network_namespaces import NetworkNamespaces
from hyperkube_runtime.process.records import (
    ContainerRecord,
    ProcessSettings,
    SandboxRecord,
    create_container_folder,
    image_name,
    load_sandboxes,
)
from hyperkube_runtime.process.refusals import refuse_container, refuse_sandbox
from hyperkube_runtime.process.shim_client import (
    ForkServer,
    ShimEvents,
    ShimProcess,
    connect,
    piped_process,
    receive_message,
    send,
)

from hyperkube.hookspecs.runtime import (
    Config,
    ContainerNotFound,
    ContainerState,
    ContainerStatus,
    ContainerUsage,
    Image,
    ImageNotPresent,
    RegistryCredentials,
    RuntimeFailed,
    RuntimeStatus,
    SandboxStatus,
)
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object

HOST_IMAGE = Image(id="host", tags=("host:latest",), digests=(), size=0, uid=os.getuid())
_HOST_REFERENCES = frozenset({"host", "host:latest", "docker.io/library/host", "docker.io/library/host:latest"})


def refuse_image(reference: str) -> RuntimeFailed:
    """Return the error for any image but ``host``, which says what to do instead."""
    return RuntimeFailed(
        f"image {reference!r} cannot be run by the process runtime: set image: host and give a command",
        "ErrImagePull",
    )


class ProcessRuntime:
    """Sandboxes and containers as records in a folder and processes of this machine; see `Runtime`."""

    name = "process"
    default_network = "loopback"

    def __init__(self, root: Path, *, clock: Clock, logger: logging.Logger, private_views: bool = True) -> None:
        """Keep everything under `root`, and continue with what an earlier run left there.

        Args:
            root: created when missing; others, who may be the users of pods, pass through it and see nothing.
            clock: gives the creation times.
            logger: of failures without a caller.
            private_views: mount volumes at their mount paths where the machine allows it.
        """
        self._sandbox_folder = root / "sandboxes"
        self._container_folder = root / "containers"
        for folder in (root, self._sandbox_folder, self._container_folder):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o711)
        self._root = root
        self._clock = clock
        self._logger = logger
        self._private_views = private_views
        self._network_namespaces = NetworkNamespaces(root / "netns")
        self._makes_network_namespaces = False
        self._lock = threading.Lock()
        self._listeners: list[Callable[[str], None]] = []
        self._fork_server = ForkServer(root / "shims.log")
        self._events = ShimEvents(root, self._changed, logger)
        self._sandboxes = {record.id: record for record in load_sandboxes(self._sandbox_folder)}
        self._containers: dict[str, ContainerRecord] = {}
        for path in sorted(self._container_folder.iterdir()):
            record = ContainerRecord.load(path)
            if record is None:
                continue
            self._containers[record.id] = record
            if record.state is ContainerState.RUNNING:
                self._events.follow(record.shim_pid, record.id)

    def subscribe(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with a pod's uid whenever one of its containers changed; see `NotifiesChanges`."""
        self._listeners.append(notify)

    def _changed(self, container_id: str) -> None:
        record = self._containers.get(container_id)
        if record is None:
            return
        record.refresh()
        sandbox = self._sandboxes.get(record.sandbox_id)
        if sandbox is not None:
            for notify in self._listeners:
                notify(sandbox.uid)

    def pod(self, uid: str) -> tuple[Sequence[SandboxStatus], Sequence[ContainerStatus]]:
        """Return the sandboxes and containers of one pod."""
        with self._lock:
            sandboxes = [record.status() for record in self._sandboxes.values() if record.uid == uid]
            ids = {sandbox.id for sandbox in sandboxes}
            return sandboxes, [record.status() for record in self._containers.values() if record.sandbox_id in ids]

    def version(self) -> str:
        """Return the kernel's version: that is what runs the containers."""
        return platform.release()

    def status(self) -> RuntimeStatus:
        """Return that it is ready: there is no daemon that could be down."""
        return RuntimeStatus()

    # sandboxes

    def run_sandbox(self, config: Config, runtime_handler: str) -> str:
        """Record a sandbox; it has no process of its own, but a network namespace if the network needs that.

        Raises:
            RuntimeFailed: the kernel refuses the namespace, or the pod asks for an isolation that there is not.
        """
        refuse_sandbox(config, runtime_handler)
        record = SandboxRecord.of(secrets.token_hex(32), config, self._clock.now().timestamp())
        if self._makes_network_namespaces and not record.host_network:
            try:
                self._network_namespaces.make(record.id)
            except OSError as error:
                raise RuntimeFailed(f"failed to create network namespace for sandbox: {error}") from error
        record.save(self._sandbox_folder)
        with self._lock:
            self._sandboxes[record.id] = record
        return record.id

    def make_network_namespaces(self) -> None:
        """Give each sandbox to come a network namespace; see `MakesNetworkNamespaces`."""
        self._network_namespaces.check()
        self._makes_network_namespaces = True

    def network_namespace(self, sandbox_id: str) -> str:
        """Return the path of a sandbox's network namespace, or nothing; see `HasNetworkNamespaces`."""
        return self._network_namespaces.path(sandbox_id)

    def assign_addresses(self, sandbox_id: str, ips: Sequence[str]) -> None:
        """Remember the addresses that the node's network gave a sandbox; see `TakesAddresses`."""
        record = self._sandbox(sandbox_id)
        record.ips = list(ips)
        record.save(self._sandbox_folder)

    def _sandbox(self, sandbox_id: str) -> SandboxRecord:
        record = self._sandboxes.get(sandbox_id)
        if record is None:
            raise ContainerNotFound(f"sandbox {sandbox_id!r} not found")
        return record

    def _members(self, sandbox_id: str) -> list[ContainerRecord]:
        with self._lock:
            return [record for record in self._containers.values() if record.sandbox_id == sandbox_id]

    def stop_sandbox(self, sandbox_id: str) -> None:
        """Kill its containers and record that it is not ready."""
        record = self._sandboxes.get(sandbox_id)
        if record is None:
            return
        for member in self._members(sandbox_id):
            self.stop_container(member.id, 0)
        self._network_namespaces.remove(sandbox_id)
        if record.ready:
            record.ready = False
            record.save(self._sandbox_folder)

    def remove_sandbox(self, sandbox_id: str) -> None:
        """Forget it and its containers."""
        self.stop_sandbox(sandbox_id)
        for member in self._members(sandbox_id):
            self.remove_container(member.id)
        with self._lock:
            self._sandboxes.pop(sandbox_id, None)
        (self._sandbox_folder / f"{sandbox_id}.json").unlink(missing_ok=True)

    def sandboxes(self) -> Sequence[SandboxStatus]:
        """Return all sandboxes."""
        with self._lock:
            return [record.status() for record in self._sandboxes.values()]

    # containers

    def create_container(self, sandbox_id: str, config: Config, sandbox_config: Config) -> str:
        """Create a container's folder.

        Raises:
            ImageNotPresent: the image is not ``host``.
            RuntimeFailed: it has no command, or asks for a user or a confinement that this process cannot give it.
        """
        from hyperkube_runtime.process.confinement import confinement

        sandbox = self._sandbox(sandbox_id)
        image = image_name(config)
        if self.image(image) is None:
            raise ImageNotPresent(str(refuse_image(image)), "ErrImageNeverPull")
        refuse_container(config, has_private_view=self._private_views and self._fork_server.can_make_views())
        container_id = secrets.token_hex(32)
        folder = self._container_folder / container_id
        process_user = user.process_user(config.get("linux", {}).get("security_context", {}))
        uid = os.getuid() if process_user is None else process_user.user
        settings = ProcessSettings(
            sandbox=sandbox,
            env=environment(config, sandbox.hostname, str(folder / "rootfs"), uid),
            user=process_user,
            confinement=confinement(config),
            namespaces=self._private_views,
            events=str(self._root),
            created_at=self._clock.now().timestamp(),
            network_namespace=self._network_namespaces.path(sandbox_id),
        )
        record = create_container_folder(folder, config, settings)
        with self._lock:
            self._containers[container_id] = record
        return container_id

    def _container(self, container_id: str) -> ContainerRecord:
        record = self._containers.get(container_id)
        if record is None:
            raise ContainerNotFound(f"container {container_id!r} not found")
        return record

    def start_container(self, container_id: str) -> None:
        """Start it with a shim; does nothing for one that was started before.

        Raises:
            RuntimeFailed: there is no such program, or its view could not be made.
        """
        record = self._container(container_id)
        if record.reported is not None:
            return
        try:
            self._fork_server.start_container(record.folder)
        finally:
            record.refresh()
        self._events.follow(record.shim_pid, record.id)

    def stop_container(self, container_id: str, grace_seconds: float) -> None:
        """Send TERM to its process group and KILL after `grace_seconds`; the shim keeps the time."""
        record = self._containers.get(container_id)
        if record is None or record.state is not ContainerState.RUNNING:
            return
        try:
            with connect(record.folder) as line:
                send(line, {"do": "stop", "grace": grace_seconds})
                receive_message(line, None)
        except ContainerNotFound:
            self._logger.debug("container %s ended before it could be stopped", container_id)
        self._changed(container_id)

    def remove_container(self, container_id: str) -> None:
        """Delete an ended container's folder; a running one is killed first."""
        record = self._containers.get(container_id)
        if record is None:
            return
        self.stop_container(container_id, 0)
        with self._lock:
            self._containers.pop(container_id, None)
        record.remove()

    def containers(self) -> Sequence[ContainerStatus]:
        """Return all containers, from memory: shims report every change."""
        with self._lock:
            records = list(self._containers.values())
        return [record.status() for record in records]

    def container(self, container_id: str) -> ContainerStatus:
        """Return one container."""
        return self._container(container_id).status()

    def reopen_log(self, container_id: str) -> None:
        """Let the shim continue in a new log file."""
        with connect(self._container(container_id).folder) as line:
            send(line, {"do": "reopen"})
            receive_message(line, None)

    def usage(self) -> Sequence[ContainerUsage]:
        """Return what the running containers use."""
        with self._lock:
            running = {r.shim_pid: r.id for r in self._containers.values() if r.state is ContainerState.RUNNING}
        return usage.measure(running)

    # streams

    def exec(self, container_id: str, command: Sequence[str], *, stdin: bool, tty: bool) -> ShimProcess:
        """Start a command beside the container's process: same folder, environment, user, view and limits.

        Raises:
            ContainerNotFound: it does not run any more.
            RuntimeFailed: there is no such program.
        """
        line = connect(self._container(container_id).folder)
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            ours.callback(line.close)
            process, ends = (None, []) if tty else piped_process(line, theirs, ours, stdin=stdin)
            send(line, {"do": "exec", "argv": list(command), "tty": tty}, ends)
            received, given = receive_message(line, None) or ({}, [])
            if not received:  # the shim ended while it was being asked
                raise ContainerNotFound(f"container {container_id!r} is not running any more")
            if "pid" not in received:
                raise RuntimeFailed(f"failed to exec in container: {received['error']}", "ExecFailed")
            if process is None:
                terminal = given[0]
                entry = os.dup(terminal) if stdin else None
                process = ShimProcess(line, entry, os.dup(terminal), None, terminal)
            ours.pop_all()
        return process

    def attach(self, container_id: str, *, stdin: bool) -> ShimProcess:
        """Connect to the container's output from now on and, if it was created with one, to its input."""
        record = self._container(container_id)
        line = connect(record.folder)
        out, out_end = os.pipe2(os.O_CLOEXEC)
        err, err_end = (None, None) if record.spec.tty else os.pipe2(os.O_CLOEXEC)
        ends = [end for end in (out_end, err_end) if end is not None]
        try:
            send(line, {"do": "attach", "stdin": stdin}, ends)
            _, given = receive_message(line, None) or ({}, [])
        finally:
            for end in ends:
                os.close(end)
        entry = given[0] if given else None
        tty = os.dup(entry) if entry is not None and record.spec.tty else -1
        return ShimProcess(line, entry, out, err, tty)

    def port_forward(self, sandbox_id: str, port: int) -> int:
        """Connect to a port on which a process of the pod itself listens, at whatever address.

        Raises:
            RuntimeFailed: no process of the pod listens on it.
        """
        from hyperkube_runtime.process.listening import connect_to_pod

        shims = [record.shim_pid for record in self._members(sandbox_id) if record.state is ContainerState.RUNNING]
        try:
            return connect_to_pod(shims, port, self.network_namespace(sandbox_id), self._sandbox(sandbox_id).ips[:1])
        except OSError as error:
            raise RuntimeFailed(f"failed to connect to localhost:{port} inside the pod: {error}") from error

    def unhonoured(self, pod: Object) -> Sequence[str]:
        """Return the paths of a pod's fields that have no effect here, for the kubelet's event."""
        from hyperkube_runtime.process.shim import cgroups
        from hyperkube_runtime.process.unhonoured import NodeAbilities, unhonoured_fields

        views, groups = self._private_views and self._fork_server.can_make_views(), frozenset(cgroups.usable())
        ports = self._makes_network_namespaces
        abilities = NodeAbilities(is_root=os.geteuid() == 0, private_views=views, host_ports=ports, cgroups=groups)
        return unhonoured_fields(pod, abilities)

    # images

    def images(self) -> Sequence[Image]:
        """Return the one image: the machine itself."""
        return [HOST_IMAGE]

    def image(self, reference: str) -> Image | None:
        """Return the machine for ``host``, else None."""
        return HOST_IMAGE if reference in _HOST_REFERENCES else None

    def pull_image(self, image: Config, credentials: RegistryCredentials | None, sandbox_config: Config) -> Image:
        """Return the machine for ``host``.

        Raises:
            RuntimeFailed: any other image; the text says what to do.
        """
        if self.image(image["image"]) is None:
            raise refuse_image(image["image"])
        return HOST_IMAGE

    def remove_image(self, image_id: str) -> None:
        """Leave the machine where it is."""

    def close(self) -> None:
        """Stop listening; shims and containers go on."""
        self._events.close()
        self._fork_server.close()
