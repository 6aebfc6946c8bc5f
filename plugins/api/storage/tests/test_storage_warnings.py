"""What storage classes, capacities and drivers are warned of."""

import pytest
from hyperkube_api.storage.csi_drivers import CSIDriverStrategy
from hyperkube_api.storage.csi_storage_capacities import CSIStorageCapacityStrategy
from hyperkube_api.storage.storage_classes import StorageClassStrategy

ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'


def test_a_class_whose_topology_uses_labels_that_will_go():
    obj = {"allowedTopologies": [{"matchLabelExpressions": [{"key": "foo"}, {"key": ZONE}]}]}
    found = [f"allowedTopologies[0].matchLabelExpressions[1].key: {OLD}"]

    assert StorageClassStrategy().warnings(None, obj, None) == found
    assert StorageClassStrategy().warnings(None, obj, obj) == found


def test_a_capacity_whose_topology_uses_labels_that_will_go():
    topology = {"matchExpressions": [{"key": ZONE}], "matchLabels": {ZONE: "x"}}

    assert CSIStorageCapacityStrategy().warnings(None, {"nodeTopology": topology}, None) == [
        f"nodeTopology.matchExpressions[0].key: {ZONE} is {OLD}",
        f"nodeTopology.matchLabels.{ZONE}: {OLD}",
    ]


@pytest.mark.parametrize(
    ("spec", "is_warned"),
    [
        ({}, False),
        ({"tokenRequests": [{}]}, True),
        ({"tokenRequests": [{}], "serviceAccountTokenInSecrets": False}, False),
    ],
)
def test_a_new_driver_whose_tokens_may_end_up_in_logs(spec, is_warned):
    found = CSIDriverStrategy().warnings(None, {"spec": spec}, None)

    assert [text.split(" is ")[0] for text in found] == (["spec.serviceAccountTokenInSecrets"] if is_warned else [])
    assert CSIDriverStrategy().warnings(None, {"spec": spec}, {"spec": spec}) == []
