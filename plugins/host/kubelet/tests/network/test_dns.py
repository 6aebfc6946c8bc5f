"""A pod's resolver settings."""

import pytest
from hyperkube_host.kubelet.network.dns import DnsSettings, lacks_cluster_dns, pod_dns, resolver_text

CLUSTER_SEARCHES = ["ns.svc.cluster.local", "svc.cluster.local", "cluster.local"]
NODE = {"servers": ["192.0.2.53"], "searches": ["example.com"], "options": ["timeout:1"]}


@pytest.fixture
def node_file(tmp_path):
    path = tmp_path / "resolv.conf"
    path.write_text("# ours\nnameserver 192.0.2.53\nsearch a.test\nsearch example.com.\noptions timeout:1\n")
    return path


def settings(node_file, servers=("10.0.0.10",), **fields):
    return DnsSettings(servers=servers, domain="cluster.local", node_file=node_file, **fields)


def pod(**spec):
    return {"metadata": {"namespace": "ns"}, "spec": spec}


def dns(node_file, servers=("10.0.0.10",), **spec):
    return pod_dns(pod(**spec), settings(node_file, servers)).config


@pytest.mark.parametrize("spec", [{}, {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}])
def test_the_cluster_comes_first(node_file, spec):
    found = dns(node_file, **spec)

    assert found == {
        "servers": ["10.0.0.10"],
        "searches": [*CLUSTER_SEARCHES, "example.com"],
        "options": ["ndots:5"],
    }
    assert resolver_text(found) == (
        "search ns.svc.cluster.local svc.cluster.local cluster.local example.com\n"
        "nameserver 10.0.0.10\n"
        "options ndots:5\n"
    )


@pytest.mark.parametrize("spec", [{"dnsPolicy": "Default"}, {"hostNetwork": True}])
def test_the_nodes_own_settings_serve(node_file, spec):
    assert dns(node_file, **spec) == NODE


def test_without_cluster_dns_the_nodes_own_settings_serve(node_file):
    assert dns(node_file, servers=()) == NODE
    assert lacks_cluster_dns(pod(), settings(node_file, servers=()))
    assert not lacks_cluster_dns(pod(hostNetwork=True), settings(node_file, servers=()))


def test_without_a_resolver_file_the_node_itself_is_asked():
    found = pod_dns(pod(dnsPolicy="Default"), settings(None, node_ips=("10.1.2.3", "fd00::1"))).config

    assert found == {"servers": ["127.0.0.1", "::1"], "searches": ["."]}


def test_a_pod_may_say_everything_itself(node_file):
    config = {
        "nameservers": ["1.2.3.4"],
        "searches": ["a"],
        "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}],
    }

    found = dns(node_file, dnsPolicy="None", dnsConfig=config)

    assert found == {"servers": ["1.2.3.4"], "searches": ["a"], "options": ["ndots:2", "edns0"]}


def test_a_pods_options_win(node_file):
    assert dns(node_file, dnsConfig={"options": [{"name": "ndots", "value": "1"}]})["options"] == ["ndots:1"]


def test_what_resolvers_cannot_take_is_left_out_with_a_warning(node_file):
    config = {"nameservers": ["1.1.1.1", "1.1.1.2", "1.1.1.3"], "searches": [f"s{n}" for n in range(40)]}

    found = pod_dns(pod(dnsConfig=config), settings(node_file))

    assert found.config["servers"] == ["10.0.0.10", "1.1.1.1", "1.1.1.2"]
    assert len(found.config["searches"]) == 32
    assert [warning.partition(" limits")[0] for warning in found.warnings] == ["Nameserver", "Search Line"]
