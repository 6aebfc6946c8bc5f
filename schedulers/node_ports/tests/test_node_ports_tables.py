"""Which host ports collide, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/nodeports/node_ports_test.go``.
"""

import pytest
from hyperkube_scheduler.node_ports import REASON, NodePorts
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

from hyperkube.kinds.pods import host_ports, host_ports_conflict


def pod(*ports, on="", group="containers", **more):
    """Return a pod whose container takes these ports, each as ``TCP/127.0.0.1/80``."""
    rows = []
    for protocol, address, port in (each.split("/") for each in ports):
        rows.append({"protocol": protocol, "hostIP": address, "hostPort": int(port), "containerPort": int(port)})
    spec = {"containers": [{"name": "c"}], "nodeName": on}
    spec[group] = [{"name": "p", "ports": rows, **more}]
    return {"metadata": {"name": "placed" if on else "new", "namespace": "default"}, "spec": spec}


def taken(*ports, **more):
    nodes = table({"name": "m1"})
    nodes.put_pod(pod(*ports, on="m1", **more), "m1")
    return nodes


@pytest.mark.parametrize(
    ("wanted", "held", "expected"),
    [
        pytest.param(["UDP/127.0.0.1/8080"], ["UDP/127.0.0.1/9090"], "", id="another port"),
        pytest.param(["UDP/127.0.0.1/8080"], ["UDP/127.0.0.1/8080"], REASON, id="the same of udp"),
        pytest.param(["TCP/127.0.0.1/8080"], ["TCP/127.0.0.1/8080"], REASON, id="the same of tcp"),
        pytest.param(["TCP/127.0.0.1/8080"], ["TCP/127.0.0.2/8080"], "", id="another address"),
        pytest.param(["UDP/127.0.0.1/8080"], ["TCP/127.0.0.1/8080"], "", id="another protocol"),
        pytest.param(["UDP/127.0.0.1/8000", "UDP/127.0.0.1/8080"], ["UDP/127.0.0.1/8080"], REASON, id="the second"),
        pytest.param(
            ["TCP/127.0.0.1/8001", "UDP/127.0.0.1/8080"],
            ["TCP/127.0.0.1/8001", "UDP/127.0.0.1/8081"],
            REASON,
            id="the first",
        ),
        pytest.param(["TCP/0.0.0.0/8001"], ["TCP/127.0.0.1/8001"], REASON, id="all addresses are wanted"),
        pytest.param(
            ["TCP/10.0.10.10/8001", "TCP/0.0.0.0/8001"], ["TCP/127.0.0.1/8001"], REASON, id="all, beside another"
        ),
        pytest.param(["TCP/127.0.0.1/8001"], ["TCP/0.0.0.0/8001"], REASON, id="all addresses are taken"),
        pytest.param(["UDP/127.0.0.1/8001"], ["TCP/0.0.0.0/8001"], "", id="all are taken of another protocol"),
        pytest.param(["UDP/127.0.0.1/8001"], ["TCP/0.0.0.0/8001", "UDP/0.0.0.0/8001"], REASON, id="and of this one"),
    ],
)
def test_a_node_where_ports_are_taken(wanted, held, expected):
    nodes = taken(*held)

    assert verdicts(NodePorts(None), pod_info(pod(*wanted), nodes), nodes) == [expected]


def test_a_pod_without_host_ports_is_not_asked_about():
    assert NodePorts(None).skips(pod_info(pod(), table({"name": "m1"})))


def test_what_only_the_start_needs_is_not_asked_about():
    starting = pod("TCP//8001", group="initContainers")

    assert NodePorts(None).skips(pod_info(starting, taken("TCP/0.0.0.0/8001")))


def test_what_a_sidecar_needs_is():
    nodes = taken("TCP/0.0.0.0/8001")
    beside = pod("TCP//8001", group="initContainers", restartPolicy="Always")

    assert verdicts(NodePorts(None), pod_info(beside, nodes), nodes) == [REASON]


@pytest.mark.parametrize(("more", "expected"), [({"restartPolicy": "Always"}, REASON), ({}, "")])
def test_what_a_sidecar_took_is_taken_and_what_the_start_took_is_free(more, expected):
    nodes = taken("TCP/0.0.0.0/8001", group="initContainers", **more)

    assert verdicts(NodePorts(None), pod_info(pod("TCP//8001"), nodes), nodes) == [expected]


FOUR = ["TCP/127.0.0.1/80", "TCP/127.0.1.1/80", "TCP/127.0.1.1/90", "TCP/127.0.1.1/100"]


@pytest.mark.parametrize(
    ("wanted", "held", "expected"),
    [
        pytest.param(["TCP/127.0.0.1/80"], ["TCP/127.0.0.1/9090"], False, id="one"),
        pytest.param(FOUR, ["TCP/127.0.0.1/9090", "TCP/127.0.0.1/9191", "TCP/127.0.1.1/8080"], False, id="many"),
        pytest.param(["TCP/127.0.0.1/80"], ["UDP/127.0.0.1/80"], False, id="protocols"),
        pytest.param(["TCP/127.0.0.1/80"], ["TCP/127.0.0.1/80"], True, id="the same"),
        pytest.param(FOUR, ["TCP/127.0.0.1/9090", "TCP/127.0.1.1/90", "TCP/127.0.1.1/8080"], True, id="one of many"),
    ],
)
def test_ports_conflict(wanted, held, expected):
    assert host_ports_conflict(host_ports(pod(*wanted)), host_ports(pod(*held))) is expected


def test_it_is_asked_again_when_a_node_changed_or_a_pod_went():
    """Upstream registers Pod delete and Node add."""
    assert NodePorts.events_to_register == {"node", "pod gone"}


class TestContract(SchedulingContract):
    plugin = NodePorts
    nodes = ({"name": "m1"}, {"name": "m2"})
    pods = (pod("TCP/127.0.0.1/8080"),)

    def world(self):
        nodes = taken("TCP/127.0.0.1/8080")
        nodes.put_node({"metadata": {"name": "m2"}, "spec": {}, "status": {}})
        return nodes, [pod_info(pod, nodes) for pod in self.pods]
