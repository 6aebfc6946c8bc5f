"""`DockerNode`: a place with cgroups, Docker, a CNI configuration and the laboratory's images; no kubelet yet."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hyperkube_lib.image_archive import Image, write_docker_archive
from hyperkube_testing.lab import images
from hyperkube_testing.lab.network import pod_ranges
from hyperkube_testing.lab.node import CNI_CONFIG, cni_config
from hyperkube_testing.lab.place import Place
from hyperkube_testing.lab.program import Program
from hyperkube_testing.lab.requirements import CNI_PROGRAMS

from hyperkube.testing.waiting import eventually

DOCKER_SOCKET = "/run/docker.sock"
CRI_ENDPOINT = "unix:///var/run/dockershim.sock"
"""Where a kubelet with Docker serves CRI, as a node's own programs see it."""

_DAEMON = {
    "hosts": [f"unix://{DOCKER_SOCKET}"],
    "data-root": "/var/lib/docker",
    "exec-root": "/run/docker",
    "pidfile": "/run/docker.pid",
    # Containers outlive a daemon that is killed, as they do with containerd.
    "live-restore": True,
    # The laboratory's registry has no TLS.
    "insecure-registries": ["192.168.0.0/16"],
}


class DockerNode(Place):
    """A machine that runs containers with Docker; everything of the daemon is in the place's own namespaces.

    Args:
        name: the host name.
        number: of the laboratory's nodes; decides about addresses.
        cgroup: see `Place`.
        disk: see `Place`; images and containers are on it.

    Attributes:
        pod_ranges: the IPv4 and the IPv6 range of its pods.
        dockerd: the running daemon.
        kubelet_flags: what a kubelet of this node is told of its runtime.
    """

    def __init__(self, name: str, number: int, *, cgroup: str, disk: str) -> None:
        super().__init__(name, cgroup=cgroup, disk=disk)
        self.number = number
        self.pod_ranges = pod_ranges(number)
        self.kubelet_flags = (
            "--container-runtime=docker",
            "--network-plugin=cni",
            f"--cni-bin-dir={CNI_PROGRAMS}",
            f"--pod-infra-container-image={images.PAUSE}",
        )
        self.write("/etc/docker/daemon.json", json.dumps(_DAEMON))
        self.write(CNI_CONFIG, json.dumps(cni_config(self.pod_ranges)))
        try:
            self.dockerd: Program = self.start_dockerd()
            self.load([images.pause(), images.busybox()])
        except BaseException:
            self.close()
            raise

    def start_dockerd(self) -> Program:
        """Start the daemon, also once more after it was ended; return it when it answers."""
        self.dockerd = self.start("dockerd", "--config-file", "/etc/docker/daemon.json")
        eventually(self._answers, 60, why=f"dockerd of {self.name} answers")
        return self.dockerd

    def _answers(self) -> bool:
        assert self.dockerd.running(), self.dockerd.output()
        return self.path(DOCKER_SOCKET).exists() and self.docker("version", check=False).returncode == 0

    def docker(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Docker's own client."""
        return self.run("docker", *words, check=check)

    def push(self, image: str, reference: str, user: str, password: str) -> None:
        """Copy an image that is here to a registry of the laboratory; Docker forgets the login again."""
        registry = reference.partition("/")[0]
        self.docker("login", "--username", user, "--password", password, registry)
        self.docker("tag", image, reference)
        self.docker("push", reference)
        self.docker("rmi", reference)
        self.docker("logout", registry)

    def load(self, wanted: Sequence[Image]) -> None:
        """Put images into Docker."""
        with tempfile.TemporaryDirectory(prefix="hklab-images-") as folder:
            archive = Path(folder) / "images.tar"
            write_docker_archive(archive, wanted)
            self.load_archive(archive)

    def load_archive(self, archive: Path) -> None:
        """Put the images of a docker-archive into Docker."""
        # The file is on the machine's disk, which the node sees as well.
        self.docker("load", "--input", str(archive))
