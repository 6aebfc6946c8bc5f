"""What `up` asks of each server can be read by that server."""

import os
from pathlib import Path

import pytest
from hyperkube_command.local_cluster.arguments import ClusterOptions, arguments, simulated_node_arguments
from hyperkube_command.local_cluster.in_process import parsed
from hyperkube_command.local_cluster.privileged_ports import kubernetes_service_port, may_bind
from hyperkube_host.controller_manager import command as controller_manager
from hyperkube_host.kubelet import command as kubelet
from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.plugin.loader import installed

pytestmark = pytest.mark.skipif(not installed("controller"), reason="needs the controllers, which bring their flags")


@pytest.fixture
def cluster(tmp_path):
    return ClusterOptions(layout=Layout(tmp_path), node_name="here", secure_port=7443, extra={"scheduler": ("--v=4",)})


def test_every_server_understands_its_line(cluster, capsys):
    options = parsed(cluster)

    assert options["apiserver"]["authorization-mode"] == ("Node", "RBAC")
    assert options["kubelet"]["hostname-override"] == "here"
    assert capsys.readouterr().err == "", "nothing that up asks for is unbuilt"


def test_further_flags_come_last_and_win(cluster):
    assert parsed(cluster)["scheduler"]["v"] == 4


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"addons": ("dns",)}, ("10.0.0.10",)),
        ({"addons": ("dns",), "service_range": "127.70.128.0/17,fd00::/112"}, ("127.70.128.10",)),
        ({"addons": ("dns",), "unprivileged_port_offset": 10000}, ()),
        ({"addons": ("dns",), "service_range": "10.0.0.0/29"}, ()),
        ({"addons": ()}, ()),
    ],
    ids=["tenth", "dual-stack", "port-53-is-not-served", "small-range", "without-the-addon"],
)
def test_pods_ask_the_clusters_dns_server_where_there_is_one(cluster, changes, expected):
    assert parsed(cluster.replace(**changes))["kubelet"]["cluster-dns"] == expected


@pytest.mark.skipif("csi-host-path" not in installed("csi"), reason="needs the driver, which brings its flag")
def test_controllers_and_the_kubelet_share_the_folder_of_the_csi_driver(cluster, tmp_path):
    values = parsed(cluster.replace(addons=("csi-host-path",)))

    assert {values[word]["csi-host-path-dir"] for word in ("controller-manager", "kubelet")} == {
        str(tmp_path / "csi-host-path")
    }
    assert parsed(cluster)["kubelet"]["csi-host-path-dir"] == ""


def test_each_controller_has_an_identity_of_its_own_here_and_upstreams_default_elsewhere(cluster):
    assert parsed(cluster)["controller-manager"]["use-service-account-credentials"] is True
    assert controller_manager.COMMAND.parse([])["use-service-account-credentials"] is False


@pytest.mark.parametrize(
    ("changes", "is_ours"),
    [({}, True), ({"runtime": "cri"}, False), ({"hollow_only": True, "simulated_nodes": 1}, False)],
    ids=["process", "containers", "simulated"],
)
def test_what_empties_volumes_is_a_process_where_pods_are(cluster, changes, is_ours):
    line = arguments(cluster.replace(**changes))["controller-manager"]

    files = [Path(flag.partition("=")[2]) for flag in line if flag.startswith("--pv-recycler-pod-template")]
    assert [path.is_file() for path in files] == [True, True] * is_ours


def test_a_hollow_node_serves_nothing(cluster):
    options = kubelet.COMMAND.parse(simulated_node_arguments(cluster, 3))

    assert options["hostname-override"] == "hollow-3"
    assert options["enable-server"] is False


def test_the_servers_of_a_wildcard_address_advertise_loopback(tmp_path):
    cluster = ClusterOptions(layout=Layout(tmp_path), node_name="here", bind_address="0.0.0.0")

    assert "--advertise-address=127.0.0.1" in arguments(cluster)["apiserver"]
    assert cluster.server == "https://127.0.0.1:6443"


def test_the_api_server_is_told_what_no_controller_acts_on(cluster):
    pytest.importorskip("hyperkube_controller.deployment")
    cluster.extra["controller-manager"] = ("--controllers=*,-deployment",)

    assert "deployments.apps" in parsed(cluster)["apiserver"]["unattended-resources"]


@pytest.mark.parametrize(
    ("bind_address", "is_privileged", "expected"),
    [
        pytest.param("127.0.0.1", True, 443, id="root"),
        pytest.param("127.0.0.1", False, 7443, id="user"),
        pytest.param("0.0.0.0", True, 443, id="root-everywhere"),
        pytest.param("0.0.0.0", False, 10443, id="user-everywhere"),
    ],
)
def test_the_service_kubernetes_has_a_port_that_may_be_bound(cluster, bind_address, is_privileged, expected):
    options = cluster.replace(bind_address=bind_address)

    port = kubernetes_service_port(options, is_privileged=is_privileged)

    assert port == expected
    told = parsed(options.replace(kubernetes_service_port=port))
    assert told["apiserver"]["kubernetes-service-port"] == expected


def test_who_may_bind_ports_below_1024_is_found_by_trying():
    first = int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text())

    assert may_bind("127.0.0.1") is (os.geteuid() == 0 or first <= 443)


@pytest.mark.parametrize(
    ("bind_address", "expected"), [("127.0.0.1", ("127.0.0.1",)), ("0.0.0.0", ()), ("192.0.2.1", ("192.0.2.1",))]
)
def test_node_ports_are_open_to_whom_the_api_server_is(cluster, bind_address, expected):
    assert parsed(cluster.replace(bind_address=bind_address))["proxy"]["nodeport-addresses"] == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, ("NodeRestriction",), id="one-real-node"),
        pytest.param({"simulated_nodes": 2}, ("NodeRestriction", "SimulatedNodes"), id="mixed"),
        pytest.param({"simulated_nodes": 2, "hollow_only": True}, ("NodeRestriction",), id="simulated-only"),
        pytest.param({"simulated_nodes": 2, "runtime": "other"}, ("NodeRestriction",), id="another-runtime"),
    ],
)
def test_pods_find_their_nodes_by_themselves_where_both_kinds_are(cluster, changes, expected):
    assert parsed(cluster.replace(**changes))["apiserver"]["enable-admission-plugins"] == expected


def test_a_start_waits_for_a_node_that_is_there(cluster):
    assert cluster.first_node == "here"
    assert cluster.replace(simulated_nodes=1, hollow_only=True).first_node == "hollow-0"


@pytest.mark.parametrize(
    ("runtime", "hollow_only", "expected"),
    [("process", False, False), ("hollow", False, False), ("remote", False, True), ("remote", True, False)],
)
def test_containers_are_what_other_runtimes_than_processes_have(cluster, runtime, hollow_only, expected):
    assert cluster.replace(runtime=runtime, hollow_only=hollow_only).has_containers is expected
