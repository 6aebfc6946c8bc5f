"""ADD, CHECK and DEL against Debian's programs: what they did is there, and goes again without a trace."""

import json
import subprocess
from pathlib import Path

import pytest
from hyperkube_lib.cni.cache import AttachmentCache
from hyperkube_lib.cni.errors import CniError
from hyperkube_lib.cni.network import CniNetworks
from hyperkube_lib.cni.network_list import parse_network
from hyperkube_lib.cni.pod_network import CniPodNetwork
from hyperkube_lib.cni.program import Programs

from hyperkube.hookspecs.network import NetworkFailed, PodNetworkRequest, PortMapping
from hyperkube.machinery.clock import SystemClock

V4, V6 = [{"subnet": "10.77.0.0/24"}], [{"subnet": "fd00:77::/64"}]


def bridge(data, ranges=(V4,), **fields):
    ipam = {"type": "host-local", "ranges": list(ranges), "dataDir": str(data / "addresses")}
    return {"type": "bridge", "bridge": "test0", "isGateway": True, "hairpinMode": True, "ipam": ipam, **fields}


PORTMAP = {"type": "portmap", "capabilities": {"portMappings": True}}
BANDWIDTH = {"type": "bandwidth", "capabilities": {"bandwidth": True}}


def pod_network(folder, programs, *plugins, version="1.0.0"):
    text = json.dumps({"cniVersion": version, "name": "test", "plugins": list(plugins)})
    cache = AttachmentCache(folder / "cache")
    networks = CniNetworks(Programs(programs), cache, SystemClock(), timeout_seconds=60)
    network = parse_network(text)
    networks.validate(network)
    return CniPodNetwork("cni", lambda: network, networks, cache)


class Impatient(Programs):
    """Gives one program less time than the others, which a busy machine may need."""

    def __call__(self, name, command, env, given, timeout):
        return super().__call__(name, command, env, given, 0.5 if name == "bad" and command == "ADD" else timeout)


def request(path, number=1, **fields):
    return PodNetworkRequest("ns", f"p{number}", f"u{number}", f"sandbox{number}", path, **fields)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def inside(path, *command):
    return run("nsenter", f"--net={path}", *command)


def leftovers(folder):
    """Return what is left on the node of the pods of a test."""
    links = [link["ifname"] for link in json.loads(run("ip", "-j", "link"))]
    given = [
        path.name for path in (folder / "addresses" / "test").glob("*") if path.name[0].isdigit() or ":" in path.name
    ]
    rules = [line for line in run("iptables-save", "-t", "nat").splitlines() if "sandbox" in line]
    cached = list((folder / "cache" / "results").glob("*"))
    return [name for name in links if name not in {"lo", "test0"}], given, rules, cached


@pytest.mark.parametrize("version", ["0.3.1", "0.4.0", "1.0.0"])
def test_a_pod_comes_and_goes(tmp_path, debian, namespace, version):
    network = pod_network(tmp_path, [debian], bridge(tmp_path), PORTMAP, BANDWIDTH, version=version)
    path = namespace()
    pod = request(
        path,
        port_mappings=(PortMapping(host_port=8080, container_port=80),),
        annotations={"kubernetes.io/ingress-bandwidth": "10M"},
    )

    first = network.setup(pod)

    assert first.ips == ("10.77.0.2",)
    assert network.setup(pod) == first
    assert "10.77.0.2/24" in inside(path, "ip", "-o", "addr", "show", "eth0")
    assert "UP" in inside(path, "ip", "-o", "link", "show", "lo").split("<")[1].split(">")[0].split(",")
    assert inside(path, "busybox", "ping", "-c1", "-W5", "10.77.0.1")
    assert "--dport 8080" in run("iptables-save", "-t", "nat")
    assert "rate 10Mbit" in run("tc", "qdisc")

    network.teardown(pod)

    assert leftovers(tmp_path) == ([], [], [], [])
    assert network.setup(request(path, 2)).ips == ("10.77.0.3",)


def test_both_families_and_two_pods(tmp_path, debian, namespace):
    network = pod_network(tmp_path, [debian], bridge(tmp_path, (V4, V6)), PORTMAP)
    paths = [namespace(), namespace()]
    ports = (PortMapping(host_port=8080, container_port=80),)

    found = [network.setup(request(path, number, port_mappings=ports)).ips for number, path in enumerate(paths)]

    assert found == [("10.77.0.2", "fd00:77::2"), ("10.77.0.3", "fd00:77::3")]
    assert inside(paths[0], "busybox", "ping", "-c1", "-W5", "10.77.0.3")
    assert "fd00:77::2" in inside(paths[0], "ip", "-6", "-o", "addr", "show", "eth0")


def test_what_the_pod_asks_for_replaces_the_ranges(tmp_path, debian, namespace):
    plugin = bridge(tmp_path, capabilities={"ipRanges": True})
    del plugin["ipam"]["ranges"]
    network = pod_network(tmp_path, [debian], plugin)
    network.set_pod_cidr("10.78.0.0/24,fd00:78::/64")

    assert network.setup(request(namespace())).ips == ("10.78.0.2", "fd00:78::2")


def test_a_namespace_that_is_gone_leaves_nothing(tmp_path, debian, namespace):
    network = pod_network(tmp_path, [debian], bridge(tmp_path), PORTMAP)
    ports = (PortMapping(host_port=8080, container_port=80),)
    network.setup(request(namespace(), port_mappings=ports))
    run("ip", "link", "del", next(name for name in leftovers(tmp_path)[0] if name.startswith("veth")))

    again = pod_network(tmp_path, [debian], bridge(tmp_path), PORTMAP)
    again.teardown(PodNetworkRequest("", "", "", "sandbox1"))

    assert leftovers(tmp_path) == ([], [], [], [])


def test_what_was_changed_behind_its_back_is_seen(tmp_path, debian, namespace):
    network = pod_network(tmp_path, [debian], bridge(tmp_path))
    path = namespace()
    network.setup(request(path))
    network.check("sandbox1")

    inside(path, "ip", "addr", "flush", "dev", "eth0")

    with pytest.raises(CniError, match=r"failed \(check\)"):
        network.check("sandbox1")


def test_what_a_former_kubelet_left_is_collected(tmp_path, debian, namespace):
    network = pod_network(tmp_path, [debian], bridge(tmp_path), PORTMAP)
    for number in (1, 2):
        network.setup(request(namespace(), number))

    network.collect_garbage(lambda: frozenset({"sandbox2"}))

    links, given, _, cached = leftovers(tmp_path)
    assert (len(links), given, [path.name for path in cached]) == (1, ["10.77.0.3"], ["test-sandbox2-eth0"])


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ('echo \'{"code": 7, "msg": "no", "details": "not today"}\'; exit 1', "no; not today"),
        ("echo oops >&2; exit 3", "netplugin failed: 'oops'"),
        ("echo garbage", "answered what is no result: 'garbage"),
        ("kill -9 $$", "no error message: signal: SIGKILL"),
        ("sleep 600 & wait", "did not end in time: killed"),
        ("exec >&-; exit 0", "the network's result has no address"),
    ],
    ids=["refuses", "writes to stderr", "garbage", "killed", "hangs", "answers nothing"],
)
def test_a_program_that_fails_half_way_leaves_nothing(tmp_path, debian, namespace, script, problem):
    own = tmp_path / "bin"
    own.mkdir()
    program = own / "bad"
    program.write_text(
        '#!/bin/sh\nread line\ncase $CNI_COMMAND in\nVERSION) echo \'{"supportedVersions": ["1.0.0"]}\';;\n'
        f"ADD) {script};;\nesac\n"
    )
    program.chmod(0o755)
    network = pod_network(tmp_path, [debian, str(own)], bridge(tmp_path), {"type": "bad"})
    cache = AttachmentCache(tmp_path / "cache")
    if "sleep" in script:
        impatient = CniNetworks(Impatient([debian, str(own)]), cache, SystemClock(), timeout_seconds=60)
        network = CniPodNetwork("cni", network._current, impatient, cache)

    with pytest.raises(NetworkFailed) as caught:
        network.setup(request(namespace()))

    assert str(caught.value).startswith('networkPlugin cni failed to set up pod "p1_ns" network: ')
    assert problem in str(caught.value)
    assert leftovers(tmp_path) == ([], [], [], [])
    assert "sleep 600" not in run("ps", "-o", "args", "-A") or "sleep" not in script


def test_a_failed_delete_is_tried_again(tmp_path, debian, namespace):
    own = tmp_path / "bin"
    own.mkdir()
    gate = tmp_path / "open"
    program = own / "bad"
    program.write_text(
        '#!/bin/sh\ncase $CNI_COMMAND in\nVERSION) echo \'{"supportedVersions": ["1.0.0"]}\';;\n'
        f"DEL) test -e {gate};;\n*) sed 's/.*\"prevResult\"://; s/}}$//';;\nesac\n"
    )
    program.chmod(0o755)
    network = pod_network(tmp_path, [debian, str(own)], bridge(tmp_path), {"type": "bad"})
    pod = request(namespace())
    network.setup(pod)

    with pytest.raises(NetworkFailed, match='failed to teardown pod "p1_ns" network: plugin type="bad"'):
        network.teardown(pod)
    Path(gate).touch()
    network.teardown(pod)

    assert leftovers(tmp_path) == ([], [], [], [])
