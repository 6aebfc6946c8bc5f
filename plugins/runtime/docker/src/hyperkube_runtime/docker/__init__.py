"""The docker runtime: containers of Docker, as Kubernetes' dockershim ran them up to 1.23.

A pod is a sandbox container, which holds the namespaces, and a container each beside it, all with the dockershim's
names and labels: what a kubelet of 1.23 left is found again. The kubelet calls this runtime in its own process; any
other client of CRI v1 drives Docker through the socket that is served beside it, at ``--container-runtime-endpoint``
or else where the dockershim's was.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.runtime import Runtime
from hyperkube.machinery import quantity
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from hyperkube_lib.cri_server import CriServer
    from hyperkube_runtime.docker.runtime import DockerRuntime

__all__ = ["Docker", "DockerSettings"]

CRI_ENDPOINT = "unix:///var/run/dockershim.sock"


class DockerSettings(Record):
    """Settings of the docker runtime.

    Attributes:
        docker_endpoint: the daemon's socket.
        pod_infra_container_image: the image of sandboxes.
        image_pull_progress_deadline: how many seconds a pull may go without progress.
        experimental_dockershim_root_directory: the folder for what is remembered of sandboxes.
        docker_exec_handler: only ``native``.
        container_runtime_endpoint: where CRI is served; empty for the dockershim's place.
        container_log_max_size: the size of a container's log at which Docker begins another file, as a quantity.
        container_log_max_files: how many files of a log Docker keeps.
        runtime_request_timeout: seconds that a call may take, beside those that it is given to wait.
    """

    docker_endpoint: str = "unix:///var/run/docker.sock"
    pod_infra_container_image: str = "registry.k8s.io/pause:3.10.1"
    image_pull_progress_deadline: float = 60.0
    experimental_dockershim_root_directory: str = "/var/lib/dockershim"
    docker_exec_handler: str = "native"
    container_runtime_endpoint: str = ""
    container_log_max_size: str = "10Mi"
    container_log_max_files: int = 5
    runtime_request_timeout: float = 120.0


class Docker(Plugin):
    """Connects to ``--docker-endpoint`` and serves CRI."""

    _runtime: DockerRuntime | None = None
    _server: CriServer | None = None

    @hookimpl
    def runtime_build(self) -> Runtime:
        """Build it, with the containers of earlier runs.

        Raises:
            UsageError: Docker does not answer, a folder cannot be used, or a flag's value cannot be.
        """
        from hyperkube_runtime.docker.docker_engine import DockerEngine
        from hyperkube_runtime.docker.engine import EngineFailed
        from hyperkube_runtime.docker.runtime import DockerRuntime

        settings = self.settings(DockerSettings)
        self._check_exec_handler(settings.docker_exec_handler)
        root = Path(settings.experimental_dockershim_root_directory)
        engine = DockerEngine(
            settings.docker_endpoint, settings.runtime_request_timeout, settings.image_pull_progress_deadline
        )
        try:
            self._runtime = DockerRuntime(
                engine,
                root,
                self.context.clock,
                sandbox_image=settings.pod_infra_container_image,
                log_options=_log_options(settings),
            )
        except EngineFailed as error:
            engine.close()
            raise UsageError(f"unable to get docker version: {error}") from error
        except OSError as error:
            engine.close()
            raise UsageError(f"the docker runtime cannot use the folder {str(root)!r}: {error.strerror}") from error
        return self._runtime

    def _check_exec_handler(self, name: str) -> None:
        if name == "nsenter":
            raise UsageError("--docker-exec-handler=nsenter: commands would run outside of the container's limits")
        if name != "native":
            self.context.logger.warning('unknown Docker exec handler "%s"; defaulting to native', name)

    def start(self) -> None:
        """Serve CRI, and let the network release what is left of sandboxes that are gone.

        Raises:
            UsageError: the socket cannot be made.
        """
        from hyperkube_lib.cri_server import CriServer

        if self._runtime is None:
            return
        endpoint = self.settings(DockerSettings).container_runtime_endpoint or CRI_ENDPOINT
        server = CriServer(self._runtime, endpoint, self.context.clock)
        server.start()
        self._server = server
        self._runtime.collect_network_garbage()

    def close(self) -> None:
        """Serve no more; containers go on running."""
        if self._server is not None:
            self._server.close()
        if self._runtime is not None:
            self._runtime.close()


def _log_options(settings: DockerSettings) -> dict[str, str]:
    """Return Docker's options for logs; the kubelet has checked the flags already."""
    size = quantity.parse(settings.container_log_max_size).value()
    return {"max-size": str(size), "max-file": str(settings.container_log_max_files)}
