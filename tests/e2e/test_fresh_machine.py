"""A cluster on a machine that has just started, with a clean ``/dev``, for root and for an ordinary user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from local_cluster import LocalCluster, Room, eventually, pod

FRESH = Path(__file__).parents[2] / "plugins/runtime/process/tests/fresh_machine.py"
IN_CLUSTER = """python3 -c '
import os, ssl, urllib.request
trusted = ssl.create_default_context(cafile="/var/run/secrets/kubernetes.io/serviceaccount/ca.crt")
address = "https://" + os.environ["KUBERNETES_SERVICE_HOST"] + ":" + os.environ["KUBERNETES_SERVICE_PORT"]
print(urllib.request.urlopen(address + "/version", context=trusted).status)
'"""
WEB = "exec python3 -m http.server 8080 --bind $POD_IP --directory /nosuchtop/empty"
ASK = """
for try in $(seq 100); do
    code=$(curl -s -o /dev/null -w '%{http_code}' http://$WEB_SERVICE_HOST:$WEB_SERVICE_PORT/)
    [ $code = 200 ] && break
    sleep 0.2
done
echo $code"""


@pytest.fixture(scope="module", params=[pytest.param(0, id="root"), pytest.param(65534, id="user")])
def room(request, scratch):
    """The default namespace of a cluster that this user has started on a fresh machine."""
    if os.geteuid() != 0:
        pytest.skip("a clean /dev needs root")
    root = scratch / f"fresh-{request.param}"
    root.mkdir()
    os.chown(root, request.param, request.param)
    # Told by the name that the interpreter has for everybody: one that a wrapper finds may lie in a home folder.
    through = (sys.executable, str(FRESH), str(root), str(request.param))
    with LocalCluster(root / "data", through=through).running() as cluster:
        yield Room(cluster, "default")


def output_of(room, name):
    eventually(lambda: room.get("pod", name)["status"]["phase"] in {"Succeeded", "Failed"})
    return room.kubectl("logs", name).out.strip()


@pytest.mark.parametrize("number", [1, 2])
def test_a_terminal_works_at_every_start(room, number):
    name = f"terminal-{number}"

    shown = room.kubectl(
        "run", "-it", name, "--image=host", "--restart=Never", "--command", "--", "sh", "-c", "sleep 1; tty; test -t 0"
    ).out  # fmt: skip

    assert "/dev/pts/0" in shown
    assert room.get("pod", name)["status"]["phase"] == "Succeeded"


@pytest.mark.parametrize("number", [1, 2, 3])
def test_piped_input_ends_and_nothing_is_discarded(room, number):
    answer = room.kubectl(
        "run", "-i", f"cat-{number}", "--image=host", "--restart=Never", "--command", "--", "cat", input="hi\n"
    )

    assert answer.out == "hi\n"
    assert "Unknown stream" not in answer.err


def test_a_pod_reaches_the_api_by_its_variables(room):
    room.apply(pod("inside", IN_CLUSTER, restartPolicy="Never"))

    assert output_of(room, "inside").splitlines()[-1:] == ["200"]  # else the error itself
    told = room.get("service", "kubernetes")["spec"]["ports"][0]["port"]
    room.apply(pod("told", "echo $KUBERNETES_SERVICE_PORT", restartPolicy="Never"))
    assert output_of(room, "told") == str(told)


def test_a_service_port_below_1024_is_served(room):
    empty = {
        "volumes": [{"name": "empty", "emptyDir": {}}],
        "containers": [
            {
                "name": "main",
                "image": "host",
                "command": ["sh", "-c", WEB],
                "volumeMounts": [{"name": "empty", "mountPath": "/nosuchtop/empty"}],
            }
        ],
    }
    room.apply(pod("web", "", **empty))
    room.kubectl("expose", "pod", "web", "--port=80", "--target-port=8080")
    room.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s")

    room.apply(pod("ask", ASK, restartPolicy="Never"))

    assert output_of(room, "ask") == "200"
    assert not Path("/nosuchtop").exists()


def test_objects_on_which_nothing_acts_are_warned_of(room):
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "closed"},
        "spec": {"podSelector": {}},
    }

    answer = room.apply(policy)

    assert "Warning: no controller for networkpolicies is installed: nothing will act on this object" in answer.err
