"""Cgroups of pods in the kernel's own hierarchies (as root), and in folders that look like those of version 2."""

import os
import subprocess
from pathlib import Path

import pytest
from hyperkube_host.kubelet.cm.cgroup_manager import CgroupMounts, cgroup_mounts, kill_processes
from hyperkube_host.kubelet.cm.cgroup_name import CGROUPFS, SYSTEMD
from hyperkube_host.kubelet.cm.cgroup_v1 import CgroupV1Manager
from hyperkube_host.kubelet.cm.cgroup_v2 import CgroupV2Manager
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.cm.pod_container_manager import PodCgroups, PodCgroupSettings
from hyperkube_host.kubelet.cm.qos_container_manager import QosCgroups
from hyperkube_host.kubelet.qos.resource_config import ResourceConfig

from hyperkube.machinery.clock import SystemClock

MI = 1 << 20


def pod(uid="1234", **resources):
    return {"metadata": {"name": "p", "uid": uid}, "spec": {"containers": [{"name": "c", "resources": resources}]}}


GUARANTEED = {"limits": {"cpu": "500m", "memory": "64Mi"}, "requests": {"cpu": "500m", "memory": "64Mi"}}
BURSTABLE = {"requests": {"cpu": "100m", "memory": "32Mi"}}


@pytest.fixture
def kernel():
    """The cgroups of this machine, below a root of the test's own."""
    if os.geteuid() != 0 or not os.access("/sys/fs/cgroup/cpu", os.W_OK):
        pytest.skip("needs root and cgroups of version 1 that may be written")
    mounts = cgroup_mounts()
    manager = CgroupV1Manager(mounts, CGROUPFS, None, SystemClock())
    root = (f"hyperkube-test-{os.getpid()}",)
    manager.create((*root, "kubepods"), ResourceConfig())
    yield manager, (*root, "kubepods"), mounts
    kill_processes(manager, root)
    manager.destroy(root)


def test_the_kernel_holds_pods_to_their_limits(kernel):
    manager, root, mounts = kernel
    QosCgroups(manager, root).start()
    pods = PodCgroups(manager, root, CGROUPFS, PodCgroupSettings(pids_limit=20))

    pods.ensure_exists(pod(**GUARANTEED))

    path = pods.cgroup_parent(pod(**GUARANTEED)).lstrip("/")
    cpu, memory, pids = (mounts.of[name] / path for name in ("cpu", "memory", "pids"))
    assert path.endswith("/kubepods/pod1234")
    assert (cpu / "cpu.shares").read_text() == "512\n"
    assert (cpu / "cpu.cfs_quota_us").read_text() == "50000\n"
    assert (memory / "memory.limit_in_bytes").read_text() == f"{64 * MI}\n"
    assert (pids / "pids.max").read_text() == "20\n"


def test_burstable_pods_share_what_they_ask_for_together(kernel):
    manager, root, mounts = kernel
    qos = QosCgroups(manager, root)
    qos.start()

    qos.update(lambda: [pod("a", **BURSTABLE), pod("b", **BURSTABLE), pod("c", **GUARANTEED)])

    folder = mounts.of["cpu"] / manager.path(root).lstrip("/")
    assert (folder / "burstable/cpu.shares").read_text() == "204\n"
    assert (folder / "besteffort/cpu.shares").read_text() == "2\n"


def test_a_destroyed_pod_leaves_no_process_and_no_folder(kernel):
    manager, root, mounts = kernel
    QosCgroups(manager, root).start()
    pods = PodCgroups(manager, root, CGROUPFS, PodCgroupSettings())
    one = pod(**BURSTABLE)
    pods.ensure_exists(one)
    child = mounts.of["memory"] / pods.cgroup_parent(one).lstrip("/") / "container"
    child.mkdir()
    with subprocess.Popen(["sleep", "100"]) as sleeper:
        (child / "cgroup.procs").write_text(str(sleeper.pid))
        assert list(pods.all_pods()) == ["1234"]

        pods.destroy(pods.all_pods()["1234"])

        assert sleeper.wait(60) == -9
    assert not pods.exists(one)
    assert pods.all_pods() == {}
    assert not child.parent.exists()


def test_a_process_can_enter_a_pods_cpuset_at_once(kernel):
    manager, root, mounts = kernel

    manager.create((*root, "pod1"), ResourceConfig(cpu_shares=2))

    cpus = mounts.of["cpuset"] / manager.path((*root, "pod1")).lstrip("/") / "cpuset.cpus"
    assert cpus.read_text() == (mounts.of["cpuset"] / "cpuset.cpus").read_text()


def test_a_resized_pod_has_its_new_limits(kernel):
    manager, root, mounts = kernel
    pods = PodCgroups(manager, root, CGROUPFS, PodCgroupSettings())
    pods.ensure_exists(pod(**GUARANTEED))
    more = {"cpu": "1", "memory": "128Mi"}

    pods.update(pod(limits=more, requests=more))

    folder = mounts.of["cpu"] / pods.cgroup_parent(pod(**GUARANTEED)).lstrip("/")
    assert (folder / "cpu.cfs_quota_us").read_text() == "100000\n"


def test_what_the_kernel_refuses_is_an_error_that_names_the_file(kernel):
    manager, root, _ = kernel

    with pytest.raises(ContainerManagerFailed, match=r"failed to write '1' to .*cpu.cfs_quota_us': Invalid argument"):
        manager.update(root, ResourceConfig(cpu_quota=1))


@pytest.fixture
def unified(tmp_path):
    """Folders with the files of a hierarchy of version 2, as far as the kernel would make them."""

    class Folders(CgroupV2Manager):
        def create(self, name, config):
            parts = self.path(name).lstrip("/").split("/")
            for count in range(1, len(parts) + 1):
                folder = tmp_path.joinpath(*parts[:count])
                folder.mkdir(exist_ok=True)
                for file in FILES:
                    (folder / file).touch()
                (folder / "cgroup.controllers").write_text("cpu cpuset memory pids\n")
            super().create(name, config)

    (tmp_path / "cgroup.controllers").write_text("cpu cpuset memory pids\n")
    (tmp_path / "cgroup.subtree_control").touch()
    return tmp_path, lambda driver: Folders(cgroup_mounts(tmp_path), driver, None, SystemClock())


FILES = ("cgroup.subtree_control", "cpu.weight", "cpu.max", "memory.max", "memory.min", "pids.max", "cgroup.procs")


def test_the_second_version_is_told_in_its_own_measures(unified):
    folder, manager_for = unified
    manager = manager_for(CGROUPFS)
    QosCgroups(manager, ()).start()
    pods = PodCgroups(manager, (), CGROUPFS, PodCgroupSettings(pids_limit=20, memory_qos=True))

    pods.ensure_exists(pod(**GUARANTEED))

    own = folder / "pod1234"
    written = {
        name: (own / name).read_text() for name in ("cpu.weight", "cpu.max", "memory.max", "memory.min", "pids.max")
    }
    assert written == {
        "cpu.weight": "59",
        "cpu.max": "50000 100000",
        "memory.max": str(64 * MI),
        "memory.min": str(64 * MI),
        "pids.max": "20",
    }


def test_with_systemd_the_parent_of_a_sandbox_is_a_slice(unified):
    folder, manager_for = unified
    pods = PodCgroups(manager_for(SYSTEMD), ("kubepods",), SYSTEMD, PodCgroupSettings())

    pods.ensure_exists(pod("12-34", **BURSTABLE))

    assert pods.cgroup_parent(pod("12-34", **BURSTABLE)) == "kubepods-burstable-pod12_34.slice"
    assert (folder / "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_34.slice").is_dir()
    assert pods.all_pods() == {"12-34": ("kubepods", "burstable", "pod12-34")}


def test_the_shortest_mount_of_a_controller_counts(tmp_path):
    info = tmp_path / "mountinfo"
    info.write_text(
        "30 25 0:26 / /var/lib/other/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
        "31 25 0:26 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
        "32 25 0:27 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
        "33 25 0:28 / /proc rw - proc proc rw\n"
    )

    mounts = cgroup_mounts(tmp_path, info)

    assert isinstance(mounts, CgroupMounts)
    assert (mounts.version, mounts.of["cpu"], mounts.of["systemd"]) == (
        1,
        Path("/sys/fs/cgroup/cpu"),
        Path("/sys/fs/cgroup/systemd"),
    )


def test_a_machine_without_cgroups_is_said_to_have_none(tmp_path):
    (tmp_path / "mountinfo").write_text("33 25 0:28 / /proc rw - proc proc rw\n")

    with pytest.raises(ContainerManagerFailed, match="failed to find cgroup mounts"):
        cgroup_mounts(tmp_path, tmp_path / "mountinfo")
