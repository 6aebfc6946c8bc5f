"""Whether the node takes a pod in."""

import pytest
from hyperkube_host.kubelet.lifecycle.predicate import PodAdmission

NODE = {
    "metadata": {"name": "n1", "labels": {"zone": "a"}},
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


def named(operator, *names):
    term = {"matchFields": [{"key": "metadata.name", "operator": operator, "values": [*names]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def port(number=8080, ip=""):
    return [{"name": "c", "ports": [{"containerPort": 80, "hostPort": number, "hostIP": ip}]}]


@pytest.mark.parametrize(
    ("spec", "reason", "text"),
    [
        ({"nodeSelector": {"zone": "b"}}, "NodeAffinity", "node(s) didn't match Pod's node affinity/selector"),
        ({"affinity": named("NotIn", "n1")}, "NodeAffinity", "node(s) didn't match Pod's node affinity/selector"),
        ({"nodeName": "n2"}, "NodeName", "node(s) didn't match the requested node name"),
        ({"containers": port()}, "NodePorts", "node(s) didn't have free ports for the requested pod ports"),
        ({"tolerations": []}, "TaintToleration", "node(s) had taints that the pod didn't tolerate"),
    ],
)
def test_a_pod_that_does_not_belong_here_is_refused(spec, reason, text):
    taints = [{"key": "gone", "effect": "NoExecute"}, {"key": "new", "effect": "NoSchedule"}]
    node = {**NODE, "spec": {"taints": taints}}
    other = {"metadata": {"uid": "o"}, "spec": {"containers": port()}}
    candidate = pod(**{"tolerations": [{"key": "gone", "operator": "Exists"}]} | spec)

    assert PodAdmission(lambda: node, lambda: [other]).check(candidate) == (
        reason,
        f"Predicate {reason} failed: {text}",
    )


def test_a_static_pod_runs_despite_taints():
    node = {**NODE, "spec": {"taints": [{"key": "gone", "effect": "NoExecute"}]}}
    static = pod()
    static["metadata"]["annotations"] = {"kubernetes.io/config.source": "file"}

    assert PodAdmission(lambda: node, list).check(static) is None


def test_ports_of_different_addresses_do_not_collide():
    assert (
        check(pod(containers=port(ip="10.0.0.1")), {"metadata": {}, "spec": {"containers": port(ip="10.0.0.2")}})
        is None
    )


@pytest.mark.parametrize(
    ("spec", "requested"),
    [
        ({"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "3"}}}]}, 3000),
        ({"initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": "1500m"}}}]}, 2500),
        ({"overhead": {"cpu": "1100m"}}, 2100),
        ({"resources": {"requests": {"cpu": "4"}}}, 4000),
    ],
    ids=["init container", "sidecar", "overhead", "the pod as a whole"],
)
def test_all_that_a_pod_asks_for_counts(spec, requested):
    assert check(pod(**spec)) == (
        "OutOfcpu", f"Node didn't have enough resource: cpu, requested: {requested}, used: 0, capacity: 2000",
    )  # fmt: skip


def test_an_extended_resource_that_the_node_does_not_count_is_none_of_its_business():
    asking = [{"name": "c", "resources": {"requests": {"example.com/licence": "1"}}}]

    assert check(pod(containers=asking)) is None
