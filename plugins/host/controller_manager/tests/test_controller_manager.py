"""The controller manager: which plugins it loads, and the flags that switch a controller off by themselves."""

import pytest
from hyperkube_host.controller_manager.command import COMMAND
from hyperkube_host.controller_manager.manager import MANAGER
from hyperkube_lib.controller_manager.options import ManagerOptions


@pytest.mark.parametrize(
    ("flag", "controller"),
    [
        ("--enable-garbage-collector=false", "garbagecollector"),
        ("--enable-horizontal-pod-autoscaler=false", "horizontalpodautoscaling"),
    ],
)
def test_single_flags_switch_controllers_off(flag, controller):
    assert ManagerOptions.of(MANAGER, COMMAND.parse([flag])).switched_off == {controller}
    assert ManagerOptions.of(MANAGER, COMMAND.parse([])).switched_off == frozenset()


def test_it_serves_where_kubernetes_does_and_elects_under_its_name():
    options = ManagerOptions.of(MANAGER, COMMAND.parse(["--leader-elect"]))

    assert options.values["secure-port"] == 10257
    assert options.election.name == "kube-controller-manager"
    assert MANAGER.user.name == "system:kube-controller-manager"
