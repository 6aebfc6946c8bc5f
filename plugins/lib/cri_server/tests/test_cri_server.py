"""A client of CRI in front of a small runtime."""

import os
import socket
import stat

import pytest
from hyperkube_lib.cri import CriClient
from hyperkube_lib.cri_server import CriServer
from hyperkube_lib.cri_server.runtime_service import RuntimeService
from hyperkube_lib.cri_server.streaming import (
    MOST_TOKENS,
    TOKEN_SECONDS,
    StreamingServer,
    StreamRequest,
    TooManyStreams,
)
from hyperkube_lib.grpc_messages import RpcFailed

from hyperkube.hookspecs.runtime import (
    ContainerNotFound,
    ContainerState,
    ContainerStatus,
    Image,
    RuntimeFailed,
    RuntimeStatus,
    SandboxStatus,
)
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import UsageError

SANDBOX = SandboxStatus(
    id="s1", namespace="shop", name="web", uid="u", attempt=1, ready=True, created_at=2.5, labels={"app": "web"}
)
CONTAINER = ContainerStatus(
    id="c1", sandbox_id="s1", name="app", attempt=2, state=ContainerState.EXITED, image="app:1", image_id="sha256:1",
    created_at=1.0, started_at=2.0, finished_at=3.0, exit_code=3, reason="Error", labels={"app": "web"},
    mounts=({"container_path": "/b", "host_path": "/a"},),
)  # fmt: skip


class Said:
    """A process that has said something and ended; `silent` never ends."""

    def __init__(self, silent):
        self.stdin = self.stderr = None
        self.stdout, end = os.pipe()
        self.held = end if silent else None
        if not silent:
            os.write(end, b"said\n")
            os.close(end)

    def resize(self, width, height):
        pass

    def wait(self, timeout=None):
        return 7

    def kill(self):
        if self.held is not None:
            os.close(self.held)
            self.held = None


class SmallRuntime:
    """One pod of one container; notes what it is asked. It has none of the small protocols."""

    name = "small"

    def __init__(self):
        self.asked = []

    def version(self):
        return "1.2"

    def status(self):
        return RuntimeStatus(network_problem="NetworkReady=false reason:NotYet message:no network")

    def run_sandbox(self, config, runtime_handler):
        self.asked.append((config, runtime_handler))
        return "s1"

    def sandboxes(self):
        return [SANDBOX]

    def pod(self, uid):
        found = SandboxStatus(
            **{name: getattr(SANDBOX, name) for name in SandboxStatus.__slots__} | {"ips": ("10.0.0.2", "fd00::2")}
        )
        return [found], [CONTAINER]

    def create_container(self, sandbox_id, config, sandbox_config):
        self.asked.append((sandbox_id, config, sandbox_config))
        return "c1"

    def start_container(self, container_id):
        raise RuntimeFailed("no such program", "RunContainerError")

    def stop_container(self, container_id, grace_seconds):
        self.asked.append((container_id, grace_seconds))

    def remove_container(self, container_id):
        self.asked.append(container_id)

    def containers(self):
        return [CONTAINER]

    def container(self, container_id):
        if container_id != "c1":
            raise ContainerNotFound(f"container {container_id!r} not found")
        return CONTAINER

    def exec(self, container_id, command, *, stdin, tty):
        return Said(silent=command == ["sleep"])

    def image(self, reference):
        return Image(id="sha256:1", tags=("app:1",), size=7, uid=0) if reference in {"app:1", "sha256:1"} else None

    def pull_image(self, image, credentials, sandbox_config):
        self.asked.append((image, credentials.username if credentials else None))
        return self.image("app:1")

    def remove_image(self, image_id):
        self.asked.append(image_id)


@pytest.fixture
def runtime():
    return SmallRuntime()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "cri.sock"


@pytest.fixture
def client(runtime, path):
    server = CriServer(runtime, f"unix://{path}", SystemClock())
    server.start()
    client = CriClient(f"unix://{path}", timeout_seconds=10)
    yield client
    client.close()
    server.close()


def test_the_runtime_is_named(client):
    assert client.call("Version", {}) == {
        "version": "0.1.0", "runtime_name": "small", "runtime_version": "1.2", "runtime_api_version": "v1",
    }  # fmt: skip


def test_conditions_have_the_reason_that_the_runtime_tells(client):
    ready, network = client.call("Status", {})["status"]["conditions"]

    assert ready == {"type": "RuntimeReady", "status": True}
    assert network == {"type": "NetworkReady", "reason": "NotYet", "message": "no network"}


def test_a_pod_is_asked_for_as_it_was_sent(client, runtime):
    pod = {"metadata": {"name": "web"}}
    config = {"metadata": {"name": "app"}, "envs": [{"key": "A", "value": "ä".encode()}, {"key": "B"}]}

    client.call("RunPodSandbox", {"config": pod, "runtime_handler": "gvisor"})
    client.call("CreateContainer", {"pod_sandbox_id": "s1", "config": config, "sandbox_config": pod})

    envs = [{"key": "A", "value": "ä"}, {"key": "B", "value": ""}]
    assert runtime.asked == [(pod, "gvisor"), ("s1", {**config, "envs": envs}, pod)]


def test_a_request_without_what_it_needs_is_refused(client):
    with pytest.raises(RpcFailed, match="code = InvalidArgument desc = config is required"):
        client.call("RunPodSandbox", {})


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["c1"]),
        ({"id": "c"}, ["c1"]),
        ({"id": "x"}, []),
        ({"pod_sandbox_id": "s1"}, ["c1"]),
        ({"pod_sandbox_id": "s2"}, []),
        ({"state": {"state": "CONTAINER_EXITED"}}, ["c1"]),
        ({"state": {"state": "CONTAINER_CREATED"}}, []),
        ({"label_selector": {"app": "web"}}, ["c1"]),
        ({"label_selector": {"app": "db"}}, []),
    ],
)
def test_filters_select_containers(client, wanted, found):
    rows = client.call("ListContainers", {"filter": wanted}).get("containers", [])

    assert [row["id"] for row in rows] == found


@pytest.mark.parametrize(("state", "found"), [("SANDBOX_READY", ["s1"]), ("SANDBOX_NOTREADY", [])])
def test_filters_select_sandboxes(client, state, found):
    rows = client.call("ListPodSandbox", {"filter": {"state": {"state": state}}}).get("items", [])

    assert [row["id"] for row in rows] == found


def test_a_sandbox_has_its_addresses(client):
    status = client.call("PodSandboxStatus", {"pod_sandbox_id": "s1"})["status"]

    assert status["network"] == {"ip": "10.0.0.2", "additional_ips": [{"ip": "fd00::2"}]}
    assert (status["metadata"]["namespace"], status["created_at"]) == ("shop", 2_500_000_000)


def test_a_container_has_times_code_and_mounts(client):
    status = client.call("ContainerStatus", {"container_id": "c1"})["status"]

    assert (status["state"], status["exit_code"], status["reason"]) == ("CONTAINER_EXITED", 3, "Error")
    assert (status["started_at"], status["finished_at"]) == (2 * 10**9, 3 * 10**9)
    assert status["mounts"] == [{"container_path": "/b", "host_path": "/a"}]


def test_what_is_not_there_is_not_found(client):
    for method, request in (("ContainerStatus", {"container_id": "x"}), ("PodSandboxStatus", {"pod_sandbox_id": "x"})):
        with pytest.raises(RpcFailed) as caught:
            client.call(method, request)
        assert caught.value.code == "NOT_FOUND"


def test_a_failure_has_the_runtimes_words(client):
    with pytest.raises(RpcFailed) as caught:
        client.call("StartContainer", {"container_id": "c1"})

    assert (caught.value.code, caught.value.details) == ("UNKNOWN", "no such program")


def test_a_container_is_stopped_before_it_is_removed(client, runtime):
    client.call("RemoveContainer", {"container_id": "c1"})

    assert runtime.asked == [("c1", 0), "c1"]


@pytest.mark.parametrize(
    "method", ["UpdateContainerResources", "ListContainerStats", "RuntimeConfig", "ReopenContainerLog"]
)
def test_what_the_runtime_cannot_do_is_said(client, method):
    with pytest.raises(RpcFailed):
        client.call(method, {})


def test_a_command_is_run_to_its_end(client):
    assert client.call("ExecSync", {"container_id": "c1", "cmd": ["x"]}) == {"stdout": b"said\n", "exit_code": 7}


def test_a_command_has_a_time_limit(runtime):
    service = RuntimeService(runtime, StreamingServer(runtime, FakeClock()), SystemClock())

    with pytest.raises(RpcFailed, match="timed out after") as caught:
        service.exec_sync({"container_id": "c1", "cmd": ["sleep"], "timeout": 0.01})

    assert caught.value.code == "DEADLINE_EXCEEDED"


def test_images_are_told_pulled_and_removed(client, runtime):
    status = client.call_image("ImageStatus", {"image": {"image": "app:1"}})["image"]
    pulled = client.call_image("PullImage", {"image": {"image": "app:1"}, "auth": {"username": "me"}})
    client.call_image("RemoveImage", {"image": {"image": "app:1"}})
    client.call_image("RemoveImage", {"image": {"image": "gone:1"}})

    assert (status["id"], status["size"], status["uid"]) == ("sha256:1", 7, {"value": 0})
    assert pulled == {"image_ref": "sha256:1"}
    assert runtime.asked == [({"image": "app:1"}, "me"), "sha256:1"]
    assert client.call_image("ImageStatus", {"image": {"image": "gone:1"}}) == {}


def test_only_the_owner_may_use_the_socket(client, path):
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_a_socket_in_use_is_left_alone(client, runtime, path):
    with pytest.raises(UsageError, match="another server listens there"):
        CriServer(runtime, f"unix://{path}", SystemClock()).start()


def test_the_socket_of_a_server_that_was_killed_is_replaced(runtime, path):
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    server = CriServer(runtime, f"unix://{path}", SystemClock())
    server.start()
    server.close()

    assert not path.exists()


def test_a_file_that_is_no_socket_is_left_alone(runtime, path):
    path.parent.mkdir()
    path.write_text("mine")

    with pytest.raises(UsageError, match="a file that is no socket"):
        CriServer(runtime, f"unix://{path}", SystemClock()).start()

    assert path.read_text() == "mine"


def test_streams_of_what_is_not_there_are_not_promised(client):
    with pytest.raises(RpcFailed) as caught:
        client.call("Exec", {"container_id": "x", "cmd": ["sh"], "stdout": True})

    assert caught.value.code == "NOT_FOUND"


def ask(url):
    """Ask for an upgrade to WebSocket and return the answer's first line."""
    host, _, path = url.removeprefix("http://").partition("/")
    address, _, port = host.partition(":")
    with socket.create_connection((address, int(port)), timeout=10) as line:
        head = (
            f"GET /{path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n"
        )
        line.sendall(head.encode())
        return line.makefile("rb").readline().decode().strip()


def test_a_url_can_be_used_once(client):
    url = client.call("Exec", {"container_id": "c1", "cmd": ["x"], "stdout": True})["url"]

    assert ask(url).startswith("HTTP/1.1 101")
    assert ask(url).startswith("HTTP/1.1 404")


def test_a_url_is_good_for_a_while_only(runtime):
    clock = FakeClock()
    server = StreamingServer(runtime, clock)
    server.start()
    url = server.attach_url("c1", StreamRequest(stdout=True))
    clock.advance(TOKEN_SECONDS)

    assert ask(url).startswith("HTTP/1.1 404")
    server.close()


def test_no_more_urls_are_promised_than_can_be_kept(runtime):
    server = StreamingServer(runtime, FakeClock())
    for _ in range(MOST_TOKENS):
        server.port_forward_url("s1")

    with pytest.raises(TooManyStreams):
        server.port_forward_url("s1")
