"""What `up` asks of each server can be read by that server."""

import pytest
from hyperkube_command.local_cluster.arguments import ClusterOptions, arguments, simulated_node_arguments
from hyperkube_command.local_cluster.in_process import parsed
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


def test_each_controller_has_an_identity_of_its_own_here_and_upstreams_default_elsewhere(cluster):
    assert parsed(cluster)["controller-manager"]["use-service-account-credentials"] is True
    assert controller_manager.COMMAND.parse([])["use-service-account-credentials"] is False


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
