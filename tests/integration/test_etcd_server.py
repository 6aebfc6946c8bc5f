"""The whole API server on a real etcd: what is written, what others see, and what survives the end of either."""

import contextlib
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from server_processes import BIN, ApiServer, Etcd, configmap, eventually, free_port, need_etcd, running

pytestmark = [pytest.mark.etcd, pytest.mark.slow]

MAPS = "/api/v1/namespaces/default/configmaps"
OPEN = ("--authorization-mode=AlwaysAllow", "--disable-admission-plugins=ServiceAccount")


@pytest.fixture(scope="module")
def etcd(tmp_path_factory):
    need_etcd()
    with running(Etcd(tmp_path_factory.mktemp("etcd"))) as (server,):
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("servers")


@pytest.fixture(scope="module")
def pair(etcd, folder):
    """Two API servers on one etcd."""
    flags = (f"--etcd-servers={etcd.url}", *OPEN)
    with running(ApiServer(folder, *flags, name="one"), ApiServer(folder, *flags, name="two")) as servers:
        yield servers


class Follower(threading.Thread):
    """Collects the events of a watch, to its end or until it has been silent for long."""

    def __init__(self, server, path):
        super().__init__(daemon=True)
        self.server, self.path, self.events = server, path, []
        self.start()

    def run(self):
        with contextlib.suppress(TimeoutError):  # the test has ended, or misses the event and says so itself
            for event in self.server.watch(self.path):
                self.events.append(event)

    def seen(self):
        return [(event["type"], event["object"]["metadata"]["name"]) for event in self.events]


def test_what_one_server_writes_the_other_reads_at_once(pair):
    one, two = pair

    for number in range(20):
        writer, reader = (one, two) if number % 2 else (two, one)
        status, made = writer.post(MAPS, configmap(f"shared-{number}", n=str(number)))
        assert status == 201
        assert reader.get(f"{MAPS}/shared-{number}") == made
        names = {item["metadata"]["name"] for item in reader.get(MAPS)["items"]}
        assert f"shared-{number}" in names


def test_two_servers_that_change_one_object_conflict(pair):
    one, two = pair
    _, made = one.post(MAPS, configmap("contended", n="0"))

    first = one.put(f"{MAPS}/contended", {**made, "data": {"n": "1"}})
    second = two.put(f"{MAPS}/contended", {**made, "data": {"n": "2"}})

    assert (first[0], second[0], second[1]["reason"]) == (200, 409, "Conflict")


def test_a_watch_sees_the_writes_of_both_servers(pair):
    one, two = pair
    start = one.get(MAPS)["metadata"]["resourceVersion"]
    follower = Follower(two, f"{MAPS}?watch=1&resourceVersion={start}&timeoutSeconds=20")

    one.post(MAPS, configmap("seen", n="1"))
    two.put(f"{MAPS}/seen", configmap("seen", n="2"))
    one.delete(f"{MAPS}/seen")

    wanted = [("ADDED", "seen"), ("MODIFIED", "seen"), ("DELETED", "seen")]
    eventually(lambda: follower.seen() == wanted, why=str(follower.events))


def test_etcd_holds_kubernetes_keys_and_values(pair, etcd):
    one, _ = pair
    one.post("/api/v1/nodes", {"metadata": {"name": "n1"}})
    one.post("/api/v1/namespaces/default/services", {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}})
    _, made = one.post(MAPS, configmap("laid-out", k="v"))

    keys = set(etcd.registry_keys())
    value = json.loads(etcd.value("/registry/configmaps/default/laid-out"))

    assert {
        "/registry/configmaps/default/laid-out",
        "/registry/minions/n1",
        "/registry/namespaces/default",
        "/registry/services/specs/default/web",
        "/registry/services/specs/default/kubernetes",
        "/registry/priorityclasses/system-node-critical",
        "/registry/servicecidrs/kubernetes",
    } <= keys
    assert all(key.isprintable() for key in keys)
    assert list(value)[:2] == ["kind", "apiVersion"]
    del made["metadata"]["resourceVersion"]
    assert value == made
    assert "selfLink" not in value["metadata"]


def test_a_killed_server_loses_nothing_it_answered(etcd, folder):
    server = ApiServer(folder, f"--etcd-servers={etcd.url}", *OPEN, name="killed")
    with running(server):
        made = [server.post(MAPS, configmap(f"kept-{number}"))[1] for number in range(10)]
        server.kill()
        server.start()

        assert [server.get(f"{MAPS}/{item['metadata']['name']}") for item in made] == made


def test_servers_and_watches_outlive_a_restart_of_etcd(pair, etcd):
    one, two = pair
    start = one.get(MAPS)["metadata"]["resourceVersion"]
    follower = Follower(two, f"{MAPS}?watch=1&resourceVersion={start}&timeoutSeconds=30")
    one.post(MAPS, configmap("before-restart"))

    etcd.kill()
    status, refusal = one.post(MAPS, configmap("during-restart"))
    not_ready = one.request("GET", "/readyz")[0]
    etcd.start()
    eventually(lambda: one.answers() and two.answers(), why="ready again")
    assert one.post(MAPS, configmap("after-restart"))[0] == 201

    assert status >= 500, refusal
    assert not_ready == 500
    assert two.get(f"{MAPS}/after-restart")["metadata"]["name"] == "after-restart"
    wanted = [("ADDED", "before-restart"), ("ADDED", "after-restart")]
    eventually(lambda: [seen for seen in follower.seen() if seen[1] != "during-restart"] == wanted)


def test_the_prefix_is_the_callers_choice(etcd, folder):
    server = ApiServer(folder, f"--etcd-servers={etcd.url}", "--etcd-prefix=/elsewhere", *OPEN, name="prefixed")
    with running(server):
        server.post(MAPS, configmap("moved"))

        assert server.get(f"{MAPS}/moved")["metadata"]["name"] == "moved"
    assert "/registry/configmaps/default/moved" not in etcd.registry_keys()
    assert "/elsewhere/configmaps/default/moved" in etcd.ctl("get", "/elsewhere", "--prefix", "--keys-only")


LINE_OF_1_5 = (
    "--logtostderr=true --v=0 --etcd-servers=http://test-master:2379 --insecure-bind-address=0.0.0.0 --port=8080"
    " --kubelet-port=10250 --allow-privileged=false --service-cluster-ip-range=10.254.0.0/16"
    " --admission-control=NamespaceLifecycle,NamespaceExists,LimitRanger,SecurityContextDeny,ServiceAccount,"
    "ResourceQuota --service-account-key-file=/var/run/kubernetes/apiserver.key"
)
"""The command line of release 1.5 as it was documented."""


class V15(ApiServer):
    """That line; only what is this machine's is put in: the host of etcd, ports, and where files may be written."""

    def __init__(self, folder, etcd):
        super().__init__(folder, name="v1.5")
        self.folder, self.etcd = folder, etcd
        self.tls_port = free_port()
        subprocess.run(
            ["openssl", "genrsa", "-out", str(folder / "apiserver.key"), "2048"], check=True, capture_output=True
        )

    def command(self):
        line = LINE_OF_1_5
        for theirs, ours in (
            ("http://test-master:2379", self.etcd.url),
            ("0.0.0.0", "127.0.0.1"),
            ("--port=8080", f"--port={self.port}"),
            ("/var/run/kubernetes", str(self.folder)),
        ):
            assert theirs in line
            line = line.replace(theirs, ours)
        # What the line leaves to defaults: the HTTPS port and the folder of its certificate.
        free = f"--secure-port={self.tls_port} --bind-address=127.0.0.1 --cert-dir={self.folder}"
        return [str(BIN / "kube-apiserver"), *line.split(), *free.split()]


def test_the_process_line_of_release_1_5_runs(folder, tmp_path):
    with running(Etcd(tmp_path)) as (etcd,), running(V15(folder, etcd)) as (server,):
        service = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
        status, made = server.post("/api/v1/namespaces/default/services", service)
        missing = server.post("/api/v1/namespaces/nowhere/configmaps", configmap("x", "nowhere"))
        account = {"metadata": {"name": "default", "namespace": "default"}}
        server.post("/api/v1/namespaces/default/serviceaccounts", account)
        pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        pod_status, _ = server.post("/api/v1/namespaces/default/pods", pod)
        health = server.request("GET", "/healthz")
        keys = set(etcd.registry_keys())

    assert (status, pod_status) == (201, 201)
    assert made["spec"]["clusterIP"].startswith("10.254.")
    assert missing[0] == 404
    assert health == (200, "ok")
    assert {
        "/registry/namespaces/default",
        "/registry/namespaces/kube-system",
        "/registry/pods/default/p",
        "/registry/serviceaccounts/default/default",
        "/registry/services/specs/default/kubernetes",
        "/registry/services/specs/default/web",
        f"/registry/ipaddresses/{made['spec']['clusterIP']}",
    } <= keys
    assert all(key.startswith("/registry/") for key in keys)


def test_a_resource_can_live_in_an_etcd_of_its_own_and_events_vanish(etcd, folder, tmp_path):
    other = Etcd(tmp_path)
    overrides = f"--etcd-servers-overrides=/events#{other.url},malformed"
    flags = (f"--etcd-servers={etcd.url}", "--etcd-prefix=/split", "--event-ttl=1s", overrides, *OPEN)
    with running(other, ApiServer(folder, *flags, name="split")) as (_, server):
        event = {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default"}, "reason": "Tested"}
        assert server.post("/api/v1/namespaces/default/events", event)[0] == 201
        assert server.post(MAPS, configmap("main"))[0] == 201
        listed = server.get("/api/v1/namespaces/default/events")["items"]
        assert [item["metadata"]["name"] for item in listed] == ["e"]

        assert other.ctl("get", "/", "--prefix", "--keys-only").split() == ["/split/events/default/e"]
        assert "/split/events" not in etcd.ctl("get", "/split", "--prefix", "--keys-only")
        lease = int(json.loads(other.ctl("get", "/split/events/default/e", "-w", "json"))["kvs"][0]["lease"])
        other.ctl("lease", "revoke", f"{lease:x}")
        eventually(lambda: server.request("GET", "/api/v1/namespaces/default/events/e")[0] == 404)
        assert "invalid value of --etcd-servers-overrides, skipped: 'malformed'" in server.tail()


def test_two_servers_hand_out_each_node_port_once(etcd, folder):
    flags = (f"--etcd-servers={etcd.url}", "--etcd-prefix=/ports", "--service-node-port-range=30000-30011", *OPEN)
    services = "/api/v1/namespaces/default/services"
    answers = []

    def make(server, number):
        body = {"metadata": {"name": f"s{number}"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}}
        answers.append(server.post(services, body))

    with running(ApiServer(folder, *flags, name="p1"), ApiServer(folder, *flags, name="p2")) as servers:
        threads = [threading.Thread(target=make, args=(servers[number % 2], number)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        full = servers[0].post(
            services, {"metadata": {"name": "x"}, "spec": {"type": "NodePort", "ports": [{"port": 1}]}}
        )

    assert [status for status, _ in answers] == [201] * 12, answers
    assert sorted(made["spec"]["ports"][0]["nodePort"] for _, made in answers) == list(range(30000, 30012))
    assert full[0] == 500
    assert full[1]["message"] == "Internal error occurred: failed to allocate a nodePort: range is full"
    record = json.loads(etcd.value("/ports/ranges/servicenodeports"))
    assert (record["kind"], record["range"], record["data"]) == ("RangeAllocation", "30000-30011", "D/8=")


def test_another_version_can_be_stored_and_is_read_without_the_flag(etcd, folder):
    scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    target = {"type": "Utilization", "averageUtilization": 70}
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 3,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
    }
    flags = (f"--etcd-servers={etcd.url}", "--etcd-prefix=/versions", *OPEN)
    key = "/versions/horizontalpodautoscalers/default/h"
    with running(ApiServer(folder, *flags, "--storage-versions=autoscaling/v1", name="older")) as (server,):
        status, made = server.post(scalers, {"metadata": {"name": "h"}, "spec": spec})
        stored = json.loads(etcd.value(key))
        listed = server.get(scalers)["items"]
    with running(ApiServer(folder, *flags, name="newer")) as (server,):
        found = server.get(f"{scalers}/h")
        server.put(f"{scalers}/h", found)
        anew = json.loads(etcd.value(key))

    assert status == 201
    assert (stored["apiVersion"], stored["spec"]["targetCPUUtilizationPercentage"]) == ("autoscaling/v1", 70)
    assert [item["spec"] for item in listed] == [made["spec"]] == [found["spec"]]
    assert anew["apiVersion"] == "autoscaling/v2"


def test_an_etcd_that_is_not_there_is_one_line_and_the_end(folder):
    dead = f"--etcd-servers=http://127.0.0.1:{free_port()}"
    server = ApiServer(folder, dead, "--storage-initialization-timeout=1s", *OPEN, name="storeless")

    ended = subprocess.run(server.command(), capture_output=True, text=True, timeout=120, check=False)

    *waiting, last = ended.stderr.splitlines()
    assert ended.returncode == 1
    assert last.startswith("error: the store does not answer within 1 s: ")
    assert [line for line in waiting if "waiting for the store" not in line and not line.startswith(("I", "W"))] == []
    assert ended.stdout == ""
