"""The runtime whose containers are Docker's, as Kubernetes' dockershim had it up to 1.23.

Source: kubernetes ``pkg/kubelet/dockershim/docker_service.go``, ``docker_container.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hyperkube_runtime.docker import commands
from hyperkube_runtime.docker.checkpoints import SandboxCheckpoints
from hyperkube_runtime.docker.container_changes import POD_UID_LABEL, ContainerChanges
from hyperkube_runtime.docker.create_requests import NodeFacts, container_request, resource_limits
from hyperkube_runtime.docker.engine import Engine, EngineFailed, Json
from hyperkube_runtime.docker.figures import DockerFigures
from hyperkube_runtime.docker.images import DockerImages
from hyperkube_runtime.docker.names import (
    CONTAINER_TYPE,
    LOG_PATH_LABEL,
    SANDBOX_TYPE,
    TYPE_LABEL,
    container_name,
    name_part,
)
from hyperkube_runtime.docker.oom_scores import least_oom_score_adj
from hyperkube_runtime.docker.pod_networks import network_problem
from hyperkube_runtime.docker.sandbox_ports import connect_in_namespace
from hyperkube_runtime.docker.sandboxes import DockerSandboxes, create_container, listed
from hyperkube_runtime.docker.statuses import container_status, listed_container, may_be_oom_killed
from hyperkube_runtime.docker.streams import DockerProcess

from hyperkube.hookspecs.network import CollectsGarbage, ConnectsNamespaces, Network
from hyperkube.hookspecs.runtime import (
    Config,
    ContainerNotFound,
    ContainerStatus,
    ContainerUsage,
    ExecResult,
    Image,
    ImageNotPresent,
    RegistryCredentials,
    RuntimeFailed,
    RuntimeStatus,
    SandboxStatus,
)
from hyperkube.machinery.clock import Clock

RUNTIME_NAME = "docker"
_OOM_LOOK_SECONDS = 0.05
_log = logging.getLogger("hyperkube.docker")


class DockerRuntime:
    """Pods in Docker; see `hyperkube.hookspecs.runtime`."""

    name = RUNTIME_NAME

    def __init__(
        self, engine: Engine, root: Path, clock: Clock, *, sandbox_image: str, log_options: Mapping[str, str]
    ) -> None:
        """Use a daemon that answers.

        Args:
            engine: the daemon.
            root: the folder for what is remembered of sandboxes.
            clock: for time limits.
            sandbox_image: the image of sandboxes.
            log_options: Docker's options of the driver json-file, for all containers.

        Raises:
            EngineFailed: the daemon does not answer.
            OSError: the folder cannot be used.
        """
        self._engine = engine
        self._clock = clock
        self._stopped: set[str] = set()
        """Containers that the kubelet has ended: what killed them is known."""
        self._version = str(engine.version().get("Version", ""))
        info = engine.info()
        self._docker_root = str(info.get("DockerRootDir", ""))
        self._facts = NodeFacts(
            sandbox_image=sandbox_image,
            systemd=info.get("CgroupDriver") == "systemd",
            least_oom_score_adj=least_oom_score_adj(),
            log_options=log_options,
        )
        checkpoints = SandboxCheckpoints(root)
        checkpoints.load()
        self._images = DockerImages(engine, sandbox_image)
        self._sandboxes = DockerSandboxes(engine, self._images, checkpoints, lambda: self._facts)
        self._changes = ContainerChanges(engine, self._uids, clock)
        self._figures = DockerFigures(engine, self._images, clock, lambda: self._docker_root)

    def use_network(self, name: str, network: Network) -> None:
        """Let a network plugin connect the sandboxes to come; see `CallsNetwork`.

        One that connects no namespaces, such as ``noop``, leaves them on Docker's own bridge.
        """
        if not (isinstance(network, ConnectsNamespaces) and network.needs_namespaces):
            _log.info("network plugin %s connects no network namespaces: pods are on Docker's own bridge", name)
            return
        self._sandboxes.network = network
        self._facts = self._facts.replace(network_mode="none")

    def collect_network_garbage(self) -> None:
        """Let the network release what sandboxes left that are gone."""
        network = self._sandboxes.network
        if network is not None and isinstance(network, CollectsGarbage):
            network.collect_garbage(lambda: frozenset(sandbox.id for sandbox in self._sandboxes.all()))

    def version(self) -> str:
        """Return the daemon's version when it last told it."""
        return self._version

    def status(self) -> RuntimeStatus:
        """Return whether daemon and network are ready; a daemon that is back may be another version."""
        problem = ""
        try:
            self._version = str(self._engine.version().get("Version", ""))
        except EngineFailed as error:
            text = f"docker: failed to get docker version: {error}"
            problem = f"RuntimeReady=false reason:DockerDaemonNotReady message:{text}"
        return RuntimeStatus(runtime_problem=problem, network_problem=network_problem(self._sandboxes.network))

    def runtime_config(self) -> Config:
        """Return Docker's cgroup driver."""
        return {"linux": {"cgroup_driver": "SYSTEMD" if self._facts.systemd else "CGROUPFS"}}

    def update_runtime_config(self, pod_cidr: str) -> None:
        """Tell the network the pods' addresses."""
        if self._sandboxes.network is not None:
            self._sandboxes.network.set_pod_cidr(pod_cidr)

    # sandboxes

    def run_sandbox(self, config: Config, runtime_handler: str) -> str:
        """Create, start and connect a sandbox.

        Raises:
            RuntimeFailed: it could not be, or the handler is none of Docker's.
        """
        if runtime_handler not in {"", RUNTIME_NAME}:
            raise RuntimeFailed(f'RuntimeHandler "{runtime_handler}" not supported')
        return self._sandboxes.run(config)

    def stop_sandbox(self, sandbox_id: str) -> None:
        """Stop it with its containers, and take its network down."""
        self._sandboxes.stop(sandbox_id)

    def remove_sandbox(self, sandbox_id: str) -> None:
        """Remove it with its containers."""
        for member in self._sandboxes.members(sandbox_id):
            self.remove_container(member["Id"])
        self._sandboxes.remove(sandbox_id)

    def sandboxes(self) -> Sequence[SandboxStatus]:
        """Return all sandboxes, without their addresses."""
        return self._sandboxes.all()

    # containers

    def create_container(self, sandbox_id: str, config: Config, sandbox_config: Config) -> str:
        """Create a container.

        Raises:
            ImageNotPresent: its image is not there.
            RuntimeFailed: Docker refused, or has no such thing.
        """
        request = container_request(config, sandbox_config, sandbox_id, self._facts)
        try:
            return create_container(self._engine, container_name(config, sandbox_config), request)
        except EngineFailed as error:
            if error.is_not_found and "No such image" in str(error):
                raise ImageNotPresent(str(error), "ErrImageNeverPull") from error
            raise RuntimeFailed(str(error), "CreateContainerError") from error

    def start_container(self, container_id: str) -> None:
        """Start it, and link its log to where the kubelet looks for it.

        Raises:
            RuntimeFailed: Docker refused; or there can be no link, for which it is stopped.
        """
        try:
            self._engine.start(container_id)
            found = self._engine.inspect(container_id)
        except EngineFailed as error:
            text = f'failed to start container "{container_id}": {error}'
            raise _failure(error, text, "RunContainerError") from error
        try:
            _link_log(found)
        except OSError as error:
            self.stop_container(container_id, 0)
            text = f'failed to create symbolic link to the log of container "{container_id}": {error}'
            raise RuntimeFailed(text, "RunContainerError") from error

    def stop_container(self, container_id: str, grace_seconds: float) -> None:
        """Stop it; the call takes as long as the container does."""
        self._stopped.add(container_id)
        try:
            self._engine.stop(container_id, int(grace_seconds))
        except EngineFailed as error:
            if not error.is_not_found:
                raise RuntimeFailed(str(error)) from error

    def remove_container(self, container_id: str) -> None:
        """Remove it with its log and the link to that."""
        self._stopped.discard(container_id)
        found = self._inspect(container_id)
        if found is None:
            return
        link = (found["Config"].get("Labels") or {}).get(LOG_PATH_LABEL)
        if link:
            Path(link).unlink(missing_ok=True)
        try:
            self._engine.remove(container_id)
        except EngineFailed as error:
            if not error.is_not_found:
                text = f'failed to remove container "{container_id}": {error}'
                raise RuntimeFailed(text) from error

    def containers(self) -> Sequence[ContainerStatus]:
        """Return all containers of pods, without what only their description tells."""
        rows = listed(self._engine, {TYPE_LABEL: CONTAINER_TYPE})
        return [status for status in map(listed_container, rows) if status is not None]

    def subscribe(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with a pod's uid whenever one of its containers changed; see `NotifiesChanges`."""
        self._changes.subscribe(notify)

    def _uids(self) -> set[str]:
        """Return the uids of all pods.

        Raises:
            EngineFailed: Docker does not answer.
        """
        rows = self._engine.containers({})
        labels = [row.get("Labels") or {} for row in rows]
        return {one[POD_UID_LABEL] for one in labels if TYPE_LABEL in one and one.get(POD_UID_LABEL)}

    def pod(self, uid: str) -> tuple[Sequence[SandboxStatus], Sequence[ContainerStatus]]:
        """Return the sandboxes and containers of one pod; what goes away meanwhile is left out."""
        rows = listed(self._engine, {}, name=name_part(uid))
        kinds = [(row["Id"], (row.get("Labels") or {}).get(TYPE_LABEL)) for row in rows]
        containers = [self._status(found) for found, kind in kinds if kind == CONTAINER_TYPE]
        there = {found for found, kind in kinds if kind == SANDBOX_TYPE}
        sandboxes = [self._sandboxes.status(found) for found in sorted(there)]
        gone = [found for found in self._sandboxes.remembered(uid) if found.id not in there]
        return (
            [*(found for found in sandboxes if found is not None), *gone],
            [found for found in containers if found is not None],
        )

    def container(self, container_id: str) -> ContainerStatus:
        """Return one container.

        Raises:
            ContainerNotFound: there is none.
        """
        status = self._status(container_id)
        if status is None:
            raise ContainerNotFound(f"container {container_id!r} not found")
        return status

    def _inspect(self, container_id: str) -> Json | None:
        try:
            return self._engine.inspect(container_id)
        except EngineFailed as error:
            if error.is_not_found:
                return None
            raise RuntimeFailed(str(error)) from error

    def _status(self, container_id: str) -> ContainerStatus | None:
        found = self._ended(container_id)
        if found is None:
            return None
        try:
            image = self._engine.image(found.get("Image", ""))
        except EngineFailed as error:
            if not error.is_not_found:
                raise RuntimeFailed(str(error)) from error
            image = {}
        return container_status(found, image)

    def _ended(self, container_id: str) -> Json | None:
        """Return the description of a container; of one that was killed, once Docker knows whether for its memory."""
        found = self._inspect(container_id)
        while (
            found is not None
            and container_id not in self._stopped
            and may_be_oom_killed(found, self._clock.now().timestamp())
        ):
            self._clock.sleep(_OOM_LOOK_SECONDS)
            found = self._inspect(container_id)
        return found

    def reopen_log(self, container_id: str) -> None:
        """Refuse: Docker rotates the logs itself, by the options they were created with."""
        raise RuntimeFailed("docker does not support reopening container log files")

    def update_container_resources(self, container_id: str, linux: Config) -> None:
        """Change limits in place."""
        try:
            self._engine.update(container_id, resource_limits(linux))
        except EngineFailed as error:
            raise _failure(error, f'failed to update container "{container_id}": {error}') from error

    def update_sandbox_resources(self, sandbox_id: str, overhead: Config, resources: Config) -> None:
        """Do nothing: the pod's own cgroup, which the kubelet changes, has the limits of a sandbox."""

    # commands and streams

    def exec(self, container_id: str, command: Sequence[str], *, stdin: bool, tty: bool) -> DockerProcess:
        """Start a command."""
        return commands.start(self._engine, self._clock, container_id, command, stdin=stdin, tty=tty)

    def exec_sync(self, container_id: str, command: Sequence[str], timeout: float) -> ExecResult:
        """Run a command to its end.

        Raises:
            TimeoutError: it took longer than `timeout` seconds.
        """
        return commands.run(self._engine, self._clock, container_id, command, timeout)

    def attach(self, container_id: str, *, stdin: bool) -> DockerProcess:
        """Connect to the streams of a container's first process."""
        return commands.attach(self._engine, self._clock, container_id, stdin=stdin)

    def port_forward(self, sandbox_id: str, port: int) -> int:
        """Connect to a port of a sandbox.

        Raises:
            RuntimeFailed: nothing listens there.
        """
        try:
            return connect_in_namespace(self._sandboxes.namespace(sandbox_id), port)
        except OSError as error:
            raise RuntimeFailed(f"failed to connect to localhost:{port} inside the pod: {error}") from error

    # figures

    def container_stats(self) -> Sequence[Config]:
        """Return CRI's figures of the running containers."""
        return self._figures.of_containers(self.containers())

    def sandbox_stats(self) -> Sequence[Config]:
        """Return CRI's figures of the ready sandboxes."""
        return self._figures.of_sandboxes(self.sandboxes(), self.containers())

    def usage(self) -> Sequence[ContainerUsage]:
        """Return CPU and memory of the running containers."""
        return self._figures.usage(self.containers())

    def image_fs_info(self) -> Config:
        """Return the file systems of images and layers."""
        return self._figures.image_fs_info()

    # images

    def images(self) -> Sequence[Image]:
        """Return the images on the node."""
        return self._images.images()

    def image(self, reference: str) -> Image | None:
        """Return one image, or None."""
        return self._images.image(reference)

    def pull_image(self, image: Config, credentials: RegistryCredentials | None, sandbox_config: Config) -> Image:
        """Pull an image."""
        return self._images.pull_image(image, credentials, sandbox_config)

    def remove_image(self, image_id: str) -> None:
        """Remove an image."""
        self._images.remove_image(image_id)

    def close(self) -> None:
        """Close the connections; containers go on running."""
        self._changes.close()
        self._engine.close()


def _failure(error: EngineFailed, text: str, reason: str = "RuntimeError") -> RuntimeFailed:
    return ContainerNotFound(text, reason) if error.is_not_found else RuntimeFailed(text, reason)


def _link_log(found: Json) -> None:
    """Let the path that the kubelet wants lead to Docker's file, which may not be there yet."""
    path, real = (found["Config"].get("Labels") or {}).get(LOG_PATH_LABEL), found.get("LogPath")
    if not path or not real:
        return
    link = Path(path)
    link.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    if link.is_symlink() or link.exists():
        if link.is_symlink() and str(link.readlink()) == real:
            return
        link.unlink()
    link.symlink_to(real)
