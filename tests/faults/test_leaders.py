"""Two controller managers of which one leads, whatever happens: no change is ever made by the other one.

The servers' audit logs tell who made each change, and at which resource version; the watch of the Lease tells who led
at that version. No clock is asked.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from fault_proxies import Proxy
from server_processes import BIN, ApiServer, Etcd, Process, eventually, need_etcd, running

LONG = "HYPERKUBE_ROUNDS" in os.environ
pytestmark = [pytest.mark.slow, pytest.mark.etcd, pytest.mark.timeout(300)]

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
SETS = "/apis/apps/v1/namespaces/default/replicasets"
PODS = "/api/v1/namespaces/default/pods"
TOKENS = "token-0,manager-0,0,system:masters\ntoken-1,manager-1,1,system:masters\n"
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "verbs": ["get", "list", "watch"]},
        {"level": "RequestResponse", "resources": [{"group": "", "resources": ["pods"]}, {"group": "apps"}]},
    ],
}
SHORT = ("--leader-elect-lease-duration=18s", "--leader-elect-renew-deadline=10s", "--leader-elect-retry-period=500ms")
"""On a busy machine a renewal may take seconds, and a leader that cannot renew in time ends, as it must.

What it had sent by then the server may carry out a little later, in Kubernetes, too: that must be over when the lease is.
"""


class Manager(Process):
    """A controller manager whose connection to its API server goes through a proxy."""

    def __init__(self, folder, number, server):
        super().__init__(folder, f"manager-{number}")
        self.front = Proxy(server.secure_port)
        self.kubeconfig = folder / f"manager-{number}.kubeconfig"
        cluster = {"server": f"https://127.0.0.1:{self.front.port}", "insecure-skip-tls-verify": True}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": {"token": f"token-{number}"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        self.kubeconfig.write_text(json.dumps(document))

    def command(self):
        words = [
            str(BIN / "kube-controller-manager"),
            f"--kubeconfig={self.kubeconfig}",
            "--leader-elect",
            "--secure-port=0",
        ]
        return words if LONG else [*words, "--controllers=replicaset", *SHORT]

    def answers(self):
        return True


class Holders(threading.Thread):
    """Follows the Lease: who held it from which version on."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.version = server, server.get(LEASES)["metadata"]["resourceVersion"]
        self.history: list[tuple[int, str]] = []
        self.ended = threading.Event()
        self.start()

    def run(self):
        while not self.ended.is_set():
            path = f"{LEASES}?watch=1&resourceVersion={self.version}&timeoutSeconds=5"
            for event in self.server.watch(path, 60):
                meta = event["object"]["metadata"]
                self.version = meta["resourceVersion"]
                if meta["name"] == "kube-controller-manager":
                    self.history.append((int(self.version), event["object"]["spec"].get("holderIdentity") or ""))

    def now(self):
        return self.history[-1][1] if self.history else ""

    def at(self, version):
        return next((holder for since, holder in reversed(self.history) if since < version), "")


class Work(threading.Thread):
    """Makes one ReplicaSet after the other, so that there is always something to do."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.made = server, 0
        self.ended = threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.1):
            labels = {"set": f"set-{self.made}"}
            template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
            spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
            assert self.server.post(SETS, {"metadata": {"name": f"set-{self.made}"}, "spec": spec})[0] == 201
            self.made += 1


@pytest.fixture
def servers(tmp_path):
    need_etcd()
    (tmp_path / "tokens.csv").write_text(TOKENS)
    (tmp_path / "policy.yaml").write_text(json.dumps(POLICY))
    etcd = Etcd(tmp_path)

    def server(number):
        flags = (
            f"--etcd-servers={etcd.url}", "--authorization-mode=AlwaysAllow",
            "--disable-admission-plugins=ServiceAccount", f"--token-auth-file={tmp_path / 'tokens.csv'}",
            f"--audit-policy-file={tmp_path / 'policy.yaml'}", f"--audit-log-path={tmp_path / f'audit-{number}.log'}",
        )  # fmt: skip
        return ApiServer(tmp_path, *flags, name=f"api{number}", secure=True)

    with running(etcd, server(0), server(1)) as (_, *both):
        yield both


def changes(folder):
    """Return (version, number of the manager) of each change that the managers made, by their servers' audit logs."""
    found = []
    for number in range(2):
        for line in (folder / f"audit-{number}.log").read_text().splitlines():
            event = json.loads(line)
            if event["user"]["username"] != "system:unsecured" and event["responseStatus"]["code"] in {200, 201}:
                found.append((int(event["responseObject"]["metadata"]["resourceVersion"]), number))
    return sorted(found)


def pods_of(server):
    owners = [pod["metadata"]["labels"]["set"] for pod in server.get(PODS)["items"]]
    return {owner: owners.count(owner) for owner in owners}


@pytest.mark.parametrize("fault", ["killed", "silent", *(["stopped", "cut off"] if LONG else [])])
def test_the_other_leads_and_never_both_at_once(servers, tmp_path, fault):
    watcher = servers[0]
    managers = [Manager(tmp_path, number, server) for number, server in enumerate(servers)]
    holders = Holders(watcher)
    harm = {
        "killed": lambda manager: manager.kill(),
        "silent": lambda manager: manager.front.silence(),
        "cut off": lambda manager: manager.front.cut(),
        "stopped": lambda manager: manager.process.send_signal(signal.SIGSTOP),
    }[fault]
    with running(managers[0]):
        first = eventually(holders.now, 30, why="a leader")
        with running(managers[1]):
            work = Work(watcher)
            eventually(lambda: len(pods_of(watcher)) > 3, 30, why="pods")
            harm(managers[0])
            began = time.monotonic()
            eventually(lambda: holders.now() not in ("", first), 60, why="another leader")
            moved = time.monotonic() - began
            led_at = work.made
            eventually(lambda: pods_of(watcher).get(f"set-{led_at + 3}") == 2, 60, why="pods of the new leader")
            managers[0].front.heal()
            managers[0].process.send_signal(signal.SIGCONT)
            work.ended.set()
            work.join()
            eventually(
                lambda: pods_of(watcher) == {f"set-{n}": 2 for n in range(work.made)}, 60, why="two pods per set"
            )
    holders.ended.set()

    print(f"{fault}: the lead moved after {moved:.1f} s")
    names = [first, next(holder for _, holder in holders.history if holder not in ("", first))]
    made = changes(tmp_path)
    assert {number for _, number in made} == {0, 1}
    # One that was stopped may end what it was about to do when it goes on, as in Kubernetes: the leader mends it.
    if fault != "stopped":
        assert [(version, number) for version, number in made if holders.at(version) != names[number]] == []
    for manager in managers:
        manager.front.close()
