"""Whether the node takes a pod in."""

import pytest
from hyperkube_host.kubelet.lifecycle.predicate import PodAdmission, requests_of

NODE = {
    "metadata": {"labels": {"zone": "a"}},
    "status": {"allocatable": {"cpu": "2", "memory": "1Gi", "pods": "2"}},
}


def pod(uid="u", cpu="1", **spec):
    resources = {"requests": {"cpu": cpu}}
    return {"metadata": {"uid": uid}, "spec": {"containers": [{"name": "c", "resources": resources}], **spec}}


def check(candidate, *others):
    return PodAdmission(lambda: NODE, lambda: others).check(candidate)


def test_what_fits_is_admitted():
    assert check(pod(nodeSelector={"zone": "a"}), pod("other")) is None


def test_too_much_cpu_is_refused_with_the_numbers():
    assert check(pod(cpu="1500m"), pod("other")) == (
        "OutOfcpu", "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
    )  # fmt: skip


def test_too_many_pods_are_refused():
    refusal = check(pod(cpu="0"), pod("a", "0"), pod("b", "0"))

    assert refusal == ("OutOfpods", "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2")


def test_another_nodes_pod_is_refused():
    assert check(pod(nodeSelector={"zone": "b"}))[0] == "NodeAffinity"


def test_a_taken_host_port_is_refused():
    ports = [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 8080}]}]

    assert (
        check(
            pod("u", containers=ports) | {"spec": {"containers": ports}},
            {"metadata": {"uid": "o"}, "spec": {"containers": ports}},
        )[0]
        == "NodePorts"
    )


@pytest.mark.parametrize(
    ("init", "wanted"),
    [
        ([], 1000),
        ([{"name": "i", "resources": {"requests": {"cpu": "3"}}}], 3000),
        ([{"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}}], 1500),
    ],
    ids=["none", "init", "sidecar"],
)
def test_init_containers_count(init, wanted):
    assert requests_of(pod(initContainers=init))["cpu"] == wanted
