"""The first example of the README, from `apply` to `delete`: a Deployment of three, a Service and a ConfigMap."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from pathlib import Path

import pytest
from local_cluster import curl, eventually, reading


@pytest.fixture
def hello(room, hello_file):
    """The example, rolled out."""
    room.kubectl("apply", "-f", str(hello_file))
    room.kubectl("rollout", "status", "deployment/hello", "--timeout=60s")
    return room


def _pods(room):
    return {
        pod["metadata"]["name"]: pod
        for pod in room.get("pods", selector="app=hello")
        if "deletionTimestamp" not in pod["metadata"]
    }


def _answering(url):
    return {curl(url).out.strip() for _ in range(12)}


def _environment_of_pods(room, name):
    return [
        next((row["value"] for row in pod["spec"]["containers"][0]["env"] if row["name"] == name), None)
        for pod in _pods(room).values()
    ]


def test_get_shows_what_runs_where(hello):
    table = hello.kubectl("get", "all,endpoints,configmaps", "-o", "wide").out

    assert table.count("1/1     Running   0") == 3, table
    assert "3/3     3            3" in table
    assert "deployment.apps/hello" in table
    assert "replicaset.apps/hello-" in table
    assert "8080/TCP" in table
    assert hello.get("service", "hello")["spec"]["clusterIP"] in table
    for pod in _pods(hello).values():
        assert f"{pod['status']['podIP']}:8080" in table or "+ more" in table


def test_the_cluster_ip_reaches_every_pod(hello):
    address = hello.get("service", "hello")["spec"]["clusterIP"]
    names = set(_pods(hello))

    answers = eventually(
        lambda: (found := _answering(f"http://{address}:8080/")) and len(found) == 3 and found, why="three pods answer"
    )

    assert {name for name in names if any(name in answer for answer in answers)} == names


def test_a_node_port_reaches_every_pod(hello):
    hello.kubectl("expose", "deployment", "hello", "--name=outside", "--type=NodePort", "--port=8080")
    port = hello.get("service", "outside")["spec"]["ports"][0]["nodePort"]
    eventually(lambda: curl(f"http://127.0.0.1:{port}/", check=False).code == 0)

    answers = eventually(lambda: len(found := _answering(f"http://127.0.0.1:{port}/")) == 3 and found)

    assert 30000 <= port <= 32767
    assert {name for name in _pods(hello) if any(name in answer for answer in answers)} == set(_pods(hello))


def test_scaling_adds_and_removes_pods_while_a_watch_looks_on(hello):
    with reading(hello.open("get", "pods", "-w", "--output-watch-events")) as watch:
        watch.has("ADDED")
        hello.kubectl("scale", "deployment/hello", "--replicas=5")
        hello.kubectl("rollout", "status", "deployment/hello", "--timeout=60s")
        assert len(_pods(hello)) == 5

        hello.kubectl("scale", "deployment/hello", "--current-replicas=5", "--replicas=1")

        eventually(lambda: len(hello.get("pods")) == 1)
        eventually(lambda: "\n".join(list(watch.lines)).count("DELETED") == 4, why=f"four pods go: {watch.lines}")
    text = "\n".join(watch.lines)
    assert "ContainerCreating" in text or "Pending" in text
    assert "Terminating" in text
    refused = hello.kubectl("scale", "deployment/hello", "--current-replicas=7", "--replicas=2", check=False)
    assert refused.code == 1
    assert "Expected replicas to be 7, was 1" in refused.err


def test_a_changed_template_rolls_out_and_back(hello):
    hello.kubectl("set", "env", "deployment/hello", "GREETING=changed by")
    hello.kubectl("rollout", "status", "deployment/hello", "--timeout=60s")
    assert _environment_of_pods(hello, "GREETING") == ["changed by"] * 3
    history = hello.kubectl("rollout", "history", "deployment/hello").out
    assert [line.split()[0] for line in history.splitlines() if line[:1].isdigit()] == ["1", "2"]

    hello.kubectl("rollout", "undo", "deployment/hello")
    hello.kubectl("rollout", "status", "deployment/hello", "--timeout=60s")

    eventually(lambda: _environment_of_pods(hello, "GREETING") == [None] * 3)
    sets = hello.get("replicasets")
    assert sorted(one["spec"]["replicas"] for one in sets) == [0, 3]


def test_restart_replaces_every_pod(hello):
    before = set(_pods(hello))

    hello.kubectl("rollout", "restart", "deployment/hello")
    hello.kubectl("rollout", "status", "deployment/hello", "--timeout=60s")

    assert not before & set(eventually(lambda: len(now := _pods(hello)) == 3 and now))


def test_describe_tells_the_story(hello):
    name = next(iter(_pods(hello)))

    # Events are written behind the work they tell of: the scheduler's may come a moment after the pod runs.
    pod = eventually(lambda: "Successfully assigned" in (text := hello.kubectl("describe", "pod", name).out) and text)
    deployment = hello.kubectl("describe", "deployment", "hello").out
    service = hello.kubectl("describe", "service", "hello").out

    assert re.search(r"^Status: +Running$", pod, re.MULTILINE)
    assert "Controlled By:  ReplicaSet/hello-" in pod
    assert "Container started" in pod
    assert "3 desired | 3 updated | 3 total | 3 available | 0 unavailable" in deployment
    assert "ScalingReplicaSet" in deployment
    assert "Endpoints:" in service
    assert ":8080" in service


def test_a_killed_process_is_started_again(hello):
    name, pod = next(iter(_pods(hello).items()))
    (pid,) = _pids_of(pod)

    os.kill(pid, signal.SIGKILL)

    def restarted():
        status = _pods(hello)[name]["status"]["containerStatuses"][0]
        return status["restartCount"] == 1 and status["ready"] and status

    status = eventually(restarted)
    assert status["lastState"]["terminated"]["exitCode"] == 137
    assert _pids_of(pod) != [pid]


def _pids_of(pod):
    """Return the process that serves the pod, found by the address in its environment."""
    needle = f"POD_NAME={pod['metadata']['name']}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                variables = (folder / "environ").read_bytes().split(b"\0")
                if needle in variables and b"http.server" in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
    return found


def test_delete_takes_everything_away(hello, hello_file):
    pids = [pid for pod in _pods(hello).values() for pid in _pids_of(pod)]
    assert len(pids) == 3

    hello.kubectl("delete", "-f", str(hello_file), "--timeout=60s")

    eventually(lambda: not hello.get("pods,replicasets,endpoints,endpointslices"))
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
