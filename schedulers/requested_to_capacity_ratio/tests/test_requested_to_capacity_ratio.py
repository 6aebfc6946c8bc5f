"""Any broken line over how full a node gets, by upstream's integers."""

from types import MappingProxyType

import pytest
from hyperkube_scheduler.requested_to_capacity_ratio import RequestedToCapacityRatio

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.scheduler import SchedulingContract
from hyperkube.testing.scheduling import pod_info, table

FULLEST_FIRST = ({"utilization": 0, "score": 0}, {"utilization": 100, "score": 10})


def build(**settings):
    return RequestedToCapacityRatio(PluginContext(name="RequestedToCapacityRatio", settings=MappingProxyType(settings)))


def wants(cpu, memory):
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]}}


@pytest.mark.parametrize(
    ("shape", "scores"),
    [
        pytest.param(None, [38, 50], id="emptiest"),
        pytest.param(FULLEST_FIRST, [63, 50], id="fullest"),
        pytest.param(({"utilization": 60, "score": 10},), [100, 100], id="one-point"),
    ],
)
def test_the_line_decides(shape, scores):
    nodes = table({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})
    plugin = build(shape=shape)

    assert plugin.score(pod_info(wants("3", "5000"), nodes), nodes).tolist() == scores


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param([{"utilization": 10, "score": 11}], id="score"),
        pytest.param([{"utilization": 101, "score": 1}], id="utilization"),
        pytest.param([{"utilization": 10, "score": 1}, {"utilization": 10, "score": 2}], id="order"),
    ],
)
def test_a_bad_shape_is_refused(shape):
    with pytest.raises(UsageError, match="shape"):
        build(shape=shape)


class TestContract(SchedulingContract):
    plugin = RequestedToCapacityRatio
    nodes = ({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})
    pods = (wants("3", "5000"),)
