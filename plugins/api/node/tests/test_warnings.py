"""The warnings about runtime classes."""

from hyperkube_api.node.strategy import RuntimeClassStrategy


def test_nodes_that_are_chosen_by_labels_that_will_go():
    scheduling = {"nodeSelector": {"node-role.kubernetes.io/master": "", "foo": "x", "beta.kubernetes.io/os": "linux"}}

    assert RuntimeClassStrategy().warnings(None, {"scheduling": scheduling}, None) == [
        'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead',
        'scheduling.nodeSelector: use "node-role.kubernetes.io/control-plane" instead',
    ]
    assert RuntimeClassStrategy().warnings(None, {}, None) == []
