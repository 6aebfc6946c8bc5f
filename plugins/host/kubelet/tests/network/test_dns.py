"""A pod's resolver file."""

import pytest
from hyperkube_host.kubelet.network.dns import resolver_file


@pytest.fixture
def node_file(tmp_path):
    path = tmp_path / "resolv.conf"
    path.write_text("# ours\nnameserver 192.0.2.53\nsearch example.com\noptions timeout:1\n")
    return path


def resolver(node_file, servers=("10.0.0.10",), **spec):
    return resolver_file({"metadata": {"namespace": "ns"}, "spec": spec}, servers, "cluster.local", node_file)


def test_the_cluster_comes_first(node_file):
    assert resolver(node_file) == (
        "search ns.svc.cluster.local svc.cluster.local cluster.local example.com\n"
        "nameserver 10.0.0.10\n"
        "options ndots:5\n"
    )


@pytest.mark.parametrize("spec", [{"dnsPolicy": "Default"}, {"hostNetwork": True}])
def test_the_nodes_own_file_serves(node_file, spec):
    assert resolver(node_file, **spec) is None


def test_without_cluster_dns_the_nodes_own_file_serves(node_file):
    assert resolver(node_file, servers=()) is None


def test_a_pod_may_say_everything_itself(node_file):
    config = {
        "nameservers": ["1.2.3.4"],
        "searches": ["a"],
        "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}],
    }

    assert (
        resolver(node_file, dnsPolicy="None", dnsConfig=config)
        == "search a\nnameserver 1.2.3.4\noptions ndots:2 edns0\n"
    )


def test_a_pods_options_win(node_file):
    text = resolver(node_file, dnsConfig={"options": [{"name": "ndots", "value": "1"}]})

    assert text.endswith("options ndots:1\n")
