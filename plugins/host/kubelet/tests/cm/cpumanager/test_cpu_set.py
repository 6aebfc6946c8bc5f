"""Lists of CPUs."""

import pytest
from hyperkube_host.kubelet.cm.cpumanager.cpu_set import format_cpu_set, parse_cpu_set
from hyperkube_host.kubelet.cm.cpumanager.cpu_topology import CpuInfo, discover_topology


@pytest.mark.parametrize("text", ["", "0", "0-3", "0-2,5,7-9", "1,3,5"])
def test_a_list_reads_back_as_it_was_written(text):
    assert format_cpu_set(parse_cpu_set(text)) == text


@pytest.mark.parametrize("text", ["a", "3-1", "1-", "0-99999999999", "-1"])
def test_what_is_no_list_is_refused(text):
    with pytest.raises(ValueError, match="invalid"):
        parse_cpu_set(text)


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")


def test_the_topology_is_what_the_kernel_shows(tmp_path):
    write(tmp_path / "cpu/online", "0-1,3")
    for cpu, siblings, package in ((0, "0-1", "0"), (1, "0-1", "0"), (3, "3", "1")):
        write(tmp_path / f"cpu/cpu{cpu}/topology/thread_siblings_list", siblings)
        write(tmp_path / f"cpu/cpu{cpu}/topology/physical_package_id", package)
        write(tmp_path / f"cpu/cpu{cpu}/cache/index0/level", "1")
        write(tmp_path / f"cpu/cpu{cpu}/cache/index3/level", "3")
        write(tmp_path / f"cpu/cpu{cpu}/cache/index3/shared_cpu_list", siblings)
    write(tmp_path / "node/node0/cpulist", "0-1")
    write(tmp_path / "node/node1/cpulist", "2-3")

    topology = discover_topology(tmp_path)

    assert topology.details == {0: CpuInfo(0, 0, 0, 0), 1: CpuInfo(0, 0, 0, 0), 3: CpuInfo(1, 1, 3, 3)}
    assert (topology.sockets, topology.numa_nodes, topology.cores) == ([0, 1], [0, 1], [0, 3])


def test_this_machine_has_a_topology():
    assert discover_topology().all_cpus
