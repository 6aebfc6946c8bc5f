"""Two controller managers and two schedulers over HTTPS: one of each works, and the other takes over when it dies."""

import json
import sys
import time
import uuid
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from server_processes import BIN, ApiServer, Process, eventually, running

pytestmark = pytest.mark.slow

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
SHORT = ("--leader-elect-lease-duration=20s", "--leader-elect-renew-deadline=18s", "--leader-elect-retry-period=500ms")
"""On a busy machine a renewal may take seconds, and a leader that cannot renew in time ends, as it must."""
TOKENS = (
    "admin-token,admin,1,system:masters\n"
    "kcm-token,system:kube-controller-manager,2\n"
    "sched-token,system:kube-scheduler,3\n"
)


class Candidate(Process):
    """A controller manager or scheduler that wants to lead."""

    def __init__(self, folder, program, name, kubeconfig, *flags):
        super().__init__(folder, name)
        self.program, self.kubeconfig, self.flags = program, kubeconfig, flags

    def command(self):
        return [
            str(BIN / self.program),
            f"--kubeconfig={self.kubeconfig}",
            "--leader-elect",
            "--secure-port=0",
            "--v=2",
            *SHORT,
            *self.flags,
        ]

    def answers(self):
        return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("election")


@pytest.fixture(scope="module")
def server(folder):
    (folder / "tokens.csv").write_text(TOKENS)
    server = ApiServer(
        folder, "--storage-backend=sqlite", f"--data-dir={folder / 'data'}", "--authorization-mode=RBAC",
        f"--token-auth-file={folder / 'tokens.csv'}", secure=True,
    )  # fmt: skip
    with running(server):
        yield server


@pytest.fixture(scope="module")
def kubeconfig(folder, server):
    """Return what writes the kubeconfig of a token over HTTPS."""

    def write(token):
        path = folder / f"{token}.kubeconfig"
        cluster = {"server": f"https://127.0.0.1:{server.secure_port}", "insecure-skip-tls-verify": True}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        path.write_text(json.dumps(document))
        return path

    return write


def holder(server, name):
    status, lease = server.request("GET", f"{LEASES}/{name}")
    return lease["spec"].get("holderIdentity") or "" if status == 200 else ""


def make_deployment(server, word):
    name = f"{word}-{uuid.uuid4().hex[:8]}"  # the test may be tried again on the same server
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    path = "/apis/apps/v1/namespaces/default/deployments"
    assert server.post(path, {"metadata": {"name": name}, "spec": spec})[0] == 201
    return f"/api/v1/namespaces/default/pods?labelSelector=app%3D{name}"


def make_node(server):
    node = {"metadata": {"name": "n1"}}
    server.post("/api/v1/nodes", node)
    resources = {"cpu": "8", "memory": "8Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    status = {"capacity": resources, "allocatable": resources, "conditions": [ready]}

    def is_ready():  # controllers write it, too: a conflict is tried again
        code, made = server.put("/api/v1/nodes/n1/status", {**server.get("/api/v1/nodes/n1"), "status": status})
        if code == 200 and made["spec"].get("taints"):
            code, made = server.put("/api/v1/nodes/n1", {**made, "spec": {}})
        return code == 200 and not made["spec"].get("taints")

    eventually(is_ready, 60)


def bound(server, pods):
    items = server.get(pods)["items"]
    return len(items) == 2 and all(item["spec"].get("nodeName") == "n1" for item in items)


def test_the_other_takes_over_when_the_leader_is_killed(folder, server, kubeconfig):
    own = (
        "--use-service-account-credentials", "--node-monitor-grace-period=1h",  # nothing sends the node's heartbeats
        "--controllers=deployment,replicaset,nodelifecycle,serviceaccount",
    )  # fmt: skip
    token = kubeconfig("kcm-token")
    managers = [Candidate(folder, "kube-controller-manager", f"kcm-{n}", token, *own) for n in (1, 2)]
    schedulers = [Candidate(folder, "kube-scheduler", f"sched-{n}", kubeconfig("sched-token")) for n in (1, 2)]
    kinds = {"kube-controller-manager": managers, "kube-scheduler": schedulers}
    with running(*managers, *schedulers):
        first = {name: eventually(lambda name=name: holder(server, name), 60) for name in kinds}
        make_node(server)
        pods_before = make_deployment(server, "before")
        eventually(lambda: bound(server, pods_before), 60)

        for candidates in kinds.values():
            leader = next(one for one in candidates if started_leading(one))
            leader.kill()
        for name in kinds:
            eventually(lambda name=name: holder(server, name) not in ("", first[name]), 60)
        pods = make_deployment(server, "after")
        eventually(lambda: bound(server, pods), 60)

        for name, candidates in kinds.items():
            alive = [one for one in candidates if one.process.poll() is None]
            assert len(alive) == 1, name
            assert started_leading(alive[0])


def started_leading(candidate):
    text = candidate.log.read_text(errors="replace")
    return "successfully acquired lease" in text or "became leader" in text
