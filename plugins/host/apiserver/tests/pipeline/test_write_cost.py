"""What a write, and a read from memory, cost in calls of Python functions: the same count on every machine and under any load.

A budget is what was counted plus a tenth, with all plugins that are on by default. Who makes writes cheaper lowers it; who
raises it says in the commit why.
"""

import json
import sys
from itertools import count

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.protobuf import Protobuf
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.serving.known_heads import Head

from hyperkube.machinery.schema import compile_schema
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

BASE = "/api/v1/namespaces/default"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
POD = {
    "automountServiceAccountToken": False,
    "containers": [
        {
            "name": "app",
            "image": "registry.example/app:1.2.3",
            "ports": [{"name": "http", "containerPort": 8080}],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
            "volumeMounts": [{"name": "cfg", "mountPath": "/etc/app"}],
        }
    ],
    "volumes": [{"name": "cfg", "configMap": {"name": "app-config"}}],
}
LABELS = {"app": "bench", "tier": "backend"}
NODE_STATUS = {
    "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
    "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
    "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
    "images": [{"names": [f"registry.example/app:{number}"], "sizeBytes": 1 << 20} for number in range(20)],
}
MERGE, PROTOBUF = "application/merge-patch+json", "application/vnd.kubernetes.protobuf"
STRATEGIC = "application/strategic-merge-patch+json"
WARM = 140
"""Requests after which what is remembered of the first ones is there, templates too, and messages are read by straight
code."""

MEASURED = 5

TIME = "2026-01-01T00:00:00.000000Z"
READER = {"authorization": "Bearer sesame", "accept": "application/json", "host": "server"}
BINARY_READER = {**READER, "accept": f"{PROTOBUF}, */*"}
GET = HttpRequest(method="GET", path=f"{BASE}/pods/one", headers=READER, head=Head(READER, gzip=False))
BINARY_GET = HttpRequest(
    method="GET", path=f"{BASE}/pods/one", headers=BINARY_READER, head=Head(BINARY_READER, gzip=False)
)
_numbers = count(1)
codec = Protobuf()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    tokens = tmp_path_factory.mktemp("cost") / "tokens.csv"
    tokens.write_text("sesame,admin,1,system:masters\n")
    options = {"storage-backend": "memory", "authorization-mode": ["RBAC"], "token-auth-file": str(tokens)}
    server = ApiServer(options=options)
    server.start()
    eventually(server.ready, why="the first writes would meet informers that are not filled yet")
    send(server, request("POST", f"{BASE}/serviceaccounts", {"metadata": {"name": "default"}}))
    send(server, request("POST", f"{BASE}/pods", {"metadata": {"name": "one", "labels": LABELS}, "spec": POD}))
    server.handler.handle(GET)
    send(server, request("POST", "/api/v1/nodes", {"metadata": {"name": "one"}, "status": NODE_STATUS}))
    lease = {
        "metadata": {"name": "one"},
        "spec": {"holderIdentity": "one", "leaseDurationSeconds": 40, "renewTime": TIME},
    }
    send(server, request("POST", LEASES, lease))
    server.handler.handle(request("GET", LEASES, None))  # their watch cache is loaded
    yield server
    server.close()


def request(method, path, body, media="application/json", accept="application/json"):
    headers = {"authorization": "Bearer sesame", "content-type": media, "accept": accept, "host": "server"}
    content = message(body) if media == PROTOBUF else json.dumps(body).encode()
    return HttpRequest(method=method, path=path, headers=headers, body=content)


def message(obj):
    version = obj.get("apiVersion", "v1")
    group = version.partition(".")[0] if "/" in version else "core"
    schema = compile_schema(f"hyperkube_api.{group}.v1:{obj['kind']}")
    return codec.encode({**schema.decode(json.loads(json.dumps(obj)))[0], "apiVersion": version}, schema)


def send(server, asked):
    """Send a request the way it would come; header lines of a read are known, as those of a client's second one are."""
    answer = server.handler.hot(asked) if asked.head is not None else server.handler.handle(asked)
    assert answer.status in {200, 201}, answer.body


def create_config_map(_server, *formats):
    meta = {"name": f"c{next(_numbers)}", "labels": {"app": "bench"}}
    obj = {"kind": "ConfigMap", "metadata": meta, "data": {"payload": "x" * 1024}}
    return request("POST", f"{BASE}/configmaps", obj, *formats)


def create_pod(_server, *formats):
    meta = {"name": f"p{next(_numbers)}", "labels": LABELS}
    return request("POST", f"{BASE}/pods", {"kind": "Pod", "metadata": meta, "spec": POD}, *formats)


def patch_label(_server):
    return request("PATCH", f"{BASE}/pods/one", {"metadata": {"labels": {"rev": f"r{next(_numbers)}"}}}, MERGE)


def put_status(_server, *formats):
    ready = {"type": "Ready", "status": "True", "message": f"m{next(_numbers)}"}
    pod = {"kind": "Pod", "metadata": {"name": "one"}, "status": {"phase": "Running", "conditions": [ready]}}
    return request("PUT", f"{BASE}/pods/one/status", pod, *formats)


def conditions(*kinds, **members):
    return [{"type": kind, "status": "True", "lastTransitionTime": TIME, **members} for kind in kinds]


def patch_pod_status(_server):
    """Return what a kubelet sends of a pod whose containers run."""
    number = next(_numbers)
    container = {
        "name": "app",
        "image": "registry.example/app:1.2.3",
        "imageID": f"registry.example/app@{number}",
        "containerID": f"containerd://{number}",
        "ready": True,
        "restartCount": 0,
        "started": True,
        "state": {"running": {"startedAt": f"2026-01-01T00:00:{number % 60:02}Z"}},
    }
    status = {
        "phase": "Running",
        "hostIP": "10.0.0.1",
        "podIP": "10.1.0.1",
        "podIPs": [{"ip": "10.1.0.1"}],
        "conditions": conditions("Initialized", "Ready", "ContainersReady", "PodScheduled", message=f"m{number}"),
        "containerStatuses": [container],
    }
    return request("PATCH", f"{BASE}/pods/one/status", {"status": status}, STRATEGIC)


def patch_node_status(_server):
    """Return what a kubelet sends of its node when nothing but time has passed."""
    kinds = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    beat = f"2026-01-01T00:00:{next(_numbers) % 60:02}Z"
    status = {"conditions": conditions(*kinds, lastHeartbeatTime=beat, reason="r", message="m")}
    return request("PATCH", "/api/v1/nodes/one/status", {"status": status}, STRATEGIC)


def renewal(server, *formats):
    """Return the PUT of a lease as it was answered last, but for its time."""
    lease = json.loads(server.handler.handle(request("GET", f"{LEASES}/one", None)).body)
    lease["spec"]["renewTime"] = f"2026-01-01T00:00:00.{next(_numbers):06}Z"
    return request("PUT", f"{LEASES}/one", lease, *formats)


def delete_pod(server):
    """Return the deletion of a pod that runs: with its grace period, which a kubelet keeps."""
    return request("DELETE", bound_pod(server), {"kind": "DeleteOptions", "apiVersion": "v1"})


def delete_pod_for_good(server):
    """Return what a kubelet sends when the containers have ended."""
    path = bound_pod(server)
    send(server, request("DELETE", path, {}))
    return request("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})


def bound_pod(server):
    made = create_pod(server)
    send(server, made)
    name = json.loads(made.body)["metadata"]["name"]
    binding = {"kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": "one"}}
    send(server, request("POST", f"{BASE}/pods/{name}/binding", binding))
    return f"{BASE}/pods/{name}"


def in_protobuf(write):
    """Return a write whose body and answer are messages: they cost a few calls more than JSON."""
    return lambda server: write(server, PROTOBUF, f"{PROTOBUF}, */*")


def calls_of(make, server):
    """Return how many functions a request calls: the fewest of some, one of which may have to wait or to tidy up."""
    for _ in range(WARM):
        send(server, make(server))
    return min(counted(make(server), server) for _ in range(MEASURED))


def counted(asked, server):
    calls = 0

    def count_call(_frame, event, _argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count_call)
    try:
        send(server, asked)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    ("make", "budget"),
    [
        pytest.param(create_config_map, 251, id="create a ConfigMap"),
        pytest.param(create_pod, 287, id="create a pod"),
        pytest.param(patch_label, 406, id="patch a label"),
        pytest.param(put_status, 403, id="put a status"),
        pytest.param(patch_pod_status, 525, id="patch a pod's status"),
        pytest.param(patch_node_status, 444, id="patch a node's status"),
        pytest.param(delete_pod, 329, id="delete a pod"),
        pytest.param(delete_pod_for_good, 392, id="delete a pod for good"),
        pytest.param(in_protobuf(create_config_map), 216, id="create a ConfigMap in protobuf"),
        pytest.param(in_protobuf(create_pod), 287, id="create a pod in protobuf"),
        pytest.param(in_protobuf(put_status), 409, id="put a status in protobuf"),
        pytest.param(renewal, 241, id="renew a lease"),
        pytest.param(in_protobuf(renewal), 274, id="renew a lease in protobuf"),
        pytest.param(lambda _server: GET, 19, id="get a pod"),
        pytest.param(lambda _server: BINARY_GET, 24, id="get a pod in protobuf"),
    ],
)
def test_a_request_calls_no_more_functions_than_its_budget(server, make, budget):
    assert calls_of(make, server) <= budget
