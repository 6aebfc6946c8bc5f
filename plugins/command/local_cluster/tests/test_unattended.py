"""Which kinds nothing acts on."""

import pytest
from hyperkube_command.local_cluster.unattended import ACTED_ON_BY_OTHERS, unattended

from hyperkube.plugin.defaults import acting_on
from hyperkube.plugin.loader import installed

pytestmark = pytest.mark.skipif(not installed("bundle"), reason="the bundle is not installed")

ALL = {*acting_on().values(), *ACTED_ON_BY_OTHERS.values()}


def test_with_every_controller_nothing_is_left_alone():
    assert unattended(ALL, has_cloud=True) == []


def test_what_has_no_controller_is_named():
    assert unattended(ALL - {"statefulset"}, has_cloud=True) == ["statefulsets.apps"]


def test_what_kubernetes_itself_does_not_act_on_is_named_with_its_own_controllers():
    assert unattended(set(acting_on().values()), has_cloud=False) == [
        "ingresses.networking.k8s.io",
        "networkpolicies.networking.k8s.io",
        "services/LoadBalancer",
    ]


@pytest.mark.parametrize("name", ["networkpolicy", "network-policy"])
def test_a_third_partys_controller_or_an_addon_of_ours_acts(name):
    assert "networkpolicies.networking.k8s.io" not in unattended({name}, has_cloud=True)


def test_every_controller_named_is_installed():
    assert set(acting_on().values()) <= set(installed("controller"))
    assert set(acting_on("addon").values()) <= set(installed("addon"))
