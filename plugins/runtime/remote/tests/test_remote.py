# ruff: noqa: N802 - methods are named as CRI names its calls
"""The remote runtime against a small CRI server."""

import logging
import threading

import pytest
from hyperkube_lib.cri import IMAGE_SERVICE, RUNTIME_SERVICE, cri_schema
from hyperkube_lib.grpc_messages import GrpcServer, RpcFailed
from hyperkube_runtime.remote import Remote

from hyperkube.hookspecs.runtime import (
    ContainerNotFound,
    ContainerState,
    ExecResult,
    RegistryCredentials,
    RuntimeFailed,
    RuntimeStatus,
)
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext

UID_LABEL = {"io.kubernetes.pod.uid": "u"}
POD = {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "log_directory": "/logs", "labels": UID_LABEL}
CONTAINER = {
    "metadata": {"name": "c", "attempt": 2},
    "image": {"image": "sha256:1", "user_specified_image": "app:1"},
    "envs": [{"key": "A", "value": "ä"}],
    "labels": UID_LABEL,
}
IMAGE = {"id": "sha256:1", "repo_tags": ["app:1"], "size": 7, "uid": {"value": 0}}


class SmallRuntime:
    """Answers with one pod of one container; notes what it was asked."""

    def __init__(self):
        self.asked = {}
        self.version = "v1"
        self.gone = False
        self.empty = ""
        self.hook = lambda name: None

    def handlers(self, service):
        methods = cri_schema().service(service).methods
        return {name: self.noted(name) for name in methods if hasattr(self, name) or name in CALLS}

    def noted(self, name):
        def handle(request):
            self.asked[name] = request
            self.hook(name)
            if name == self.empty:
                return {}
            if not hasattr(self, name):
                raise RpcFailed("UNIMPLEMENTED", f"{name} is not implemented")
            return getattr(self, name)(request)

        return handle

    def Version(self, _):
        return {"runtime_name": "small", "runtime_version": "3.2", "runtime_api_version": self.version}

    def Status(self, _):
        down = {"type": "NetworkReady", "reason": "NotYet", "message": "no network"}
        return {"status": {"conditions": [{"type": "RuntimeReady", "status": True}, down]}}

    def RunPodSandbox(self, _):
        return {"pod_sandbox_id": "s"}

    def ListPodSandbox(self, request):
        other = {"id": "x", "metadata": {"name": "not-of-a-pod"}}
        ours = {"id": "s", "metadata": POD["metadata"], "labels": UID_LABEL, "created_at": 10**9}
        return {"items": [ours] if "filter" in request else [ours, other]}

    def PodSandboxStatus(self, _):
        network = {"ip": "10.0.0.2", "additional_ips": [{"ip": "fd00::2"}]}
        return {"status": {"id": "s", "metadata": POD["metadata"], "network": network, "labels": UID_LABEL}}

    def CreateContainer(self, _):
        return {"container_id": "c1"}

    def ListContainers(self, _):
        listed = {"id": "c1", "pod_sandbox_id": "s", "state": "CONTAINER_EXITED", "labels": UID_LABEL}
        return {"containers": [{**listed, "metadata": CONTAINER["metadata"], "image": CONTAINER["image"]}]}

    def ContainerStatus(self, _):
        if self.gone:
            raise RpcFailed("NOT_FOUND", "no such container")
        times = {"created_at": 10**9, "started_at": 2 * 10**9, "finished_at": 3 * 10**9}
        status = {"id": "c1", "metadata": CONTAINER["metadata"], "state": "CONTAINER_EXITED", **times}
        return {"status": {**status, "exit_code": 3, "reason": "Error", "image": {"image": "app:1"}}}

    def StopContainer(self, _):
        raise RpcFailed("NOT_FOUND", "no such container")

    def StartContainer(self, _):
        raise RpcFailed("UNKNOWN", "exec: not found")

    def ExecSync(self, request):
        if request["cmd"] == ["sleep"]:
            raise RpcFailed("DEADLINE_EXCEEDED", "too long")
        return {"stdout": b"out", "stderr": b"err", "exit_code": 1}

    def GetContainerEvents(self, _):
        yield {"container_id": "c1", "pod_sandbox_status": {"id": "s", "metadata": POD["metadata"]}}

    def Exec(self, _):
        return {"url": "http://127.0.0.1:1/exec/token"}

    def ImageStatus(self, request):
        return {"image": IMAGE} if request["image"]["image"] in {"app:1", "sha256:1"} else {}

    def PullImage(self, request):
        if request["image"]["image"] == "away:1":
            raise RpcFailed("UNKNOWN", "RegistryUnavailable: nobody home")
        return {"image_ref": "registry/app@sha256:1"}


@pytest.fixture
def small(tmp_path):
    small = SmallRuntime()
    server = GrpcServer()
    for service in (RUNTIME_SERVICE, IMAGE_SERVICE):
        server.add_service(cri_schema().service(service), small.handlers(service))
    server.listen(str(tmp_path / "cri.sock"))
    server.start()
    yield small
    server.stop()


def build(tmp_path, timeout=5.0):
    """Connect to the small runtime with some time for that; each later call may take `timeout` seconds."""
    settings = {"container_runtime_endpoint": f"unix://{tmp_path}/cri.sock", "runtime_request_timeout": 5.0}
    runtime = Remote(PluginContext(name="remote", settings=settings, logger=logging.getLogger("test"))).runtime_build()
    runtime._client._timeout = timeout
    return runtime


@pytest.fixture
def runtime(small, tmp_path):
    runtime = build(tmp_path)
    yield runtime
    runtime.close()


def test_the_runtime_is_named_as_it_says(runtime):
    assert (runtime.name, runtime.version()) == ("small", "3.2")


def test_another_version_of_cri_is_refused(small, tmp_path):
    small.version = "v1alpha2"

    with pytest.raises(UsageError, match=r"serves CRI 'v1alpha2', not \"v1\""):
        build(tmp_path)


def test_a_socket_without_a_runtime_is_said_at_the_start(tmp_path):
    with pytest.raises(UsageError, match="validate CRI v1 runtime API for endpoint"):
        build(tmp_path)


def test_conditions_that_do_not_hold_are_problems(runtime):
    problem = "NetworkReady=false reason:NotYet message:no network"

    assert runtime.status() == RuntimeStatus(network_problem=problem)


def test_settings_of_a_runtime_that_tells_none_are_empty(runtime):
    assert runtime.runtime_config() == {}


def test_a_pod_is_asked_for_as_it_was_decided(runtime, small):
    sandbox = runtime.run_sandbox(POD, "gvisor")
    container = runtime.create_container(sandbox, CONTAINER, POD)

    assert (sandbox, container) == ("s", "c1")
    assert small.asked["RunPodSandbox"] == {"config": POD, "runtime_handler": "gvisor"}
    assert small.asked["CreateContainer"]["config"] == CONTAINER | {"envs": [{"key": "A", "value": "ä".encode()}]}


def test_lists_hold_what_belongs_to_pods(runtime):
    assert [(found.id, found.ready, found.uid, found.ips) for found in runtime.sandboxes()] == [("s", True, "u", ())]
    (found,) = runtime.containers()
    assert (found.name, found.attempt, found.state, found.image) == ("c", 2, ContainerState.EXITED, "app:1")


def test_a_pod_has_addresses_times_and_exit_codes(runtime):
    (sandbox,), (container,) = runtime.pod("u")

    assert sandbox.ips == ("10.0.0.2", "fd00::2")
    assert (container.exit_code, container.started_at, container.finished_at) == (3, 2.0, 3.0)
    assert container.sandbox_id == "s"


def test_what_goes_away_between_list_and_status_is_left_out(runtime, small):
    small.gone = True

    _, containers = runtime.pod("u")

    assert containers == []
    with pytest.raises(ContainerNotFound):
        runtime.container("c1")


def test_stopping_what_is_gone_is_no_failure(runtime):
    runtime.stop_container("c1", 1)


def test_failures_have_the_texts_that_kubernetes_shows(runtime):
    with pytest.raises(RuntimeFailed, match=r"^exec: not found$"):
        runtime.start_container("c1")
    with pytest.raises(RuntimeFailed, match=r"^rpc error: code = Unimplemented desc = "):
        runtime.reopen_log("c1")


def test_a_command_is_run_to_its_end_or_to_its_limit(runtime):
    assert runtime.exec_sync("c1", ["ls"], 3) == ExecResult(b"out", b"err", 1)
    with pytest.raises(TimeoutError):
        runtime.exec_sync("c1", ["sleep"], 3)


def test_events_tell_of_their_pods(runtime):
    told = []

    runtime.container_events(told.append)

    assert told == ["u"]


def test_streams_have_a_url(runtime, small):
    url = runtime.exec_url("c1", ["sh"], stdin=True, stdout=True, stderr=False, tty=True)

    assert url == "http://127.0.0.1:1/exec/token"
    assert small.asked["Exec"] == {"container_id": "c1", "cmd": ["sh"], "tty": True, "stdin": True, "stdout": True}


def test_a_pulled_image_is_known_by_the_reference_of_its_pull(runtime, small):
    credentials = RegistryCredentials(username="me", password="secret")

    image = runtime.pull_image({"image": "app:1"}, credentials, POD)

    assert (image.id, image.size, image.uid) == ("registry/app@sha256:1", 7, 0)
    assert small.asked["PullImage"]["auth"] == {"username": "me", "password": "secret"}
    assert runtime.image("other:1") is None


def test_a_failed_pull_keeps_the_runtimes_reason(runtime):
    with pytest.raises(RuntimeFailed) as caught:
        runtime.pull_image({"image": "away:1"}, None, POD)

    assert caught.value.reason == "RegistryUnavailable"


CALLS = {
    "RunPodSandbox": lambda runtime: runtime.run_sandbox(POD, ""),
    "CreateContainer": lambda runtime: runtime.create_container("s", CONTAINER, POD),
    "StartContainer": lambda runtime: runtime.start_container("c1"),
    "StopContainer": lambda runtime: runtime.stop_container("c1", 0.0),
    "RemoveContainer": lambda runtime: runtime.remove_container("c1"),
    "StopPodSandbox": lambda runtime: runtime.stop_sandbox("s"),
    "RemovePodSandbox": lambda runtime: runtime.remove_sandbox("s"),
    "ListPodSandbox": lambda runtime: runtime.sandboxes(),
    "ListContainers": lambda runtime: runtime.containers(),
    "PodSandboxStatus": lambda runtime: runtime.pod("u"),
    "ContainerStatus": lambda runtime: runtime.container("c1"),
    "RuntimeConfig": lambda runtime: runtime.runtime_config(),
    "UpdateContainerResources": lambda runtime: runtime.update_container_resources("c1", {}),
    "ReopenContainerLog": lambda runtime: runtime.reopen_log("c1"),
    "ListContainerStats": lambda runtime: runtime.container_stats(),
    "ListPodSandboxStats": lambda runtime: runtime.sandbox_stats(),
    "CheckpointContainer": lambda runtime: runtime.checkpoint_container("c1", "/tmp/c", 0.1),
    "Exec": lambda runtime: runtime.exec_url("c1", ["sh"], stdin=False, stdout=True, stderr=True, tty=False),
    "Attach": lambda runtime: runtime.attach_url("c1", stdin=False, stdout=True, stderr=True, tty=False),
    "PortForward": lambda runtime: runtime.port_forward_url("s", [80]),
    "ListImages": lambda runtime: runtime.images(),
    "ImageStatus": lambda runtime: runtime.image("app:1"),
    "RemoveImage": lambda runtime: runtime.remove_image("app:1"),
    "ImageFsInfo": lambda runtime: runtime.image_fs_info(),
}
ANSWERS_NOTHING = (
    "RunPodSandbox",
    "CreateContainer",
    "PodSandboxStatus",
    "ContainerStatus",
    "Exec",
    "Attach",
    "PortForward",
)


@pytest.mark.parametrize("method", sorted(CALLS))
def test_no_call_waits_for_a_runtime_that_hangs(small, tmp_path, method):
    over = threading.Event()
    runtime = build(tmp_path, timeout=0.15)
    small.hook = lambda name: name == method and over.wait(30)

    try:
        with pytest.raises(RuntimeFailed, match=r"(?i)deadline *exceeded"):
            CALLS[method](runtime)
    finally:
        over.set()
        runtime.close()


def test_a_runtime_that_does_not_tell_its_status_has_a_problem(small, tmp_path):
    over = threading.Event()
    runtime = build(tmp_path, timeout=0.15)
    small.hook = lambda name: name == "Status" and over.wait(30)

    assert "Deadline" in runtime.status().runtime_problem
    over.set()
    runtime.close()


@pytest.mark.parametrize("method", ANSWERS_NOTHING)
def test_an_answer_without_what_it_is_for_is_a_failure(small, runtime, method):
    small.empty = method

    with pytest.raises(RuntimeFailed, match="is not set for"):
        CALLS[method](runtime)


def test_a_pull_that_names_no_image_is_a_failure(small, runtime):
    small.empty = "PullImage"

    with pytest.raises(RuntimeFailed, match="ImageRef is not set for image 'app:1'"):
        runtime.pull_image({"image": "app:1"}, None, POD)
