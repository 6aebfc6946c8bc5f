"""`Registry`: Debian's docker-registry, without TLS, for one user."""

from __future__ import annotations

import subprocess
from base64 import b64encode

import orjson
from hyperkube_testing.lab.docker_node import DockerNode
from hyperkube_testing.lab.node import Node
from hyperkube_testing.lab.place import Place

from hyperkube.testing.waiting import eventually

USER, PASSWORD = "puller", "let-me-pull"
_PORT = 5000
_CONFIG = f"""\
version: 0.1
log: {{level: warn}}
storage: {{filesystem: {{rootdirectory: /var/lib/registry}}}}
http: {{addr: ":{_PORT}"}}
auth: {{htpasswd: {{realm: lab, path: /etc/registry/htpasswd}}}}
"""


class Registry:
    """A registry that answers only who knows the password.

    Attributes:
        address: ``HOST:PORT``, the first part of the references of its images.
    """

    def __init__(self, place: Place) -> None:
        self.address = f"{place.ip}:{_PORT}"
        place.write("/etc/registry/htpasswd", f"{USER}:{_bcrypt(PASSWORD)}\n")
        place.write("/etc/registry/config.yml", _CONFIG)
        self._program = place.start("docker-registry", "serve", "/etc/registry/config.yml")
        self._place = place
        eventually(self._answers, 30, why="the registry answers")

    def _answers(self) -> bool:
        assert self._program.running(), self._program.output()
        with self._place.inside():
            from socket import socket

            with socket() as probe:
                return probe.connect_ex(("127.0.0.1", _PORT)) == 0

    def push(self, node: Node | DockerNode, image: str, name: str) -> str:
        """Copy an image of a node here under another name, such as ``busybox:private``; return its reference."""
        reference = f"{self.address}/{name}"
        node.push(image, reference, USER, PASSWORD)
        return reference

    def pull_secret(self) -> str:
        """Return the ``.dockerconfigjson`` of a Secret that may pull."""
        token = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        return orjson.dumps({"auths": {self.address: {"auth": token}}}).decode()


def _bcrypt(password: str) -> str:
    """Hash a password as htpasswd files of registries want it; the C library does it, perl is in every Debian."""
    line = ["perl", "-e", "print crypt($ARGV[0], $ARGV[1])", password, "$2b$05$abcdefghijklmnopqrstuu"]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout
