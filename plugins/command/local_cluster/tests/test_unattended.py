"""Which kinds nothing acts on."""

import pytest
from hyperkube_command.local_cluster.unattended import ACTED_ON_BY, ACTED_ON_BY_OTHERS, unattended

from hyperkube.plugin.loader import installed

ALL = {*ACTED_ON_BY.values(), *ACTED_ON_BY_OTHERS.values()}


def test_with_every_controller_nothing_is_left_alone():
    assert unattended(ALL, has_cloud=True) == []


def test_what_has_no_controller_is_named():
    assert unattended(ALL - {"statefulset"}, has_cloud=True) == ["statefulsets.apps"]


def test_what_kubernetes_itself_does_not_act_on_is_named_with_its_own_controllers():
    assert unattended(set(ACTED_ON_BY.values()), has_cloud=False) == [
        "ingresses.networking.k8s.io",
        "networkpolicies.networking.k8s.io",
        "services/LoadBalancer",
    ]


@pytest.mark.skipif(not installed("controller"), reason="no controller is installed")
def test_every_controller_named_is_installed():
    assert set(ACTED_ON_BY.values()) <= set(installed("controller"))
