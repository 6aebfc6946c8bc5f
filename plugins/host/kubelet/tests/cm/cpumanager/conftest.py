"""Machines of upstream's tables (``pkg/kubelet/cm/cpumanager/policy_test.go``)."""

import pytest
from hyperkube_host.kubelet.cm.cpumanager.cpu_topology import CpuInfo, CpuTopology


def machine(cpus, *, cores, numa=lambda _core: 0, socket=lambda _core: 0, cache=lambda _core: 0):
    """Return a machine whose CPUs are threads of `cores` cores, numbered one thread of each core after the other."""
    return CpuTopology(
        {cpu: CpuInfo(numa(cpu % cores), socket(cpu % cores), cpu % cores, cache(cpu % cores)) for cpu in range(cpus)}
    )


MACHINES = {
    "single-socket-ht": machine(8, cores=4),
    "dual-socket-ht": machine(12, cores=6, numa=lambda core: core % 2, socket=lambda core: core % 2),
    "dual-socket-no-ht": machine(8, cores=8, numa=lambda core: core // 4, socket=lambda core: core // 4),
    "multi-numa-ht": machine(80, cores=40, numa=lambda core: core // 10, socket=lambda core: core // 20),
    "multi-numa-ht-large": machine(256, cores=128, numa=lambda core: core // 16, socket=lambda core: core // 64),
    "uncore-no-smt": machine(16, cores=16, cache=lambda core: core // 4),
    "uncore-dual-socket": machine(
        16, cores=16, cache=lambda core: core // 4, numa=lambda core: core // 8, socket=lambda core: core // 8
    ),
    "uncore-smt": machine(16, cores=8, cache=lambda core: core // 4),
}


@pytest.fixture
def machines():
    """Topologies by name."""
    return MACHINES
