"""Cgroups of the kubelet, the runtime and the rest of the system: in the kernel's hierarchies, and in twins of them."""

import os
import subprocess

import pytest
from hyperkube_host.kubelet.cm.cgroup_manager import cgroup_mounts, kill_processes
from hyperkube_host.kubelet.cm.cgroup_name import CGROUPFS
from hyperkube_host.kubelet.cm.cgroup_v1 import CgroupV1Manager
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.cm.system_cgroups import SystemCgroupNames, SystemCgroups
from hyperkube_host.kubelet.flags import FLAGS
from hyperkube_host.kubelet.types.cgroup_use import CgroupUse

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

USE = CgroupUse(cpu=5, memory=7, working_set=6)


class Cgroups:
    """Cgroups as sets of processes; `immovable` ones stay where they are."""

    def __init__(self, immovable=(), **processes):
        self.of = {(): set(), **{tuple(name.split("_")): pids for name, pids in processes.items()}}
        self.immovable, self.made = set(immovable), []

    def exists(self, name):
        return name in self.of

    def create(self, name, config):
        self.of[name] = set()
        self.made.append(name)

    def own_pids(self, name):
        return set(self.of.get(name, ()))

    def attach(self, name, pid):
        if pid in self.immovable:
            raise ContainerManagerFailed(f"{pid} stays")
        for pids in self.of.values():
            pids.discard(pid)
        self.of[name].add(pid)

    def use(self, name):
        return USE if name in self.of else None


def test_the_kubelet_moves_itself_once():
    cgroups = Cgroups()
    system = SystemCgroups(cgroups, SystemCgroupNames(kubelet="/kube/kubelet"), own_pid=42)

    system.create()
    system.ensure()
    system.ensure()

    assert cgroups.made == [("kube", "kubelet")]
    assert cgroups.of["kube", "kubelet"] == {42}


def test_what_is_in_no_cgroup_is_moved_but_for_init_and_the_kernel():
    cgroups = Cgroups(other={11})
    cgroups.of[()] = {0, 1, 2, 10, 12}
    system = SystemCgroups(cgroups, SystemCgroupNames(system="/system"), own_pid=42, stays=lambda pid: pid == 2)

    system.create()
    system.ensure()

    assert cgroups.of == {(): {0, 1, 2}, ("system",): {10, 12}, ("other",): {11}}


def test_what_cannot_be_moved_is_told_and_keeps_no_other(caplog):
    cgroups = Cgroups(immovable=[10])
    cgroups.of[()] = {10, 12}
    system = SystemCgroups(cgroups, SystemCgroupNames(system="/system"), own_pid=42, stays=lambda _pid: False)

    system.create()
    system.ensure()

    assert cgroups.of["system",] == {12}
    assert [record.getMessage() for record in caplog.records] == [
        "failed to ensure state of cgroup '/system': 10 stays"
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0::/user.slice/kubelet\n", {"kubelet", "runtime"}),
        ("4:memory:/user.slice/kubelet\n3:cpu,cpuacct:/user.slice/kubelet\n0::/\n", {"kubelet", "runtime"}),
        ("4:memory:/elsewhere\n3:cpu,cpuacct:/user.slice/kubelet\n", {"runtime"}),
        ("0::/gone\n", {"runtime"}),
    ],
    ids=["version 2", "version 1", "in two", "gone"],
)
def test_use_is_told_of_cgroups_that_are_known(tmp_path, text, found):
    (tmp_path / "cgroup").write_text(text)
    cgroups = Cgroups(runtime=set())
    cgroups.of["user.slice", "kubelet"] = set()
    names = SystemCgroupNames(runtime="/runtime")

    use = SystemCgroups(cgroups, names, own_pid=42, own_cgroups=tmp_path / "cgroup").use()

    assert use == dict.fromkeys(found, USE)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"system-cgroups": "/system"}, r"systemCgroups \(--system-cgroups\) was specified and cgroupRoot"),
        ({"system-cgroups": "/", "cgroup-root": "/"}, "system container cannot be root"),
    ],
    ids=["pods in the root, too", "the root itself"],
)
def test_names_that_do_not_go_with_the_cgroup_of_pods_are_refused(values, says):
    with pytest.raises(UsageError, match=says):
        SystemCgroupNames.of(FlagValues.of(FLAGS, values))


def test_the_kernel_moves_and_measures_a_process():
    if os.geteuid() != 0 or not os.access("/sys/fs/cgroup/cpu", os.W_OK):
        pytest.skip("needs root and cgroups of version 1 that may be written")
    manager = CgroupV1Manager(cgroup_mounts(), CGROUPFS, None, SystemClock())
    name = f"hyperkube-system-{os.getpid()}"
    process = subprocess.Popen(["sleep", "100"])
    try:
        system = SystemCgroups(manager, SystemCgroupNames(kubelet=f"/{name}"), own_pid=process.pid)
        system.create()
        system.ensure()

        assert manager.own_pids((name,)) == {process.pid}
        use = system.use()["kubelet"]
        assert use.memory >= use.working_set >= 0
        with pytest.raises(ContainerManagerFailed):
            manager.attach(("no-such-cgroup",), process.pid)
    finally:
        process.kill()
        process.wait()
        kill_processes(manager, (name,))
        manager.destroy((name,))
