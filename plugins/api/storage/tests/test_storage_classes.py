"""How the API server serves StorageClasses."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.storage.storage_classes import StorageClassStrategy, storage_class_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}
ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({}, ["Delete", "Immediate", False]),
        ({"reclaimPolicy": "Retain"}, ["Retain", "Immediate", False]),
        (
            {"volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": True},
            ["Delete", "WaitForFirstConsumer", True],
        ),
    ],
    ids=["least", "retained", "late"],
)
def test_a_class_row(more, shown):
    assert storage_class_cells({"metadata": META, "provisioner": "p", **more}, NOW) == ["a", "p", *shown, "5m"]


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("storageclass.kubernetes.io/is-default-class", "true", "a (default)"),
        ("storageclass.beta.kubernetes.io/is-default-class", "true", "a (default)"),
        ("storageclass.kubernetes.io/is-default-class", "false", "a"),
    ],
)
def test_the_default_class_says_so(key, value, shown):
    assert storage_class_cells({"metadata": {**META, "annotations": {key: value}}}, NOW)[0] == shown


def test_a_class_whose_topology_uses_labels_that_will_go():
    obj = {"allowedTopologies": [{"matchLabelExpressions": [{"key": "foo"}, {"key": ZONE}]}]}
    found = [f"allowedTopologies[0].matchLabelExpressions[1].key: {OLD}"]

    assert StorageClassStrategy().warnings(None, obj, None) == found
    assert StorageClassStrategy().warnings(None, obj, obj) == found
