"""The cloud controller manager: a cloud is a must, and of the controllers only those that talk to it run."""

import pytest
from hyperkube_host.cloud_controller_manager.command import COMMAND
from hyperkube_host.cloud_controller_manager.manager import MANAGER
from hyperkube_lib.controller_manager.controller_descriptors import descriptors
from hyperkube_lib.controller_manager.options import ManagerOptions

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.loader import installed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [([], "--cloud-provider cannot be empty"), (["--cloud-provider=external"], "name the provider here")],
    ids=["none", "somewhere else"],
)
def test_it_needs_a_cloud(arguments, message):
    with pytest.raises(UsageError, match=message):
        ManagerOptions.of(MANAGER, COMMAND.parse(arguments))


def test_it_elects_its_own_leader_and_has_its_own_port():
    options = ManagerOptions.of(MANAGER, COMMAND.parse(["--cloud-provider=fake", "--leader-elect"]))

    assert options.election.name == "cloud-controller-manager"
    assert options.values["secure-port"] == 10258


def test_the_controllers_that_talk_to_a_cloud_are_known_by_kubernetes_names():
    """Source: kubernetes ``staging/src/k8s.io/cloud-provider/names/controller_names.go``."""
    pytest.importorskip("hyperkube_controller.cloud_node")
    known = descriptors(installed(MANAGER.family))

    assert {alias: each.name for alias, each in known.items()} == {
        "cloud-node": "cloud-node-controller",
        "cloud-node-lifecycle": "cloud-node-lifecycle-controller",
        "nodeipam": "node-ipam-controller",
        "route": "node-route-controller",
        "service": "service-lb-controller",
    }


def test_flags_of_other_controllers_are_not_its_own():
    names = {flag.name for flag in COMMAND.all_flags()}

    assert "concurrent-service-syncs" in names or not installed(MANAGER.family)
    assert "horizontal-pod-autoscaler-sync-period" not in names
