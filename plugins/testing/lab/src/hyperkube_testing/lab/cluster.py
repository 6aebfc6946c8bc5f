"""`Cluster`: hyperkube's servers as processes on the places of a laboratory, and the real kubectl beside them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
from hyperkube_testing.lab.docker_node import DockerNode
from hyperkube_testing.lab.lab import Lab
from hyperkube_testing.lab.node import Node
from hyperkube_testing.lab.place import Place
from hyperkube_testing.lab.program import Program

from hyperkube.client import kubeconfig
from hyperkube.testing.waiting import eventually

SERVICE_RANGE = "10.96.0.0/16"
POD_RANGE = "10.244.0.0/16"
_PORT = 6443
_FOLDER = "/etc/kubernetes"
_PKI = f"{_FOLDER}/pki"
_SIGNING_KEY = f"--service-account-private-key-file={_PKI}/apiserver.key"
_ADMIN = "admin-token"
_SCHEDULER = "scheduler-token"
_MANAGER = "manager-token"
_NODES = (*(f"node-{number}" for number in range(1, 10)), "docker-1")


class Cluster:
    """A control plane on the place ``master``; kubelets and proxies join as tests start them.

    Args:
        lab: where it runs.
        flags: further flags of the API server.
        manager_flags: further flags of the controller manager.

    Attributes:
        master: the place of the control plane.
        servers: its running servers, by name.
    """

    def __init__(self, lab: Lab, flags: Sequence[str] = (), manager_flags: Sequence[str] = ()) -> None:
        self.lab = lab
        self.master = lab.place("master", disk="512m")
        self._program = Path(sys.executable).with_name("hyperkube")
        self.servers: dict[str, Program] = {}
        self.kubelets: dict[str, Program] = {}
        self.proxies: dict[str, Program] = {}
        self._write_credentials()
        self._start_api_server(flags)
        self.credentials(self.master, "admin", _ADMIN)
        self._start_clients(manager_flags)
        has_account = ("get", "serviceaccount", "default")
        eventually(lambda: self.kubectl(*has_account, check=False).returncode == 0, why="controllers work")

    def hyperkube(self, place: Place, *words: str) -> Program:
        """Start one of hyperkube's servers on a place."""
        return place.start(self._program, *words)

    def kubectl(
        self, *words: str, check: bool = True, stdin: str = "", seconds: float = 90.0
    ) -> subprocess.CompletedProcess[str]:
        """Run the real kubectl on the master, as administrator, to its end."""
        return self.master.run(*self.kubectl_line(*words), check=check, stdin=stdin, seconds=seconds)

    def kubectl_line(self, *words: str) -> list[str]:
        """Return kubectl's command line on the master, for `Place.start` or `Place.command`."""
        return ["kubectl", f"--kubeconfig={_FOLDER}/admin.kubeconfig", *words]

    def apply(self, *objects: dict[str, Any]) -> None:
        """Create or change objects."""
        everything = {"apiVersion": "v1", "kind": "List", "items": objects}
        self.kubectl("apply", "-f", "-", stdin=orjson.dumps(everything).decode())

    def get(self, kind: str, *words: str) -> Any:
        """Return an object, or the items of a list."""
        found = orjson.loads(self.kubectl("get", kind, *words, "-o", "json").stdout)
        return found["items"] if found["kind"] == "List" else found

    def join(self, node: Node | DockerNode, *flags: str, wait: bool = True) -> Program:
        """Start a kubelet on a node, with its runtime; return when the node is Ready, unless told not to wait."""
        self.credentials(node, "kubelet", f"{node.name}-token")
        self.kubelets[node.name] = self.hyperkube(
            node,
            "kubelet",
            f"--kubeconfig={_FOLDER}/kubelet.kubeconfig",
            *node.kubelet_flags,
            f"--node-ip={node.ip}",
            "--fail-swap-on=false",
            "--v=2",
            *flags,
        )
        if wait:
            self.wait_ready(node)
        return self.kubelets[node.name]

    def start_proxy(self, node: Node | DockerNode, *flags: str) -> Program:
        """Start a proxy on a node."""
        self.credentials(node, "proxy", _ADMIN)
        self.proxies[node.name] = self.hyperkube(
            node, "proxy", f"--kubeconfig={_FOLDER}/proxy.kubeconfig", f"--hostname-override={node.name}", *flags
        )
        return self.proxies[node.name]

    def wait_ready(self, node: Node | DockerNode, status: str = "True", seconds: float = 60.0) -> dict[str, Any]:
        """Wait until a node's condition Ready has a status; return the condition."""

        def look() -> dict[str, Any] | None:
            kubelet = self.kubelets.get(node.name)
            assert kubelet is None or kubelet.running() or status != "True", kubelet.output()[-4000:]
            return self.condition(node, "Ready", status)

        found = eventually(look, seconds, why=f"{node.name} has Ready={status}")
        assert found is not None
        return found

    def condition(self, node: Node | DockerNode, name: str, status: str) -> dict[str, Any] | None:
        """Return a node's condition if it has this status."""
        done = self.kubectl("get", "node", node.name, "-o", "json", check=False)
        conditions = orjson.loads(done.stdout)["status"].get("conditions", []) if done.returncode == 0 else []
        return next((item for item in conditions if item["type"] == name and item["status"] == status), None)

    def _write_credentials(self) -> None:
        rows = [(_ADMIN, "admin", "system:masters"), (_SCHEDULER, "system:kube-scheduler", "")]
        rows += [(_MANAGER, "system:kube-controller-manager", "")]
        rows += [(f"{name}-token", f"system:node:{name}", "system:nodes") for name in _NODES]
        lines = [f'{token},{user},{user},"{groups}"\n' for token, user, groups in rows]
        self.master.write(f"{_FOLDER}/tokens.csv", "".join(lines), 0o600)

    def _start_api_server(self, flags: Sequence[str]) -> None:
        self.servers["apiserver"] = self.hyperkube(
            self.master,
            "apiserver",
            "--storage-backend=sqlite",
            "--data-dir=/var/lib/hyperkube",
            f"--cert-dir={_PKI}",
            f"--secure-port={_PORT}",
            f"--advertise-address={self.master.ip}",
            f"--token-auth-file={_FOLDER}/tokens.csv",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            "--kubelet-preferred-address-types=InternalIP",
            *flags,
        )
        self.authority = self.master.path(f"{_PKI}/apiserver.crt")
        eventually(self._serves, 60, why="the API server answers")

    def _serves(self) -> bool:
        server = self.servers["apiserver"]
        assert server.running(), server.output()[-4000:]
        if not self.authority.exists():
            return False
        url = f"https://{self.master.ip}:{_PORT}/readyz"
        return self.master.run("curl", "-sfk", url, check=False).stdout == "ok"

    def _start_clients(self, manager_flags: Sequence[str]) -> None:
        for name, token, flags in (
            ("controller-manager", _MANAGER, [_SIGNING_KEY, "--use-service-account-credentials", *manager_flags]),
            ("scheduler", _SCHEDULER, []),
        ):
            self.credentials(self.master, name, token)
            line = [name, f"--kubeconfig={_FOLDER}/{name}.kubeconfig", "--leader-elect=false", "--secure-port=0"]
            self.servers[name] = self.hyperkube(self.master, *line, *flags)

    def credentials(self, place: Place, name: str, token: str) -> None:
        """Write ``/etc/kubernetes/NAME.kubeconfig`` on a place: of ``admin-token``, or of a node's, ``NODE-token``."""
        server = {"server": f"https://{self.master.ip}:{_PORT}", "certificate-authority": f"{_FOLDER}/authority.crt"}
        place.write(f"{_FOLDER}/authority.crt", self.authority.read_text())
        config = kubeconfig.put(kubeconfig.empty(), "clusters", "lab", server)
        config = kubeconfig.put(config, "users", name, {"token": token})
        config = kubeconfig.put(config, "contexts", "lab", {"cluster": "lab", "user": name})
        made = place.path(f"{_FOLDER}/{name}.kubeconfig")
        kubeconfig.write(made, {**config, "current-context": "lab"})


def missing_for_clusters() -> str:
    """Return which program of a cluster's tests is missing, empty if none."""
    for program in ("kubectl", "curl"):
        if shutil.which(program) is None:
            return f"no {program}"
    return ""
