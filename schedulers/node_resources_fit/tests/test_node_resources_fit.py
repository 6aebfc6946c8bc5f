"""Nodes without room are refused, with each lacking resource as a reason."""

from hyperkube_scheduler.node_resources_fit import NodeResourcesFit
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table


def wants(cpu, memory="0"):
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]}}


def test_what_is_requested_already_counts():
    nodes = table({"name": "a", "cpu": "2"}, {"name": "b", "cpu": "4"})
    running = {"metadata": {"name": "other", "namespace": "default"}, **wants("1500m")}
    nodes.put_pod(running, "a")

    result = NodeResourcesFit(None).filter(pod_info(wants("1"), nodes), nodes)

    assert result.mask.tolist() == [False, True]
    assert result.reasons["Insufficient cpu"].tolist() == [True, False]
    assert result.unresolvable.tolist() == [False, False]


def test_every_lacking_resource_is_a_reason():
    nodes = table({"name": "a", "cpu": "1", "memory": "1Gi", "pods": "0"})

    result = NodeResourcesFit(None).filter(pod_info(wants("2", "2Gi"), nodes), nodes)

    assert sorted(result.reasons) == ["Insufficient cpu", "Insufficient memory", "Too many pods"]
    assert result.unresolvable.tolist() == [True]


def test_an_extended_resource_that_no_node_has_is_insufficient():
    nodes = table({"name": "a"})
    gpu = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"example.com/gpu": "1"}}}]}}

    result = NodeResourcesFit(None).filter(pod_info(gpu, nodes), nodes)

    assert list(result.reasons) == ["Insufficient example.com/gpu"]


class TestContract(SchedulingContract):
    plugin = NodeResourcesFit
    nodes = ({"name": "a", "cpu": "1"}, {"name": "b", "cpu": "6"})
    pods = (wants("2"),)
