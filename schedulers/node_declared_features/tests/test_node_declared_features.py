"""Pods that need a feature go where it is declared."""

import pytest
from hyperkube_host.scheduler.cache.node_table import Nodes
from hyperkube_scheduler.node_declared_features import REASON, NodeDeclaredFeatures, needed
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import node, pod_info

from hyperkube.plugin import PluginContext

RULES = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}]
NEEDY = {"spec": {"containers": [{"name": "c", "restartPolicyRules": RULES}]}}


def table_with(**declared):
    nodes = Nodes()
    for name, features in declared.items():
        each = node(name)
        each["status"]["declaredFeatures"] = features
        nodes.put_node(each)
    return nodes


@pytest.mark.parametrize(
    ("spec", "features"),
    [
        pytest.param(NEEDY["spec"], {"RestartAllContainersOnContainerExits"}, id="restart-all"),
        pytest.param(
            {"initContainers": NEEDY["spec"]["containers"]}, {"RestartAllContainersOnContainerExits"}, id="init"
        ),
        pytest.param({"containers": [{"restartPolicyRules": [{"action": "Restart"}]}]}, set(), id="restart-one"),
        pytest.param({"hostNetwork": True, "hostUsers": False}, {"UserNamespacesHostNetworkSupport"}, id="users"),
        pytest.param({"hostNetwork": True}, set(), id="host-network"),
        pytest.param({"hostUsers": False}, set(), id="own-users"),
    ],
)
def test_what_a_pod_needs(spec, features):
    assert needed({"spec": spec}) == features


def test_only_nodes_that_declare_it_are_kept():
    nodes = table_with(able=["Another", "RestartAllContainersOnContainerExits"], unable=["Another"])
    pod = pod_info(NEEDY, nodes)

    kept = NodeDeclaredFeatures(PluginContext(name="NodeDeclaredFeatures")).filter(pod, nodes)

    assert kept.mask.tolist() == [True, False]
    assert kept.reasons[REASON].tolist() == [False, True]
    assert kept.unresolvable.tolist() == [False, True]


def test_a_pod_that_needs_nothing_goes_anywhere():
    assert NodeDeclaredFeatures(None).skips(pod_info({}, table_with(a=[])))


class TestContract(SchedulingContract):
    plugin = NodeDeclaredFeatures
    nodes = ({"name": "a"}, {"name": "b"})
    pods = (NEEDY,)
