"""The laboratory: places are machines of their own, nodes run containers, nothing stays."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hyperkube_testing.lab import Lab, missing_for_nodes, missing_for_places
from hyperkube_testing.lab.images import BUSYBOX, debian_programs
from hyperkube_testing.lab.requirements import missing_for_registry

from hyperkube.testing.waiting import eventually

pytestmark = [pytest.mark.root, pytest.mark.slow]
needs_places = pytest.mark.skipif(bool(missing_for_places()), reason=missing_for_places())
needs_nodes = pytest.mark.skipif(bool(missing_for_nodes()), reason=missing_for_nodes())


@pytest.fixture(scope="module")
def lab():
    with Lab() as lab:
        yield lab


@pytest.fixture(scope="module")
def node(lab):
    return lab.node("node-1")


def cgroups():
    return {str(path) for path in Path("/sys/fs/cgroup").glob(f"*/hyperkube-lab-{os.getpid()}-*")}


@needs_places
def test_a_place_has_its_own_name_files_and_processes(lab):
    place = lab.place("client")

    place.write("/etc/kubernetes/note", "here")

    assert place.run("hostname").stdout == "client\n"
    assert place.run("cat", "/etc/kubernetes/note", "/etc/hostname").stdout == "hereclient\n"
    assert not Path("/etc/kubernetes/note").exists()
    assert place.run("sh", "-c", "echo /proc/[0-9]*").stdout.split().count("/proc/1") == 1
    assert "sda" not in place.run("ls", "/sys/class/net").stdout
    assert place.run("ls", "/sys/class/net").stdout.split() == ["eth0", "lo"]


@needs_places
@pytest.mark.parametrize("family", ["-4", "-6"])
def test_places_reach_one_another_and_the_outside(lab, family):
    client, outside = lab.place("client"), lab.outside
    listener = outside.start("busybox", "nc", "-l", "-p", "7", "-e", "echo", "hello")
    eventually(lambda: ":7 " in outside.run("ss", "-ltn").stdout)

    heard = client.run("busybox", "nc", outside.ip if family == "-4" else outside.ip6, "7")

    assert heard.stdout == "hello\n"
    assert listener.wait() == 0


@needs_places
def test_a_socket_made_inside_stays_there(lab):
    place = lab.place("client")

    with place.inside(), socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert f"127.0.0.1:{port} " in place.run("ss", "-ltn").stdout
        inside = Path("/proc/thread-self/ns/net").readlink()

    assert Path("/proc/thread-self/ns/net").readlink() != inside


@needs_places
def test_a_program_is_killed_itself(lab):
    program = lab.place("client").start("sleep", "1000")
    assert b"sleep" in eventually(lambda: "sleep" in Path(f"/proc/{program.pid}/comm").read_text() and b"sleep")

    program.kill()

    assert not program.running()
    assert not Path(f"/proc/{program.pid}").exists()


@needs_places
def test_a_failed_command_says_where_and_what(lab):
    with pytest.raises(AssertionError, match=r"client: ls /no-such: exit 2"):
        lab.place("client").run("ls", "/no-such")


RUN = ("run", "--rm", "--net-host", BUSYBOX)


@needs_nodes
def test_a_node_runs_a_container_of_its_image(node):
    done = node.ctr(*RUN, "greeting", "sh", "-c", "echo hello from $(hostname)")

    assert done.stdout == "hello from node-1\n"


@needs_nodes
def test_a_node_sees_its_cgroups_as_the_roots(node):
    assert "/.." not in node.run("cat", "/proc/self/cgroup").stdout
    assert {line.rpartition(":")[2] for line in node.run("cat", "/proc/1/cgroup").stdout.splitlines()} == {"/"}
    assert node.path("/sys/fs/cgroup/memory").is_dir()


@needs_nodes
def test_containerd_comes_back_after_a_crash(node):
    node.containerd.kill()

    node.start_containerd()

    assert BUSYBOX in node.ctr("images", "ls", "-q").stdout.split()


@needs_nodes
def test_programs_of_the_machine_become_an_image(node):
    node.load([debian_programs("docker.io/library/tools:lab", ["hostname"])])

    done = node.ctr("run", "--rm", "--net-host", "docker.io/library/tools:lab", "tools", "/usr/bin/hostname")

    assert done.stdout == "node-1\n"


@needs_nodes
@pytest.mark.skipif(bool(missing_for_registry()), reason=missing_for_registry())
def test_the_registry_asks_for_a_password(lab, node):
    registry = lab.registry()

    reference = registry.push(node, BUSYBOX, "private/busybox:1")

    pull = ("images", "pull", "--plain-http", reference)
    refused = node.ctr(*pull, check=False)
    assert refused.returncode != 0
    assert "401 Unauthorized" in refused.stderr
    node.ctr("images", "pull", "--plain-http", "--user", "puller:let-me-pull", reference)
    assert reference in node.ctr("images", "ls", "-q").stdout


@needs_nodes
def test_nothing_of_a_laboratory_stays():
    with Lab() as lab:
        node = lab.node("short")
        node.start("sleep", "1000")
        pids = [node.pid, node.containerd.pid]
        assert any("short" in path for path in cgroups())

    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not any("short" in path for path in cgroups())


SCRIPT = """
import sys
from hyperkube_testing.lab import Lab
lab = Lab()
node = lab.node("killed")
print(node.pid, node.containerd.pid, flush=True)
sys.stdin.read()
"""


@needs_nodes
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_of_a_laboratory_whose_process_is_killed(number):
    before = set(Path(tempfile.gettempdir()).glob("hklab-killed-*"))
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pids = process.stdout.readline().split()
    assert len(pids) == 2
    cgroup = f"*/hyperkube-lab-{process.pid}-*"
    assert list(Path("/sys/fs/cgroup").glob(cgroup))

    process.send_signal(number)
    process.communicate()

    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    eventually(lambda: not list(Path("/sys/fs/cgroup").glob(cgroup)))
    eventually(lambda: set(Path(tempfile.gettempdir()).glob("hklab-killed-*")) <= before)
