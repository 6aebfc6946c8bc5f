"""Host ports collide by protocol, port and address."""

from hyperkube_scheduler.node_ports import REASON, NodePorts
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.kinds.pods import host_ports_conflict


def web(name, node=None, port=80):
    container = {"name": "web", "ports": [{"containerPort": port, "hostPort": port, "protocol": "TCP"}]}
    spec = {"containers": [container]}
    if node:
        spec["nodeName"] = node
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


def test_a_taken_port_refuses_the_node():
    nodes = table({"name": "a"}, {"name": "b"})
    nodes.put_pod(web("first", "a"), "a")

    result = NodePorts(None).filter(pod_info(web("second"), nodes), nodes)

    assert result.mask.tolist() == [False, True]
    assert result.reasons[REASON].tolist() == [True, False]


def test_addresses_and_protocols_keep_ports_apart():
    assert host_ports_conflict([("0.0.0.0", "TCP", 80)], [("10.0.0.1", "TCP", 80)])
    assert not host_ports_conflict([("10.0.0.2", "TCP", 80)], [("10.0.0.1", "TCP", 80)])
    assert not host_ports_conflict([("0.0.0.0", "UDP", 80)], [("0.0.0.0", "TCP", 80)])
