"""Starting, stopping, crashing and starting again: what a data folder goes through."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from local_cluster import HYPERKUBE, LocalCluster, curl, eventually, free_port, processes_of, reading, run
from open_ports import listeners, shown_to_strangers

from hyperkube.client.kubeconfig import client_from_kubeconfig
from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.errors import ApiError

NOBODY = 65534


def _hyperkube(*words, check=True, **more):
    return run([HYPERKUBE, *words], check=check, **more)


@pytest.fixture
def cluster(scratch, request):
    """A cluster that is not started yet; whatever the test does, nothing of it stays."""
    cluster = LocalCluster(scratch / f"own-{hash(request.node.name) & 0xFFFFFF:x}")
    yield cluster
    cluster.end()


class _Writer(threading.Thread):
    """Creates config maps until the server is gone, and remembers which creations were answered."""

    def __init__(self, cluster, number, enough):
        super().__init__()
        self.answered = []
        self._client = client_from_kubeconfig(str(cluster.kubeconfig))
        self._number, self._enough = number, enough

    def run(self):
        for index in range(10_000):
            name = f"w{self._number}-{index}"
            try:
                self._client.create(CONFIG_MAPS, {"metadata": {"name": name}, "data": {"x": "y" * 100}}, "default")
            except (OSError, ApiError):
                break
            self.answered.append(name)
            self._enough.release()
        self._client.close()


def _containers(cluster):
    """Return the pids of the pods' own processes, shims excepted."""
    return {pid for pid, line in processes_of(cluster.root).items() if line.startswith("sleep 4321")}


def test_a_crash_loses_nothing_that_was_answered_and_orphans_are_taken_up(cluster):
    cluster.start()
    cluster.kubectl("create", "deployment", "sleepers", "--image=host", "--replicas=3", "--", "sleep", "4321")
    cluster.kubectl("wait", "--for=condition=Available", "deployment/sleepers", "--timeout=60s")
    before = _containers(cluster)
    enough = threading.Semaphore(0)
    writers = [_Writer(cluster, number, enough) for number in range(6)]
    for writer in writers:
        writer.start()
    for _ in range(200):
        assert enough.acquire(timeout=20)

    cluster.kill()

    for writer in writers:
        writer.join(30)
    answered = {name for writer in writers for name in writer.answered}
    assert len(answered) >= 200
    assert _containers(cluster) == before, "pods outlive the crash of what started them"
    cluster.start()
    stored = {one["metadata"]["name"] for one in cluster.get("configmaps", namespace="default")}
    assert answered - stored == set()
    cluster.kubectl("wait", "--for=condition=Available", "deployment/sleepers", "--timeout=60s")
    eventually(lambda: len(_containers(cluster)) == 3)
    assert _containers(cluster) == before, "the same processes, adopted"
    counts = [one["status"]["containerStatuses"][0]["restartCount"] for one in cluster.get("pods", namespace="default")]
    assert counts == [0, 0, 0]
    cluster.stop()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_a_signal_ends_it_with_every_pod(cluster, number):
    cluster.start()
    cluster.kubectl("run", "polite", "--image=host", "--", "sleep", "4321")
    cluster.kubectl("run", "stubborn", "--image=host", "--", "sh", "-c", "trap '' TERM; while true; do sleep 1; done")
    cluster.kubectl("wait", "--for=condition=Ready", "pod/polite", "pod/stubborn", "--timeout=60s")

    took = cluster.stop(number)

    assert took < 5


def test_the_next_start_finds_objects_and_starts_their_pods_again(cluster):
    cluster.start()
    cluster.kubectl("run", "sleeper", "--image=host", "--", "sleep", "4321")
    cluster.kubectl("wait", "--for=condition=Ready", "pod/sleeper", "--timeout=60s")
    uid = cluster.get("pod", "sleeper")["metadata"]["uid"]
    cluster.stop()
    assert _containers(cluster) == set()

    cluster.start()

    eventually(lambda: len(_containers(cluster)) == 1)
    assert cluster.get("pod", "sleeper")["metadata"]["uid"] == uid
    cluster.kubectl("wait", "--for=condition=Ready", "pod/sleeper", "--timeout=60s")
    cluster.stop()


def test_status_down_and_reset(cluster):
    folder = ["--data-dir", str(cluster.root)]
    never = _hyperkube("status", *folder, check=False)
    assert (never.code, never.out.split()[:2]) == (3, ["state", "stopped"])
    cluster.start()

    running = eventually(lambda: (now := _hyperkube("status", *folder, "-o", "json", check=False)).code == 0 and now)
    assert running.json["state"] == "running"
    assert running.json["nodes"] == "1 of 1 ready"
    assert running.json["server"] == f"https://127.0.0.1:{cluster.port}"

    assert _hyperkube("down", *folder).out == "stopped\n"
    assert cluster.process.wait(30) == 0
    assert processes_of(cluster.root) == {}
    assert _hyperkube("down", *folder).out == "no cluster is running\n"
    assert _hyperkube("status", *folder, check=False).code == 3

    assert _hyperkube("reset", "--yes", *folder).out == f"deleted {cluster.root}\n"
    assert not cluster.root.exists()


def test_reset_ends_what_a_crash_left(cluster):
    cluster.start()
    cluster.kubectl("run", "sleeper", "--image=host", "--", "sleep", "4321")
    cluster.kubectl("wait", "--for=condition=Ready", "pod/sleeper", "--timeout=60s")
    cluster.kill()
    assert len(_containers(cluster)) == 1

    _hyperkube("reset", "--yes", "--data-dir", cluster.root)

    eventually(lambda: processes_of(cluster.root) == {}, 15)


@pytest.fixture(scope="module")
def five(scratch):
    """A cluster of five processes; the last test that asks for it ends it."""
    cluster = LocalCluster(scratch / "five", "--processes")
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.end()


def test_five_processes_do_the_same_job(five, hello_file):
    servers = {pid: line for pid, line in processes_of(five.root).items() if "hyperkube.command.main" in line}
    assert len(servers) == 5, servers
    assert len(listeners(servers)) >= 4
    assert shown_to_strangers(servers) == []
    for component in five.get("componentstatuses"):
        assert component["conditions"][0]["status"] == "True", component

    five.kubectl("apply", "-f", str(hello_file))
    five.kubectl("rollout", "status", "deployment/hello", "--timeout=60s")

    address = five.get("service", "hello")["spec"]["clusterIP"]
    names = {one["metadata"]["name"] for one in five.get("pods")}
    eventually(lambda: curl(f"http://{address}:8080/", check=False).code == 0)
    answers = " ".join(curl(f"http://{address}:8080/").out for _ in range(12))
    assert all(name in answers for name in names)
    first = min(names)
    assert five.kubectl("exec", first, "--", "printenv", "POD_NAME").out == f"{first}\n"
    assert "GET /" in five.kubectl("logs", first).out
    five.kubectl("delete", "-f", str(hello_file), "--timeout=60s")


def test_when_one_of_five_processes_ends_they_all_do_and_say_why(five):
    (scheduler,) = [pid for pid, line in processes_of(five.root).items() if "hyperkube.command.main scheduler" in line]

    os.kill(scheduler, signal.SIGKILL)

    assert five.process.wait(10) == 1
    log = five.root / "logs" / "scheduler.log"
    eventually(lambda: five.output[-1] == f"error: the scheduler ended with exit code -9; see {log}\n")
    assert processes_of(five.root) == {}


def unprivileged(root):
    """Return a cluster of an ordinary user, who has no privileges.

    That is another user, or, where the installation lies in a folder that only root may enter, root without any
    privilege: to whoever looks from inside, a new user namespace without mappings makes it `NOBODY`, too.
    """
    try:
        subprocess.run([HYPERKUBE, "version"], user=NOBODY, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        new_namespace = ("unshare", "--user")
        if shutil.which("unshare") is None or subprocess.run([*new_namespace, "true"], check=False).returncode:
            pytest.skip(f"no other user can run this installation, and there are no user namespaces: {error}")
        return LocalCluster(root, through=new_namespace)
    os.chown(root, NOBODY, NOBODY)
    return LocalCluster(root, user=NOBODY)


def test_an_ordinary_user_needs_no_more(scratch, hello_file):
    if os.geteuid() != 0:
        pytest.skip("every other test here runs as an ordinary user already")
    root = scratch / "nobody"
    root.mkdir()
    cluster = unprivileged(root)
    with cluster.running():
        cluster.kubectl("apply", "-f", str(hello_file))
        cluster.kubectl("rollout", "status", "deployment/hello", "--timeout=60s")

        address = cluster.get("service", "hello")["spec"]["clusterIP"]
        assert "hello from" in eventually(lambda: curl(f"http://{address}:8080/", check=False).out)
        first = cluster.get("pods")[0]["metadata"]["name"]
        assert cluster.kubectl("exec", first, "--", "id", "-u").out == f"{NOBODY}\n"
        cluster.kubectl(
            "expose", "deployment", "hello", "--name=low", "--type=NodePort", "--port=80", "--target-port=8080"
        )
        if int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) > 80:
            port = cluster.get("service", "low")["spec"]["ports"][0]["nodePort"]
            advice = eventually(
                lambda: str(port) in (text := cluster.kubectl("events", "--for", "service/low").out) and text
            )
            assert "80" in advice
        if "Kubernetes-managed" in cluster.kubectl("exec", first, "--", "cat", "/etc/hosts").out:
            for name in ("hello", "hello.default.svc.cluster.local"):
                assert cluster.kubectl("exec", first, "--", "getent", "hosts", name).out.split()[0] == address
            cluster.kubectl("delete", "service", "low")
            eventually(lambda: cluster.kubectl("exec", first, "--", "getent", "hosts", "low", check=False).code)
        owners = {path.stat().st_uid for path in root.rglob("*")}
        assert owners == {NOBODY if cluster.user else os.geteuid()}


def test_the_line_of_old_starts_and_answers(tmp_path):
    """The v1.5 command line of a packaged API server, with a store of its own and free ports."""
    port, secure = free_port(), free_port()
    key = tmp_path / "apiserver.key"
    run(["openssl", "genrsa", "-out", key, "2048"])
    line = [
        HYPERKUBE, "kube-apiserver", "--logtostderr=true", "--v=0", "--storage-backend=sqlite",
        f"--data-dir={tmp_path / 'data'}", "--insecure-bind-address=127.0.0.1", f"--port={port}",
        "--kubelet-port=10250", "--allow-privileged=false", "--service-cluster-ip-range=10.254.0.0/16",
        ("--admission-control=NamespaceLifecycle,NamespaceExists,LimitRanger,SecurityContextDeny,ServiceAccount,"
        "ResourceQuota"),
        f"--service-account-key-file={key}", f"--cert-dir={tmp_path}", f"--secure-port={secure}",
    ]  # fmt: skip
    process = subprocess.Popen(
        [str(word) for word in line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )

    with reading(process) as output:
        eventually(lambda: curl(f"http://127.0.0.1:{port}/healthz", check=False).out == "ok", 110)
        server = ["kubectl", f"--server=http://127.0.0.1:{port}"]
        run([*server, "create", "configmap", "a", "--from-literal=b=c"])
        assert run([*server, "get", "configmap", "a", "-o", "jsonpath={.data.b}"]).out == "c"
        assert run([*server, "get", "service", "kubernetes", "-o", "jsonpath={.spec.clusterIP}"]).out == "10.254.0.1"
        secured = curl(f"https://127.0.0.1:{secure}/version", "-k").out
        assert '"minor": "36"' in secured or '"minor":"36"' in secured
        denied = run([*server, "run", "p", "--image=host"], check=False)
        assert 'error looking up service account default/default: serviceaccount "default" not found' in denied.err

    complaints = [text for text in output.lines if re.match(r"[EF]\d{4}|Traceback|error|.*not built yet", text)]
    assert complaints == []
    assert (tmp_path / "apiserver.crt").exists()
