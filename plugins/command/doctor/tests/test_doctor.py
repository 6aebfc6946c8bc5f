"""The doctor's looks, on machines that are not there."""

import json

import pytest
from click.testing import CliRunner
from hyperkube_command.doctor import looks
from hyperkube_command.doctor.command import command, line
from hyperkube_command.doctor.looks import Finding, Verdict, examine
from hyperkube_command.doctor.machine import ThisMachine

FILES = {
    "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory pids",
    "/proc/self/cgroup": "0::/user.slice",
    "/proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB",
    "/proc/sys/fs/inotify/max_user_watches": "65536",
    "/proc/sys/net/ipv4/ip_unprivileged_port_start": "1024",
}


class Machine:
    """A machine on which all is well, but for what a test says."""

    def __init__(self, uid=0, files=(), programs=("nft", "iptables", "kubectl"), fails=(), taken=(), writable=True):
        self.uid, self.files, self.programs = uid, {**FILES, **dict(files)}, programs
        self.fails, self.taken, self.writable = fails, taken, writable

    def user(self):
        return self.uid

    def read(self, path):
        return self.files.get(path, "")

    def program(self, name):
        return f"/bin/{name}" if name in self.programs else ""

    def works(self, *words):
        return "Operation not permitted" if any(word in self.fails for word in words) else ""

    def connects(self, path):
        return "No such file or directory" if path in self.fails else ""

    def binds(self, address, port):
        return "Address already in use" if port in self.taken or address in self.taken else ""

    def is_writable(self, path):
        return self.writable

    def free_bytes(self, path):
        return 10 << 30


def test_on_a_machine_that_allows_everything_all_is_well():
    assert {found.verdict for found in examine(Machine())} == {Verdict.FINE}


@pytest.mark.parametrize(
    ("look", "machine", "verdict", "text"),
    [
        (looks.user, Machine(1000), "limited", "user 1000: process pods run as this user"),
        (looks.user_namespaces, Machine(fails=["--user"]), "limited", "not allowed (Operation not permitted)"),
        (looks.network_namespaces, Machine(fails=["--net"]), "limited", "pods get loopback addresses"),
        (looks.cgroups, Machine(files={"/sys/fs/cgroup/cgroup.controllers": ""}), "limited", "no cgroup v2"),
        (looks.cgroups, Machine(files={"/sys/fs/cgroup/cgroup.controllers": "cpu"}), "limited", "memory, pids"),
        (looks.cgroups, Machine(1000, writable=False), "limited", "this user may not make cgroups"),
        (looks.secure_port, Machine(taken=[6443]), "limited", "127.0.0.1:6443: Address already in use"),
        (looks.loopback, Machine(taken=["127.77.0.2"]), "BROKEN", "pods and Services get none"),
        (looks.low_ports, Machine(1000), "limited", "ports below 1024 need root"),
        (looks.containerd, Machine(fails=[looks.CONTAINERD]), "limited", "pods run as processes"),
        (looks.docker, Machine(fails=looks.DOCKER), "limited", "not needed by hyperkube"),
        (looks.packet_filters, Machine(1000), "limited", "need root: Services are relayed"),
        (looks.packet_filters, Machine(programs=()), "limited", "neither nft nor iptables"),
        (looks.kubectl, Machine(programs=()), "limited", "not on the PATH"),
        (looks.memory, Machine(files={"/proc/meminfo": "MemAvailable: 1000 kB"}), "limited", "0 MiB are available"),
        (looks.file_watches, Machine(files={"/proc/sys/fs/inotify/max_user_watches": "10"}), "limited", "unnoticed"),
    ],
)
def test_what_is_missing_is_told_with_what_it_means(look, machine, verdict, text):
    found = look(machine)

    assert found.verdict == verdict
    assert text in found.text


def test_a_remedy_is_a_line_of_its_own():
    first, second = line(Finding("x", Verdict.LIMITED, "y", "do z")).splitlines()

    assert "y" in first
    assert second.endswith("do z")


def test_this_machine_is_looked_at():
    done = CliRunner().invoke(command, ["-o", "json"])

    assert len(json.loads(done.output)) == len(looks.LOOKS)
    assert done.exit_code in {0, 1}


def test_what_cannot_be_read_is_nothing():
    machine = ThisMachine()

    assert machine.read("/nosuch") == ""
    assert machine.program("nosuch-program") == ""
    assert machine.works("nosuch-program")
    assert machine.connects("/nosuch")
