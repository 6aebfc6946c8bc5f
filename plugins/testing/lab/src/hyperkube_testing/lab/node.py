"""`Node`: a place with cgroups, containerd, a CNI configuration and the laboratory's images; no kubelet yet."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hyperkube_lib.image_archive import Image, write_docker_archive
from hyperkube_testing.lab import images
from hyperkube_testing.lab.network import pod_ranges
from hyperkube_testing.lab.place import Place
from hyperkube_testing.lab.program import Program
from hyperkube_testing.lab.requirements import CNI_PROGRAMS

from hyperkube.testing.waiting import eventually

CRI_SOCKET = "/run/containerd/containerd.sock"
CRI_ENDPOINT = f"unix://{CRI_SOCKET}"
"""Where containerd listens, as a node's own programs see it."""
CNI_CONFIG = "/etc/cni/net.d/10-lab.conflist"

_CONTAINERD_CONFIG = f"""\
version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs", "io.containerd.internal.v1.opt"]

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{images.PAUSE}"
# A machine without CAP_SYS_RESOURCE may not lower OOM scores; runc gives up there.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{CNI_PROGRAMS}"
conf_dir = "/etc/cni/net.d"
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "/etc/containerd/certs.d"
"""


class Node(Place):
    """A machine that runs containers.

    Args:
        name: the host name.
        number: of the laboratory's nodes; decides about addresses.
        cgroup: see `Place`.
        disk: see `Place`; images and containers are on it.

    Attributes:
        pod_ranges: the IPv4 and the IPv6 range of its pods.
        containerd: the running containerd.
        kubelet_flags: what a kubelet of this node is told of its runtime.
    """

    def __init__(self, name: str, number: int, *, cgroup: str, disk: str) -> None:
        super().__init__(name, cgroup=cgroup, disk=disk)
        self.number = number
        self.pod_ranges = pod_ranges(number)
        self.kubelet_flags = ("--container-runtime=remote", f"--container-runtime-endpoint={CRI_ENDPOINT}")
        self.write("/etc/containerd/config.toml", _CONTAINERD_CONFIG)
        self.write(CNI_CONFIG, json.dumps(cni_config(self.pod_ranges)))
        try:
            self.containerd: Program = self.start_containerd()
            self.load([images.pause(), images.busybox()])
        except BaseException:
            self.close()
            raise

    def start_containerd(self) -> Program:
        """Start containerd, also once more after it was ended; return it when it answers."""
        self.containerd = self.start("containerd", "--config", "/etc/containerd/config.toml")
        eventually(self._answers, 30, why=f"containerd of {self.name} answers")
        return self.containerd

    def _answers(self) -> bool:
        assert self.containerd.running(), self.containerd.output()
        return self.path(CRI_SOCKET).exists() and self.ctr("version", check=False).returncode == 0

    def ctr(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run containerd's own client in the namespace of the CRI."""
        return self.run("ctr", "--namespace", "k8s.io", *words, check=check)

    def load(self, wanted: Sequence[Image]) -> None:
        """Put images into containerd."""
        with tempfile.TemporaryDirectory(prefix="hklab-images-") as folder:
            archive = Path(folder) / "images.tar"
            write_docker_archive(archive, wanted)
            self.load_archive(archive)

    def load_archive(self, archive: Path) -> None:
        """Put the images of a docker-archive or OCI archive into containerd."""
        # The file is on the machine's disk, which the node sees as well.
        self.ctr("images", "import", str(archive))

    def trust_plain_http(self, registry: str) -> None:
        """Let containerd talk to a registry, ``HOST:PORT``, without TLS."""
        url = f"http://{registry}"
        hosts = f'server = "{url}"\n\n[host."{url}"]\ncapabilities = ["pull", "resolve", "push"]\n'
        self.write(f"/etc/containerd/certs.d/{registry}/hosts.toml", hosts)

    def push(self, image: str, reference: str, user: str, password: str) -> None:
        """Copy an image that is here to a registry that has no TLS; containerd then talks to it so, too."""
        self.trust_plain_http(reference.partition("/")[0])
        self.ctr("images", "tag", "--force", image, reference)
        self.ctr("images", "push", "--plain-http", "--user", f"{user}:{password}", reference)
        self.ctr("images", "rm", reference)


def cni_config(ranges: Sequence[str]) -> dict[str, object]:
    """Return the configuration of a node's pod network: a bridge, addresses of the node's ranges, host ports."""
    return {
        "cniVersion": "1.0.0",
        "name": "lab",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "cni0",
                "isGateway": True,
                "hairpinMode": True,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{"subnet": subnet}] for subnet in ranges],
                    "routes": [{"dst": "0.0.0.0/0"}, {"dst": "::/0"}],
                },
            },
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }
