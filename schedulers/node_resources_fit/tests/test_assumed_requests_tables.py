"""What scoring assumes of containers that request nothing, case by case.

Source of the numbers: kubernetes ``pkg/scheduler/framework/plugins/noderesources/resource_allocation_test.go``.
"""

import pytest
from hyperkube_testing.scheduling.tables import pod_info, table

CPU, MEMORY, MEBIBYTE = 100, 200 * 2**20, 2**20
"""What is assumed: milli-cpus and bytes; and one mebibyte."""
NONE, ONE, SMALL, LESS = {}, {"cpu": "1", "memory": "1Mi"}, {"cpu": "3m", "memory": "3"}, {"cpu": "1m", "memory": "1"}


def rows(requests):
    return [{"name": f"c{number}", "resources": {"requests": each}} for number, each in enumerate(requests)]


@pytest.mark.parametrize(
    ("containers", "init", "overhead", "cpu", "memory"),
    [
        pytest.param([], [], ONE, 1000, MEBIBYTE, id="overhead alone"),
        pytest.param([NONE], [], NONE, CPU, MEMORY, id="a container without requests"),
        pytest.param([NONE, NONE], [], NONE, 2 * CPU, 2 * MEMORY, id="two of them"),
        pytest.param([ONE, NONE], [], NONE, 1000 + CPU, MEBIBYTE + MEMORY, id="one with and one without"),
        pytest.param([ONE, NONE], [], ONE, 2000 + CPU, 2 * MEBIBYTE + MEMORY, id="and overhead"),
        pytest.param([ONE, NONE], [{"cpu": "3"}], ONE, 4000, 2 * MEBIBYTE + MEMORY, id="and a start that needs more"),
        pytest.param([SMALL], [NONE, LESS], NONE, CPU, MEMORY, id="a start without requests"),
        pytest.param([SMALL, NONE], [NONE, LESS], NONE, 3 + CPU, 3 + MEMORY, id="and a container without"),
    ],
)
def test_what_is_assumed(containers, init, overhead, cpu, memory):
    spec = {"containers": rows(containers), "initContainers": rows(init), "overhead": overhead}

    found = pod_info({"spec": spec}, table({"name": "node"}))

    assert found.non_zero_requests[:, 0].tolist() == [cpu, memory]
