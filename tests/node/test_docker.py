"""Docker under the kubelet: what every runtime promises, kubectl's commands, and CRI in front of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml
from autoscaled_load import SYNC_FLAG, check_autoscaling
from hyperkube_lib.cri import CriClient
from hyperkube_runtime.docker.docker_engine import DockerEngine
from hyperkube_runtime.docker.runtime import DockerRuntime
from hyperkube_testing.lab import images
from hyperkube_testing.lab.requirements import CNI_PROGRAMS, missing_for_docker, missing_for_registry
from hyperkube_testing.node_contracts.runtime import RuntimeContract
from kubectl_streams import flowing, typed

from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually

pytestmark = pytest.mark.skipif(bool(missing_for_docker()), reason=missing_for_docker())

HYPERKUBE = Path(sys.executable).with_name("hyperkube")
OBJECTS = Path(__file__).parent / "docker_objects.yaml"
CRI_ENDPOINT = "unix:///var/run/dockershim.sock"
RUNTIME_FLAGS = ("network-plugin=cni", f"cni-bin-dir={CNI_PROGRAMS}", f"pod-infra-container-image={images.PAUSE}")


@pytest.fixture(scope="module")
def node(hyperkube_lab):
    return hyperkube_lab.docker_node("docker-1")


class TestContract(RuntimeContract):
    """Without a kubelet, which would remove containers of pods that it does not know."""

    image = images.BUSYBOX
    command = ("sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done")

    @pytest.fixture(autouse=True)
    def _at(self, node):
        self.node = node

    def build(self, state):
        engine = DockerEngine(f"unix://{self.node.path('/run/docker.sock')}", 30, 60)
        # An image that is there is not pulled again: there is no registry.
        engine.pull = lambda reference, login: None
        return DockerRuntime(engine, state, SystemClock(), sandbox_image=images.PAUSE, log_options={})


class OneMachine:
    """``hyperkube up`` on the node, and kubectl beside it; what `kubectl_streams` needs of a cluster."""

    def __init__(self, node, folder, *flags):
        self.master = self.node = node
        self.folder, self.flags = folder, flags
        self.start()

    def start(self):
        low_disk = "--kubelet-arg=eviction-hard=nodefs.available<1%"
        self.up = self.node.start(HYPERKUBE, "up", f"--data-dir={self.folder}", low_disk, *self.flags)

        def running():
            assert self.up.running(), self.up.output()
            return "Local Kubernetes cluster is running" in self.up.output()

        eventually(running, 60, why="the cluster runs")

    def kubectl_line(self, *words):
        return ["kubectl", f"--kubeconfig={self.folder}/admin.kubeconfig", *words]

    def kubectl(self, *words, check=True, stdin=""):
        return self.node.run(*self.kubectl_line(*words), check=check, stdin=stdin)

    def get(self, *words):
        found = yaml.safe_load(self.kubectl("get", *words, "-o", "yaml").stdout)
        return found["items"] if found["kind"] == "List" else found

    def container(self, pod):
        return (self.get("pod", pod)["status"].get("containerStatuses") or [{}])[0]

    def containers(self):
        pods = self.get("pods", "-l", "app=web")
        return {
            (status["containerID"], status["restartCount"])
            for pod in pods
            for status in pod["status"]["containerStatuses"]
        }


@pytest.fixture(scope="module")
def machine(node):
    kubelet_flags = [f"--kubelet-arg={flag}" for flag in RUNTIME_FLAGS]
    machine = OneMachine(node, "/var/lib/hyperkube", "--container-runtime=docker", SYNC_FLAG, *kubelet_flags)
    machine.kubectl("apply", "-f", "-", stdin=OBJECTS.read_text())
    yield machine
    machine.up.stop()
    node.dockerd.stop()


@pytest.fixture(scope="module")
def web(machine):
    machine.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    return machine.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.name}").stdout.split()


@pytest.fixture
def cri(machine):
    client = CriClient(f"unix://{machine.node.path('/run/dockershim.sock')}")
    yield client
    client.close()


def http_get(node, address):
    return node.run("curl", "-sS", "--max-time", "5", f"http://{address}/", check=False, env={"no_proxy": "*"}).stdout


def test_the_pods_answer_at_their_addresses(machine, node, web):
    for name in web:
        address = machine.get("pod", name)["status"]["podIP"]
        assert address.startswith(node.pod_ranges[0].rpartition(".")[0])
        assert http_get(node, address) == f"hello from {name}\n"


def test_containers_have_the_names_of_the_dockershim(machine, node, web):
    uid = machine.get("pod", web[0])["metadata"]["uid"]

    names = node.docker("ps", "--format", "{{.Names}}").stdout.split()

    assert f"k8s_httpd_{web[0]}_default_{uid}_0" in names
    assert f"k8s_POD_{web[0]}_default_{uid}_0" in names
    assert "docker://" in machine.kubectl("get", "nodes", "-o", "wide").stdout


def test_logs_follow(machine):
    machine.kubectl("wait", "--for=condition=Ready", "pod/counter", "--timeout=60s")

    with flowing(machine, "logs", "-f", "counter") as logs:
        logs.has("line 0")
        count = len(logs.lines)
        logs.has(f"line {count + 5}")

    numbers = [int(line.split()[1]) for line in logs.lines]
    assert numbers == list(range(len(numbers)))


def test_exec_carries_input_output_and_exit_code(machine, web):
    done = machine.kubectl(
        "exec", "-i", web[0], "--", "sh", "-c", "cat; echo err >&2; exit 7", stdin="hello\n", check=False
    )

    assert (done.stdout, done.stderr, done.returncode) == ("hello\n", "err\ncommand terminated with exit code 7\n", 7)


def test_exec_on_a_terminal(machine, web):
    screen, code = typed(machine, "exec", "-it", web[0], "--", "sh", keys="tty; hostname; exit 3\n")

    assert "/dev/pts/0" in screen
    assert web[0] in screen
    assert code == 3


def test_attach_talks_to_the_first_process(machine):
    machine.kubectl("wait", "--for=condition=Ready", "pod/listener", "--timeout=60s")

    with flowing(machine, "attach", "-i", "listener") as attached:
        attached.say("a word")
        attached.has("heard a word")

    assert "heard a word" in machine.kubectl("logs", "listener").stdout


def test_port_forward_reaches_the_container(machine, node, web):
    with flowing(machine, "port-forward", f"pod/{web[0]}", "18080:80") as forward:
        forward.has("Forwarding from 127.0.0.1:18080")
        assert http_get(node, "127.0.0.1:18080") == f"hello from {web[0]}\n"


def test_copies_go_in_and_out(machine, node, web):
    node.write("/run/copied/there/file", "there and back")

    machine.kubectl("cp", "/run/copied/there", f"{web[0]}:/tmp/in")
    machine.kubectl("cp", f"{web[0]}:/tmp/in/file", "/run/copied/back")

    assert node.read("/run/copied/back") == "there and back"


def test_what_a_pod_says_of_its_security_is_so_in_the_container(machine):
    machine.kubectl("wait", "--for=condition=Ready", "pod/confined", "--timeout=60s")

    def look(script):
        return machine.kubectl("exec", "confined", "--", "sh", "-c", script, check=False).stdout

    assert look("id") == "uid=1000 gid=2000 groups=2000,3000\n"
    status = dict(line.split(":\t", 1) for line in look("cat /proc/self/status").splitlines())
    assert (status["CapBnd"], status["NoNewPrivs"], status["Seccomp"]) == ("0000000000000000", "1", "2")
    assert look("touch /x || echo read-only; touch /scratch/x && echo written") == "read-only\nwritten\n"
    assert look("cat /proc/sys/net/ipv4/ip_local_port_range").split() == ["20000", "30000"]
    assert look("cat /etc/resolv.conf") == "nameserver 192.0.2.53\nsearch lab.example.com\noptions ndots:3\n"
    limits = look("cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/memory/memory.limit_in_bytes")
    assert [int(limit) for limit in limits.split()] == [10000, 32 << 20]


def test_resize_in_place_reaches_the_cgroup(machine):
    machine.kubectl("wait", "--for=condition=Ready", "pod/confined", "--timeout=60s")
    before = machine.container("confined")["containerID"]
    limits = {"limits": {"cpu": "200m", "memory": "64Mi"}, "requests": {"cpu": "200m", "memory": "64Mi"}}
    patch = json.dumps({"spec": {"containers": [{"name": "c", "resources": limits}]}})

    machine.kubectl("patch", "pod", "confined", "--subresource=resize", "--patch", patch)

    files = [f"/sys/fs/cgroup/{file}" for file in ("cpu/cpu.cfs_quota_us", "memory/memory.limit_in_bytes")]
    look = ("exec", "confined", "--", "cat", *files)
    eventually(lambda: machine.kubectl(*look).stdout.split() == ["20000", str(64 << 20)], 30)
    assert machine.container("confined")["containerID"] == before


def test_too_much_memory_is_an_oom_kill(machine):
    state = eventually(lambda: machine.container("hungry").get("state", {}).get("terminated"), 60)

    assert (state["reason"], state["exitCode"]) == ("OOMKilled", 137)


def test_an_autoscaler_follows_the_load_that_top_shows(machine):
    check_autoscaling(machine.kubectl)


def test_a_failed_pull_says_why(machine):
    def waiting():
        return machine.container("unpullable").get("state", {}).get("waiting", {}).get("reason") == "ImagePullBackOff"

    eventually(waiting, 60)

    events = machine.get("events", "--field-selector=involvedObject.name=unpullable")
    assert any(
        event["message"].startswith('Failed to pull image "192.168.77.1:5000/no/such:1": Error response from daemon: ')
        for event in events
    )


def test_a_client_of_cri_drives_docker(machine, web, cri):
    assert cri.call("Version", {})["runtime_name"] == "docker"
    wanted = {"filter": {"state": {"state": "SANDBOX_READY"}, "label_selector": {"app": "web"}}}
    pods = cri.call("ListPodSandbox", wanted)["items"]
    assert sorted(pod["metadata"]["name"] for pod in pods) == sorted(web)

    (container,) = cri.call("ListContainers", {"filter": {"pod_sandbox_id": pods[0]["id"]}})["containers"]
    done = cri.call("ExecSync", {"container_id": container["id"], "cmd": ["hostname"], "timeout": 10})

    assert done["stdout"].decode().strip() == pods[0]["metadata"]["name"]
    status = cri.call("PodSandboxStatus", {"pod_sandbox_id": pods[0]["id"]})["status"]
    assert status["network"]["ip"] == machine.get("pod", pods[0]["metadata"]["name"])["status"]["podIP"]


def test_a_client_of_cri_hears_what_happens_to_containers(machine, cri):
    with cri.events() as events:
        machine.kubectl("run", "heard", f"--image={images.BUSYBOX}", "--restart=Never", "--", "true")
        told = []
        for event in events:
            status = event["pod_sandbox_status"]
            if status["metadata"]["name"] == "heard":
                which = "sandbox" if event["container_id"] == status["id"] else "container"
                told.append((which, event.get("container_event_type", "CONTAINER_CREATED_EVENT")))
            if told and told[-1] == ("container", "CONTAINER_STOPPED_EVENT"):
                break

    assert told[:5] == [
        ("sandbox", "CONTAINER_CREATED_EVENT"), ("sandbox", "CONTAINER_STARTED_EVENT"),
        ("container", "CONTAINER_CREATED_EVENT"), ("container", "CONTAINER_STARTED_EVENT"),
        ("container", "CONTAINER_STOPPED_EVENT"),
    ]  # fmt: skip


@pytest.mark.skipif(bool(missing_for_registry()), reason=missing_for_registry())
def test_a_registry_is_asked_with_the_pods_secret(machine, node, hyperkube_lab):
    registry = hyperkube_lab.registry()
    image = registry.push(node, images.BUSYBOX, "private/busybox:1")
    container = {"name": "c", "image": image, "imagePullPolicy": "Always", "command": ["sleep", "1000"]}
    spec = {"terminationGracePeriodSeconds": 1, "containers": [container]}
    secret = {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": registry.pull_secret()}}
    objects = [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "registry"}, **secret},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stranger"}, "spec": spec},
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "guest"},
            "spec": {**spec, "imagePullSecrets": [{"name": "registry"}]},
        },
    ]

    machine.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(objects))

    machine.kubectl("wait", "--for=condition=Ready", "pod/guest", "--timeout=60s")
    assert machine.container("guest")["imageID"].startswith(f"docker-pullable://{image.rpartition(':')[0]}@sha256:")
    eventually(lambda: "waiting" in machine.container("stranger").get("state", {}))
    events = machine.get("events", "--field-selector=involvedObject.name=stranger,reason=Failed")
    assert any("no basic auth credentials" in event["message"] for event in events)


def test_no_container_restarts_when_the_kubelet_is_killed(machine, web):
    before = machine.containers()

    machine.up.kill()
    machine.start()
    machine.kubectl("rollout", "status", "deployment/web", "--timeout=60s")

    assert machine.containers() == before


def test_a_killed_daemon_is_named_until_it_is_back(machine, node, web):
    before = machine.containers()

    def ready():
        conditions = machine.get("node", "docker-1")["status"]["conditions"]
        return next(row for row in conditions if row["type"] == "Ready")

    node.dockerd.kill()
    eventually(lambda: "DockerDaemonNotReady" in ready()["message"], 60, why="the node names the daemon")
    assert ready()["status"] == "False"

    node.start_dockerd()
    eventually(lambda: ready()["status"] == "True", 60, why="the node is ready again")
    assert machine.containers() == before


def test_another_kubelet_goes_through_the_socket_of_cri(machine, node):
    machine.up.stop()
    shim = node.start(HYPERKUBE, "kubelet", "--experimental-dockershim", *(f"--{flag}" for flag in RUNTIME_FLAGS))
    eventually(node.path("/run/dockershim.sock").exists, why="the dockershim listens")
    flags = ("--container-runtime=remote", f"--container-runtime-endpoint={CRI_ENDPOINT}")
    other = OneMachine(node, "/var/lib/other", *flags)
    other.kubectl("apply", "-f", "-", stdin=OBJECTS.read_text().partition("---")[0])
    other.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    name = other.kubectl("get", "pods", "-o", "jsonpath={.items[0].metadata.name}").stdout

    assert other.kubectl("logs", name).stdout == "started\n"
    assert http_get(node, other.get("pod", name)["status"]["podIP"]) == f"hello from {name}\n"
    done = other.kubectl("exec", "-i", name, "--", "sh", "-c", "cat; exit 7", stdin="hello\n", check=False)
    assert (done.stdout, done.returncode) == ("hello\n", 7)
    screen, code = typed(other, "exec", "-it", name, "--", "sh", keys="tty; exit 3\n")
    assert ("/dev/pts/0" in screen, code) == (True, 3)
    with flowing(other, "port-forward", f"pod/{name}", "18080:80") as forward:
        forward.has("Forwarding from 127.0.0.1:18080")
        assert http_get(node, "127.0.0.1:18080") == f"hello from {name}\n"
    for program in (other.up, shim):
        program.stop()
