"""What the programs of a network are asked, in which order, and what of that is remembered."""

import base64
import json

import pytest
from hyperkube_lib.cni.cache import Attachment, AttachmentCache
from hyperkube_lib.cni.errors import CniError, ProgramFailed
from hyperkube_lib.cni.network import CniNetworks
from hyperkube_lib.cni.network_list import parse_network
from hyperkube_lib.cni.pod_network import CniPodNetwork, capabilities
from hyperkube_lib.cni.result import addresses

from hyperkube.hookspecs.network import NetworkFailed, PodDnsConfig, PodNetworkRequest, PortMapping
from hyperkube.machinery.clock import FakeClock


class Programs:
    """Answers each ADD with an address, and fails what it is told to."""

    def __init__(self):
        self.asked = []
        self.fails = {}

    def __call__(self, name, command, env, given, timeout):
        self.asked.append((name, command, env, given))
        if (name, command) in self.fails:
            raise ProgramFailed(*self.fails[name, command])
        return {"ips": [{"address": "10.1.0.5/24"}]} if command == "ADD" else {}

    def commands(self):
        return [f"{command} {name}" for name, command, _, _ in self.asked]


def chain(version="1.1.0", **fields):
    plugins = [{"type": "first"}, {"type": "second"}]
    return parse_network(json.dumps({"name": "n", "cniVersion": version, "plugins": plugins, **fields}))


ONE = Attachment(
    container_id="c1", interface="eth0", network="n", namespace_path="/run/netns/x", arguments=(("A", "b"),)
)


@pytest.fixture
def programs():
    return Programs()


@pytest.fixture
def cache(tmp_path):
    return AttachmentCache(tmp_path)


@pytest.fixture
def networks(programs, cache):
    return CniNetworks(programs, cache, FakeClock())


def test_the_chain_is_walked_and_walked_back(programs, networks, cache, tmp_path):
    result = networks.add(chain(), ONE)
    (saved,) = cache.of_container("c1")
    content = json.loads((tmp_path / "results" / "n-c1-eth0").read_text())
    networks.check(chain(), saved)
    networks.delete(chain(), saved)

    assert programs.commands() == [
        "ADD first", "ADD second", "CHECK first", "CHECK second", "DEL second", "DEL first",
    ]  # fmt: skip
    assert programs.asked[0][2] == {
        "CNI_CONTAINERID": "c1", "CNI_NETNS": "/run/netns/x", "CNI_IFNAME": "eth0", "CNI_ARGS": "A=b",
    }  # fmt: skip
    assert "prevResult" not in programs.asked[0][3]
    assert all(given["prevResult"] == result for _, _, _, given in programs.asked[1:])
    assert (content["kind"], content["containerId"], content["ifName"]) == ("cniCacheV1", "c1", "eth0")
    assert json.loads(base64.b64decode(content["config"]))["name"] == "n"
    assert cache.all() == []


def test_old_versions_are_asked_for_less(programs, networks, cache):
    old = chain("0.3.1")
    networks.add(old, ONE)
    (saved,) = cache.all()
    networks.check(old, saved)
    networks.status(old)
    networks.collect_garbage(old, [], [saved])
    networks.delete(old, saved)

    assert programs.commands()[2:] == ["DEL second", "DEL first"]
    assert "prevResult" not in programs.asked[2][3]


def test_what_may_not_be_asked_is_not(programs, networks):
    silent = chain(disableCheck=True, disableGC="true")
    networks.check(silent, ONE)
    networks.collect_garbage(silent, [], [ONE])

    assert programs.asked == []


def test_a_failed_chain_is_undone(programs, networks, cache):
    programs.fails["second", "ADD"] = ("no; never", 7)

    with pytest.raises(CniError, match=r'^plugin type="second" name="n" failed \(add\): no; never$'):
        networks.add(chain(), ONE)

    assert programs.commands() == ["ADD first", "ADD second", "DEL second", "DEL first"]
    assert cache.all() == []


def test_a_container_that_a_program_does_not_know_is_out(programs, networks):
    programs.fails["second", "DEL"] = ("unknown container", 3)

    networks.delete(chain(), ONE)

    assert programs.commands() == ["DEL second", "DEL first"]


def test_garbage_is_told_by_what_is_valid(programs, networks, cache):
    networks.add(chain(), ONE)
    networks.add(chain(), Attachment(container_id="c2", interface="eth0", network="n"))
    stale, valid = cache.all()
    programs.asked.clear()
    programs.fails["first", "GC"] = ("busy", 11)

    with pytest.raises(CniError, match="busy"):
        networks.collect_garbage(chain(), [stale], [valid])

    assert programs.commands() == ["DEL second", "DEL first", "GC first", "GC second"]
    assert programs.asked[-1][3]["cni.dev/valid-attachments"] == [{"containerID": "c2", "ifname": "eth0"}]
    assert cache.all() == [valid]


def test_the_status_is_that_of_the_programs(programs, networks, cache):
    there = []
    pods = CniPodNetwork("cni", lambda: there[0] if there else None, networks, cache)
    prefix = "NetworkReady=false reason:NetworkPluginNotReady message:network plugin is not ready: "

    assert pods.status() == prefix + "cni config uninitialized"
    with pytest.raises(NetworkFailed, match="cni plugin not initialized"):
        pods.setup(PodNetworkRequest("ns", "p", "u", "s", "/run/netns/x"))
    there.append(chain())
    assert pods.status() == ""
    programs.fails["second", "STATUS"] = ("no daemon; try later", 50)
    assert pods.status() == prefix + "no daemon; try later"


def test_a_program_that_does_not_speak_the_version_is_found(networks):
    with pytest.raises(CniError, match=r'plugin first does not support config version "1\.1\.0"'):
        networks.validate(chain())


@pytest.mark.parametrize(
    ("result", "found"),
    [
        ({"ip4": {"ip": "10.1.0.5/24"}, "ip6": {"ip": "fd00::5/64"}}, ("10.1.0.5", "fd00::5")),
        ({"ips": [{"version": "4", "address": "10.1.0.5/24"}]}, ("10.1.0.5",)),
        (
            {
                "interfaces": [{"name": "cbr0"}, {"name": "eth0", "sandbox": "/x"}],
                "ips": [{"interface": 0, "address": "10.1.0.1/24"}, {"interface": 1, "address": "10.1.0.5/24"}],
            },
            ("10.1.0.5",),
        ),
    ],
)
def test_each_version_tells_the_addresses_its_way(result, found):
    assert addresses(result) == found


@pytest.mark.parametrize("result", [{}, {"ips": []}, {"ips": [{"address": "nonsense"}]}])
def test_a_result_without_an_address_is_an_error(result):
    with pytest.raises(CniError):
        addresses(result)


def test_what_a_pod_asks_for_becomes_capability_arguments():
    pod = PodNetworkRequest(
        "ns", "p", "u", "s", "/x",
        port_mappings=(PortMapping(host_port=53, container_port=5353, protocol="UDP", host_ip="192.0.2.1"),),
        dns=PodDnsConfig(servers=("10.0.0.10",), options=("ndots:5",)),
        annotations={"kubernetes.io/egress-bandwidth": "1.5M"},
    )  # fmt: skip

    assert capabilities(pod, ("10.1.0.0/24", "fd00::/64")) == {
        "aliases": ["p"],
        "portMappings": [{"hostPort": 53, "containerPort": 5353, "protocol": "udp", "hostIP": "192.0.2.1"}],
        "bandwidth": {"egressRate": 1500000, "egressBurst": 2147483647},
        "ipRanges": [[{"subnet": "10.1.0.0/24"}], [{"subnet": "fd00::/64"}]],
        "dns": {"servers": ["10.0.0.10"], "searches": [], "options": ["ndots:5"]},
    }


@pytest.mark.parametrize("text", ["1", "2P", "much"])
def test_an_unreasonable_bandwidth_is_refused(text):
    pod = PodNetworkRequest("ns", "p", "u", "s", annotations={"kubernetes.io/ingress-bandwidth": text})

    with pytest.raises(CniError, match="failed to get pod bandwidth from annotations"):
        capabilities(pod, ())
