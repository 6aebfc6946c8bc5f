"""A runtime on a daemon in memory, and pods for it."""

from pathlib import Path
from typing import NamedTuple

from hyperkube_runtime.docker.in_memory_engine import InMemoryEngine
from hyperkube_runtime.docker.runtime import DockerRuntime

from hyperkube.machinery.clock import SystemClock

PAUSE, IMAGE = "registry.k8s.io/pause:3.10.1", "busybox:1"
METADATA = {"name": "web", "namespace": "shop", "uid": "u"}
LABELS = {"io.kubernetes.pod.uid": "u"}


class Rig(NamedTuple):
    """A runtime, its daemon, and the folder of logs."""

    runtime: DockerRuntime
    engine: InMemoryEngine
    folder: Path

    def sandbox(self, **fields):
        """Run a sandbox."""
        return self.runtime.run_sandbox(self.config(**fields), "")

    def config(self, **fields):
        """Return a ``PodSandboxConfig``."""
        return {"metadata": METADATA, "log_directory": str(self.folder / "logs"), "labels": LABELS, **fields}

    def container(self, sandbox, **fields):
        """Create a container."""
        config = {"metadata": {"name": "app"}, "image": {"image": IMAGE}, "log_path": "app/0.log", **fields}
        return self.runtime.create_container(sandbox, config, self.config())

    def again(self):
        """Return a runtime as after a restart of the kubelet."""
        return build(self.folder, self.engine)


def build(folder, engine=None):
    """Return a rig."""
    engine = engine or InMemoryEngine(PAUSE, IMAGE)
    runtime = DockerRuntime(engine, folder / "state", SystemClock(), sandbox_image=PAUSE, log_options={})
    return Rig(runtime, engine, folder)
