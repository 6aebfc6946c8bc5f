"""What the node tells of its machine is what the machine has."""

import os
import shutil
from pathlib import Path

from hyperkube_host.kubelet.nodestatus.machine_info import machine_info

from hyperkube.hookspecs.runtime import MachineCapacity


class Pretends:
    """A simulated runtime."""

    def capacity(self):
        return MachineCapacity(cores=3, memory=4 << 30, disk=5 << 30)


def meminfo(name):
    lines = Path("/proc/meminfo").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1]) * 1024


def test_a_real_nodes_capacity_is_the_machines(tmp_path):
    capacity = machine_info(tmp_path / "not" / "there" / "yet", object()).capacity

    assert capacity.cores == os.cpu_count()
    assert capacity.memory == meminfo("MemTotal")
    assert capacity.disk == shutil.disk_usage(tmp_path).total


def test_the_system_is_told_by_gos_names(tmp_path):
    info = machine_info(tmp_path, object()).node_info

    assert (info["operatingSystem"], info["architecture"]) == (
        "linux",
        {"x86_64": "amd64"}.get(os.uname().machine, info["architecture"]),
    )
    assert info["kernelVersion"] == os.uname().release
    assert info["bootID"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_a_simulated_nodes_capacity_is_what_it_pretends(tmp_path):
    info = machine_info(tmp_path, Pretends())

    assert (info.capacity.cores, info.huge_pages) == (3, {"hugepages-1Gi": "0", "hugepages-2Mi": "0"})
