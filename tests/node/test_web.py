"""A Deployment of web servers in containers, and what kubectl does with its pods."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from kubectl_streams import flowing, typed

from hyperkube.testing.waiting import eventually


@pytest.fixture(scope="module")
def web(cluster):
    """The Deployment, ready; the names of its pods."""
    cluster.kubectl("rollout", "status", "deployment/web", "--timeout=90s")
    return cluster.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.name}").stdout.split()


def http_get(place, address, port=80):
    done = place.run("curl", "-sS", "--max-time", "5", f"http://{address}:{port}/", check=False, env={"no_proxy": "*"})
    return done.stdout


def test_the_pods_answer_at_their_addresses(cluster, node, web):
    for name in web:
        pod = cluster.get("pod", name)
        assert ip_address(pod["status"]["podIP"]) in ip_network(node.pod_ranges[0])
        assert http_get(cluster.lab.place("client"), pod["status"]["podIP"]) == f"hello from {name}\n"


def test_the_service_answers_in_a_pod(cluster, web):
    address = cluster.get("service", "web")["spec"]["clusterIP"]
    ask = ("exec", web[0], "--", "sh", "-c", f"printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc {address} 80")

    answer = eventually(lambda: "hello from" in (said := cluster.kubectl(*ask, check=False).stdout) and said)

    assert answer.strip().rpartition("hello from ")[2] in web


def test_the_node_names_its_runtime(cluster, node):
    info = cluster.get("node", "node-1")["status"]["nodeInfo"]

    assert info["containerRuntimeVersion"].startswith("containerd://1.")


def test_logs_follow(cluster):
    cluster.kubectl("wait", "--for=condition=Ready", "pod/counter", "--timeout=60s")

    with flowing(cluster, "logs", "-f", "counter") as logs:
        logs.has("line 0")
        count = len(logs.lines)
        logs.has(f"line {count + 5}")

    numbers = [int(line.split()[1]) for line in logs.lines]
    assert numbers == list(range(len(numbers)))


def test_exec_carries_input_output_and_exit_code(cluster, web):
    done = cluster.kubectl(
        "exec", "-i", web[0], "--", "sh", "-c", "cat; echo err >&2; exit 7", stdin="hello\n", check=False
    )

    assert (done.stdout, done.stderr, done.returncode) == ("hello\n", "err\ncommand terminated with exit code 7\n", 7)


def test_exec_on_a_terminal(cluster, web):
    screen, code = typed(cluster, "exec", "-it", web[0], "--", "sh", keys="tty; hostname; exit 3\n")

    assert "/dev/pts/0" in screen
    assert web[0] in screen
    assert code == 3


def test_attach_talks_to_the_first_process(cluster):
    cluster.kubectl("wait", "--for=condition=Ready", "pod/listener", "--timeout=60s")

    with flowing(cluster, "attach", "-i", "listener") as attached:
        attached.say("a word")
        attached.has("heard a word")

    assert "heard a word" in cluster.kubectl("logs", "listener").stdout


def test_port_forward_reaches_the_container(cluster, web):
    with flowing(cluster, "port-forward", f"pod/{web[0]}", "18080:80") as forward:
        forward.has("Forwarding from 127.0.0.1:18080")
        assert http_get(cluster.master, "127.0.0.1", 18080) == f"hello from {web[0]}\n"


def test_debug_adds_a_container_that_sees_the_others_processes(cluster, web):
    with flowing(
        cluster, "debug", web[0], "--image=busybox:lab", "--target=httpd", "-c", "debugger", "--",
        "sh", "-c", "ps | grep '[h]ttpd -f' && echo seen; sleep 1000",
    ):  # fmt: skip
        eventually(lambda: "seen" in cluster.kubectl("logs", web[0], "-c", "debugger", check=False).stdout)

    def states():
        statuses = cluster.get("pod", web[0])["status"]["ephemeralContainerStatuses"]
        return [(status["name"], *status["state"]) for status in statuses]

    eventually(
        lambda: states() == [("debugger", "running")], 60
    )  # what it says is there before the kubelet tells of it


def test_a_failing_liveness_probe_restarts_the_container(cluster):
    def restarted():
        (status,) = cluster.get("pod", "unhealthy")["status"].get("containerStatuses", [{}])
        return status.get("restartCount", 0) > 0 and status

    status = eventually(restarted, 60)

    assert status["lastState"]["terminated"]["exitCode"] == 137
    assert (
        "Liveness probe failed"
        in cluster.kubectl("get", "events", "--field-selector=involvedObject.name=unhealthy").stdout
    )


def test_copies_go_in_and_out(cluster, web):
    cluster.master.write("/run/copied/there/file", "there and back")

    cluster.kubectl("cp", "/run/copied/there", f"{web[0]}:/tmp/in")
    cluster.kubectl("cp", f"{web[0]}:/tmp/in/file", "/run/copied/back")

    assert cluster.master.read("/run/copied/back") == "there and back"
